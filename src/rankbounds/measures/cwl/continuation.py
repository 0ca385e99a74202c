"""Measures declared by how likely the user is to go on: C(i), the chance of looking past rank i.

From C follow V(i), the chance that rank i is examined at all (the product of C before it), the number of documents
examined (the sum of V), and the weights W(i) = V(i) / sum of V: the rate at which the user meets relevant documents.
RBP is C = p at every rank, P@k is C = 1 down to rank k and then 0, RR is C = 1 until a relevant document is found.

Source: Moffat, Bailey, Scholer and Thomas, Incorporating User Expectations and Behavior into the Measurement of Search
Effectiveness, TOIS 35(3), 2017.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import UsageError
from rankbounds.measures.measure import Bounds, Measure, RankWeighted
from rankbounds.rankings.rankings import Rankings

DEEPEST = 1 << 22
"""The rank at which nearly every user must have stopped, for the weights to follow from C alone."""


class Continuing(RankWeighted):
    """A user who goes on from rank i to the next with a probability that depends on i alone.

    A subclass has ``continuation``; weights and the residual beyond the list follow.

    Examples
    --------
    >>> import rankbounds as rb
    >>> (rb.SDCG @ 3).continuation(4).round(3).tolist()
    [0.631, 0.792, 0.0, 0.898]
    >>> round((rb.SDCG @ 3).expected_depth(), 3)
    2.131
    """

    has_residual = True

    def continuation(self, n: int) -> Floats:
        """The probabilities C(1) to C(n) of looking past those ranks."""
        raise NotImplementedError

    def examined(self, n: int) -> Floats:
        """The probabilities V(1) to V(n) that those ranks are examined."""
        return np.cumprod(np.append(1.0, self.continuation(n)[: n - 1]))[:n]

    def expected_depth(self) -> float:
        """How many documents the user examines on average."""
        n = 64
        while n <= DEEPEST:
            examined = self.examined(n)
            if examined[-1] < 1e-18:
                return float(examined.sum())
            n *= 2
        raise UsageError(
            f"{self}: users still read on at rank {DEEPEST:,}, so that their expected depth must be declared."
        )

    def weights(self, n: int) -> Floats:
        return self.examined(n) / self.expected_depth()

    def tail(self, depth: Ints) -> Floats:
        above = np.append(0.0, np.cumsum(self.weights(max(1, int(depth.max(initial=1))))))
        return np.maximum(0.0, 1 - above[depth])


class ContinuingByRelevance(Measure):
    """A user whose probability of going on depends on what was found so far.

    The value is what the user gains per document examined: (sum of V(i) r_i) / (sum of V(i)), both sums going on for
    ever. Beyond the end of the list, ``value`` and ``low`` go on with non-relevant documents and ``high`` with relevant
    ones. A subclass that calls itself ``monotone`` has shown that these are the extremes.

    Examples
    --------
    >>> import numpy as np
    >>> import rankbounds as rb
    >>> rb.RBP2(p_relevant=0.5, p_nonrelevant=0.8).continuation(np.array([1.0, 0.0])).tolist()
    [0.5, 0.8]
    """

    has_residual = True
    tail_adds = False
    list_only = True

    def continuation(self, relevant: Floats) -> Floats:
        """The probability of looking past each rank, for lists of relevant (1) and other (0) documents."""
        raise NotImplementedError

    def examined_beyond(self, relevant: Floats, *, relevant_beyond: bool) -> Floats:
        """How many more documents are examined by a user who has come to the first one behind such a list."""
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        return self._rate(self.worth(rankings), relevant_beyond=False)

    def bounds(self, rankings: Rankings) -> Bounds | None:
        if not self.monotone:
            return None
        most = np.where(rankings.present, self.worth(rankings.assume(1.0)), 1.0)
        return self.value(rankings.assume(0.0)), self._rate(most, relevant_beyond=True)

    def open_tail(self, rankings: Rankings) -> Floats:
        relevant = rankings.assume(1.0)
        full = np.where(rankings.present, self.worth(relevant), 1.0)
        return self._rate(full, relevant_beyond=True) - self.value(relevant)

    def _rate(self, relevant: Floats, *, relevant_beyond: bool) -> Floats:
        reached = np.cumprod(self.continuation(relevant), axis=-1)
        examined = np.ones(relevant.shape)
        examined[..., 1:] = reached[..., :-1]
        end = reached[..., -1]
        beyond = np.zeros(end.shape)
        np.multiply(end, self.examined_beyond(relevant, relevant_beyond=relevant_beyond), out=beyond, where=end > 0)
        gained = (examined * relevant).sum(axis=-1) + (beyond if relevant_beyond else 0.0)
        rate: Floats = gained / (examined.sum(axis=-1) + beyond)
        return rate
