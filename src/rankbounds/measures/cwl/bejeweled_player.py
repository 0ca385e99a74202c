"""The Bejeweled player model: users who read until they have found enough, or have read enough."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.cwl.stopping_by_gain import MOST, StoppingByGain


class BPM(StoppingByGain):
    """The rate at which a user meets relevant documents who reads until T are found, or K are read.

    The static model is precision where the user stops: at the T-th relevant document or at rank K, whichever comes
    first. In the dynamic one (``hb``, ``hc``) expectations move: a relevant document raises T by hb (1 - median) and K
    by hc (1 - median), any other lowers them by hb median and hc median, for the ranks that follow.

    Source: Zhang, Liu, Li, Zhang, Xu and Ma, Evaluating Web Search with a Bejeweled Player Model, SIGIR 2017, in the
    C/W/L framework. cwl_eval's dynamic model leaves K as it is, whatever hc says: hc=0 gives its numbers.

    Parameters
    ----------
    T : float, default 1
        How many relevant documents the user wants.
    K : float, default 10
        How many documents the user is willing to read.
    hb : float, default 0
        How much what was seen moves T; 0: the static model.
    hc : float, default 0
        How much what was seen moves K; 0: the static model.
    median : float, default 0.5
        The relevance between good and bad news.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.BPM(T=2, K=10)).value.item(), 4)
    0.6667
    """

    T: float = 1.0
    K: float = 10.0
    hb: float = 0.0
    hc: float = 0.0
    median: float = 0.5
    rel: float = 1.0

    name = "BPM"
    value_range = (0.0, 1.0)
    examples = ("BPM(T=2,K=4)", "BPM(T=1,K=3,hb=1,hc=1)", "BPM(T=2,K=5,hb=0.5)")
    sources = ("zhang2017evaluating",)
    always_shown = ("T", "K")

    def check(self) -> None:
        if not (0 < self.T < np.inf and 0 < self.K < np.inf):
            raise UsageError(f"BPM: T and K must be positive, not {self.T} and {self.K}.")
        if not (0 <= self.hb < np.inf and 0 <= self.hc < np.inf and 0 <= self.median <= 1):
            raise UsageError("BPM: hb and hc must be at least 0, and median between 0 and 1.")

    def going_on(self, rank: Floats, found: Floats, relevant: Floats) -> Floats:
        news = found - relevant - self.median * (rank - 1)  # of the documents above this one
        wanted, willing = self.T + self.hb * news, self.K + self.hc * news
        return ((found < wanted) & (rank < willing)).astype(np.float64)

    def most_beyond(self, rank: int, found: Floats) -> tuple[Floats, Floats]:
        """Good news at every rank move both ends the furthest: as many as then fit are read, and at least one."""
        news = found - self.median * rank
        most = _most_steps(self.K - rank, news, self.hc, self.median)
        return np.minimum(most, _most_steps(self.T - found, news, self.hb, self.median)), most


def _most_steps(left: Floats | float, news: Floats, moved: float, median: float) -> Floats:
    """How many steps of 1 can be made, and one more, towards an end that good news at each move further away."""
    further = moved * (1 - median)
    if further >= 1:
        return np.full(news.shape, MOST)
    steps: Floats = np.clip(np.ceil((left + moved * news - further) / (1 - further)), 1, MOST)
    return steps
