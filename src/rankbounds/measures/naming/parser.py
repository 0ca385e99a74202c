"""Measures from text: ``Name(k=v)@depth``, a prime for condensed lists, and everybody else's names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields
from functools import cache, lru_cache
from math import sqrt
from typing import Any, TypeAlias

from rankbounds.errors import UsageError, did_you_mean, warn
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.measure import Measure
from rankbounds.measures.naming.elsewhere import ABSENT, AT_SIGN, FAMILIES, NAMES, NICKNAMES, WITH_PARAMETER
from rankbounds.measures.naming.registry import (
    REGISTRY,
    class_named,
    folded,
    import_listed,
    is_name,
    label_elsewhere,
    listed,
)

_BETWEEN = re.compile(r",(?![^{]*\})")
LARGEST_COUNT = 10**15
"""Larger whole numbers as parameters are mistakes, and exact no more."""


def given_in(name: str, text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in _BETWEEN.split(text))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        value = value.strip("'\"")
        if key == "dcg" and value in ("log2", "exp-log2"):
            key, value = "gain", "exp" if value == "exp-log2" else "linear"
        if key == "gains":
            raise UsageError(
                f'{name}: gains of grades are given apart from measures: --gain "1=3,2=9", or gain= in Python.'
            )
        if key in given:
            raise UsageError(f'{name}: the parameter "{key}" is given twice.')
        given[key] = value if equals else ""
    return given


def parameters_of(measure: type[Measure], given: dict[str, str]) -> dict[str, Any]:
    types = {parameter.name: str(parameter.type) for parameter in fields(measure)}
    for key, value in given.items():
        if key not in types:
            hint = did_you_mean(key, list(types))
            raise UsageError(f'{measure.name} has no parameter "{key}".{hint} It has: {", ".join(types) or "none"}.')
        if not value:
            raise UsageError(f'{measure.name}: the parameter "{key}" needs a value, as in {key}=1.')
    return {key: converted(measure, key, value, types[key]) for key, value in given.items()}


_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def converted(measure: type[Measure], key: str, value: str, kind: str) -> Any:
    expected = ""
    try:
        if "bool" in kind:
            expected = "true or false"
            return _FLAGS[value.lower()]
        if "float" in kind:
            expected = "a number"
            return float(value)
        if "int" in kind:
            expected = "a whole number"
            return _countable(measure, int(value))
    except (KeyError, ValueError):
        raise UsageError(f'{measure.name}: {key} must be {expected}, not "{value}".') from None
    return value


def depth_of(measure: type[Measure], text: str) -> int:
    if not measure.takes_cutoff():
        raise UsageError(f"{measure.name} takes no depth; leave out @{text}.")
    try:
        number = int(text)
    except ValueError:
        depth = text.rstrip("'").split("(")[0]
        more = text[len(depth) :]  # parameters and the mark of condensed lists, which stand before the depth
        hint = f' Did you mean "{measure.name}{more}@{depth}"?' if more and depth.isdecimal() else ""
        raise UsageError(f'{measure.name}: the depth after @ must be a whole number, not "{text}".{hint}') from None
    return _countable(measure, number)


def _countable(measure: type[Measure], number: int) -> int:
    if abs(number) > LARGEST_COUNT:
        raise UsageError(f"{measure.name}: no list is so long that {number} could be a depth in it.")
    return number


@cache
def _template_pattern(template: str) -> re.Pattern[str]:
    pieces = re.split(r"\{(\w+)(?::[^}]*)?\}", template)
    return re.compile(
        "".join(f"(?P<{piece}>[0-9.]+)" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces)),
        re.IGNORECASE,
    )


def from_trec_name(name: str) -> Measure | None:
    """Return the measure of trec_eval's name; case counts only for names shared with ours (``rbp``, ``RBP``)."""
    import_listed()
    for measure in REGISTRY.values():
        for template in measure.trec_names:
            if not name.lower().startswith(template.partition("{")[0].lower()):
                continue
            match = _template_pattern(template).fullmatch(name)
            if match and (not is_name(name) or name in measure.trec_names):
                given = match.groupdict()
                cutoff = {"cutoff": depth_of(measure, given.pop("cutoff"))} if "cutoff" in given else {}
                return measure(**parameters_of(measure, {**measure.trec_defaults, **given}), **cutoff)
    return None


def trec_name(measure: Measure) -> str:
    """Return trec_eval's name of the measure, or our label where trec_eval has none."""
    for template in type(measure).trec_names:
        varied = re.findall(r"\{(\w+)", template)
        values = {name: measure.parameters[name] for name in varied}
        if None in values.values():
            continue
        name = template.format(**values)
        if from_trec_name(name) == measure:
            return name
    labels = NAMES["trec_eval"].items()
    return next((name for name, label in labels if _from_label(label) == measure), str(measure))


_PRIMES = "'\u2019\u2032"
_GRAMMAR = re.compile(
    rf"""(?P<name>[^\W\d][\w-]*\*?) (?P<prime>[{_PRIMES}])? \s*
        (?:\( (?P<parameters>[^()]*) \))? (?P<late_prime>[{_PRIMES}])? (?:@(?P<cutoff>[^@\s]+))?""",
    re.VERBOSE,
)
_BETWEEN_LABELS = re.compile(r",(?![^()]*\))")
_NUMBER = r"[-+]?\d*\.?\d+"
_CONTINUES = re.compile(rf"{_NUMBER}(=.*)?")
_DOTTED = re.compile(r"(?P<name>\w+?)\.(?P<values>[-+.\d].*|\w+=.*)")
_AT = re.compile(r"(?P<name>.+)_at_(?P<depth>\d+)", re.IGNORECASE)
_WRITTEN_OUR_WAY = re.compile(rf"[@({_PRIMES}]")
"""What no name of trec_eval has."""
_LEVEL = re.compile(r"(?P<label>.+)-l(?P<level>\d+)")
_REWRITTEN = (
    (r"f(\d*\.?\d+)(@.*)?", r"F(beta=\1)\2"),
    (r"rbp\.p=(.*)", r"RBP(p=\1,graded=true,by_topic=true)"),
    (r"rbp\.(\d+)", r"RBP(p=0.\1)"),
    (r"rbp\.([^=]*)", r"RBP(p=\1)"),
    (r"rbp(0?\.\d+)(@.*)?", r"RBP(p=\1)\2"),
    (r"p@r", "RPrec"),
    (r"rr([2-9])", r"RRn(n=\1)"),
    (r"dcg-(\d+)(@.*)?", r"DCG(base=\1)\2"),
    (r"bpref-(\d+)", r"Bpref(k=\1)"),
    (r"set_f\.(.*)", r"SetF(beta=\1)"),
    (r"utility\.([^,]+),([^,]+),([^,]+),([^,]+)", r"Utility(hit=\1,noise=\2,miss=\3,rest=\4)"),
)
"""Parameters as trec_eval writes them (``rbp.p=0.8``), ranx (``rbp.80``, ``f2``) and papers (``RBP0.8``, ``DCG-2``)."""
MeasureLike: TypeAlias = str | Measure | type[Measure]
"""What stands for a measure; so does another package's measure, which is known by how it prints itself."""
MeasuresLike: TypeAlias = MeasureLike | Iterable[MeasureLike]
"""One measure or several."""


def parse_measure(given: MeasureLike) -> Measure:
    """Return the measure that a label, name, class or object means.

    Parameters
    ----------
    given
        A label such as ``"nDCG@10"``, ``"RBP(p=0.8)"`` or ``"AP'"``, with aliases (``"MAP"``) and in any case, or
        another tool's name: trec_eval's (``"ndcg_cut_10"``), ir_measures' (``"nDCG(dcg='exp-log2')@10"``), ranx'
        (``"hit_rate@10"``), BEIR's (``"ndcg_at_10"``). A measure is returned as it is, a class of measures means its
        defaults, and the measures of other packages are read as they print themselves.

    Returns
    -------
    Measure

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.parse_measure("map_cut_100") == rb.parse_measure("MAP@100") == rb.AP @ 100
    True
    >>> print(rb.parse_measure(rb.RBP), rb.parse_measure("hit_rate@10"), rb.parse_measure("nDCG(judged_only=True)@10"))
    RBP(p=0.8) Success@10 nDCG'@10
    """
    read = _read(given)
    if len(read) > 1:
        raise UsageError(f'"{given}" stands for {len(read)} measures ({read[0]}, {read[1]}, ...), but one is expected.')
    return read[0]


def parse_measures(given: MeasuresLike) -> list[Measure]:
    """Return the measures in what is given, each once.

    Parameters
    ----------
    given
        Whatever ``parse_measure`` takes, or several of it. In a text, commas outside of parentheses separate measures;
        trec_eval's names of several measures, such as ``"official"``, give all of them.

    Returns
    -------
    list of Measure

    Examples
    --------
    >>> import rankbounds as rb
    >>> print(*rb.measures.parse_measures(["AP, P@5,10", rb.RR]))
    AP P@5 P@10 RR
    """
    several = given if isinstance(given, Iterable) and not isinstance(given, str | type) else [given]
    parsed = [measure for text in several for part in _separated(text) for measure in _read(part)]
    if not parsed:
        raise UsageError("No measure was given.")
    return list(dict.fromkeys(parsed))


def _separated(given: MeasureLike) -> list[MeasureLike]:
    if not isinstance(given, str):
        return [given]
    labels: list[MeasureLike] = []
    before = ""
    for label in filter(None, (part.strip() for part in _BETWEEN_LABELS.split(given))):
        if before and _CONTINUES.fullmatch(label) and _DOTTED.fullmatch(before):
            before = f"{before},{label}"
            labels[-1] = before
        elif label.isdecimal() and "@" in before:
            labels.append(f"{before.rpartition('@')[0]}@{label}")
        else:
            before = label
            labels.append(label)
    return labels or [given]


def _read(given: MeasureLike) -> list[Measure]:
    if isinstance(given, Measure):
        return [with_depth(given)]
    if isinstance(given, type) and issubclass(given, Measure):
        return [with_depth(given())]
    text = str(given).strip()
    if text.lower() in NICKNAMES:
        return _of_nickname(text.lower())
    known = tuple(REGISTRY.values())
    try:
        return list(_parse_once(text, known))
    except UsageError:
        if len(REGISTRY) == len(known):
            raise
        return list(_parse_once(text, tuple(REGISTRY.values())))  # the search imported more, perhaps this one


def with_depth(measure: Measure) -> Measure:
    """Return the measure, unless it lacks a depth without which it has no meaning."""
    if measure.needs_cutoff and measure.cutoff is None:
        raise UsageError(f"{measure.name} needs a depth, as in {measure.name}@10.")
    return measure


@lru_cache(maxsize=1024)
def _parse_once(text: str, kinds: tuple[type[Measure], ...]) -> tuple[Measure, ...]:  # noqa: ARG001 (may change)
    is_ours = text in listed() or text in REGISTRY or _WRITTEN_OUR_WAY.search(text)
    if not is_ours and (from_trec := from_trec_name(text)) is not None:
        return (with_depth(from_trec),)
    family = next((name for name in FAMILIES if name.lower() == text.lower()), None)
    if family is not None and (not is_name(text) or class_named(text).needs_cutoff):
        return tuple(_of_family(family, FAMILIES[family]))
    for pattern, label in _REWRITTEN:
        if match := re.fullmatch(pattern, text, re.IGNORECASE):
            return (_from_label(match.expand(label)),)
    if dotted := _DOTTED.fullmatch(text):
        return tuple(_of_dotted(text, dotted["name"], dotted["values"]))
    return (with_depth(_from_label(text)),)


def _of_nickname(nickname: str) -> list[Measure]:
    left_out = [name for name in NICKNAMES[nickname] if name in ABSENT and name != "runid"]
    if left_out:
        warn(f'"{nickname}": left out are {", ".join(left_out)}; the command trec_eval prints them.')
    names = [name for name in NICKNAMES[nickname] if name not in ABSENT]
    # Of a family its depths are named, so that it means what it does in trec_eval, also where we have a name like it.
    texts = (f"{name}.{','.join(FAMILIES[name])}" if name in FAMILIES else name for name in names)
    return [measure for text in texts for measure in _read(text)]


def _of_family(family: str, values: Iterable[str]) -> list[Measure]:
    measures = [from_trec_name(f"{family}_{value}") for value in values]
    if None in measures:
        raise UsageError(f'{family}: "{",".join(values)}" are not depths: write them as in {family}.5,10.')
    return [measure for measure in measures if measure is not None]


def _of_dotted(text: str, name: str, values: str) -> list[Measure]:
    family = next((known for known in FAMILIES if known.lower() == name.lower()), None)
    if family is not None:
        return _of_family(family, values.split(","))
    if name.lower() == "utility":
        raise UsageError(f'"{text}": utility takes 4 numbers, as in utility.1,-1,0,0.')
    if "=" in values:
        raise UsageError(
            f'"{text}": gains of grades are given apart from measures: --gain "{values}", or gain= in Python.'
        )
    raise UsageError(f'"{text}": {name} takes no parameters after a point; write a depth as in P.5,10 or P@5.')


def _from_label(text: str) -> Measure:
    if ranx := _LEVEL.fullmatch(text):
        measure, level = _from_label(ranx["label"]), int(ranx["level"])
        if level > 1 and "rel" not in measure.parameters:
            raise UsageError(
                f"{measure} takes grades as gains and has no level. Grades below {level} count as 0 in ranx: give them "
                "no gain (for -l2: --gain 1=0, or gain= in Python)."
            )
        return measure.at_level(level)
    if (at := _AT.fullmatch(text)) and not is_name(text):
        return _from_label(f"{at['name']}@{at['depth']}")
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise UsageError(f'"{text}" is not a measure: write a name like AP, P@10, RBP(p=0.8) or nDCG(base=2)@1000.')
    name, given = match["name"], given_in(match["name"], match["parameters"] or "")
    presets: dict[str, Any] = {}
    for (base, parameter), other in WITH_PARAMETER.items():
        if folded(name) == folded(base) and parameter in given:
            is_flag = parameter not in class_named(other).__dataclass_fields__
            name = base if is_flag and given.pop(parameter).lower() != "true" else other
    if not is_name(name):
        name, presets = _elsewhere(name, given)
    measure_class = class_named(name)
    judged_only = converted(measure_class, "judged_only", given.pop("judged_only", "false"), "bool")
    if name.lower() == "precision" and match["cutoff"] is None and "cutoff" not in given:
        measure_class = class_named("SetP")  # ranx' name for it
    parameters = presets | parameters_of(measure_class, given)
    if match["cutoff"] is not None:
        behind = AT_SIGN.get(measure_class.name, "cutoff")
        if behind in given:
            raise UsageError(f'{measure_class.name}: "{behind}" is given twice, in parentheses and after the @.')
        parameters[behind] = (
            depth_of(measure_class, match["cutoff"])
            if behind == "cutoff"
            else converted(measure_class, behind, match["cutoff"], "float")
        )
    measure = measure_class(**parameters)
    return Condensed(measure) if match["prime"] or match["late_prime"] or judged_only else measure


def _elsewhere(name: str, given: dict[str, str]) -> tuple[str, dict[str, Any]]:
    label = label_elsewhere(name)
    if label is None:
        return name, {}
    if folded(name) == "setf" and "beta" in given:  # trec_eval's and ir_measures' weight is the square of ours
        with suppress(ValueError):
            given["beta"] = repr(sqrt(float(given["beta"])))
    measure = _GRAMMAR.fullmatch(label)
    assert measure is not None
    kind = class_named(measure["name"])
    return kind.name, parameters_of(kind, given_in(kind.name, measure["parameters"] or ""))


__all__ = ["MeasureLike", "MeasuresLike", "parse_measure", "parse_measures", "with_depth"]
