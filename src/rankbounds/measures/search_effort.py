"""Measures of effort, of which less is better: expected search length and RankPower."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.errors import DataError
from rankbounds.measures.formulas import OfFound
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import COUNT, parameter
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import TiedGroup, chance_of_number, group_means, groups_at_cut, groups_reaching


class ESL(Measure):
    """How many non-relevant documents a user reads before n relevant ones are found: the lower, the better.

    If the list holds fewer than n, the search does not end within it: the value is infinite, and so is the mean over
    topics. With ``collection=N``, the number of documents in the collection, the search continues among the documents
    that were not retrieved, in random order, as in Cooper's paper (through all of them, if there are too few relevant
    ones). ``ties=expected`` is Cooper's treatment of tied documents: q wanted of r relevant ones among s others cost q
    * s / (r + 1).

    Source: Cooper, Expected Search Length, American Documentation 19(1), 1968.
    """

    n: int = parameter("How many relevant documents are wanted.", COUNT, default=1)
    collection: int | None = parameter(
        "How many documents the collection has; None: the search ends with the list.", COUNT, default=None
    )

    takes = ("rel",)
    example = ("ESL(n=2)", 1.0)
    examples = ("ESL(n=1)", "ESL(n=2)", "ESL(n=2,collection=40)", "ESL(n=4,collection=40)")
    sources = ("cooper1968expected",)
    always_shown = ("n",)
    monotone = True
    collection_exactness = "exact"
    outside = "raises"
    lower_is_better = True
    value_range = (0.0, np.inf)

    @property
    def list_only(self) -> bool:  # type: ignore[override]
        """In a collection, the search goes on among relevant documents that were not retrieved."""
        return self.collection is None

    def value(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)
        so_far = rankings.relevant_so_far(self.rel)
        rank = np.argmax(so_far >= self.n, axis=-1) + 1.0
        return np.where(so_far[:, -1] >= self.n, rank - self.n, self._behind_list(rankings, relevant.sum(axis=-1)))

    def fullest(self, rankings: Rankings) -> Rankings:
        most = rankings.assume(1.0)
        if self.collection is None or not rankings.most_relevant:
            return most
        judged = np.count_nonzero(rankings.present & ~rankings.holes, axis=-1)
        elsewhere = self.collection - rankings.length - (rankings.facts.judged[rankings.topic] - judged)
        return most.with_elsewhere(np.minimum(most.room(most.num_relevant(self.rel)), np.maximum(elsewhere, 0)))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        if not rankings.certain:
            return None
        relevant = rankings.relevant(self.rel)
        last: TiedGroup = groups_reaching(rankings, relevant, self.n)
        among = last.wanted * (last.size - last.relevant) / (last.relevant + 1)
        wasted = last.first - last.above + among
        return np.where(last.reached, wasted, self._behind_list(rankings, relevant.sum(axis=-1)))

    def _behind_list(self, rankings: Rankings, found: Floats) -> Floats:
        if self.collection is None:
            return np.full(found.shape, np.inf)
        relevant = rankings.num_relevant(self.rel) - found
        others = self.collection - rankings.length - relevant
        if (others < 0).any():
            raise DataError(f"{self}: a topic has more documents than the collection.")
        among = np.where(relevant >= self.n - found, (self.n - found) * others / (relevant + 1), others)
        return rankings.length - found + among


class RankPower(OfFound):
    """The average rank of the relevant documents found, divided by their number: the lower, the better.

    At best it is a little above one half; without a relevant document it is infinite, and so is the mean over topics.
    Finding one more relevant document far down the list can make it worse.

    Source: Meng and Chen, On User-Oriented Measurements of Effectiveness of Web Information Retrieval Systems,
    2004; see Moffat and Zobel 2008, section 3.3.
    """

    takes = ("rel", "cutoff")
    example = ("RankPower", 1.0)
    examples = ("RankPower", "RankPower@3")
    sources = ("meng2004user",)
    lower_is_better = True
    value_range = (0.0, np.inf)

    def value(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)[..., : self.depth(rankings)]
        return _power(relevant @ np.arange(1.0, relevant.shape[-1] + 1), relevant.sum(axis=-1))

    def bounds(self, rankings: Rankings) -> Bounds:
        depth = self.depth(rankings)
        relevant, holes = rankings.assume(0.0).relevant(self.rel)[..., :depth] > 0, rankings.holes[..., :depth]
        return _extreme(relevant, holes, best=True), _extreme(relevant, holes, best=False)

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        if not rankings.certain:
            return None
        depth = self.depth(rankings)
        relevant = rankings.relevant(self.rel)
        at_cut = groups_at_cut(rankings, relevant, depth)
        rank = np.arange(rankings.width)
        above = rank < at_cut.first[:, None]
        ranks = np.where(above, group_means(rankings, relevant) * (rank + 1), 0.0).sum(axis=-1)
        number = np.arange(int(at_cut.relevant.max(initial=0)) + 1).astype(np.float64)
        middle = (at_cut.first + 1 + depth) / 2  # the mean rank of the group's places above the cut
        powers = _power(ranks[:, None] + middle[:, None] * number, at_cut.above[:, None] + number)
        chances = chance_of_number(at_cut, number.size - 1)
        expected: Floats = (chances * np.where(chances > 0, powers, 0.0)).sum(axis=-1)
        return expected


def _extreme(surely: Flags, perhaps: Flags, *, best: bool) -> Floats:
    rank = np.arange(1.0, surely.shape[-1] + 1)
    ranks, number = surely.astype(np.float64) @ rank, np.count_nonzero(surely, axis=-1)
    opened = np.where(perhaps, rank, 0.0)
    if not best:
        opened, perhaps = opened[..., ::-1], perhaps[..., ::-1]
    more = _power(ranks[:, None] + np.cumsum(opened, axis=-1), number[:, None] + np.cumsum(perhaps, axis=-1))
    ends = np.column_stack((_power(ranks, number), more))
    return ends.min(axis=-1) if best else ends.max(axis=-1)


def _power(ranks: Floats, number: Floats | Ints) -> Floats:
    result = np.full(np.broadcast(ranks, number).shape, np.inf)
    return np.divide(ranks, number**2, out=result, where=number > 0)
