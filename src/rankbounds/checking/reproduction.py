"""Computing a measure as others may have done, and how far that agrees with what they reported."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from rankbounds.checking.quirks import ANYWHERE, Quirk
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.errors import RankboundsError, RankboundsWarning
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.scores import ALL, Scores
from rankbounds.files.reported_scores import Printed
from rankbounds.measures import Measure

MOST_DIGITS = 6
"""Sums are added in other orders elsewhere: more digits than these need not be the same."""


@dataclass(frozen=True)
class Computation:
    """A measure computed with some quirks, and how well it agrees with what was reported."""

    quirks: tuple[Quirk, ...]
    measure: Measure
    respelt: bool
    lines: int
    equal: int
    largest_difference: float
    example: str

    @property
    def fits(self) -> bool:
        """Is every line reproduced?"""
        return self.lines == self.equal

    @property
    def why(self) -> str:
        """In words, in which respects it differs from ours."""
        return "; ".join(quirk.why for quirk in self.quirks) or "equal"

    @property
    def switch(self) -> str:
        """The options that make us compute so; empty where there are none."""
        switches = [quirk.switch for quirk in self.quirks]
        if None in switches:
            return ""
        spelt = [f"-m '{self.measure}'"] if self.respelt else []
        return " ".join([switch for switch in switches if switch] + spelt)


def combinations(single: list[Quirk], changes: int) -> Iterator[tuple[Quirk, ...]]:
    """Quirks alone or by two, so many at a time."""
    if changes == 0:
        yield ()
    elif changes == 1:
        yield from ((quirk,) for quirk in single)
    else:
        anywhere = [quirk for quirk in single if quirk.respect in ANYWHERE]
        for other, general in product(single, anywhere):
            # Two that go anywhere are taken once.
            if other.respect not in ANYWHERE or ANYWHERE.index(other.respect) > ANYWHERE.index(general.respect):
                yield other, general


def computations(
    printed: Printed, measures: dict[str, Measure], combination: tuple[Quirk, ...], qrels: Qrels, run: Run
) -> Iterator[tuple[str, Computation]]:
    """Every measure that the quirks concern, by its reported name, computed with them."""
    chosen: dict[str, Measure] = {}
    for name, measure in measures.items():
        changed: Measure | None = measure
        for quirk in combination:
            changed = None if changed is None else quirk.measure(changed)
        if changed is not None:
            chosen[name] = changed
    if not chosen:
        return
    options: dict[str, str] = {}
    # Runs are prepared before anything is made of their lists.
    for quirk in sorted(combination, key=lambda quirk: quirk.respect != "preparation"):
        run = quirk.run(run)
        options.update(quirk.options)
    for quirk in combination:
        qrels = quirk.qrels(qrels, run)
    scores_of = _scores_of(qrels, run, list(dict.fromkeys(chosen.values())), **options)
    for name, measure in chosen.items():
        if measure in scores_of:
            scores = scores_of[measure]
            agreement = _compared(printed, name, scores, scores.measures.index(measure))
            yield name, Computation(combination, measure, measure != measures[name], *agreement)


def _scores_of(qrels: Qrels, run: Run, measures: list[Measure], **options: str) -> dict[Measure, Scores]:
    """By measure, without those that cannot be computed so: not every one has a mean over ties, for example."""
    try:
        return dict.fromkeys(measures, quietly(qrels, run, measures, **options))
    except RankboundsError:
        if len(measures) == 1:
            return {}
    return {
        measure: scores for alone in measures for measure, scores in _scores_of(qrels, run, [alone], **options).items()
    }


def _compared(printed: Printed, name: str, scores: Scores, number: int) -> tuple[int, int, float, str]:
    """Lines, equal lines, the largest difference, and the line that has it."""
    lines, equal, furthest, example = 0, 0, 0.0, ""
    for part in (scores, scores.mean()):
        values = dict(zip(part.query_ids, part.value[0, :, number].tolist(), strict=True))
        for (printed_name, topic), text in printed.items():
            if printed_name != name or (topic == ALL) != (part is not scores):
                continue
            lines += 1
            value = values.get(topic, float("nan"))
            if _same(value, text):
                equal += 1
                continue
            gap = abs(value - _number(text)) if value == value else float("inf")
            if gap > furthest or not example:
                digits = min(max(_digits(text), 4), MOST_DIGITS)
                ours = f"{value:.{digits}f}" if value == value else "nothing"
                theirs = text if _digits(text) <= digits else f"{_number(text):.{digits}f}"
                furthest, example = gap, f"topic {topic}: {theirs} there, {ours} here"
    return lines, equal, furthest, example


def _digits(text: str) -> int:
    return len(text.partition(".")[2])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("inf")


def _same(value: float, text: str) -> bool:
    digits = min(_digits(text), MOST_DIGITS)
    # The last digit may be rounded either way when the value lies between.
    return f"{value:.{digits}f}" == text or abs(value - _number(text)) <= 0.5 * 10.0**-digits * (1 + 1e-9)


def by_topic(printed: Printed, name: str, measure: Measure, qrels: Qrels, run: Run) -> str | None:
    """What trec_eval does to each topic by its own judgments, where that makes the difference."""
    if not hasattr(measure, "recall"):
        return None
    relevant = np.bincount(qrels.pairs.topic[qrels.grade >= 1], minlength=len(qrels.query_ids))
    needed = np.floor(float(measure.recall) * relevant + 0.9)
    wanted = [measure.changed(recall=level) for level in (needed / np.maximum(relevant, 1)).tolist()]
    values = np.full((1, relevant.size, 1), np.nan)
    for level in dict.fromkeys(wanted):
        chosen = np.array([other == level for other in wanted])
        rows = np.flatnonzero(chosen[qrels.pairs.topic])
        part = qrels.take(rows)
        if set(part.query_ids) & set(run.query_ids):
            values[:, chosen] = quietly(part, run, [level], topics="shared").value
    nothing = np.full_like(values, np.nan)
    scores = Scores([run.name], list(qrels.query_ids), [measure], values, nothing, nothing, nothing[:, :, 0])
    lines, equal, _, _ = _compared(printed, name, scores, 0)
    why = "interpolation: version 9 takes recall r to be reached with floor(r R + 0.9) documents, 10 with 0.5"
    return why if lines == equal else None


def quietly(qrels: Qrels, run: Run, measures: list[Measure], **options: Any) -> Scores:
    """Scores without bounds and warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankboundsWarning)
        return evaluate(qrels, run, measures, bounds="none", **options)
