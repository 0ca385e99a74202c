"""Two runs compared from sums over topics, where the topics themselves are on many machines.

The paired t test needs no more of the differences than how many there are, their mean and their squared distances from
it. The bounds of a mean difference are the means of the topics' bounds. Tests that shuffle or rank need the topics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.comparison.pairs import PAIR_COLUMNS, PairTesting, check_means, pair_rows, verdicts
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.score_differences import TOLERANCE, equal, merit, merit_of_range, zeroed
from rankbounds.measures import Measure
from rankbounds.results import Result
from rankbounds.stats.corrections import CORRECTIONS, adjusted
from rankbounds.stats.significance import p_of_t

if TYPE_CHECKING:
    from rankbounds.evaluation.engines.spark.scores import PairedSums, SparkScores

SHOWN = ("a", "b", "measure", "difference", "ci_low", "ci_high", "p_value", "p_adjusted", "verdict")


@dataclass(frozen=True, eq=False, repr=False)
class SummedComparison(Result):
    """What sums over topics say of pairs of runs.

    Attributes
    ----------
    pairs : list of dict
        A row for each measure and pair, with the fields of ``Comparison.pairs``; ``probability_a_better`` and
        ``p_equivalent`` are None.
    settings : dict
        The test, the correction and all else that p-values depend on.
    """

    pairs: list[dict[str, Any]]

    columns = tuple(column if column.name in SHOWN else replace(column, heading=None) for column in PAIR_COLUMNS)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each measure and pair."""
        return self.pairs


def compare_sums(scores: SparkScores, how: PairTesting) -> SummedComparison:
    """Compare all pairs of runs whose scores Spark holds, or all with a baseline; where ``rb.compare`` takes them."""
    how.check(scores.runs)
    if how.test != "t" or (how.correction in CORRECTIONS and CORRECTIONS[how.correction].by_shuffles):
        raise UsageError(
            'Scores that Spark holds are compared from sums, by the t test (test="t", with holm, bonferroni, bh or no '
            "correction). Collect them (scores.collect()) for tests that need every topic."
        )
    check_means(scores.measures)
    first, second = how.pairs(scores.runs)
    correction = how.correction_for(first.size)
    several = [
        scores.paired_sums(scores.runs[a], scores.runs[b]) for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]
    topics = np.array([int(sums.topics.max()) for sums in several])
    counted = scores.mean().notes if scores.assumptions.topics == "judged" else []
    missing = [len(noted.missing) for noted in counted] or [0] * len(scores.runs)
    rows: list[dict[str, Any]] = []
    for place, measure in enumerate(scores.measures):
        numbers = _numbers(several, place, measure, how)
        numbers["p_adjusted"] = adjusted(numbers["p_value"], correction)
        low, high = merit_of_range(numbers["certain_low"], numbers["certain_high"], measure)
        numbers["certain"] = np.where(np.isnan(low), np.nan, equal(low, high))
        codes = verdicts(merit(numbers["difference"], measure), numbers["p_adjusted"], low, high, how.alpha)
        rows += pair_rows(scores.runs, first, second, measure, numbers, codes, missing, topics)
    settings = {
        "test": how.test, "correction": correction, "baseline": how.baseline, "alternative": how.alternative,
        "alpha": how.alpha, "confidence": how.confidence, "topics": int(topics[0]),
    }  # fmt: skip
    return SummedComparison(rows, settings=settings)


def _numbers(several: list[PairedSums], place: int, measure: Measure, how: PairTesting) -> dict[str, Floats]:
    """What the sums of all pairs say by one measure."""
    from scipy.special import stdtrit

    def column(name: str) -> Floats:
        return np.array([getattr(sums, name)[place] for sums in several])

    topics, size = column("topics"), column("size")
    if (topics < 2).any():
        raise DataError("Tests need at least two topics that both runs have.")
    if not np.isfinite(column("mean")).all():
        raise DataError(
            f"{measure} is infinite on a topic for one of two runs, which the t test cannot use. Take a measure that "
            "stays finite."
        )
    mean, squares = zeroed(column("mean"), size), column("squares")
    deviation = np.where(squares <= topics * (TOLERANCE * size) ** 2, 0.0, np.sqrt(squares / (topics - 1)))
    error = deviation / np.sqrt(topics)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, 0.0, merit(mean, measure) / error)
        effect = np.where(mean == 0, 0.0, mean / deviation)
    half = np.where(error > 0, stdtrit(topics - 1, (1 + how.confidence) / 2) * error, np.nan)
    most = measure.value_range[1] - measure.value_range[0]
    won, lost = (column("lost"), column("won")) if measure.lower_is_better else (column("won"), column("lost"))
    return {
        "difference": mean, "ci_low": np.maximum(mean - half, -most), "ci_high": np.minimum(mean + half, most),
        "effect": effect, "p_value": p_of_t(t, topics, how.alternative), "certain_low": zeroed(column("low"), size),
        "certain_high": zeroed(column("high"), size), "won": won, "lost": lost,
    }  # fmt: skip
