"""Expected reciprocal rank for several subtopics."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.diversity.novelty import NormalisedNovel, Novel


class ERR_IA(Novel):  # noqa: N801 (the name everybody knows it by)
    """The expected reciprocal rank at which a user with one of the subtopics in mind is satisfied, averaged over
    subtopics.

    A document relevant to the user's subtopic satisfies with probability alpha. The mean of 1/rank is divided by that
    of a list all of which is relevant to every subtopic, down to the same depth, as ndeval does: ERR_IA@20 may be less
    than ERR_IA@10.

    Sources: Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; divided as in ndeval (ERR-IA).

    Examples
    --------
    >>> import rankbounds as rb
    >>> judgments = {"query_id": ["q"] * 3, "subtopic": [1, 1, 2], "doc_id": ["a", "b", "b"], "relevance": [1, 1, 1]}
    >>> round(rb.evaluate(judgments, {"q": ["a", "b", "c"]}, "ERR_IA@2").value.item(), 4)
    0.7
    """

    alpha: float = 0.5
    rel: float = 1.0
    cutoff: int | None = None

    name = "ERR_IA"
    value_range = (0.0, 1.0)
    aliases = ("ERR-IA",)
    examples = ("ERR_IA@3", "ERR_IA(alpha=0.3)")
    sources = ("chapelle2009expected",)

    def weights(self, n: int) -> Floats:
        return 1 / np.arange(1, n + 1)


class nERR_IA(NormalisedNovel):  # noqa: N801 (the name everybody knows it by)
    """The expected reciprocal rank at which users with different subtopics in mind are satisfied, as a share of what
    the best order of the judged documents has.

    The ideal ranking takes at every rank the judged document that adds the most, of equals the one whose id sorts
    last (as ndeval; to find the very best ranking is not feasible, and a list may score a little above 1).

    Sources: Chapelle et al., CIKM 2009; as in ndeval (nERR-IA).

    Examples
    --------
    >>> import rankbounds as rb
    >>> judgments = {"query_id": ["q"] * 3, "subtopic": [1, 1, 2], "doc_id": ["a", "b", "b"], "relevance": [1, 1, 1]}
    >>> round(rb.evaluate(judgments, {"q": ["a", "b", "c"]}, "nERR_IA@2").value.item(), 4)
    0.7778
    """

    alpha: float = 0.5
    rel: float = 1.0
    cutoff: int | None = None

    name = "nERR_IA"
    aliases = ("nERR-IA",)
    examples = ("nERR_IA@3", "nERR_IA(alpha=0.3)")
    sources = ("chapelle2009expected",)

    def plain(self) -> Novel:
        return ERR_IA(alpha=self.alpha, rel=self.rel, cutoff=self.cutoff)
