"""Reciprocal rank for users who do not stop at the first relevant document."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.measure import Measure
from rankbounds.measures.tied_draws import chance_of_place, groups_reaching
from rankbounds.rankings.rankings import Rankings


class RRn(Measure):
    """One over the rank of the n-th relevant document, 0 if fewer are retrieved (within the depth).

    ``n=2`` is the sceptical user, who wants a second relevant document to confirm the first. With ``damping=k`` it is
    one over that rank plus k: the cautious user, who looks at k documents more before stopping. ``n=1,damping=0`` is
    RR; other than RR, the best value is 1/(n + k).

    Source: Moffat and Zobel 2008, section 4.3.

    Parameters
    ----------
    n : int, default 2
        Which relevant document the user stops at.
    damping : float, default 0
        What is added to its rank.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.RRn(n=2)).value.item(), 4)
    0.3333
    """

    n: int = 2
    damping: float = 0.0
    rel: float = 1.0
    cutoff: int | None = None

    name = "RRn"
    value_range = (0.0, 1.0)
    examples = ("RRn(n=2)", "RRn(n=1,damping=2)", "RRn(n=3,damping=0.5)@4", "RRn(n=2)@3")
    sources = ("moffat2008rank",)
    always_shown = ("n",)
    monotone = True
    multilinear = True
    list_only = True

    def check(self) -> None:
        if self.n < 1 or self.damping < 0:
            raise UsageError("RRn: n must be a whole number from 1 on, and damping must not be negative.")

    def value(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)[..., : self.depth(rankings)]
        worth = 1 / (self.damping + np.arange(1, relevant.shape[-1] + 1))
        if rankings.certain:
            so_far = rankings.relevant_so_far(self.rel)[..., : self.depth(rankings)]
            return ((so_far == self.n) & (relevant > 0)) @ worth
        found = np.zeros((relevant.shape[0], self.n))  # the chance of having found 0, 1, ..., n - 1 so far
        found[:, 0] = 1.0
        total = np.zeros(relevant.shape[0])
        for rank in range(relevant.shape[-1]):
            chance = relevant[:, rank, None]
            total += chance[:, 0] * found[:, -1] * worth[rank]
            found = found * (1 - chance) + chance * np.roll(found, 1, axis=-1) * (np.arange(self.n) > 0)
        return total

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        if rankings.tied is None:
            return self.value(rankings)
        if not rankings.certain:
            return None
        last = groups_reaching(rankings, rankings.relevant(self.rel), self.n)
        place = last.first[:, None] + np.arange(1, int(last.size.max(initial=1)) + 1)
        within = place <= (rankings.width if self.cutoff is None else self.cutoff)
        chances = chance_of_place(last, place.shape[-1])
        expected: Floats = (chances * np.where(within, 1 / (self.damping + place), 0.0)).sum(axis=-1)
        return np.where(last.reached, expected, 0.0)
