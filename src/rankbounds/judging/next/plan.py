"""Which documents to judge next, best first, what these judgments would do, and how many are needed.

The sentences are the same on the command line and on the page where people judge.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankbounds.arrays import Floats
from rankbounds.evaluation.score_differences import equal
from rankbounds.judging.candidates import DocumentsToJudge
from rankbounds.phrases import counted
from rankbounds.probability.probable_differences import limit_certainty
from rankbounds.results import Column
from rankbounds.tables import number

SETTLED = "settled"
NOTHING_LEFT = "Every document that counts is judged: no further judgment would change a score."


def _columns(digits: int, *names: str) -> tuple[Column, ...]:
    numbers = (Column(name, "", lambda row, name=name: number(row[name], digits)) for name in names)  # type: ignore[misc]
    return Column("query_id", "topic"), Column("doc_id", "document"), *numbers


@dataclass(frozen=True)
class Needed:
    """How many judgments it takes, from simulated rounds of judging; None where a round never got there."""

    until: str
    simulations: int
    settled: float
    """The share of simulated rounds that got there at all."""
    median: int | None
    low: int | None
    high: int | None
    unjudged: int

    @property
    def goal(self) -> str:
        return SETTLED if self.until == SETTLED else f"decided with probability {self.until}"

    @property
    def range(self) -> str:
        """The median, with the range of 90% of the rounds."""
        return f"{self.median:,} [{self.low:,}, {'all' if self.high is None else f'{self.high:,}'}]"

    def sentence(self, seed: int) -> str:
        drawn = f"{self.simulations} simulated rounds, seed {seed}"
        if self.median is None:
            return (
                f"In {1 - self.settled:.0%} of {drawn}, it is not {self.goal} even when all {self.unjudged:,} "
                "documents are judged."
            )
        if self.high == 0:
            return f"It is {self.goal} as it is, without further judgments (taken as normal)."
        return f"About {self.range} judgments in this order are needed until it is {self.goal} (90% of {drawn})."


@dataclass(frozen=True, eq=False, repr=False)
class JudgingPlan(DocumentsToJudge):
    """Documents in the order in which to judge them, for runs under a measure that gives every rank a fixed weight.

    ``residual_after`` is what all runs together leave open once a document and all before it are judged: the residuals
    of every run and topic, summed.
    """

    weight: Floats
    residual_after: Floats
    residual_before: float
    number_of_topics: int
    number_of_runs: int
    number_unjudged: int
    """How many different unjudged documents the runs hold."""
    columns = _columns(4, "weight", "residual_after")

    def open_means(self) -> tuple[float, float]:
        """By how much a run's mean is open on average, before these judgments and after them."""
        shares = self.number_of_topics * self.number_of_runs
        after = float(self.residual_after[-1]) if len(self) else self.residual_before
        return self.residual_before / shares, after / shares

    def headline(self) -> str:
        return f"By {self.settings['measure']}, a run's bounds are {self.open_means()[0]:.4f} wide on average."

    def notes(self) -> list[str]:
        return ["weight: of the document in all runs, summed; residual_after: what all runs then leave open, summed."]

    def sentences(self) -> list[str]:
        if not len(self):
            return [NOTHING_LEFT]
        before, after = self.open_means()
        return [
            f"{counted(self.number_unjudged, 'unjudged document')}; a run's bounds are {before:.4f} wide on average, "
            f"and {after:.4f} after {counted(len(self), 'judgment')}."
        ]


@dataclass(frozen=True, eq=False, repr=False)
class SettlingPlan(DocumentsToJudge):
    """Documents in the order in which their judgments are expected to settle most.

    ``effect`` is what a document adds if it is as relevant as can be: to the difference (of two runs the second minus
    the first, of more the leader minus the others) or, without a comparison, to all runs' means together.
    """

    value: Floats
    probability: Floats
    effect: Floats
    pairs: tuple[tuple[str, str], ...]
    """Whom it is about; nothing where documents are valued for all runs' scores."""
    better: tuple[float, ...]
    """For each pair, how likely the first run is the better one, taken as normal."""
    settled: tuple[bool, ...]
    """For each pair, is it settled however the unjudged documents are judged?"""
    number_unjudged: int
    needed: Needed | None = None
    remarks: tuple[str, ...] = ()
    bounds: tuple[tuple[float, float], ...] = ()
    """For each pair, the least and the greatest difference that are left, turned so that more is better."""
    likely: tuple[float, float] | None = None
    """Of one pair that is open, how likely each run is the better one, as ``compare`` tells it."""
    columns = _columns(6, "value", "probability", "effect")

    @property
    def is_settled(self) -> bool:
        """Is the question settled, so that nothing is left to judge for it?"""
        return bool(self.pairs) and all(self.settled)

    def headline(self) -> str:
        measure = self.settings["measure"]
        if not self.pairs:
            return f"By {measure}, {self.number_unjudged:,} documents are unjudged."
        leader = self.pairs[0][0]
        if self.is_settled and len(self.pairs) == 1:
            ahead, behind = self._in_order()
            return f"Settled: {ahead} is better than {behind} by {measure}, however the remaining documents are judged."
        if self.is_settled:
            return f"Settled: how {leader}, which leads by {measure}, compares with all {len(self.pairs)} others."
        rivals = [other for (_, other), settled in zip(self.pairs, self.settled, strict=True) if not settled]
        question = f"{leader} against {rivals[0] if len(rivals) == 1 else f'the {len(rivals)} others that are open'}"
        needed = self.needed
        if needed is None:
            return f"{question} is still open by {measure}."
        if needed.median is None:
            return (
                f"{question} by {measure} may never be {needed.goal}, even with all {needed.unjudged:,} documents "
                "judged."
            )
        return f"About {needed.range} more judgments until {question} is {needed.goal} by {measure}."

    def notes(self) -> list[str]:
        moves = (
            "how far it is expected to move the bound that settles the question" if self.pairs else "its part of the sd"
        )
        return [
            *self.doubts(),
            f"value: of a judgment, {moves}; probability: that the document is relevant; effect: what it adds to "
            f"{'the difference' if self.pairs else 'the means of all runs together'} if it is as relevant as can be.",
        ]

    def sentences(self) -> list[str]:
        return [*self._answer(), *self.doubts()]

    def words(self) -> str:
        return " ".join(self._answer())

    def doubts(self) -> list[str]:
        return [] if self.is_settled else list(self.remarks)

    def _answer(self) -> list[str]:
        if not (len(self) or self.is_settled):
            return [NOTHING_LEFT]
        measure = self.settings["measure"]
        first = counted(self.number_unjudged, "unjudged document")
        if not self.pairs:
            first += f"; those that matter most to the {measure} of all runs come first"
        elif len(self.pairs) == 1:
            first += f"; {self._who_is_better(measure)}"
        else:
            first += (
                f"; as judged, {self.pairs[0][0]} leads by {measure}. However they are judged, it is settled how "
                f"it compares with {sum(self.settled)} of {len(self.pairs)} others"
            )
        if self.needed is None:
            return [f"{first}."]
        if self.is_settled:
            return [f"{first}.", "The question is settled: no further judgments are needed."]
        return [f"{first}.", self.needed.sentence(self.settings["seed"])]

    def _in_order(self) -> tuple[str, str]:
        one, other = self.pairs[0]
        return (one, other) if self.better[0] >= 0.5 else (other, one)

    def _who_is_better(self, measure: str) -> str:
        if self.settled[0]:
            ahead, behind = self._in_order()
            return f"however they are judged, {ahead} is better than {behind} by {measure}"
        if self.likely is None:
            return f"which of {' and '.join(self.pairs[0])} is better by {measure} depends on them"
        low, high = self.bounds[0]
        chances = [float(limit_certainty(*lead)) for lead in zip(self.likely, (high, -low), strict=True)]
        (more, ahead), (less, behind) = sorted(zip(chances, self.pairs[0], strict=True), key=lambda side: -side[0])
        even = "" if more + less > 0.995 else f", and {behind} with probability {less:.2f}"
        return f"{ahead} is better than {behind} by {measure} with probability {more:.2f}{even}"


def difference_left(runs: tuple[str, str], bounds: tuple[float, float]) -> str:
    (one, other), (low, high) = runs, (f"{end:+.4f}" for end in bounds)
    if equal(*bounds):
        return f"{one} minus {other} is {low}: every document that matters is judged."
    span = f"lies between {low} and {high}" if low != high else f"is {low} to four digits"
    return f"However the unjudged documents are judged, {one} minus {other} {span}."
