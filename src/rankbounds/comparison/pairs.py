"""Pairs of runs: which are tested and how, the rows that say what was found, and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.comparison.wording import lacking_words
from rankbounds.errors import DataError, UsageError, did_you_mean
from rankbounds.measures import Measure
from rankbounds.results import Column
from rankbounds.stats.corrections import check_correction
from rankbounds.stats.power import check_level
from rankbounds.stats.significance import RESAMPLES, TESTS, Resampling, check_test, pairs_of
from rankbounds.tables import plain_rows

PAIR_COLUMNS = tuple(
    Column(name)
    for name in (
        "a", "b", "measure", "difference", "ci_low", "ci_high", "effect", "p_value", "p_adjusted", "certain_low",
        "certain_high", "probability_a_better", "probability_b_better", "p_equivalent", "won", "lost", "certain",
        "verdict",
    )
)  # fmt: skip
VERDICTS = (
    "no difference shown",
    "a better",
    "a better as judged",
    "b better",
    "b better as judged",
    "equivalent",
    "equivalence not shown",
)
CERTAIN = {1.0: "exact", 0.0: "outer"}
"""What is said of certain bounds: some judgments attain them, or they hold but may be wider than needed."""


class PairTestingOptions(TypedDict, total=False):
    """How pairs of runs are tested, as in ``compare``."""

    test: str
    correction: str
    alternative: str
    alpha: float
    confidence: float
    resamples: int
    seed: int
    baseline: str | None


@dataclass(frozen=True)
class PairTesting:
    """How pairs of runs are tested."""

    test: str = "randomization"
    correction: str = "auto"
    alternative: str = "two-sided"
    alpha: float = 0.05
    confidence: float = 0.95
    resamples: int = RESAMPLES
    seed: int = 0
    baseline: str | None = None

    def check(self, runs: Sequence[str], more_tests: Sequence[str] = ()) -> None:
        """Reject what cannot be tested; ``more_tests`` are names of tests that the caller knows."""
        if len(runs) < 2:
            raise DataError("A comparison needs at least two runs.")
        check_level(self.alpha)
        if not 0 < self.confidence < 1:
            raise UsageError(f"confidence must lie between 0 and 1, not {self.confidence}.")
        check_test(self.test, self.alternative, more_tests)

    @property
    def resampling(self) -> Resampling:
        """How tests that resample do it."""
        return Resampling(self.resamples, self.seed)

    def pairs(self, runs: Sequence[str]) -> tuple[Ints, Ints]:
        """The two sides of the pairs that are tested: all of them, or all runs against the baseline."""
        if self.baseline is None:
            return pairs_of(len(runs))
        against = run_number(runs, self.baseline)
        first = np.delete(np.arange(len(runs)), against)
        return first, np.full(first.size, against)

    def correction_for(self, pairs: int) -> str:
        """The correction to use: the one asked for, or what this number of pairs needs."""
        if self.correction == "auto":
            if pairs == 1:
                return "none"
            test = TESTS.get(self.test, TESTS["t"])
            return test.correction if self.baseline is None else test.baseline_correction
        check_correction(self.correction)
        if self.correction == "dunnett" and self.baseline is None:
            raise UsageError("Dunnett's correction is for one run against all others: name it as the baseline.")
        if self.correction == "tukey" and self.baseline is not None:
            raise UsageError('Tukey\'s correction is for all pairs of runs; with a baseline take "dunnett".')
        return self.correction


def check_means(measures: Sequence[Measure]) -> None:
    """Reject measures that have no plain mean over topics."""
    for measure in measures:
        if measure.total == "geometric":
            raise UsageError(
                f"{measure} has a geometric mean over topics, and runs are compared by differences of plain means. "
                "Compare AP or Bpref, and leave it to evaluate."
            )


def run_number(runs: Sequence[str], name: str) -> int:
    """The place of a run among the others."""
    if name not in runs:
        raise UsageError(
            f'There is no run "{name}".{did_you_mean(name, list(runs))} There are: {", ".join(runs[:12])}.'
        )
    return list(runs).index(name)


def pair_places(runs: int, first: Ints, second: Ints) -> Ints:
    """Where pairs stand among all pairs of the runs, whichever of the two comes first."""
    one, two = np.minimum(first, second), np.maximum(first, second)
    return one * runs - one * (one + 1) // 2 + two - one - 1


def pairs_among(column: Floats, runs: int, first: Ints, second: Ints, *, other: Floats | None = None) -> Floats:
    """A column of all pairs of runs for these pairs; one that stands the other way round is turned.

    A bound becomes the negative of the ``other`` one.
    """
    place = pair_places(runs, first, second)
    return np.where(first < second, column[place], 0.0 - (column if other is None else other)[place])


def verdicts(lead: Floats, p_adjusted: Floats, low: Floats, high: Floats, alpha: float) -> Ints:
    """Every pair's verdict, by its place in ``VERDICTS``, where more is better."""
    shown = (p_adjusted < alpha) & (lead != 0)
    settled = np.where(lead > 0, low > 0, high < 0)
    return np.where(shown, np.where(lead > 0, 1, 3) + ~settled, 0)


def pair_rows(
    runs: Sequence[str],
    first: Ints,
    second: Ints,
    measure: Measure,
    numbers: Mapping[str, Floats],
    codes: Ints,
    missing: Sequence[int] | Ints,
    topics: int | Ints,
) -> list[dict[str, Any]]:
    """The rows of pairs by one measure, with the fields of ``PAIR_COLUMNS``; a number that is not given is not known.

    ``codes`` are places in ``VERDICTS``; ``missing`` says how many of the ``topics`` each run lacks.
    """
    unknown = np.full(first.size, np.nan)
    lacking = [
        lacking_words(int(missing[one]), int(missing[other]), of_pair)
        for one, other, of_pair in zip(first, second, np.broadcast_to(topics, first.shape).tolist(), strict=True)
    ]
    columns: dict[str, Any] = {
        "a": [runs[run] for run in first.tolist()],
        "b": [runs[run] for run in second.tolist()],
        "measure": [str(measure)] * first.size,
        **{name: numbers[name].astype(int).tolist() for name in ("won", "lost")},
        "certain": [CERTAIN.get(code) for code in numbers["certain"].tolist()],
        "verdict": [VERDICTS[code] + words for code, words in zip(codes.tolist(), lacking, strict=True)],
    }
    fields = [column.name for column in PAIR_COLUMNS]
    return plain_rows(fields, *(columns.get(name, numbers.get(name, unknown)) for name in fields))
