"""Parameters of measures from text: what stands in parentheses and behind the @, in their types."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from inspect import get_annotations
from typing import Any, get_type_hints

from rankbounds.errors import UsageError, did_you_mean
from rankbounds.measures.measure import Measure

_BETWEEN = re.compile(r",(?![^{]*\})")
LARGEST_COUNT = 10**15
"""Larger whole numbers as parameters are mistakes, and exact no more."""


def given_in(name: str, text: str) -> dict[str, str]:
    """The parameters in parentheses as text, ir_measures' ones in our words."""
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
    """What the measure is made with: known parameters alone, in their types."""
    types = types_of(measure)
    known = [parameter.name for parameter in fields(measure)]
    for key, value in given.items():
        if key not in known or not value:
            hint = did_you_mean(key, known)
            raise UsageError(
                f'{measure.name} has no parameter "{key}".{hint} It has: {", ".join(known) or "none"}.'
                if key not in known
                else f'{measure.name}: the parameter "{key}" needs a value, as in {key}=1.'
            )
    return {key: converted(measure, key, value, types[key]) for key, value in given.items()}


@cache
def types_of(measure: type[Measure]) -> dict[str, Any]:
    """The types of the measure's parameters."""
    types: dict[str, Any] = {}
    for kind in reversed(measure.__mro__):
        own = {name: text for name, text in get_annotations(kind).items() if name in measure.__dataclass_fields__}
        types |= get_type_hints(type(kind.__name__, (), {"__annotations__": own, "__module__": kind.__module__}))
    return types


def converted(measure: type[Measure], key: str, value: str, kind: Any) -> Any:
    """The value of a parameter in its type."""
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


def depth_of(measure: type[Measure], text: str) -> int:
    """The depth behind the @."""
    if not measure.takes_cutoff():
        raise UsageError(f"{measure.name} takes no depth; leave out @{text}.")
    try:
        return _countable(measure, int(text))
    except UsageError:
        raise
    except ValueError:
        depth = text.rstrip("'").split("(")[0]
        more = text[len(depth) :]  # parameters and the mark of condensed lists, which stand before the depth
        hint = f' Did you mean "{measure.name}{more}@{depth}"?' if more and depth.isdecimal() else ""
        raise UsageError(f'{measure.name}: the depth behind @ must be a whole number, not "{text}".{hint}') from None


def _countable(measure: type[Measure], number: int) -> int:
    if abs(number) > LARGEST_COUNT:
        raise UsageError(f"{measure.name}: no list is so long that {number} could be a depth in it.")
    return number
