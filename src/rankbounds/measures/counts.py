"""Counts of documents: retrieved, relevant, judged; and utility, which is linear in such counts."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.formulas import Counted, Share, count_to_depth
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import parameter
from rankbounds.rankings.rankings import Rankings


class Count(Measure):
    """A number of documents, whatever their order."""

    order_free = True
    total = "sum"
    monotone = True
    multilinear = True
    value_range = (0.0, np.inf)


class NumRet(Count):
    """How many documents were retrieved; over all topics, the sum."""

    example = ("NumRet", 3.0)
    examples = ("NumRet",)
    trec_names = ("num_ret",)
    list_only = True
    as_retrieved = True

    def value(self, rankings: Rankings) -> Floats:
        return rankings.length.astype(np.float64)


class NumRel(Count):
    """How many relevant documents are known for the topic; over all topics, the sum."""

    takes = ("rel",)
    example = ("NumRel", 3.0)
    examples = ("NumRel", "NumRel(rel=2)")
    collection_exactness = "exact"
    trec_names = ("num_rel",)
    topic_only = True

    def value(self, rankings: Rankings) -> Floats:
        return rankings.num_relevant(self.rel)

    def fullest(self, rankings: Rankings) -> Rankings:
        most = rankings.assume(1.0)
        return most.with_elsewhere(most.room(most.num_relevant(self.rel)))


class NumRelRet(Count):
    """How many relevant documents were retrieved; over all topics, the sum."""

    takes = ("rel",)
    example = ("NumRelRet", 2.0)
    examples = ("NumRelRet", "NumRelRet(rel=2)")
    trec_names = ("num_rel_ret",)
    list_only = True

    def value(self, rankings: Rankings) -> Floats:
        return rankings.relevant(self.rel).sum(axis=-1)

    @property
    def difference_basis(self) -> Measure:
        return Hits(rel=self.rel)


class NumNonRelRet(Count):
    """The number of judged non-relevant documents retrieved; over all topics, the sum."""

    takes = ("rel",)
    example = ("NumNonRelRet", 1.0)
    examples = ("NumNonRelRet", "NumNonRelRet(rel=2)")
    trec_names = ("num_nonrel_judged_ret",)
    monotone = False
    multilinear = False
    list_only = True

    def value(self, rankings: Rankings) -> Floats:
        return (rankings.present & (rankings.grade < self.rel)).sum(axis=-1).astype(np.float64)

    def bounds(self, rankings: Rankings) -> Bounds:
        return (value := self.value(rankings)), value + rankings.num_holes


class NumQ(Count):
    """The number of topics scored.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 3}, "r": {"c": 2}}
    >>> rb.evaluate(qrels, {"bm25": run}, rb.measures.NumQ).mean().to_dict()
    {'bm25': {'NumQ': {'all': 2.0}}}
    """

    examples = ("NumQ",)
    trec_names = ("num_q",)
    list_only = True
    as_retrieved = True

    def value(self, rankings: Rankings) -> Floats:
        return np.ones(rankings.length.size)


class Hits(Counted):
    """How many of the first k documents (without a depth: of those retrieved) are relevant; over topics, the mean.

    Source: as in ranx (hits).
    """

    takes = ("rel", "cutoff")
    example = ("Hits @ 2", 1.0)
    examples = ("Hits", "Hits@2", "Hits(rel=2)")
    value_range = (0.0, np.inf)

    @property
    def over(self) -> int:
        return 1


class JudgedShare(Share):
    """A share of the first k documents, by whether somebody judged them."""

    takes = ("cutoff",)
    value_range = (0.0, 1.0)
    needs_cutoff = True
    as_retrieved = True
    list_only = True


class Judged(JudgedShare):
    """The share of the first k documents retrieved that are judged. Check it beside every score.

    A low share means that a score depends more on what was judged than on the system. A list shorter than k is measured
    on its documents; an empty one counts as 0.
    """

    example = ("Judged @ 2", 0.5, "unjudged")
    examples = ("Judged@3", "Judged@10")

    def worth(self, rankings: Rankings) -> Floats:
        return (rankings.present & ~rankings.holes).astype(np.float64)

    def divisor(self, rankings: Rankings) -> Floats:
        return np.minimum(rankings.length, self.depth(rankings)).astype(np.float64)


class Unjudged(JudgedShare):
    """The number of unjudged documents among the first k, divided by k (trec_eval's unj)."""

    example = ("Unjudged @ 2", 0.5, "unjudged")
    examples = ("Unjudged@3", "Unjudged@10")
    trec_names = ("unj_{cutoff}",)

    def worth(self, rankings: Rankings) -> Floats:
        return rankings.holes.astype(np.float64)

    def divisor(self, rankings: Rankings) -> Floats:
        return np.full(rankings.length.size, float(self.cutoff or 1))


class Utility(Measure):
    """The value of a list to a user who reads all of it: credit for each relevant document, minus a cost for each
    other.

    Utility = hit * (relevant, retrieved) + noise * (others retrieved) + miss * (relevant, not retrieved)
    + rest * (others of the collection). By default the relevant documents retrieved minus the others.

    Source: as in trec_eval (utility); the filtering tracks of TREC.
    """

    hit: float = parameter("What a relevant document in the list adds.", default=1.0)
    noise: float = parameter("What any other document in the list adds.", default=-1.0)
    miss: float = parameter("What a relevant document that is not in the list adds.", default=0.0)
    rest: float = parameter("What any other document of the collection adds.", default=0.0)
    documents: int = parameter("How many documents the collection has; needed with ``rest``.", default=0)

    takes = ("rel",)
    example = ("Utility(hit=3, noise=-2)", 4.0)
    examples = (
        "Utility",
        "Utility(hit=3,noise=-2)",
        "Utility(hit=1,noise=2,miss=-1)",
        "Utility(rest=0.5,documents=100)",
    )
    trec_names = ("utility",)
    order_free = True
    difference_argument = "linear_count"

    @property
    def list_only(self) -> bool:  # type: ignore[override]
        """It is false where documents that were not retrieved are worth something too."""
        return self.miss == 0 and self.rest == 0

    def check(self) -> None:
        if self.rest and not self.documents:
            raise UsageError("Utility: rest goes with documents, the number of documents in the collection.")

    def value(self, rankings: Rankings) -> Floats:
        number, found = rankings.num_relevant(self.rel), count_to_depth(self, rankings)
        others = rankings.length - found
        total: Floats = self.hit * found + self.noise * others + self.miss * (number - found)
        return total + self.rest * (self.documents - number - others) if self.rest else total

    def bounds(self, rankings: Rankings) -> Bounds:
        """An unjudged document that turns relevant changes the value by ``hit - noise``."""
        ends = [self.value(rankings.assume(chance)) for chance in (0.0, 1.0)]
        return np.minimum(*ends), np.maximum(*ends)

    def worth_of_hit_and_length(self) -> tuple[float, float]:
        return self.hit - self.noise - self.miss + self.rest, self.noise - self.rest
