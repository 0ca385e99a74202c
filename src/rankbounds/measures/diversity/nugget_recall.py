"""Nugget recall."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.diversity.intent_aware import check_share
from rankbounds.measures.diversity.subtopic_recall import ALL_RANKS
from rankbounds.measures.measure import Bounds, Measure, quotient
from rankbounds.measures.success import Success
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.subtopics import ListsBySubtopic


class NuggetRecall(Measure):
    """The share of the nuggets (facts that an answer should hold) that the first k passages hold, vital ones counting
    fully and okay ones a part.

    Nuggets are the subtopics of a topic, all that the judgments name, also those that no passage holds. The column
    ``importance`` says which are vital and which okay; without it all are vital. With okay=0 only vital nuggets count.
    An unjudged passage may hold any of them.

    Sources: Voorhees, Overview of the TREC 2003 Question Answering Track (vital and okay nuggets); weights as in TREC
    2024 RAG (1 and 0.5).

    Parameters
    ----------
    okay : float, default 0.5
        What an okay nugget weighs beside a vital one.
    rel : float, default 1
        The lowest grade at which a passage holds a nugget.

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

    okay: float = 0.5
    rel: float = 1.0
    cutoff: int | None = None

    name = "NuggetRecall"
    value_range = (0.0, 1.0)
    examples = ("NuggetRecall@2", "NuggetRecall(okay=0)")
    sources = ("voorhees2003overview",)
    promotable = False
    monotone = True
    multilinear = True
    reads_judgments = True

    def check(self) -> None:
        check_share(self, "okay", self.okay)

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
