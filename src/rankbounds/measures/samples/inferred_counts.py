"""Counts of relevant documents, estimated from a sample with strata."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.samples.sampled import Sampled, inferred_relevant, inferred_total
from rankbounds.rankings.strata import StratifiedLists


def _at(values: Floats, depth: int) -> Floats:
    """The values at a rank, or at the end of the arrays."""
    return values[:, min(depth, values.shape[1]) - 1]


class infP(Sampled):  # noqa: N801 (of a family of such names)
    """Precision at k estimated from judgments of a sample that was drawn from strata at different rates.

    Of the documents of each stratum among the first k as many are taken to be relevant as of its drawn ones there.

    Source: as in TREC's sample_eval.pl (iP5, iP10, ...), with its smoothing.

    Examples
    --------
    >>> import rankbounds as rb
    >>> sample = {"query_id": ["q"] * 4, "stratum": [1, 2, 2, 2], "doc_id": list("abcd"), "relevance": [1, 1, -1, 0]}
    >>> round(rb.evaluate(sample, {"q": ["a", "c", "b", "d"]}, "infP@4").value.item(), 4)
    0.625
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "infP"
    examples = ("infP@3",)
    trec_names = ("iP{cutoff}",)
    needs_cutoff = True

    def estimate(self, lists: StratifiedLists) -> Floats:
        return _at(inferred_relevant(lists), self.longest) / self.longest


class infNumRelRet(Sampled):  # noqa: N801 (of a family of such names)
    """How many of the retrieved documents are relevant, estimated from a sample with strata. The total is a sum.

    Source: as in TREC's sample_eval.pl (inum_rel_ret), with its smoothing; lists are read down to rank 1000.

    Examples
    --------
    >>> import rankbounds as rb
    >>> sample = {"query_id": ["q"] * 4, "stratum": [1, 2, 2, 2], "doc_id": list("abcd"), "relevance": [1, 1, -1, 0]}
    >>> round(rb.evaluate(sample, {"q": ["a", "c", "b", "d"]}, "infNumRelRet").value.item(), 4)
    2.5
    """

    rel: float = 1.0

    name = "infNumRelRet"
    examples = ("infNumRelRet",)
    trec_names = ("inum_rel_ret",)
    total = "sum"

    def estimate(self, lists: StratifiedLists) -> Floats:
        return _at(inferred_relevant(lists), self.longest)


class infNumRel(Sampled):  # noqa: N801 (of a family of such names)
    """How many documents of the pool are relevant, estimated from a sample with strata. The total is a sum.

    A stratum has N/n times as many as were drawn of it, N being its documents and n those drawn.

    Source: as in TREC's sample_eval.pl (inum_rel).

    Examples
    --------
    >>> import rankbounds as rb
    >>> sample = {"query_id": ["q"] * 4, "stratum": [1, 2, 2, 2], "doc_id": list("abcd"), "relevance": [1, 1, -1, 0]}
    >>> rb.evaluate(sample, {"q": ["a", "c", "b", "d"]}, "infNumRel").value.item()
    2.5
    """

    rel: float = 1.0

    name = "infNumRel"
    examples = ("infNumRel",)
    trec_names = ("inum_rel",)
    total = "sum"

    def estimate(self, lists: StratifiedLists) -> Floats:
        return np.asarray(inferred_total(lists))
