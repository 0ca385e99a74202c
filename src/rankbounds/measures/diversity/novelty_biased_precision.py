"""Novelty- and rank-biased precision."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.diversity.novelty import NormalisedNovel, Novel


class NRBP(Novel):
    """The rate at which a user who goes on to the next document with probability beta meets subtopics, repetitions
    counting less.

    The document at rank i gains beta^(i-1) (1 - alpha)^n for each subtopic that it is relevant to and that n documents
    above are relevant to. Divided by what a list without end would gain all of which is relevant to every subtopic.
    With alpha=0 it is RBP, averaged over subtopics. What lies beyond the end of the list counts as not relevant.

    Source: Clarke, Kolla and Vechtomova, An Effectiveness Measure for Ambiguous and Underspecified Queries, ICTIR
    2009; as in ndeval (NRBP).

    Parameters
    ----------
    beta : float, default 0.5
        The probability of going on to the next document.

    Examples
    --------
    >>> import rankbounds as rb
    >>> judgments = {"query_id": ["q"] * 3, "subtopic": [1, 1, 2], "doc_id": ["a", "b", "b"], "relevance": [1, 1, 1]}
    >>> round(rb.evaluate(judgments, {"q": ["a", "b", "c"]}, "NRBP").value.item(), 4)
    0.6562
    """

    alpha: float = 0.5
    beta: float = 0.5
    rel: float = 1.0

    name = "NRBP"
    aliases = ()
    examples = ("NRBP", "NRBP(alpha=0,beta=0.8)")
    sources = ("clarke2009effectiveness",)

    def check(self) -> None:
        if not 0 <= self.beta < 1:
            raise UsageError(f"NRBP: beta, the probability of going on, must be from 0 to below 1, not {self.beta}.")
        super().check()

    def weights(self, n: int) -> Floats:
        return self.beta ** np.arange(n)


class nNRBP(NormalisedNovel):  # noqa: N801 (the name everybody knows it by)
    """The rate at which a user meets subtopics (NRBP), as a share of what the best order of the judged documents has.

    The ideal ranking takes at every rank the judged document that adds the most, of equals the one whose id sorts
    last (as ndeval; to find the very best ranking is not feasible, and a list may score a little above 1).

    Source: Clarke, Kolla and Vechtomova, ICTIR 2009; as in ndeval (nNRBP).

    Parameters
    ----------
    beta : float, default 0.5
        The probability of going on to the next document.

    Examples
    --------
    >>> import rankbounds as rb
    >>> judgments = {"query_id": ["q"] * 3, "subtopic": [1, 1, 2], "doc_id": ["a", "b", "b"], "relevance": [1, 1, 1]}
    >>> round(rb.evaluate(judgments, {"q": ["a", "b", "c"]}, "nNRBP").value.item(), 4)
    0.7778
    """

    alpha: float = 0.5
    beta: float = 0.5
    rel: float = 1.0

    name = "nNRBP"
    aliases = ()
    examples = ("nNRBP", "nNRBP(beta=0.8)")
    sources = ("clarke2009effectiveness",)

    def plain(self) -> Novel:
        return NRBP(alpha=self.alpha, beta=self.beta, rel=self.rel)
