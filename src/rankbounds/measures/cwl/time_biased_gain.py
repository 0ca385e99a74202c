"""Time-biased gain."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.cwl.continuation import ContinuingByRelevance


class TBG(ContinuingByRelevance):
    """The rate at which users meet relevant documents of whom half give up within every ``halflife`` seconds.

    A document takes some seconds, a relevant one more, because more users open it. The chance of still being there
    after t seconds is 2^(-t/halflife), and weights are scaled to sum to 1 (as in the C/W/L framework). Judgments and
    runs say nothing of lengths, so that all documents of a kind take the same time; where both kinds do, this is RBP
    with p = 2^(-seconds/halflife). The defaults are the original's for documents of 500 words: 4.4 seconds for a
    summary, 0.018 for a word and 7.8 more for a document, opened with probability 0.64 if relevant and 0.39 if not.

    What lies beyond the list counts as non-relevant in the value, and as relevant in ``high``. Turning a document
    relevant never lowers the rate. The original's score, the gain before users give up, is this rate times the
    expected number of documents times 0.4928, the chance that a relevant document is opened and found so.

    Source: Smucker and Clarke, Time-Based Calibration of Effectiveness Measures, SIGIR 2012; scaled as in cwl_eval,
    which it equals for seconds = seconds_relevant = 1.

    Parameters
    ----------
    halflife : float, default 224
        The time after which half of the users are left.
    seconds : float, default 10.95
        How long a document takes that is not relevant.
    seconds_relevant : float, default 15.15
        How long a relevant document takes.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.TBG(halflife=10, seconds=10, seconds_relevant=10)).value.item(), 4)
    0.625
    """

    halflife: float = 224.0
    seconds: float = 10.95
    seconds_relevant: float = 15.15
    rel: float = 1.0

    name = "TBG"
    examples = ("TBG(halflife=20)", "TBG(halflife=5,seconds=2,seconds_relevant=1)")
    sources = ("smucker2012time",)
    always_shown = ("halflife",)
    monotone = True

    def check(self) -> None:
        for name in ("halflife", "seconds", "seconds_relevant"):
            if not 0 < getattr(self, name) < np.inf:
                raise UsageError(f"TBG: {name} must be positive, not {getattr(self, name)}.")

    def _kept(self, seconds: float) -> float:
        """The share of users who are still there after so long."""
        return float(np.exp2(-seconds / self.halflife))

    def continuation(self, relevant: Floats) -> Floats:
        after_others = self._kept(self.seconds)
        return after_others + (self._kept(self.seconds_relevant) - after_others) * relevant

    def examined_beyond(self, relevant: Floats, *, relevant_beyond: bool) -> Floats:
        kept = self._kept(self.seconds_relevant if relevant_beyond else self.seconds)
        return np.full(relevant.shape[:-1], 1 / (1 - kept))
