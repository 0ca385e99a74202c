"""Four C/W/L measures close to ERR: users stop at a document with the probability that it satisfies them.

A document that gains g, as a share of the largest gain, satisfies with probability g; an unsatisfied user continues
with a probability that depends on rank alone. The value is the gain per document examined. More gain at any rank raises
it, so bounds follow from two fillings; beyond the list, ``high`` continues with documents of the largest gain.

Source: Azzopardi, Mackenzie and Moffat, ERR is not C/W/L: Exploring the Relationship Between Expected Reciprocal Rank
and Other Metrics, ICTIR 2021 (equations 8 to 11).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.cwl.continuing import DEEPEST, ContinuingByRelevance
from rankbounds.measures.parameters import PERSISTENCE, POSITIVE, parameter
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rankings.rankings import Rankings

NOBODY_LEFT = 40
"""After so many documents that satisfy with a probability of one in so many, fewer than e^-40 of users read on."""


class NearlyERR(ContinuingByRelevance):
    """A subclass has ``unsatisfied`` and ``unsatisfied_beyond``."""

    max_grade: float | None = parameter(
        "The gain that satisfies for certain; None: the collection's largest.", POSITIVE, default=None
    )

    takes: ClassVar[tuple[str, ...]] = ()
    sources = ("azzopardi2021err",)
    graded = True
    monotone = True

    def unsatisfied(self, rank: Floats) -> Floats:
        """Return the probability of continuing past these ranks when not satisfied there."""
        raise NotImplementedError

    def unsatisfied_beyond(self, rank: int) -> float:
        """Return how many documents a user at the next rank examines if none satisfies."""
        raise NotImplementedError

    def worth(self, rankings: Rankings) -> Floats:
        return RBP(p=0.0, graded=True, max_grade=self.max_grade).worth(rankings)

    def largest_worth(self, rankings: Rankings) -> float:
        return float(RBP(p=0.0, graded=True, max_grade=self.max_grade).largest_worth(rankings)[0])

    def continuation(self, relevant: Floats) -> Floats:
        return self.unsatisfied(np.arange(1.0, relevant.shape[-1] + 1)) * (1 - relevant)

    def examined_beyond(self, relevant: Floats, *, relevant_beyond: float) -> Floats:
        rank = relevant.shape[-1]
        if not relevant_beyond:
            return np.full(relevant.shape[:-1], self.unsatisfied_beyond(rank))
        further = np.arange(1.0, min(NOBODY_LEFT / relevant_beyond, DEEPEST) + 1)
        reached = np.cumprod(self.unsatisfied(rank + further) * (1 - relevant_beyond))
        return np.full(relevant.shape[:-1], 1.0 + float(reached.sum()))


class NERR8(NearlyERR):
    """What a user gains per document who reads until a document satisfies, down to depth k at most.

    With binary judgments it is RR@k.
    """

    takes = ("cutoff",)
    example = ("NERR8 @ 3", 0.5)
    examples = ("NERR8@3", "NERR8@6")
    needs_cutoff = True

    def unsatisfied(self, rank: Floats) -> Floats:
        return (rank < (self.cutoff or 1)).astype(np.float64)

    def unsatisfied_beyond(self, rank: int) -> float:
        return max(0.0, (self.cutoff or 1) - rank)


class NERR9(NERR8):
    """Gain per document read, for a user who stops when satisfied, otherwise continues from rank i with probability
    i / (i + 1), and never past depth k.
    """

    example = ("NERR9 @ 3", 0.4706)
    examples = ("NERR9@3", "NERR9@6")

    def unsatisfied(self, rank: Floats) -> Floats:
        return super().unsatisfied(rank) * rank / (rank + 1)

    def unsatisfied_beyond(self, rank: int) -> float:
        return float(((rank + 1) / np.arange(rank + 1, (self.cutoff or 1) + 1)).sum())


class NERR10(NearlyERR):
    """Gain per document read, for a user who stops when satisfied and otherwise continues with probability p, as in
    RBP.
    """

    p: float = parameter("The probability of continuing when a document does not satisfy.", PERSISTENCE, default=0.9)

    example = ("NERR10(p=0.8)", 0.4767)
    examples = ("NERR10(p=0.9)", "NERR10(p=0.5)")
    always_shown = ("p",)

    def unsatisfied(self, rank: Floats) -> Floats:
        return np.full(rank.shape, self.p)

    def unsatisfied_beyond(self, rank: int) -> float:  # noqa: ARG002
        return 1 / (1 - self.p)


class NERR11(NearlyERR):
    """Gain per document read, for a user who stops when satisfied and otherwise continues as in INSQ."""

    T: float = parameter("How much gain the user hopes for.", POSITIVE, default=1.0)

    example = ("NERR11(T=2)", 0.4683)
    examples = ("NERR11(T=1)", "NERR11(T=2.5)")
    always_shown = ("T",)

    def unsatisfied(self, rank: Floats) -> Floats:
        return ((rank + 2 * self.T - 1) / (rank + 2 * self.T)) ** 2

    def unsatisfied_beyond(self, rank: int) -> float:
        from scipy.special import zeta

        read = rank + 2 * self.T
        return float(read**2 * zeta(2, read))
