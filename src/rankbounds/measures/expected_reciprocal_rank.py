"""Expected reciprocal rank."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError, UsageError
from rankbounds.measures.measure import Measure
from rankbounds.measures.reciprocal_rank import expected_stop, expected_stop_over_ties
from rankbounds.rankings.rankings import Rankings


class ERR(Measure):
    """One over the rank at which a user is expected to stop, who is satisfied by a document according to its grade.

    A document of grade g satisfies with probability (2^g - 1) / 2^G, where G is the collection's largest grade (or
    ``max_grade``). What stands below a good document counts little, because few users get there.

    Source: Chapelle, Metzler, Zhang and Grinspan, Expected Reciprocal Rank for Graded Relevance, CIKM 2009.

    Parameters
    ----------
    max_grade : float | None, default None
        The grade that satisfies the most; None: the collection's largest.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.ERR @ 3).value.item(), 4)
    0.4375
    """

    max_grade: float | None = None
    cutoff: int | None = None

    name = "ERR"
    value_range = (0.0, 1.0)
    examples = ("ERR", "ERR@3", "ERR(max_grade=4)@3")
    sources = ("chapelle2009expected",)
    graded = True
    monotone = True
    multilinear = True
    list_only = True

    def check(self) -> None:
        if self.max_grade is not None and not self.max_grade > 0:
            raise UsageError(f"ERR: max_grade must be positive, not {self.max_grade}.")

    def worth(self, rankings: Rankings) -> Floats:
        largest = rankings.facts.max_gain if self.max_grade is None else self.max_grade
        if largest < (seen := rankings.assume(0.0).gain().max(initial=0.0)):
            raise DataError(f"{self}: a document has gain {seen:g}, more than max_grade.")
        least, most = (satisfies(gain, largest) for gain in (rankings.facts.nonrelevant_gain, largest))
        return np.where(rankings.holes, least + rankings.chance * (most - least), satisfies(rankings.gain(), largest))

    def value(self, rankings: Rankings) -> Floats:
        return expected_stop(self.worth(rankings)[..., : self.depth(rankings)])

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return expected_stop_over_ties(rankings, self.worth(rankings), self.depth(rankings))


def satisfies(gain: Floats | float, largest: float) -> Floats:
    """(2^g - 1) / 2^G, whatever size the grades have: neither power is computed alone."""
    chance: Floats = np.exp2(gain - largest) - np.exp2(-largest)
    return chance
