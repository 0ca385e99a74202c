"""Measures from text: ``Name(k=v)@depth``, a prime for condensed lists, and trec_eval's names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from typing import Any, TypeAlias, get_type_hints

from rankbounds.errors import UsageError, did_you_mean
from rankbounds.measures.measure import Measure
from rankbounds.measures.names import REGISTRY, class_named

_GRAMMAR = re.compile(
    r"""(?P<name>[A-Za-z_][A-Za-z0-9_-]*\*?) (?P<prime>['\u2019\u2032])? \s*
        (?:\( (?P<parameters>[^()]*) \))? (?P<late_prime>['\u2019\u2032])? (?:@(?P<cutoff>[^@\s]+))?""",
    re.VERBOSE,
)
_BETWEEN_LABELS = re.compile(r",(?![^()]*\))")
MeasureLike: TypeAlias = str | Measure | type[Measure]
"""What stands for a measure; so does another package's measure, which is known by how it prints itself."""
LARGEST_COUNT = 10**15
"""Larger whole numbers as parameters are mistakes, and exact no more."""


def parse_measure(given: MeasureLike) -> Measure:
    """A measure from whatever stands for one.

    Parameters
    ----------
    given
        A label such as ``"nDCG@10"``, ``"RBP(p=0.8)"`` or ``"AP'"``, in which a name may be an alias (``"MAP"``) and in
        any case, or trec_eval's name (``"ndcg_cut_10"``). A measure is returned as it is, a class of measures stands
        for its defaults, and the measures of other packages are read as they print themselves.

    Returns
    -------
    Measure

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.parse_measure("map_cut_100") == rb.parse_measure("MAP@100") == rb.AP @ 100
    True
    >>> print(rb.parse_measure(rb.RBP))
    RBP(p=0.8)
    """
    if isinstance(given, Measure):
        return given
    if isinstance(given, type) and issubclass(given, Measure):
        return given()
    text = str(given).strip()
    from_trec = None if text in REGISTRY else _from_trec_name(text)
    if from_trec is not None:
        return from_trec
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise UsageError(f'"{text}" is not a measure: write a name like AP, P@10, RBP(p=0.8) or nDCG(base=2)@1000.')
    measure_class = class_named(match["name"])
    parameters = _parameters(measure_class, match["parameters"] or "")
    if match["cutoff"] is not None:
        parameters["cutoff"] = _cutoff(measure_class, match["cutoff"])
    measure = measure_class(**parameters)
    if match["prime"] or match["late_prime"]:
        from rankbounds.measures.condensed import Condensed

        return Condensed(measure)
    return measure


def parse_measures(given: MeasureLike | Iterable[MeasureLike]) -> list[Measure]:
    """One measure or several, each once. In a text, commas outside of parentheses stand between measures."""
    several = given if isinstance(given, Iterable) and not isinstance(given, str | type) else [given]
    parsed = [parse_measure(measure) for text in several for measure in _separated(text)]
    if not parsed:
        raise UsageError("No measure was given.")
    return list(dict.fromkeys(parsed))


def _separated(given: MeasureLike) -> list[MeasureLike]:
    """The labels in a text; anything else is one measure."""
    if not isinstance(given, str):
        return [given]
    labels = [label.strip() for label in _BETWEEN_LABELS.split(given)]
    return [label for label in labels if label] or [given]


def _parameters(measure: type[Measure], text: str) -> dict[str, Any]:
    types = _types(measure)
    known = [parameter.name for parameter in fields(measure)]
    chosen: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in known:
            hint = did_you_mean(key, known)
            raise UsageError(
                f'{measure.name} has no parameter "{key}".{hint} It has: {", ".join(known) or "none"}.'
                if key not in known
                else f'{measure.name}: the parameter "{key}" needs a value, as in {key}=1.'
            )
        if key in chosen:
            raise UsageError(f'{measure.name}: the parameter "{key}" is given twice.')
        chosen[key] = _converted(measure, key, value, types[key])
    return chosen


@cache
def _types(measure: type[Measure]) -> dict[str, Any]:
    return get_type_hints(measure)


def _converted(measure: type[Measure], key: str, value: str, kind: Any) -> Any:
    options = getattr(kind, "__args__", (kind,))
    try:
        if bool in options:
            return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[value.lower()]
        if int in options and float not in options:
            return _countable(measure, int(value))
        if float in options:
            return float(value)
    except UsageError:
        raise
    except (KeyError, ValueError):
        expected = "true or false" if bool in options else "a whole number" if int in options else "a number"
        raise UsageError(f'{measure.name}: {key} must be {expected}, not "{value}".') from None
    return value


def _cutoff(measure: type[Measure], text: str) -> int:
    if not measure.takes_cutoff():
        raise UsageError(f"{measure.name} takes no depth; leave out @{text}.")
    try:
        return _countable(measure, int(text))
    except UsageError:
        raise
    except ValueError:
        raise UsageError(f'{measure.name}: the depth behind @ must be a whole number, not "{text}".') from None


def _countable(measure: type[Measure], number: int) -> int:
    if abs(number) > LARGEST_COUNT:
        raise UsageError(f"{measure.name}: no list is so long that {number} could be a depth in it.")
    return number


def _template_pattern(template: str) -> re.Pattern[str]:
    pieces = re.split(r"\{(\w+)(?::[^}]*)?\}", template)
    return re.compile(
        "".join(f"(?P<{piece}>[0-9.]+)" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))
    )


def _from_trec_name(name: str) -> Measure | None:
    for measure in REGISTRY.values():
        for template in measure.trec_names:
            match = _template_pattern(template).fullmatch(name)
            if match:
                given = match.groupdict()
                cutoff = {"cutoff": _cutoff(measure, given.pop("cutoff"))} if "cutoff" in given else {}
                text = ",".join(f"{key}={value}" for key, value in {**measure.trec_defaults, **given}.items())
                return measure(**_parameters(measure, text), **cutoff)
    return None


def trec_name(measure: Measure) -> str:
    """trec_eval's name of the measure, or our label where trec_eval has none."""
    for template in type(measure).trec_names:
        varied = re.findall(r"\{(\w+)", template)
        values = {name: measure.parameters[name] for name in varied}
        if None in values.values():
            continue
        name = template.format(**values)
        if _from_trec_name(name) == measure:
            return name
    return str(measure)


__all__ = ["parse_measure", "parse_measures", "trec_name"]
