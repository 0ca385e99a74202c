"""Measures of lists that should serve several subtopics: a binary measure of each subtopic, averaged.

Each subtopic sees its own list, in which the documents relevant to it are relevant. The value is the mean over the
subtopics that have a relevant document; others are left out of it, as ndeval does. Subtopics count alike.

Bounds: an unjudged document may be relevant to any of its topic's subtopics, also to those that had no relevant
document before, which then count. What it is to one subtopic says nothing of another. So the least and the greatest
sum are sums of extremes, and as a mean moves one way only while subtopics alike are added, the extremes over how many
are added are none and all. The bounds are attained.

Source: Agrawal, Gollapudi, Halverson and Ieong, Diversifying Search Results, WSDM 2009.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.formulas import quotient
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import SHARE, parameter
from rankbounds.measures.precision.average_precision import AP
from rankbounds.measures.precision.precision_and_recall import P, Success
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.subtopics import ListsBySubtopic


class IntentAware(Measure):
    """The mean over a topic's subtopics of what a binary measure says of each.

    A subclass has ``of_subtopic``, a measure that is 0 where nothing is relevant, and least for the one relevant
    document that stands lowest. The order of ties that is best for one subtopic may be bad for another: no best or
    worst order is known.
    """

    promotable = False
    reads_judgments = True

    def of_subtopic(self) -> Measure:
        """The measure of the list that one subtopic sees."""
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        lists = rankings.by_subtopic()
        return self._mean(lists, self.of_subtopic().value(lists.rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        lists = rankings.by_subtopic()
        expected = self.of_subtopic().expected_over_ties(lists.rankings)
        return None if expected is None else self._mean(lists, expected)

    def _mean(self, lists: ListsBySubtopic, values: Floats) -> Floats:
        counts = lists.rankings.num_relevant(self.rel) > 0
        return quotient(lists.total(np.where(counts, values, 0.0)), lists.total(counts))

    def bounds(self, rankings: Rankings) -> Bounds | None:
        lists = rankings.assume(0.0).by_subtopic()
        measure, seen = self.of_subtopic(), lists.rankings
        found = measure.bounds(seen)
        if found is None:
            return None
        counts = seen.num_relevant(self.rel) > 0
        may_count = ~counts & (seen.num_holes > 0)
        lowest = seen.holes & (np.cumsum(seen.holes[:, ::-1], axis=-1)[:, ::-1] == 1)
        least_new = measure.value(seen.assume(lowest.astype(np.float64))) if may_count.any() else found[0]
        number, further = lists.total(counts), lists.total(may_count)
        low, high = (lists.total(np.where(counts, bound, 0.0)) for bound in found)
        new_low, new_high = (lists.total(np.where(may_count, bound, 0.0)) for bound in (least_new, found[1]))
        return (
            np.minimum(quotient(low, number), quotient(low + new_low, number + further)),
            np.maximum(quotient(high, number), quotient(high + new_high, number + further)),
        )


class P_IA(IntentAware):  # noqa: N801 (the name everybody knows it by)
    """The precision at k of each subtopic, averaged: how relevant the first k documents are to one who wants any of
    the query's subtopics. It does not reward novelty; a list for the most popular subtopic does well.

    Sources: Agrawal et al., WSDM 2009; as in ndeval (P-IA).
    """

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    aliases = ("P-IA",)
    example = ("P_IA @ 2", 0.75)
    examples = ("P_IA@3",)
    sources = ("agrawal2009diversifying",)
    needs_cutoff = True

    def of_subtopic(self) -> Measure:
        return P(rel=self.rel, cutoff=self.cutoff)


class AP_IA(IntentAware):  # noqa: N801 (the name everybody knows it by)
    """The average precision of each subtopic, averaged (MAP-IA).

    Sources: Agrawal et al., WSDM 2009; as in ndeval (MAP-IA).
    """

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    aliases = ("AP-IA", "MAP-IA", "MAP_IA")
    example = ("AP_IA", 0.75)
    examples = ("AP_IA", "AP_IA@3")
    sources = ("agrawal2009diversifying",)

    def of_subtopic(self) -> Measure:
        return AP(rel=self.rel, cutoff=self.cutoff)


ALL_RANKS = 10**15


class StRec(IntentAware):
    """The share of the topic's subtopics for which one of the first k documents is relevant.

    A reader of these k documents has met so many of the things that the query may be about. Subtopics that no judged
    document is relevant to do not count. ``low`` and ``high`` say what the retrieved unjudged documents could change:
    each may be relevant to every subtopic, or to one that nobody has found yet.

    Sources: Zhai, Cohen and Lafferty, SIGIR 2003; as in ndeval (strec).
    """

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    aliases = ("S-Recall", "I-rec")
    example = ("StRec @ 1", 0.5)
    examples = ("StRec@2", "StRec(rel=2)")
    sources = ("zhai2003beyond",)

    def of_subtopic(self) -> Measure:
        return Success(rel=self.rel, cutoff=self.cutoff or ALL_RANKS)


class NuggetRecall(Measure):
    """The share of the nuggets (facts that an answer should hold) that the first k passages hold, vital ones counting
    fully and okay ones a part.

    Nuggets are the subtopics of a topic, all that the judgments name, also those that no passage holds. The column
    ``importance`` says which are vital and which okay; without it all are vital. With okay=0 only vital nuggets count.
    An unjudged passage may hold any of them.

    Sources: Voorhees, Overview of the TREC 2003 Question Answering Track (vital and okay nuggets); weights as in TREC
    2024 RAG (1 and 0.5).

    Examples
    --------
    >>> import rankbounds as rb
    >>> passages = {
    ...     "query_id": ["q", "q"], "nugget": ["born in 1912", "liked chess"], "doc_id": ["a", "b"],
    ...     "relevance": [1, 1], "importance": ["vital", "okay"],
    ... }
    >>> round(rb.evaluate(passages, {"q": ["a", "c", "b"]}, "NuggetRecall@2").value.item(), 4)
    0.6667
    """

    okay: float = parameter("What an okay nugget weighs beside a vital one.", SHARE, default=0.5)
    rel: float = parameter("The lowest grade at which a passage holds a nugget.", default=1.0)

    takes = ("cutoff",)
    value_range = (0.0, 1.0)
    examples = ("NuggetRecall@2", "NuggetRecall(okay=0)")
    sources = ("voorhees2003overview",)
    promotable = False
    monotone = True
    multilinear = True
    reads_judgments = True

    def value(self, rankings: Rankings) -> Floats:
        lists = rankings.by_subtopic()
        return self._share(lists, self._held().value(lists.rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        lists = rankings.by_subtopic()
        return self._share(lists, self._held().expected_over_ties(lists.rankings))

    def bounds(self, rankings: Rankings) -> Bounds:
        return self.value(rankings.assume(0.0)), self.value(rankings.assume(1.0))

    def _held(self) -> Success:
        return Success(rel=self.rel, cutoff=self.cutoff or ALL_RANKS)

    def _share(self, lists: ListsBySubtopic, held: Floats) -> Floats:
        weight = np.where(lists.okay, self.okay, 1.0)
        return quotient(lists.total(weight * held), lists.total(weight))
