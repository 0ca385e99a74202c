"""Discriminative power: how many pairs of systems a measure separates, and how large a difference that takes.

Sakai's bootstrap sensitivity method, and the share of significant pairs by any other test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.choices import check_share
from rankbounds.errors import UsageError
from rankbounds.evaluation.clusters import ClustersLike
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.score_differences import differences as score_differences
from rankbounds.evaluation.scores import Scores
from rankbounds.results import Column, Result
from rankbounds.stats import significance


@dataclass(frozen=True, eq=False, repr=False)
class DiscriminativePower(Result):
    """By measure and level, how many pairs are separated; and every pair's significance level."""

    found: list[dict[str, Any]]
    significance: dict[str, Floats]
    """For each measure, the pairs' significance levels in falling order: the curve that Sakai draws."""

    title = "Discriminative power: pairs of runs that a test separates."
    columns = (
        Column("measure"),
        Column("test"),
        Column("alpha", cell=lambda row: f"{row['alpha']:g}"),
        Column("discriminated", "pairs separated", lambda row: f"{row['discriminated']}/{row['pairs']}"),
        Column("pairs", None),
        Column("power", cell=lambda row: f"{row['power']:.1%}"),
        Column("required_difference", "difference required"),
    )

    def rows(self) -> list[dict[str, Any]]:
        return self.found

    def notes(self) -> list[str]:
        return [f"{significance.drawn_words(self.settings)}."]


def discriminative_power(
    scores: Scores,
    alpha: float | Sequence[float] = (0.05, 0.01),
    test: str = "bootstrap",
    *,
    clusters: ClustersLike | None = None,
    resamples: int = 1000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> DiscriminativePower:
    """Compute the share of pairs of runs that each measure separates at each significance level.

    Parameters
    ----------
    scores, alpha
        Scores of two runs or more, and the significance levels.
    test : str, default "bootstrap"
        ``"bootstrap"`` is Sakai's method: the significance level of a pair is the share of resamples, drawn from
        differences shifted to mean 0, with at least the observed t. Or any other test of ``compare``.
    clusters, resamples, seed
        As in ``compare``.
    progress : callable, optional
        Called with the numbers of measures done so far and in all.

    Returns
    -------
    DiscriminativePower
        A row per measure and level: ``discriminated`` of ``pairs``, their share ``power``, and with the bootstrap the
        ``required_difference``, the largest just significant mean difference of any pair.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(topic): {"x": 1} for topic in range(8)}
    >>> good, bad = ({topic: documents for topic in qrels} for documents in (["x"], ["y", "x"]))
    >>> scores = rb.evaluate(qrels, {"good": good, "bad": bad}, ["RR", "P@2"])
    >>> [(row["measure"], row["power"]) for row in rb.stats.discriminative_power(scores, 0.05, "t").rows()]
    [('RR', 1.0), ('P@2', 0.0)]
    """
    resampling = significance.Resampling(resamples, seed)
    levels = [alpha] if isinstance(alpha, int | float) else list(alpha)
    for level in levels:
        check_share("alpha", level)
    significance.check_test(test)
    if len(scores.runs) < 2:
        raise UsageError("Discriminative power needs at least two runs.")
    first, second = significance.pairs_of(len(scores.runs))
    grouped = Question(clusters=clusters).clusters_of(scores)
    rows, curves = [], {}
    for at, measure in enumerate(scores.measures):
        matrix = scores.value[:, :, at]
        differences = significance.check_differences(score_differences(matrix[first], matrix[second]))
        differences = differences if grouped is None else grouped.sum_differences(differences)
        required: Sequence[float | None] = [None] * len(levels)
        if test == "bootstrap":
            significance.check_finite(differences, "the bootstrap test", measure)
            level_of_pair, required = _bootstrap_sensitivity(differences, levels, resampling)
        else:
            level_of_pair = significance.p_values(differences, test, resampling=resampling, measure=measure)
        curves[str(measure)] = np.sort(level_of_pair)[::-1]
        for level, needed in zip(levels, required, strict=True):
            found = int(np.count_nonzero(level_of_pair < level))
            values = (str(measure), test, level, found, first.size, found / first.size, needed)
            rows.append(dict(zip((column.name for column in DiscriminativePower.columns), values, strict=True)))
        if progress:
            progress(at + 1, len(scores.measures))
    return DiscriminativePower(rows, curves, settings=asdict(resampling))


def _bootstrap_sensitivity(
    differences: Floats, levels: list[float], resampling: significance.Resampling
) -> tuple[Floats, Sequence[float]]:
    counts = significance.topic_counts(differences.shape[-1], resampling)
    resamples = counts.shape[0]
    achieved = np.empty(differences.shape[0])
    required = np.zeros(len(levels))
    # The (B * alpha)-th largest; with fewer resamples than 1/alpha, the largest there is.
    places = [resamples - max(1, int(resamples * level + 1e-9)) for level in levels]
    for rows in significance.chunks(differences.shape[0], resamples):
        t, mean = significance.resampled_t(differences[rows], counts)
        np.abs(t, out=t)
        observed = np.abs(significance.t_statistic(differences[rows]))[:, None]
        achieved[rows] = np.count_nonzero(t >= observed - significance.rounding(observed), axis=-1) / resamples
        ranked = np.argpartition(t, places, axis=-1)
        just_significant = np.abs(np.take_along_axis(mean, ranked[:, places], axis=-1))
        required = np.maximum(required, just_significant.max(axis=0))
    return achieved, required.tolist()
