"""Reciprocal rank: of the first relevant document, of a later one, and expected for grades."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError
from rankbounds.measures.formulas import BestRelevant, Stopping
from rankbounds.measures.measure import Measure
from rankbounds.measures.parameters import COUNT, NOT_NEGATIVE, POSITIVE, parameter
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import chance_of_place, groups_reaching


class RR(BestRelevant):
    """One over the rank of the first relevant document, 0 if none is retrieved (within the depth).

    For users who want one answer. The mean over topics is known as MRR.

    Source: Voorhees, The TREC-8 Question Answering Track Report, 1999.
    """

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    aliases = ("MRR",)
    example = ("RR", 1.0)
    examples = ("RR", "RR@2", "RR(rel=2)")
    sources = ("voorhees1999trec8",)
    trec_names = ("recip_rank",)

    def weights(self, n: int) -> Floats:
        return 1 / np.arange(1, n + 1)


class RRn(Measure):
    """One over the rank of the n-th relevant document, 0 if fewer are retrieved (within the depth).

    ``n=2`` is the sceptical user, who wants a second relevant document to confirm the first. ``damping=k`` adds k to
    the rank: the cautious user, who reads k more documents before stopping. ``n=1,damping=0`` is RR; otherwise the best
    value is 1/(n + k).

    Source: Moffat and Zobel 2008, section 4.3.
    """

    n: int = parameter("Which relevant document the user stops at.", COUNT, default=2)
    damping: float = parameter("What is added to the rank of that document.", NOT_NEGATIVE, default=0.0)

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    example = ("RRn(n=2)", 0.3333)
    examples = ("RRn(n=2)", "RRn(n=1,damping=2)", "RRn(n=3,damping=0.5)@4", "RRn(n=2)@3")
    sources = ("moffat2008rank",)
    always_shown = ("n",)
    monotone = True
    multilinear = True
    list_only = True

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
        if not rankings.certain:
            return None
        last = groups_reaching(rankings, rankings.relevant(self.rel), self.n)
        place = last.first[:, None] + np.arange(1, int(last.size.max(initial=1)) + 1)
        within = place <= (rankings.width if self.cutoff is None else self.cutoff)
        chances = chance_of_place(last, place.shape[-1])
        expected: Floats = (chances * np.where(within, 1 / (self.damping + place), 0.0)).sum(axis=-1)
        return np.where(last.reached, expected, 0.0)


class ERR(Stopping):
    """One over the rank at which a user is expected to stop who is satisfied by documents according to their grades.

    A document of grade g satisfies with probability (2^g - 1) / 2^G, where G is the collection's largest grade (or
    ``max_grade``). Documents below a good one count little, because few users get there.

    Source: Chapelle, Metzler, Zhang and Grinspan, Expected Reciprocal Rank for Graded Relevance, CIKM 2009.
    """

    max_grade: float | None = parameter(
        "The grade that satisfies the most; None: the collection's largest.", POSITIVE, default=None
    )

    takes = ("cutoff",)
    value_range = (0.0, 1.0)
    example = ("ERR @ 3", 0.4375)
    examples = ("ERR", "ERR@3", "ERR(max_grade=4)@3")
    sources = ("chapelle2009expected",)
    graded = True

    def worth(self, rankings: Rankings) -> Floats:
        largest, facts = self.max_grade or rankings.facts.scale, rankings.facts
        if largest < (seen := rankings.assume(0.0).gain().max(initial=0.0)):
            raise DataError(f"{self}: a document has gain {seen:g}, more than max_grade.")
        least, most = (satisfies(gain, largest) for gain in (facts.nonrelevant_gain, self.largest_gain(facts)))
        return np.where(rankings.holes, least + rankings.chance * (most - least), satisfies(rankings.gain(), largest))

    def weights(self, n: int) -> Floats:
        return 1 / np.arange(1, n + 1)


def satisfies(gain: Floats | float, largest: float) -> Floats:
    """Return (2^g - 1) / 2^G, whatever size the grades have: neither power is computed alone."""
    chance: Floats = np.exp2(gain - largest) - np.exp2(-largest)
    return chance
