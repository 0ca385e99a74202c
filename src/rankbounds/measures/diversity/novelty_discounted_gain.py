"""Discounted gain for several subtopics: alpha-DCG and alpha-nDCG."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.diversity.novelty import NormalisedNovel, Novel


class alpha_DCG(Novel):  # noqa: N801 (the name everybody knows it by)
    """Gain that falls with the logarithm of the rank, and with every repetition of a subtopic.

    The document at rank i gains, for each subtopic that it is relevant to, (1 - alpha)^n / log2(i + 1), where n of the
    documents above are relevant to that subtopic. The sum is divided by that of a list all of which is relevant to
    every subtopic, down to the same depth, so that topics of many subtopics and of few compare.

    Sources: Clarke et al., Novelty and Diversity in Information Retrieval Evaluation, SIGIR 2008; divided as in
    ndeval (alpha-DCG).

    Examples
    --------
    >>> import rankbounds as rb
    >>> judgments = {"query_id": ["q"] * 3, "subtopic": [1, 1, 2], "doc_id": ["a", "b", "b"], "relevance": [1, 1, 1]}
    >>> round(rb.evaluate(judgments, {"q": ["a", "b", "c"]}, "alpha_DCG@2").value.item(), 4)
    0.7398
    """

    alpha: float = 0.5
    rel: float = 1.0
    cutoff: int | None = None

    name = "alpha_DCG"
    aliases = ("alpha-DCG",)
    examples = ("alpha_DCG@3", "alpha_DCG(alpha=0.3)")
    sources = ("clarke2008novelty",)
    value_range = (0.0, np.inf)

    def weights(self, n: int) -> Floats:
        return 1 / np.log2(np.arange(2, n + 2))


class alpha_nDCG(NormalisedNovel):  # noqa: N801 (the name everybody knows it by)
    """The gain of new and repeated subtopics by rank, as a share of what the best order of the judged documents gains.

    1: at every rank the list has what adds the most. alpha_DCG says what the gain is made of.

    The ideal ranking takes at every rank the judged document that adds the most, of equals the one whose id sorts
    last (as ndeval; to find the very best ranking is not feasible, and a list may score a little above 1).

    Sources: Clarke et al., SIGIR 2008; as in ndeval (alpha-nDCG).

    Examples
    --------
    >>> import rankbounds as rb
    >>> judgments = {"query_id": ["q"] * 3, "subtopic": [1, 1, 2], "doc_id": ["a", "b", "b"], "relevance": [1, 1, 1]}
    >>> round(rb.evaluate(judgments, {"q": ["a", "b", "c"]}, "alpha_nDCG@2").value.item(), 4)
    0.8406
    """

    alpha: float = 0.5
    rel: float = 1.0
    cutoff: int | None = None

    name = "alpha_nDCG"
    aliases = ("alpha-nDCG",)
    examples = ("alpha_nDCG@3", "alpha_nDCG(alpha=0.3)")
    sources = ("clarke2008novelty",)

    def plain(self) -> Novel:
        return alpha_DCG(alpha=self.alpha, rel=self.rel, cutoff=self.cutoff)
