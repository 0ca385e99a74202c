"""Measures defined by the user's probability C(i) of continuing past rank i.

From C follow V(i), the probability that rank i is examined at all (the product of C before it), the number of documents
examined (the sum of V), and the weights W(i) = V(i) / sum of V, which give the relevant documents per document
examined. RBP has C = p at every rank, P@k C = 1 to rank k and then 0, RR C = 1 until a relevant document is found.

Source: Moffat, Bailey, Scholer and Thomas, Incorporating User Expectations and Behavior into the Measurement of Search
Effectiveness, TOIS 35(3), 2017.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import UsageError
from rankbounds.measures.discounted_gain import BASE, discounts
from rankbounds.measures.formulas import RankWeighted
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import ABOVE_1, AT_LEAST_1, PERSISTENCE, POSITIVE, parameter
from rankbounds.rankings.rankings import Rankings

DEEPEST = 1 << 22
"""The rank at which nearly every user must have stopped, for the weights to follow from C alone."""


class Continuing(RankWeighted):
    """A user who continues from rank i with a probability that depends on i alone.

    A subclass has ``continuation``; weights and the residual beyond the list follow.

    Examples
    --------
    >>> import rankbounds as rb
    >>> (rb.measures.SDCG @ 3).continuation(4).round(3).tolist()
    [0.631, 0.792, 0.0, 0.898]
    >>> round((rb.measures.SDCG @ 3).expected_depth(), 3)
    2.131
    """

    takes: ClassVar[tuple[str, ...]] = ("rel",)
    value_range = (0.0, 1.0)
    has_residual = True

    def continuation(self, n: int) -> Floats:
        """Return the probabilities C(1) to C(n) of looking past those ranks."""
        raise NotImplementedError

    def examined(self, n: int) -> Floats:
        """Return the probabilities V(1) to V(n) that those ranks are examined."""
        return np.cumprod(np.append(1.0, self.continuation(n)[: n - 1]))[:n]

    def expected_depth(self) -> float:
        """Return how many documents the user examines on average."""
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
    """A user whose probability of continuing depends on what was found so far.

    The value is the gain per document examined: (sum of V(i) r_i) / (sum of V(i)), both over infinitely many ranks.
    Beyond the end of the list, ``value`` and ``low`` continue with non-relevant documents and ``high`` with relevant
    ones. A subclass marked ``monotone`` has shown that these are the extremes.

    Examples
    --------
    >>> import numpy as np
    >>> import rankbounds as rb
    >>> rb.measures.RBP2(p_relevant=0.5, p_nonrelevant=0.8).continuation(np.array([1.0, 0.0])).tolist()
    [0.5, 0.8]
    """

    takes: ClassVar[tuple[str, ...]] = ("rel",)
    value_range = (0.0, 1.0)
    has_residual = True
    tail_adds = False
    list_only = True

    def continuation(self, relevant: Floats) -> Floats:
        """Return the probability of continuing past each rank, for relevant (1) and other (0) documents."""
        raise NotImplementedError

    def examined_beyond(self, relevant: Floats, *, relevant_beyond: float) -> Floats:
        """Return how many more documents a user examines who reaches the first one after such a list."""
        raise NotImplementedError

    def largest_worth(self, rankings: Rankings) -> float:  # noqa: ARG002
        """Return what a document can be worth at most."""
        return 1.0

    def value(self, rankings: Rankings) -> Floats:
        return self._rate(self.worth(rankings), relevant_beyond=0.0)

    def bounds(self, rankings: Rankings) -> Bounds | None:
        if not self.monotone:
            return None
        return self.value(rankings.assume(0.0)), self._greatest(rankings)

    def open_tail(self, rankings: Rankings) -> Floats:
        return self._greatest(rankings) - self.value(rankings.assume(1.0))

    def _greatest(self, rankings: Rankings) -> Floats:
        most = self.largest_worth(rankings)
        worth = np.where(rankings.present, self.worth(rankings.assume(1.0)), most)
        return self._rate(worth, relevant_beyond=most)

    def _rate(self, relevant: Floats, *, relevant_beyond: float) -> Floats:
        reached = np.cumprod(self.continuation(relevant), axis=-1)
        examined = np.ones(relevant.shape)
        examined[..., 1:] = reached[..., :-1]
        end = reached[..., -1]
        beyond = np.zeros(end.shape)
        np.multiply(end, self.examined_beyond(relevant, relevant_beyond=relevant_beyond), out=beyond, where=end > 0)
        gained = (examined * relevant).sum(axis=-1) + (relevant_beyond * beyond if relevant_beyond else 0.0)
        rate: Floats = gained / (examined.sum(axis=-1) + beyond)
        return rate


class INSQ(Continuing):
    """Relevant documents per document read, for a user who wants T of them and becomes more persistent with every
    document read, whatever was found. INST's user also counts what was found.

    The probability of continuing past rank i is ((i + 2T - 1) / (i + 2T))^2, so weights fall as 1 / (i + 2T - 1)^2.
    About 2T + 0.5 documents are examined. Slowly falling weights leave much open beyond the list; ``high`` counts it as
    relevant.

    Source: Moffat, Scholer and Thomas, Models and Metrics: IR Evaluation as a User Process, ADCS 2012.
    """

    T: float = parameter("How many relevant documents the user hopes for.", POSITIVE, default=1.0)

    example = ("INSQ(T=2)", 0.3181)
    examples = ("INSQ(T=1)", "INSQ(T=2.5)")
    sources = ("moffat2012models",)
    always_shown = ("T",)

    def continuation(self, n: int) -> Floats:
        rank = np.arange(1, n + 1)
        return ((rank + 2 * self.T - 1) / (rank + 2 * self.T)) ** 2

    def examined(self, n: int) -> Floats:
        return (2 * self.T / (np.arange(n) + 2 * self.T)) ** 2

    def expected_depth(self) -> float:
        from scipy.special import zeta

        return float((2 * self.T) ** 2 * zeta(2, 2 * self.T))


class UMeasure(Continuing):
    """Relevant documents per document read, for a user whose attention falls linearly with the text read and ends after
    L characters.

    The weight of a document is 1 - x/L, where x is the text before it, and 0 beyond L; weights are scaled to sum to 1
    (as in the C/W/L framework: the original sums without scaling, and takes x at a document's end). Judgments and runs
    do not contain lengths, so every document costs the same. With the default cost of 1, L is a number of documents.

    Source: Sakai and Dou, Summaries, Ranked Retrieval and Sessions, SIGIR 2013; scaled as in cwl_eval.
    """

    L: float = parameter("The text after which everybody has stopped.", POSITIVE, default=1000.0)
    cost: float = parameter("The text that every document adds.", POSITIVE, default=1.0)

    aliases = ("U-measure", "U")
    example = ("UMeasure(L=4)", 0.6)
    examples = ("UMeasure(L=4)", "UMeasure(L=1000,cost=300)")
    sources = ("sakai2013summaries",)
    always_shown = ("L",)

    def examined(self, n: int) -> Floats:
        return np.maximum(0.0, 1 - np.arange(n) * (self.cost / self.L))

    def continuation(self, n: int) -> Floats:
        weight = self.examined(n + 1)
        return np.divide(weight[1:], weight[:-1], out=np.zeros(n), where=weight[:-1] > 0)

    def expected_depth(self) -> float:
        documents = math.ceil(self.L / self.cost)
        return documents - self.cost / self.L * documents * (documents - 1) / 2


class SDCG(Continuing):
    """Discounted gain of relevant documents to depth k, divided by that of k relevant documents: between 0 and 1.

    Unlike nDCG it ignores documents that were not retrieved. Its user continues past rank i with probability log(i + 1)
    / log(i + 2), and never past k. The scale depends on the depth: with ``base=2`` the divisor is 21.79 at depth 100
    and 123.99 at depth 1000, so only scores at one depth compare. If the list is shorter than k, the ranks beyond it
    are unknown.

    Source: Moffat and Zobel 2008, section 4.6; ``base`` as in DCG.
    """

    base: float | None = parameter(BASE, ABOVE_1, default=None)

    takes = ("rel", "cutoff")
    example = ("SDCG @ 3", 0.7039)
    examples = ("SDCG@3", "SDCG@10", "SDCG(base=2)@8")
    sources = ("moffat2008rank", "jarvelin2002cumulated")
    needs_cutoff = True

    def continuation(self, n: int) -> Floats:
        weight = discounts(self.base, n + 1)
        return np.where(np.arange(1, n + 1) == self.cutoff, 0.0, weight[1:] / weight[:-1])


class ContinuingByLast(ContinuingByRelevance):
    """A user who continues with one probability after a relevant document and another after any other."""

    monotone = True

    def going_on(self, *, relevant: bool) -> float:
        """Return the probability of looking past a document that is relevant, or is not."""
        raise NotImplementedError

    def continuation(self, relevant: Floats) -> Floats:
        after_others = self.going_on(relevant=False)
        return after_others + (self.going_on(relevant=True) - after_others) * relevant

    def examined_beyond(self, relevant: Floats, *, relevant_beyond: float) -> Floats:
        return np.full(relevant.shape[:-1], 1 / (1 - self.going_on(relevant=relevant_beyond > 0)))


class RBP2(ContinuingByLast):
    """Relevant documents per document read, for a user who continues with one probability after a relevant document and
    with another after a non-relevant one.

    Lower persistence after a relevant document: one good answer goes far. Higher: success encourages. If both are equal
    this is RBP. The value is the expected number of relevant documents examined over the expected number of documents
    examined. Beyond the end of the list the value and ``low`` count documents as non-relevant; ``high`` counts them and
    the unjudged ones as relevant. Making a document relevant never lowers the rate: its effect on the documents below
    is always smaller than its own gain.

    Source: Moffat and Zobel 2008, section 4.3.
    """

    p_relevant: float = parameter("The probability of continuing after a relevant document.", PERSISTENCE, default=0.5)
    p_nonrelevant: float = parameter("The probability of continuing after any other.", PERSISTENCE, default=0.8)

    example = ("RBP2(p_relevant=0.5)", 0.4828)
    examples = (
        "RBP2(p_relevant=0.5,p_nonrelevant=0.8)",
        "RBP2(p_relevant=0.9,p_nonrelevant=0.6)",
        "RBP2(p_relevant=0,p_nonrelevant=0.9)",
    )
    sources = ("moffat2008rank",)
    always_shown = ("p_relevant", "p_nonrelevant")

    def going_on(self, *, relevant: bool) -> float:
        return self.p_relevant if relevant else self.p_nonrelevant


class INST(ContinuingByRelevance):
    """Relevant documents per document read, for a user who wants T of them, reads on while they are missing, and
    becomes more persistent with every document read.

    The probability of continuing past rank i is ((i - 1 + T + T_i) / (i + T + T_i))^2, where T_i is T minus the
    relevant documents found to rank i. If none is found, about 2T + 0.5 documents are examined. Weights fall only as
    1/i^2, which leaves much open beyond the list: the value and ``low`` count it as non-relevant, ``high`` counts it
    and the unjudged documents as relevant. ``T`` must be at least 1; then making a document relevant never lowers the
    rate.

    Source: Moffat, Bailey, Scholer and Thomas, INST: An Adaptive Metric for Information Retrieval Evaluation, ADCS
    2015.
    """

    T: float = parameter("How many relevant documents the user hopes for.", AT_LEAST_1, default=1.0)

    example = ("INST(T=2)", 0.4254)
    examples = ("INST(T=1)", "INST(T=2.5)")
    sources = ("moffat2015inst",)
    always_shown = ("T",)
    monotone = True

    def _effort(self, relevant: Floats) -> Floats:
        return np.arange(1, relevant.shape[-1] + 1) + 2 * self.T - np.cumsum(relevant, axis=-1)

    def continuation(self, relevant: Floats) -> Floats:
        return (1 - 1 / self._effort(relevant)) ** 2

    def examined_beyond(self, relevant: Floats, *, relevant_beyond: float) -> Floats:
        effort = self._effort(relevant)[..., -1]
        if relevant_beyond:  # every step adds one document and takes one from T_i, so that C stays as it is
            return effort**2 / (2 * effort - 1)
        from scipy.special import zeta

        return effort**2 * zeta(2, effort)


class TBG(ContinuingByLast):
    """Relevant documents per document read, for users of whom half give up within every ``halflife`` seconds.

    A document takes some seconds, a relevant one more, because more users open it. The probability of still reading
    after t seconds is 2^(-t/halflife), and weights are scaled to sum to 1 (as in the C/W/L framework). Judgments and
    runs do not contain lengths, so all documents of a kind take the same time; if both kinds do, this is RBP with p =
    2^(-seconds/halflife). The defaults are the original's for documents of 500 words: 4.4 seconds for a summary, 0.018
    for a word and 7.8 more for a document, opened with probability 0.64 if relevant and 0.39 if not.

    What lies beyond the list counts as non-relevant in the value, and as relevant in ``high``. Making a document
    relevant never lowers the rate. The original's score, the gain before users give up, is this rate times the expected
    number of documents times 0.4928, the probability that a relevant document is opened and found so.

    Source: Smucker and Clarke, Time-Based Calibration of Effectiveness Measures, SIGIR 2012; scaled as in cwl_eval,
    which it equals for seconds = seconds_relevant = 1.
    """

    halflife: float = parameter("The time after which half of the users are left.", POSITIVE, default=224.0)
    seconds: float = parameter("The time that a non-relevant document takes.", POSITIVE, default=10.95)
    seconds_relevant: float = parameter("The time that a relevant document takes.", POSITIVE, default=15.15)

    example = ("TBG(halflife=10, seconds=10, seconds_relevant=10)", 0.625)
    examples = ("TBG(halflife=20)", "TBG(halflife=5,seconds=2,seconds_relevant=1)")
    sources = ("smucker2012time",)
    always_shown = ("halflife",)

    def going_on(self, *, relevant: bool) -> float:
        return float(np.exp2(-(self.seconds_relevant if relevant else self.seconds) / self.halflife))
