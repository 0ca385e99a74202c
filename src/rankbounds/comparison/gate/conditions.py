"""Conditions under which a gate fails, as people write them: "nDCG@10 worse", "AP < 0.3", "judged@10 < 80%"."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.score_differences import equal
from rankbounds.measures import Measure, parse_measure
from rankbounds.stats.equivalence import check_margin

CHANGES = ("worse", "different")
"""What a run can be beside the baseline."""
SIDES = {"<": "below", "<=": "at most", ">": "above", ">=": "at least"}
"""How a score can stand to a number, and the word for each."""
EXAMPLES = '"nDCG@10 worse", "nDCG@10 worse by 0.01", "AP different", "nDCG@10 < 0.5", "judged@10 < 80%"'
_CHANGE = re.compile(r"(?P<measure>\S.*?)\s+(?P<change>[A-Za-z]+)(?:\s+by(?:\s+more\s+than)?\s+(?P<margin>\S+))?")
_SIDE = re.compile(r"(?P<measure>\S.*?)\s*(?P<side><=|>=|<|>)\s*(?P<limit>\S+)")


@dataclass(frozen=True)
class Condition:
    """A measure, and a condition that must not hold for its score or its change from the baseline."""

    measure: Measure
    relation: str
    """One of ``CHANGES`` or of ``SIDES``."""
    limit: float | None = None
    """The margin of a change, None where the gate's holds; the number that a score is held against."""

    @property
    def of_change(self) -> bool:
        """Does it take a baseline?"""
        return self.relation in CHANGES

    def with_margin(self, margin: float) -> Condition:
        """Give the condition this margin, unless it has its own."""
        return self if self.limit is not None or not self.of_change else Condition(self.measure, self.relation, margin)

    def check_limit(self, least: float, most: float) -> None:
        """Reject a number that scores, or differences, between these ends can never pass."""
        limit = 0.0 if self.limit is None else self.limit
        if least <= limit <= most:
            return
        end = f"below {least:g}" if limit < least else f"above {most:g}"
        scores = f"{self.measure} is" if not self.of_change else f"differences by {self.measure} are"
        percent = f" Did you mean {limit:g}%?" if least <= limit / 100 <= most else ""
        raise UsageError(f'The gate "{self}" can have one answer only: {scores} never {end}.{percent}')

    def holds(self, value: float) -> bool:
        """Does a score fulfil the condition? Scores that differ by rounding alone are equal."""
        assert self.limit is not None
        if bool(equal(value, self.limit)):
            return self.relation in ("<=", ">=")
        return value < self.limit if self.relation in ("<", "<=") else value > self.limit

    def __str__(self) -> str:
        if self.of_change:
            return f"{self.measure} {self.relation}" + (f" by more than {self.limit:g}" if self.limit else "")
        return f"{self.measure} {self.relation} {self.limit:g}"


def parse_condition(text: str, known: Iterable[Measure] = ()) -> Condition:
    """Read a condition: a measure, and ``worse``, ``different`` or a comparison with a number.

    Labels of ``known`` measures are understood even if they are mere names in a table.
    """
    labelled = {str(measure): measure for measure in known}
    stripped = text.strip()
    if side := _SIDE.fullmatch(stripped):
        named = labelled.get(side["measure"]) or parse_measure(side["measure"])
        return Condition(named, side["side"], _number(side["limit"], text))
    change = _CHANGE.fullmatch(stripped)
    if not change or change["change"] not in CHANGES:
        hint = did_you_mean(change["change"], [*CHANGES]) if change else ""
        raise UsageError(
            f'The gate "{text}" must name a measure and the condition that fails it.{hint} Examples: {EXAMPLES}.'
        )
    margin = None if change["margin"] is None else _number(change["margin"], text)
    if margin is not None:
        check_margin(margin)
    return Condition(labelled.get(change["measure"]) or parse_measure(change["measure"]), change["change"], margin)


def parse_conditions(
    conditions: str | Condition | Iterable[str | Condition], known: Iterable[Measure] = ()
) -> list[Condition]:
    """Read one condition or several, of ``known`` measures or any others; the same one twice is one."""
    known = list(known)
    given: list[Any] = [conditions]
    if isinstance(conditions, Iterable) and not isinstance(conditions, str):
        given = list(conditions)
    if not all(isinstance(each, str | Condition) for each in given):
        raise UsageError(f"A gate takes conditions, not {conditions!r}. Examples: {EXAMPLES}.")
    if not given or any(isinstance(each, str) and not each.strip() for each in given):
        raise UsageError(f"A gate needs a condition{', and this one is empty' * bool(given)}. Examples: {EXAMPLES}.")
    return list(dict.fromkeys(parse_condition(each, known) if isinstance(each, str) else each for each in given))


def _number(text: str, condition: str) -> float:
    """A finite number, or a share in percent."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f'The gate "{condition}" needs a number in place of "{text}". Examples: {EXAMPLES}.')
    return value
