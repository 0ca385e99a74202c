"""INSQ, whose user hopes for a certain number of relevant documents and does not count them."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.cwl.continuation import Continuing


class INSQ(Continuing):
    """The rate at which a user meets relevant documents who hopes for T of them, and grows less likely to stop the
    more documents have been read, whatever was found. INST is the same user, who counts.

    The probability of looking past rank i is ((i + 2T - 1) / (i + 2T))^2, so that weights fall as 1 / (i + 2T - 1)^2.
    About 2T + 0.5 documents are examined. What lies beyond the list stays open for long; ``high`` takes it as relevant.

    Source: Moffat, Scholer and Thomas, Models and Metrics: IR Evaluation as a User Process, ADCS 2012.

    Parameters
    ----------
    T : float, default 1
        How many relevant documents the user hopes for.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.INSQ(T=2)).value.item(), 4)
    0.3181
    """

    T: float = 1.0
    rel: float = 1.0

    name = "INSQ"
    value_range = (0.0, 1.0)
    examples = ("INSQ(T=1)", "INSQ(T=2.5)")
    sources = ("moffat2012models",)
    always_shown = ("T",)

    def check(self) -> None:
        if not 0 < self.T < np.inf:
            raise UsageError(f"INSQ: T, the number of relevant documents hoped for, must be positive, not {self.T}.")

    def continuation(self, n: int) -> Floats:
        rank = np.arange(1, n + 1)
        return ((rank + 2 * self.T - 1) / (rank + 2 * self.T)) ** 2

    def examined(self, n: int) -> Floats:
        return (2 * self.T / (np.arange(n) + 2 * self.T)) ** 2

    def expected_depth(self) -> float:
        from scipy.special import zeta

        return float((2 * self.T) ** 2 * zeta(2, 2 * self.T))
