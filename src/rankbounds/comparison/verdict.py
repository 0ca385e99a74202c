"""One verdict on "is A better than B?", and a leaderboard that says which systems no test separates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.comparison.corrections import adjusted, check_correction, groups_not_separable, randomized_tukey
from rankbounds.comparison.significance import (
    EXACT_TOPICS,
    Resampling,
    check_differences,
    check_level,
    check_test,
    mean_interval,
    p_values,
    pairs_of,
    standardised_effect,
)
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.score_differences import (
    differences as score_differences,
)
from rankbounds.evaluation.score_differences import (
    levelled,
    mean_difference,
    merit,
    merit_of_range,
)
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.tables import Table, number, plain_rows

SYSTEM_FIELDS = ("run", "measure", "mean", "ci_low", "ci_high", "low", "high", "group", "judged_at_10", "topics_won")
PAIR_FIELDS = (
    "a",
    "b",
    "measure",
    "difference",
    "ci_low",
    "ci_high",
    "effect",
    "p_value",
    "p_adjusted",
    "certain_low",
    "certain_high",
    "verdict",
)

CertainBounds = Callable[[Measure], tuple[Floats, Floats] | None]
"""For a measure, the least and the greatest mean difference of every pair over all judgments; None: not known."""


@dataclass(frozen=True)
class Comparison:
    """What the scores of several systems say of each other.

    ``ci_low`` and ``ci_high`` are about topics, a sample: other topics would give another mean. ``certain_low`` and
    ``certain_high`` are about judgments: whatever the unjudged documents turn out to be, the mean difference on these
    topics lies between them.
    """

    systems: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    settings: dict[str, Any]
    scores: Scores = field(repr=False)

    def table(self, measure: str | None = None) -> Table:
        """The leaderboard for one measure, best first."""
        label = measure or self.systems[0]["measure"]
        rows = self.leaderboard(label)
        header = [
            "run",
            f"{label} (lower is better)" if self.measure(label).lower_is_better else label,
            f"{self.settings['confidence']:.0%} interval",
            "bounds",
            "group",
            "judged@10",
            "topics won",
        ]
        cells = [
            [
                row["run"],
                number(row["mean"]),
                _range(row["ci_low"], row["ci_high"]),
                _range(row["low"], row["high"]),
                row["group"],
                f"{row['judged_at_10']:.0%}",
                f"{row['topics_won']:.3g}",
            ]
            for row in rows
        ]
        return Table(header, cells, frozenset({0, 4}))

    def measure(self, label: str) -> Measure:
        """The measure of this name."""
        return next(one for one in self.scores.measures if str(one) == label)

    def leaderboard(self, label: str) -> list[dict[str, Any]]:
        """The systems by one measure, best first."""
        rows = [row for row in self.systems if row["measure"] == label]
        order = np.argsort(-merit(np.array([row["mean"] for row in rows]), self.measure(label)), kind="stable")
        return [rows[at] for at in order.tolist()]

    def pair_table(self, measure: str | None = None, at_most: int | None = None) -> Table:
        """The pairs for one measure, the least likely to be chance first."""
        label = measure or self.systems[0]["measure"]
        rows = [row for row in self.pairs if row["measure"] == label]
        rows.sort(key=lambda row: (row["p_adjusted"], -abs(row["difference"] or 0.0)))
        confidence = f"{self.settings['confidence']:.0%} interval"
        header = ["a", "b", f"a - b, {label}", confidence, "p", "p adjusted", "whatever is judged", "verdict"]
        cells = [
            [
                row["a"],
                row["b"],
                signed(row["difference"]),
                _range(row["ci_low"], row["ci_high"]),
                f"{row['p_value']:.4f}",
                f"{row['p_adjusted']:.4f}",
                _range(row["certain_low"], row["certain_high"]),
                row["verdict"],
            ]
            for row in rows[:at_most]
        ]
        return Table(header, cells, frozenset({0, 1, 7}))

    def __repr__(self) -> str:
        few = len(self.scores.runs) <= 6
        parts = []
        for measure in map(str, self.scores.measures):
            parts.append(self.table(measure).text())
            if few:
                parts.append(self.pair_table(measure).text())
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        return "\n".join(self.table(str(measure)).html() for measure in self.scores.measures)

    def to_latex(self) -> str:
        """The leaderboards as tables for a paper."""
        return "\n".join(self.table(str(measure)).latex() for measure in self.scores.measures)


def signed(value: float | None) -> str:
    """A difference for people, with its sign; a dash where there is none."""
    return "-" if value is None else f"{value:+.4f}"


def _range(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"[{number(low)}, {number(high)}]"


def compare(
    scores: Scores,
    *,
    test: str = "randomization",
    correction: str = "auto",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    certain: CertainBounds | None = None,
) -> Comparison:
    """Compare all pairs of runs in the scores, measure by measure, by a paired test over topics.

    ``test``: ``t``, ``wilcoxon``, ``sign``, ``randomization`` or ``bootstrap``. ``correction`` for the number of pairs:
    ``holm``, ``bonferroni``, ``bh``, ``tukey`` (randomised, paired), ``none``; ``auto`` is ``holm``, or ``tukey`` where
    there are so many pairs that sampled p-values are too coarse for ``holm``. Without ``certain``, bounds of a
    difference are one run's low less the other's high: sound, but wider than need be where runs share documents. There
    are none for measures such as AP and nDCG, which fall when relevant documents of *other* runs are found.

    Scores that differ by no more than rounding are equal (``score_differences``). The better one is the lower one where
    the measure says so: ``alternative="greater"`` asks whether the first run of a pair is better. Where a topic's score
    is infinite on both sides there is no difference; on one side, only ``sign`` and ``wilcoxon`` can tell.
    """
    if len(scores.runs) < 2:
        raise DataError("A comparison needs at least two runs.")
    check_level(alpha)
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, not {confidence}.")
    check_test(test, alternative)
    resampling = Resampling(resamples, seed)
    first, second = pairs_of(len(scores.runs))
    if correction == "auto":
        sampled = test == "bootstrap" or (test == "randomization" and scores.value.shape[1] > EXACT_TOPICS)
        correction = "tukey" if sampled and first.size / (resamples + 1) >= alpha else "holm"
    check_correction(correction)
    mean = scores.mean()
    systems: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    for at, measure in enumerate(scores.measures):
        matrix = scores.value[:, :, at]
        differences = check_differences(score_differences(matrix[first], matrix[second]))
        p = p_values(merit(differences, measure), test, alternative, resampling, measure)
        if correction == "tukey" and np.isinf(matrix).any():
            raise DataError(
                f"{measure} is infinite on a topic, which Tukey's test cannot use. Take another correction."
            )
        p_adjusted = randomized_tukey(matrix, resampling) if correction == "tukey" else adjusted(p, correction)
        bounds = certain(measure) if certain else None
        if bounds is None:
            bounds = _bounds_apart(scores, at, measure)
        difference = mean_difference(matrix[first], matrix[second])
        pairs += _pair_rows(scores.runs, measure, differences, difference, p, p_adjusted, bounds, alpha, confidence)
        separable = np.zeros((len(scores.runs), len(scores.runs)), dtype=bool)
        separable[first, second] = separable[second, first] = p_adjusted < alpha
        means = levelled(mean.value[:, 0, at])
        groups = groups_not_separable(merit(means, measure), separable)
        systems += _system_rows(scores, mean, means, at, groups, confidence)
    settings = {
        "test": test,
        "correction": correction,
        "alternative": alternative,
        "alpha": alpha,
        "confidence": confidence,
        "resamples": resamples,
        "seed": seed,
        "topics": scores.value.shape[1],
    }
    return Comparison(systems, pairs, settings, scores)


def _bounds_apart(scores: Scores, at: int, measure: Measure) -> tuple[Floats, Floats]:
    """One run's low less the other's high, and the reverse; unknown where judging one run's documents moves another."""
    first, second = pairs_of(len(scores.runs))
    if not measure.list_only or scores.bounds not in ("unjudged", "both"):
        return np.full(first.size, np.nan), np.full(first.size, np.nan)
    low, high = scores.low[:, :, at], scores.high[:, :, at]
    return mean_difference(low[first], high[second]), mean_difference(high[first], low[second])


def _system_rows(
    scores: Scores, mean: Scores, means: Floats, at: int, groups: Sequence[str], confidence: float
) -> list[dict[str, Any]]:
    matrix = scores.value[:, :, at]
    ci_low, ci_high = mean_interval(matrix, confidence)
    level = merit(levelled(matrix.T).T, scores.measures[at])
    best = level == level.max(axis=0)
    won = (best / best.sum(axis=0)).sum(axis=-1)  # a topic won together is shared
    return plain_rows(
        SYSTEM_FIELDS,
        scores.runs,
        [str(scores.measures[at])] * len(scores.runs),
        means,
        ci_low,
        ci_high,
        mean.low[:, 0, at],
        mean.high[:, 0, at],
        groups,
        mean.judged[:, 0],
        won,
    )


def _pair_rows(
    runs: Sequence[str],
    measure: Measure,
    differences: Floats,
    difference: Floats,
    p: Floats,
    p_adjusted: Floats,
    bounds: tuple[Floats, Floats],
    alpha: float,
    confidence: float,
) -> list[dict[str, Any]]:
    first, second = pairs_of(len(runs))
    ci_low, ci_high = mean_interval(differences, confidence)
    # Differences that are infinite to both sides have no mean: then who wins more topics leads.
    lead = np.where(np.isnan(difference), np.sign(differences).sum(axis=-1), difference)
    merits = (merit(lead, measure), p_adjusted, *merit_of_range(*bounds, measure))
    numbers = zip(*(one.tolist() for one in merits), strict=True)
    return plain_rows(
        PAIR_FIELDS,
        [runs[one] for one in first.tolist()],
        [runs[one] for one in second.tolist()],
        [str(measure)] * first.size,
        difference,
        ci_low,
        ci_high,
        standardised_effect(differences),
        p,
        p_adjusted,
        bounds[0],
        bounds[1],
        [verdict(*values, alpha=alpha) for values in numbers],
    )


def verdict(difference: float, p_adjusted: float, certain_low: float, certain_high: float, *, alpha: float) -> str:
    """What can be said of a pair in a few words, where more is better.

    "better": significant over topics, and no judgment can turn the difference on these topics around. "better as
    judged": significant, but unjudged documents could still turn it around (or it is not known whether they could).
    """
    if not p_adjusted < alpha or difference == 0:
        return "no difference shown"
    winner = "a" if difference > 0 else "b"
    settled = certain_low > 0 if difference > 0 else certain_high < 0
    return f"{winner} better" if settled else f"{winner} better as judged"
