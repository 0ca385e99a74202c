"""C/W/L/A: what a user remembers of the documents read, where that is not their sum."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.measures.formulas import weighted_sum
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import PERSISTENCE, POSITIVE, parameter
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_products, group_means

SHARE_OF_PEAK = {"max": 1.0, "end": 0.0, "peak-end": 0.5}


class CWLA(Measure):
    """What a user remembers after stopping in the list: the best document read (max), the last one (end), or the mean
    of the two (peak-end).

    The user of RBP (``p``) or of INSQ (``T``) stops at rank i with probability V(i) - V(i + 1), where V(i) is that of
    reading it; the value is averaged over these stops. With binary relevance, max is the probability of having read a
    relevant document, and end of the RBP user is RBP. ``graded=true`` divides gains by the collection's largest, as in
    RBP. Beyond the end of the list the value counts everything as not relevant, ``high`` as relevant.

    Source: Moffat, Mackenzie, Thomas and Azzopardi, A Flexible Framework for Offline Effectiveness Metrics, SIGIR 2022.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 0, "b": 1, "c": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> scores = rb.evaluate(qrels, run, [rb.measures.CWLA(of, p=0.5) for of in ("max", "end", "peak-end")])
    >>> scores.value.ravel().tolist()
    [0.5, 0.375, 0.4375]
    """

    aggregate: str = parameter("What is remembered: max, end or peak-end.", default="max")
    p: float | None = parameter(
        "The user of RBP, who goes on with this probability (0.8 where T is not given).", PERSISTENCE, default=None
    )
    T: float | None = parameter("The user of INSQ, who hopes for so many relevant documents.", POSITIVE, default=None)
    graded: bool = parameter("Whether gains count, or only relevance.", default=False)  # type: ignore[misc]

    takes = ("rel",)
    examples = ("CWLA(aggregate=max,p=0.8)", "CWLA(aggregate=end,T=2)", "CWLA(aggregate=peak-end,p=0.9,graded=true)")
    sources = ("moffat2022flexible",)
    always_shown = ("aggregate",)
    monotone = True
    list_only = True
    has_residual = True
    value_range = (0.0, 1.0)
    tail_adds = False

    def __post_init__(self) -> None:
        if self.p is None and self.T is None:
            object.__setattr__(self, "p", 0.8)
        super().__post_init__()

    def check(self) -> None:
        if self.aggregate not in SHARE_OF_PEAK:
            hint = did_you_mean(self.aggregate, list(SHARE_OF_PEAK))
            raise UsageError(f'CWLA: users remember max, end or peak-end, not "{self.aggregate}".{hint}')
        if self.p is not None and self.T is not None:
            raise UsageError("CWLA: give p or T, not both.")

    def reached(self, n: int) -> Floats:
        """The probabilities of reading ranks 1 to n."""
        if self.T is not None:
            return (2 * self.T / (np.arange(n) + 2 * self.T)) ** 2
        assert self.p is not None
        return self.p ** np.arange(n)

    def worth(self, rankings: Rankings) -> Floats:
        return RBP(p=0.0, graded=self.graded, rel=self.rel).worth(rankings)

    def value(self, rankings: Rankings) -> Floats:
        worth = self.worth(rankings)
        best = np.maximum.accumulate(worth, axis=-1)
        return self._mean_memory(np.diff(best, prepend=0.0, axis=-1), worth)

    def _mean_memory(self, better: Floats, last: Floats) -> Floats:
        """Average what each rank adds to the best so far and its own value."""
        reached, peak = self.reached(last.shape[-1] + 1), SHARE_OF_PEAK[self.aggregate]
        return peak * weighted_sum(reached[:-1], better) + (1 - peak) * weighted_sum(-np.diff(reached), last)

    def bounds(self, rankings: Rankings) -> Bounds:
        most = rankings.assume(1.0)
        return self.value(rankings.assume(0.0)), self.value(most) + self.open_tail(rankings)

    def open_tail(self, rankings: Rankings) -> Floats:
        beyond = self.reached(rankings.width + 1)[rankings.length]
        best, peak = self.worth(rankings.assume(1.0)).max(axis=-1, initial=0.0), SHARE_OF_PEAK[self.aggregate]
        return beyond * (peak * (1 - best) + (1 - peak))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        worth = self.worth(rankings)
        if rankings.tied is None or (self.graded and self.aggregate != "end"):
            return self.value(rankings) if rankings.tied is None else None
        nothing_yet = expected_products(rankings, 1 - worth) if self.aggregate != "end" else np.ones(worth.shape)
        return self._mean_memory(-np.diff(nothing_yet, prepend=1.0, axis=-1), group_means(rankings, worth))
