"""Bounds of a score with fixed weights from another one: DCG at another depth or base, P@10 from SDCG@20.

Zhang, Park and Moffat (ADCS 2008) do this for RBP's persistence, and suggest it for "other evaluation metrics that have
fixed relevance contributions for each given position". With gains relaxed to any number from 0 to 1, the lists that
score S have sum of w_i g_i = S, and the greatest sum of v_i g_i fills the ranks by falling v_i / w_i, the least by
rising v_i / w_i, with one rank in part. This also holds for means over topics, which are scores of such lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError, UsageError
from rankbounds.measures import RankWeighted, parse_measure
from rankbounds.measures.naming.parser import MeasureLike
from rankbounds.rbp.other_persistence import ARITHMETIC, outward_interval
from rankbounds.rbp.published_score import Printed


@dataclass(frozen=True)
class WeightedRange:
    """The range of a score by another measure."""

    score: str
    measure: RankWeighted
    to: RankWeighted
    low: float
    high: float

    @property
    def within(self) -> str:
        """The range as text, rounded outwards."""
        return outward_interval(self.low, self.high, limit=float(_weights(self.to, self.to.cutoff or 0).sum()))

    def __str__(self) -> str:
        return f"{self.measure} of {self.score} lies in {self.within} by {self.to}"


def transfer_weights(
    score: str | float, measure: MeasureLike, to: MeasureLike, *, residual: str | float | None = None
) -> WeightedRange:
    """Bound a published score by another sum of fixed weights over ranks: DCG at another depth, SDCG of another base.

    Parameters
    ----------
    score
        The score as printed: ``"0.4320"`` is known to four decimals.
    measure, to
        The measure it was published in, and the one wanted: P, RBP, DCG, SDCG with a depth, such as
        ``"SDCG(base=2)@10"``.
    residual
        The most that unjudged documents could add to the score, as printed. The range then holds for the score with all
        documents judged; without it, unjudged documents count as non-relevant in both.

    Returns
    -------
    WeightedRange
        ``low`` and ``high`` hold for all lists with gains between 0 and 1, and for means over topics. Lists with binary
        relevance may have a narrower range.

    Examples
    --------
    >>> import rankbounds as rb
    >>> print(rb.rbp.transfer_weights("0.5000", "P@2", "P@4"))
    P@2 of 0.5000 lies in [0.2499, 0.7501] by P@4
    """
    source, target = (_parse_weighted(one) for one in (measure, to))
    depth = max(source.cutoff or 0, target.cutoff or 0)
    from_weights, to_weights = (_weights(one, depth) for one in (source, target))
    most = float(from_weights.sum())
    printed, open_ = Printed.read("score", score), Printed.read("residual", residual or 0)
    least, greatest = printed.range
    if printed.value < 0 or least > most:
        raise DataError(f"{source} lies between 0 and {most:.4f}, and {score} does not.")
    if open_.value < 0:
        raise DataError(f"A residual is at least 0, not {residual}.")
    low = _extreme(least, from_weights, to_weights, highest=False)
    most = min(most, greatest + (open_.range[1] if residual else 0.0))
    high = _extreme(most, from_weights, to_weights, highest=True)
    return WeightedRange(str(score), source, target, max(0.0, low - ARITHMETIC), high + ARITHMETIC)


def _parse_weighted(given: MeasureLike) -> RankWeighted:
    measure: Any = parse_measure(given)
    if not isinstance(measure, RankWeighted) or measure.cutoff is None:
        raise UsageError(f"{measure} has no fixed weights down to a depth. Use P@10, DCG@10, SDCG@10 or RBP@10.")
    return measure


def _weights(measure: RankWeighted, depth: int) -> Floats:
    weights = np.zeros(depth)
    weights[: measure.cutoff] = measure.weights(measure.cutoff or 0)
    return weights


def _extreme(score: float, weights: Floats, wanted: Floats, *, highest: bool) -> float:
    """Return the greatest (or least) sum of wanted weights of gains from 0 to 1 that score this."""
    free = float(wanted[weights == 0].sum()) if highest else 0.0  # ranks that the score says nothing about
    bound = weights > 0
    ratio = wanted[bound] / weights[bound]
    order = np.argsort(-ratio if highest else ratio, kind="stable")
    before = np.cumsum(weights[bound][order]) - weights[bound][order]
    gain = np.clip((score - before) / weights[bound][order], 0.0, 1.0)
    return free + float(gain @ wanted[bound][order])
