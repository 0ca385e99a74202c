"""Measures of the C/W/L family as the package cwl_eval computes them: over 1,000 ranks, whatever the list's length.

A list is padded with documents without gain, or cut, to 1,000 ranks, whose weights are scaled to sum to 1. For users
who may read further (INSQ, INST, NERR11), values are slightly above those of our measures of these names, whose sums
are infinite: 0.35% for INSQ with T = 2. An unjudged document gains nothing. There are no bounds.

Source: Azzopardi, Thomas and Moffat, cwl_eval: An Evaluation Tool for Information Retrieval, SIGIR 2019.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Measure
from rankbounds.rankings.rankings import Rankings

RANKS = 1000


class AsCwlEval(Measure):
    """Gain per document read, with grades clipped to ``min_rel`` and ``max_rel`` and scaled to 0 and 1.

    A subclass has ``continuation``: the probability of continuing past each rank.
    """

    min_rel: float = 0.0
    max_rel: float = 1.0

    promotable = False
    exactness = "unknown"

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        """The probability of looking past these ranks, where documents gain so much."""
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        """What is gained per document examined."""
        gain = np.zeros((rankings.length.size, RANKS))
        grade = np.nan_to_num(rankings.grade[:, :RANKS])
        gain[:, : grade.shape[1]] = np.clip((grade - self.min_rel) / (self.max_rel - self.min_rel), 0.0, 1.0)
        going_on = self.continuation(np.arange(1.0, RANKS + 1), gain)
        examined = np.cumprod(np.broadcast_to(going_on, gain.shape), axis=-1)
        examined = np.concatenate((np.ones((gain.shape[0], 1)), examined[:, :-1]), axis=1)
        return (examined * gain).sum(axis=-1) / examined.sum(axis=-1)


class CwlINSQ(AsCwlEval):
    """Who hopes for T."""

    T: float = 1.0

    def continuation(self, rank: Floats, gain: Floats) -> Floats:  # noqa: ARG002
        return (1 - 1 / (rank + 2 * self.T)) ** 2


class CwlINST(CwlINSQ):
    """Who hopes for T, minus what was found."""

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        return (1 - 1 / (rank + 2 * self.T - np.cumsum(gain, axis=-1))) ** 2


class CwlBPM(CwlINSQ):
    """Who stops with T, or at the depth."""

    cutoff: int | None = None

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        reads_on = (np.cumsum(gain, axis=-1) < self.T) & (rank < (self.cutoff or RANKS))
        return reads_on.astype(np.float64)


class CwlSDCG(AsCwlEval):
    """Whose weights fall as those of DCG, down to the depth."""

    cutoff: int | None = None

    def continuation(self, rank: Floats, gain: Floats) -> Floats:  # noqa: ARG002
        return np.where(rank < (self.cutoff or RANKS), np.log2(rank + 1) / np.log2(rank + 2), 0.0)


class CwlNERR8(AsCwlEval):
    """Who stops where satisfied, or at the depth."""

    cutoff: int | None = None

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        return np.where(rank < (self.cutoff or RANKS), 1 - gain, 0.0)


class CwlNERR9(CwlNERR8):
    """The same, who also stops by rank."""

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        return super().continuation(rank, gain) * rank / (rank + 1)


class CwlNERR10(AsCwlEval):
    """RBP's user, who also stops where satisfied."""

    p: float = 0.9

    def continuation(self, rank: Floats, gain: Floats) -> Floats:  # noqa: ARG002
        return self.p * (1 - gain)


class CwlNERR11(CwlINSQ):
    """INSQ's user, who also stops where satisfied."""

    def continuation(self, rank: Floats, gain: Floats) -> Floats:
        return super().continuation(rank, gain) * (1 - gain)


MEASURES: dict[str, type[AsCwlEval]] = {
    "INSQ": CwlINSQ,
    "INST": CwlINST,
    "BPM": CwlBPM,
    "SDCG": CwlSDCG,
    "NERR8": CwlNERR8,
    "NERR9": CwlNERR9,
    "NERR10": CwlNERR10,
    "NERR11": CwlNERR11,
}
"""By the names that ir_measures has for them."""
