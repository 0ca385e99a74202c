"""Rank-biased precision with a persistence that depends on the document just seen."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.cwl.continuation import ContinuingByRelevance


class RBP2(ContinuingByRelevance):
    """The rate at which a user meets relevant documents who goes on with one probability after a relevant document
    and with another after a non-relevant one.

    Lower persistence after a relevant document: one good answer goes far. Higher: success encourages. With both equal
    this is RBP. The value is the expected number of relevant documents examined over the expected number of documents
    examined. Documents beyond the end of the list are unknown: the value and ``low`` take them as non-relevant for
    ever, ``high`` takes them and the unjudged ones as relevant. Turning a document relevant never lowers the rate:
    what it takes from (or adds to) the documents below is always less than the document itself brings.

    Source: Moffat and Zobel 2008, section 4.3.

    Parameters
    ----------
    p_relevant : float, default 0.5
        The probability of going on after a relevant document.
    p_nonrelevant : float, default 0.8
        The probability of going on after any other.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.RBP2(p_relevant=0.5)).value.item(), 4)
    0.4828
    """

    p_relevant: float = 0.5
    p_nonrelevant: float = 0.8
    rel: float = 1.0

    name = "RBP2"
    value_range = (0.0, 1.0)
    examples = (
        "RBP2(p_relevant=0.5,p_nonrelevant=0.8)",
        "RBP2(p_relevant=0.9,p_nonrelevant=0.6)",
        "RBP2(p_relevant=0,p_nonrelevant=0.9)",
    )
    sources = ("moffat2008rank",)
    always_shown = ("p_relevant", "p_nonrelevant")
    monotone = True
    list_only = True

    def check(self) -> None:
        for what, p in (("p_relevant", self.p_relevant), ("p_nonrelevant", self.p_nonrelevant)):
            if not 0 <= p < 1:
                raise UsageError(f"RBP2: {what} must be at least 0 and below 1, not {p}.")

    def continuation(self, relevant: Floats) -> Floats:
        return self.p_nonrelevant + (self.p_relevant - self.p_nonrelevant) * relevant

    def examined_beyond(self, relevant: Floats, *, relevant_beyond: bool) -> Floats:
        p = self.p_relevant if relevant_beyond else self.p_nonrelevant
        return np.full(relevant.shape[:-1], 1 / (1 - p))
