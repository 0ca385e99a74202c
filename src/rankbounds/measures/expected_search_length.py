"""Expected search length."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError, UsageError
from rankbounds.measures.measure import Measure
from rankbounds.measures.tied_draws import TiedGroup, groups_reaching
from rankbounds.rankings.rankings import Rankings


class ESL(Measure):
    """How many non-relevant documents a user looks through before n relevant ones are found: the lower, the better.

    Where the list holds fewer than n, the search does not end within it: the value is infinite, and so is a mean over
    topics that holds such a one. With ``collection=N``, the number of documents in the collection, the documents that
    were not retrieved stand behind the list in no particular order, as Cooper has it, and the search goes on among
    them (through all of them, if there are not enough relevant ones). ``ties=expected`` is Cooper's treatment of tied
    documents: q wanted of r relevant ones among s others cost q * s / (r + 1).

    Source: Cooper, Expected Search Length, American Documentation 19(1), 1968.

    Parameters
    ----------
    n : int, default 1
        How many relevant documents are wanted.
    collection : int | None, default None
        How many documents the collection has; None: the search ends with the list.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.ESL(n=2)).value.item(), 4)
    1.0
    """

    n: int = 1
    collection: int | None = None
    rel: float = 1.0

    name = "ESL"
    examples = ("ESL(n=1)", "ESL(n=2)", "ESL(n=2,collection=40)", "ESL(n=4,collection=40)")
    sources = ("cooper1968expected",)
    always_shown = ("n",)
    monotone = True
    collection_exactness = "exact"
    lower_is_better = True
    value_range = (0.0, np.inf)

    @property
    def list_only(self) -> bool:  # type: ignore[override]
        """In a collection, the search goes on among relevant documents that were not retrieved."""
        return self.collection is None

    def check(self) -> None:
        if self.n < 1 or (self.collection is not None and self.collection < 1):
            raise UsageError("ESL: n and collection must be whole numbers from 1 on.")

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
        """The length of a search that goes on among the documents that were not retrieved."""
        if self.collection is None:
            return np.full(found.shape, np.inf)
        relevant = rankings.num_relevant(self.rel) - found
        others = self.collection - rankings.length - relevant
        if (others < 0).any():
            raise DataError(f"{self}: a topic has more documents than the collection.")
        among = np.where(relevant >= self.n - found, (self.n - found) * others / (relevant + 1), others)
        return rankings.length - found + among
