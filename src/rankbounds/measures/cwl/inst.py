"""INST, whose user wants a certain number of relevant documents."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.cwl.continuation import ContinuingByRelevance


class INST(ContinuingByRelevance):
    """The rate at which a user meets relevant documents who hopes for T of them, reads on while they are missing,
    and grows less likely to stop the more has been invested.

    The probability of looking past rank i is ((i - 1 + T + T_i) / (i + T + T_i))^2, where T_i is T less the relevant
    documents found down to rank i. Before any is found, about 2T + 0.5 documents are examined. Weights fall only as
    1/i^2: what lies beyond the list stays open for long. The value and ``low`` take it as non-relevant for ever,
    ``high`` takes it and the unjudged documents as relevant. ``T`` must be at least 1; then turning a document
    relevant never lowers the rate.

    Source: Moffat, Bailey, Scholer and Thomas, INST: An Adaptive Metric for Information
    Retrieval Evaluation, ADCS 2015.

    Parameters
    ----------
    T : float, default 1
        How many relevant documents the user hopes for.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.INST(T=2)).value.item(), 4)
    0.4254
    """

    T: float = 1.0
    rel: float = 1.0

    name = "INST"
    value_range = (0.0, 1.0)
    examples = ("INST(T=1)", "INST(T=2.5)")
    sources = ("moffat2015inst",)
    always_shown = ("T",)
    monotone = True
    list_only = True

    def check(self) -> None:
        if not 1 <= self.T < np.inf:
            raise UsageError(f"INST: T, the number of relevant documents hoped for, must be at least 1, not {self.T}.")

    def _effort(self, relevant: Floats) -> Floats:
        """At every rank i, i + T + T_i."""
        return np.arange(1, relevant.shape[-1] + 1) + 2 * self.T - np.cumsum(relevant, axis=-1)

    def continuation(self, relevant: Floats) -> Floats:
        return (1 - 1 / self._effort(relevant)) ** 2

    def examined_beyond(self, relevant: Floats, *, relevant_beyond: bool) -> Floats:
        effort = self._effort(relevant)[..., -1]
        if relevant_beyond:  # every step adds one document and takes one from T_i, so that C stays as it is
            return effort**2 / (2 * effort - 1)
        from scipy.special import zeta

        return effort**2 * zeta(2, effort)
