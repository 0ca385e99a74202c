"""Two runs compared from sums over topics, where the topics themselves are on many machines.

The paired t test needs no more of the differences than how many there are, their mean and their squared distances from
it. The bounds of a mean difference are the means of the topics' bounds. Tests that shuffle or rank need the topics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.comparison.pairs import CERTAIN, PAIR_FIELDS, VERDICTS, run_number, verdicts
from rankbounds.comparison.wording import lacking_words
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.score_differences import TOLERANCE, equal, merit, merit_of_range, zeroed
from rankbounds.measures import Measure
from rankbounds.stats.corrections import BY_SHUFFLES, adjusted, check_correction
from rankbounds.stats.power import check_level
from rankbounds.stats.significance import ALTERNATIVES, check_test, no_surer_than_signs, pairs_of
from rankbounds.tables import Table, number, plain_rows

if TYPE_CHECKING:
    import polars

    from rankbounds.evaluation.engines.spark.scores import PairedSums, SparkScores

SHOWN = ("a", "b", "measure", "difference", "ci_low", "ci_high", "p_value", "p_adjusted", "verdict")


@dataclass(frozen=True, eq=False, repr=False)
class SummedComparison:
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
    settings: dict[str, Any]

    def __repr__(self) -> str:
        words = frozenset({0, 1, 2, len(SHOWN) - 1})
        cells = [[_cell(row[name]) for name in SHOWN] for row in self.pairs]
        return Table([name.replace("_", " ") for name in SHOWN], cells, words).text()

    def to_polars(self) -> polars.DataFrame:
        """The pairs as a polars data frame."""
        import polars

        return polars.DataFrame({name: [row[name] for row in self.pairs] for name in PAIR_FIELDS})


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else number(value)


def compare_sums(
    scores: SparkScores,
    *,
    test: str,
    correction: str = "auto",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    confidence: float = 0.95,
    baseline: str | None = None,
) -> SummedComparison:
    """Compare all pairs of runs whose scores Spark holds, or all with a baseline; where ``rb.compare`` takes them."""
    if len(scores.runs) < 2:
        raise DataError("A comparison needs at least two runs.")
    if test != "t" or correction in BY_SHUFFLES:
        check_test(test, alternative)
        raise UsageError(
            'Scores that Spark holds are compared from sums, by the t test (test="t", with holm, bonferroni, bh or no '
            "correction). Collect them (scores.collect()) for tests that need every topic."
        )
    check_test(test, alternative)
    check_level(alpha)
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, not {confidence}.")
    for measure in scores.measures:
        if measure.total == "geometric":
            raise UsageError(f"{measure} has a geometric mean over topics, and runs are compared by plain means.")
    first, second = pairs_of(len(scores.runs))
    if baseline is not None:
        against = run_number(scores.runs, baseline)
        first = np.delete(np.arange(len(scores.runs)), against)
        second = np.full(first.size, against)
    correction = ("none" if first.size == 1 else "holm") if correction == "auto" else correction
    check_correction(correction)
    names = [(scores.runs[a], scores.runs[b]) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    several = [scores.paired_sums(a, b) for a, b in names]
    counted = scores.mean().notes if scores.assumptions.topics == "judged" else []
    missing = [len(noted.missing) for noted in counted] or [0] * len(scores.runs)
    lacking = [
        lacking_words(missing[a], missing[b], int(sums.topics.max()))
        for a, b, sums in zip(first.tolist(), second.tolist(), several, strict=True)
    ]
    rows: list[dict[str, Any]] = []
    for place, measure in enumerate(scores.measures):
        numbers = _numbers(several, place, measure, alternative, confidence)
        numbers["p_adjusted"] = adjusted(numbers["p_value"], correction)
        rows += _rows(names, measure, numbers, lacking, alpha)
    settings = {
        "test": test, "correction": correction, "baseline": baseline, "alternative": alternative, "alpha": alpha,
        "confidence": confidence, "topics": int(several[0].topics.max()),
    }  # fmt: skip
    return SummedComparison(rows, settings)


def _numbers(
    several: list[PairedSums], place: int, measure: Measure, alternative: str, confidence: float
) -> dict[str, Floats]:
    """What the sums of all pairs say by one measure."""
    from scipy import stats

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
    tails = {
        "two-sided": lambda: np.minimum(1.0, 2 * stats.t.sf(np.abs(t), topics - 1)),
        "greater": lambda: stats.t.sf(t, topics - 1),
        "less": lambda: stats.t.sf(-t, topics - 1),
    }
    assert set(tails) == set(ALTERNATIVES)
    half = np.where(error > 0, stats.t.ppf((1 + confidence) / 2, topics - 1) * error, np.nan)
    most = measure.value_range[1] - measure.value_range[0]
    won, lost = (column("lost"), column("won")) if measure.lower_is_better else (column("won"), column("lost"))
    return {
        "difference": mean, "ci_low": np.maximum(mean - half, -most), "ci_high": np.minimum(mean + half, most),
        "effect": effect, "p_value": no_surer_than_signs(tails[alternative](), t, topics, alternative),
        "certain_low": zeroed(column("low"), size),
        "certain_high": zeroed(column("high"), size), "won": won, "lost": lost,
    }  # fmt: skip


def _rows(
    names: list[tuple[str, str]], measure: Measure, numbers: dict[str, Floats], lacking: list[str], alpha: float
) -> list[dict[str, Any]]:
    low, high = merit_of_range(numbers["certain_low"], numbers["certain_high"], measure)
    codes = verdicts(merit(numbers["difference"], measure), numbers["p_adjusted"], low, high, alpha)
    exact = np.where(np.isnan(low), np.nan, equal(low, high))
    unknown = [None] * len(names)
    columns = {
        **numbers, "won": numbers["won"].astype(int).tolist(), "lost": numbers["lost"].astype(int).tolist(),
        "probability_a_better": unknown, "probability_b_better": unknown, "p_equivalent": unknown,
        "measure": [str(measure)] * len(names), "a": [a for a, _ in names], "b": [b for _, b in names],
        "verdict": [VERDICTS[code] + words for code, words in zip(codes.tolist(), lacking, strict=True)],
        "certain": [CERTAIN.get(code) for code in exact.tolist()],
    }  # fmt: skip
    return plain_rows(PAIR_FIELDS, *(columns[name] for name in PAIR_FIELDS))
