"""Do two sets of labels say the same of the same documents? Confusion, kappa, alpha, shift, with intervals over topics.

Everything follows from one table for each topic: how many pairs of a query and a document have this grade by the one
set and that grade by the other. Coefficients take such tables along their leading axes, so that all resamples of topics
are one matrix product and one call.

- Cohen's kappa: 1 minus the disagreement over that of independent labels with the same shares of grades. Linear weights
  count a disagreement by its distance in grades, quadratic ones by the square of it (Cohen 1968).
- Krippendorff's alpha: the same with one shared distribution of grades, by pairs of values drawn from all labels
  (Krippendorff 2004); grades differ by how many labels lie between them (ordinal).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.qrels import Qrels
from rankbounds.errors import DataError
from rankbounds.judging.judges.label_sets import LabelSet
from rankbounds.stats.significance import Resampling, topic_counts
from rankbounds.tables import plain, plain_rows

UNIT, SIGNED = (0.0, 1.0), (-1.0, 1.0)
RANGES = {"same": UNIT, "relevant": UNIT, "relevant_trusted": UNIT, "shift": (-np.inf, np.inf)}
"""Between which numbers a statistic lies; the others are correlations and differences of shares."""
MOST_GRADES = 50
"""Labels of more different grades are no grades, but scores."""
STATISTICS = (
    "kappa", "kappa_linear", "kappa_quadratic", "alpha", "same", "relevant_trusted", "relevant", "shift_relevant",
    "shift",
)  # fmt: skip
OTHER_SCALE = "another scale than the trusted labels: only relevant or not can be compared"


def kappa(tables: Floats, weights: Floats) -> Floats:
    """Cohen's kappa of every table (the last two axes), for weights of disagreement; NaN where none is possible."""
    total = tables.sum(axis=(-2, -1))
    observed = (tables * weights).sum(axis=(-2, -1)) * total
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = ((rows @ weights) * columns).sum(axis=-1)
    return 1 - _quotient(observed, expected)


def alpha(tables: Floats) -> Floats:
    """Krippendorff's ordinal alpha of every table of two labels for each pair; NaN where all are the same grade."""
    coincidences = tables + np.swapaxes(tables, -2, -1)
    count = coincidences.sum(axis=-1)
    total = count.sum(axis=-1)
    middle = np.cumsum(count, axis=-1) - count / 2
    # Labels between two grades, half of those at either end.
    distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    observed = (coincidences * distance).sum(axis=(-2, -1)) * (total - 1)
    expected = (count[..., :, None] * count[..., None, :] * distance).sum(axis=(-2, -1))
    return 1 - _quotient(observed, expected)


def disagreement(grades: Floats, power: int) -> Floats:
    """Weights for kappa: 0 plain, 1 linear, 2 quadratic in the distance of grades."""
    distance = np.abs(grades[:, None] - grades[None, :])
    return np.asarray(distance > 0, dtype=np.float64) if power == 0 else distance**power


def _quotient(numerator: Floats, denominator: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / denominator, np.nan)


@dataclass(frozen=True, eq=False)
class LabelTables:
    """Two sets of labels side by side: for each topic, how many pairs have which two grades."""

    trusted_grades: Floats
    grades: Floats
    by_topic: Floats
    """Axes topic, trusted grade, other grade; grades ascend."""
    rel: float
    labels_rel: float
    missing: int
    """Pairs of the trusted labels that the others lack."""
    extra: int
    """Pairs of the others, of the same topics, that the trusted labels lack."""

    @classmethod
    def count(cls, trusted: Qrels, labels: Qrels, name: str, rel: float, labels_rel: float) -> LabelTables:
        """Count the pairs of both by topic and grades. The labels' topics are among those of the trusted ones."""
        rows, here = trusted.pairs.index.find(labels.pairs)
        if not rows.size:
            raise DataError(
                labels.pairs.source.name,
                f'the labels "{name}" and the trusted ones share no pair of a query and a document.',
            )
        trusted_grades, trusted_place = np.unique(trusted.grade[here], return_inverse=True)
        grades, place = np.unique(labels.grade[rows], return_inverse=True)
        for of_side, used in ((labels, grades), (trusted, trusted_grades)):
            if used.size > MOST_GRADES:
                raise DataError(
                    of_side.pairs.source.name,
                    f"these labels have {used.size} different grades.",
                    "Round them to a few, such as 0, 1, 2 and 3.",
                )
        by_topic = np.zeros((len(trusted.query_ids), trusted_grades.size, grades.size))
        np.add.at(by_topic, (trusted.pairs.topic[here], trusted_place, place), 1)
        missing, extra = len(trusted) - rows.size, len(labels) - rows.size
        return cls(trusted_grades, grades, by_topic, rel, labels_rel, missing, extra)

    def statistics(self, *, same_scale: bool) -> dict[str, tuple[Floats, Callable[[Floats], Floats]]]:
        """By name, the tables by topic and what is computed from a sum of them; of grades for one scale only."""
        sides = self.trusted_grades >= self.rel, self.grades >= self.labels_rel
        rows, columns = (np.stack([~relevant, relevant]).astype(np.float64) for relevant in sides)
        tables = rows @ self.by_topic @ columns.T  # axes topic, relevant by trusted labels (no, yes), by the others
        statistics: dict[str, tuple[Floats, Callable[[Floats], Floats]]] = {
            "kappa": (tables, partial(kappa, weights=disagreement(np.array([0.0, 1.0]), 0))),
            "alpha": (tables, alpha),
            "same": (tables, partial(_mean_worth, worth=np.eye(2))),
            "relevant_trusted": (tables, partial(_mean_worth, worth=np.array([[0.0, 0], [1, 1]]))),
            "relevant": (tables, partial(_mean_worth, worth=np.array([[0.0, 1], [0, 1]]))),
            "shift_relevant": (tables, partial(_mean_worth, worth=np.array([[0.0, 1], [-1, 0]]))),
        }
        if not same_scale:
            return statistics
        grades = np.union1d(self.trusted_grades, self.grades)
        tables = np.zeros((len(self.by_topic), grades.size, grades.size))
        here, there = (np.searchsorted(grades, own) for own in (self.trusted_grades, self.grades))
        tables[:, here[:, None], there] = self.by_topic
        for name, power in (("kappa_linear", 1), ("kappa_quadratic", 2)):
            statistics[name] = (tables, partial(kappa, weights=disagreement(grades, power)))
        statistics["alpha"] = (tables, alpha)
        statistics["shift"] = (tables, partial(_mean_worth, worth=grades[None, :] - grades[:, None]))
        return statistics


def _mean_worth(tables: Floats, worth: Floats) -> Floats:
    return _quotient((tables * worth).sum(axis=(-2, -1)), tables.sum(axis=(-2, -1)))


class TopicBootstrap:
    """Intervals over resampled topics; all that is asked for sees the same resamples.

    An interval is the value and t times its bootstrap standard error to either side: percentiles would be too narrow
    for few topics, and for orders too low, because a resample has fewer different topics.
    """

    def __init__(self, topics: int, resampling: Resampling, confidence: float) -> None:
        from scipy.special import stdtrit

        self.counts = topic_counts(topics, resampling)
        # Resamples vary by what topics vary around their mean: too little by one degree of freedom.
        self._times = float(stdtrit(topics - 1, (1 + confidence) / 2) * np.sqrt(topics / (topics - 1)))

    def resampled(self, by_topic: Floats) -> Floats:
        flat = by_topic.reshape(len(by_topic), -1)
        return (self.counts @ flat).reshape(len(self.counts), *by_topic.shape[1:])

    def interval(
        self, value: float | Floats, statistic: Floats, least: float = -np.inf, most: float = np.inf
    ) -> tuple[Any, Any]:
        """Low and high from a value's resamples (the first axis); NaN where most have none, or all the same."""
        known = ~np.isnan(statistic)
        count = np.count_nonzero(known, axis=0)
        enough = ~np.isnan(value) & (count > len(statistic) / 2)
        mean = np.where(known, statistic, 0.0).sum(axis=0) / np.maximum(count, 1)
        spread = np.where(known, statistic - mean, 0.0)
        error = np.sqrt((spread**2).sum(axis=0) / np.maximum(count, 1))
        half = np.where(enough & (error > 1e-12), self._times * error, np.nan)
        return np.maximum(value - half, least).tolist(), np.minimum(value + half, most).tolist()


# ---- rows ----


def with_interval(
    name: str, statistic: tuple[Floats, Callable[[Floats], Floats]], bootstrap: TopicBootstrap
) -> dict[str, Any]:
    """A statistic as fields ``name``, ``name_low`` and ``name_high``."""
    by_topic, compute = statistic
    value = float(compute(by_topic.sum(axis=0)))
    ends = bootstrap.interval(value, compute(bootstrap.resampled(by_topic)), *RANGES.get(name, SIGNED))
    return dict(zip((name, f"{name}_low", f"{name}_high"), map(plain, (value, *ends)), strict=True))


def agreement_row(judge: LabelSet, table: LabelTables, bootstrap: TopicBootstrap) -> dict[str, Any]:
    statistics = table.statistics(same_scale=judge.same_scale)
    row: dict[str, Any] = {
        "labels": judge.name,
        "scale": judge.scale,
        "rel": judge.rel,
        "pairs": int(table.by_topic.sum()),
        "missing": table.missing,
        "extra": table.extra,
    }
    for name in STATISTICS:
        fields: dict[str, Any] = dict.fromkeys((name, f"{name}_low", f"{name}_high"))
        if name in statistics:
            fields = with_interval(name, statistics[name], bootstrap)
        row |= fields
    row["reason"] = None if judge.same_scale else OTHER_SCALE
    return row


def confusion_rows(judge: LabelSet, table: LabelTables) -> list[dict[str, Any]]:
    return [
        {"labels": judge.name, "trusted": plain(grade), "by_labels": plain(by_labels), "pairs": int(count)}
        for grade, counts in zip(table.trusted_grades, table.by_topic.sum(axis=0), strict=True)
        for by_labels, count in zip(table.grades, counts, strict=True)
    ]


def grade_rows(judge: LabelSet, table: LabelTables, bootstrap: TopicBootstrap) -> list[dict[str, Any]]:
    count = table.by_topic.sum(axis=-1)
    relevant = table.by_topic[:, :, table.grades >= table.labels_rel].sum(axis=-1)
    with np.errstate(invalid="ignore"):
        drawn = bootstrap.resampled(relevant) / bootstrap.resampled(count)
    shares = relevant.sum(axis=0) / count.sum(axis=0)
    low, high = map(np.array, bootstrap.interval(shares, drawn, *UNIT))
    fields = ("labels", "trusted", "pairs", "relevant", "ci_low", "ci_high")
    pairs = count.sum(axis=0).astype(int).tolist()
    return plain_rows(fields, [judge.name] * len(pairs), table.trusted_grades, pairs, shares, low, high)
