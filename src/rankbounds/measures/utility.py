"""Linear utility of a set of documents."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.measure import Bounds, Measure, count_to_depth
from rankbounds.rankings.rankings import Rankings


class Utility(Measure):
    """What a list is worth to somebody who reads all of it: so much for each relevant document, less for each other.

    Utility = hit * (relevant, retrieved) + noise * (others retrieved) + miss * (relevant, not retrieved)
    + rest * (others of the collection). By default the relevant documents retrieved less the others.

    Source: as in trec_eval (utility); the filtering tracks of TREC.

    Parameters
    ----------
    hit : float, default 1
        What a relevant document in the list adds.
    noise : float, default -1
        What any other document in the list adds.
    miss : float, default 0
        What a relevant document that is not in the list adds.
    rest : float, default 0
        What any other document of the collection adds.
    documents : int, default 0
        How many documents the collection has; needed with ``rest``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> rb.evaluate(qrels, run, rb.Utility(hit=3, noise=-2)).value.item()
    4.0
    """

    hit: float = 1.0
    noise: float = -1.0
    miss: float = 0.0
    rest: float = 0.0
    documents: int = 0
    rel: float = 1.0

    name = "Utility"
    examples = (
        "Utility",
        "Utility(hit=3,noise=-2)",
        "Utility(hit=1,noise=2,miss=-1)",
        "Utility(rest=0.5,documents=100)",
    )
    trec_names = ("utility",)

    @property
    def list_only(self) -> bool:  # type: ignore[override]
        """Unless documents that were not retrieved are worth something too."""
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
        """An unjudged document that turns relevant changes the value by ``hit - noise``, whatever the others are."""
        ends = [self.value(rankings.assume(chance)) for chance in (0.0, 1.0)]
        return np.minimum(*ends), np.maximum(*ends)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return self.value(rankings)
