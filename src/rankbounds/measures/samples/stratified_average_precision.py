"""Average precision from a sample with strata: xinfAP."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import quotient
from rankbounds.measures.samples.sampled import Sampled, inferred_relevant, inferred_total
from rankbounds.rankings.strata import StratifiedLists


class xinfAP(Sampled):  # noqa: N801 (the name everybody knows it by)
    """Average precision estimated from judgments of a sample that was drawn from strata at different rates.

    Judgments have five fields, "topic 0 document stratum grade" (or a column ``stratum``), and list the whole pool: -1
    is a document that was not drawn. The precision at a relevant document is one over its rank, and the relevant
    documents above as the drawn ones of each stratum there suggest; a relevant document stands for N/n of its stratum.
    Documents outside the pool count as not relevant. infAP is the case of one stratum, smoothed a little differently.

    Lists are read down to rank 1000 (or ``@k``); where more documents than that are estimated to be relevant, the sum
    is divided by that number, as TREC's script does. It is an estimate: no bounds are given. For its standard error
    see ``sampling_errors``.

    Source: Yilmaz, Kanoulas and Aslam, SIGIR 2008; as in TREC's sample_eval.pl (infAP there).

    Parameters
    ----------
    cutoff : int | None, default None
        The depth, written behind the @; None: 1000.

    Examples
    --------
    >>> import rankbounds as rb
    >>> sample = {"query_id": ["q"] * 4, "stratum": [1, 2, 2, 2], "doc_id": list("abcd"), "relevance": [1, 1, -1, 0]}
    >>> round(rb.evaluate(sample, {"q": ["a", "c", "b", "d"]}, "xinfAP").value.item(), 4)
    0.8667
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "xinfAP"
    examples = ("xinfAP", "xinfAP(rel=2)")
    sources = ("yilmaz2008simple",)

    def estimate(self, lists: StratifiedLists) -> Floats:
        rank = np.arange(1, lists.stratum.shape[1] + 1)
        above: Floats = np.pad(inferred_relevant(lists), ((0, 0), (1, 0)))[:, :-1]
        precision = (1 + above) / rank
        read = lists.relevant & (rank <= self.longest)
        stands_for = np.take_along_axis(lists.expansion, np.maximum(lists.stratum, 0), axis=-1)
        total = np.where(read, precision * stands_for, 0.0).sum(axis=-1)
        return quotient(total, np.minimum(inferred_total(lists), self.longest if self.cutoff is None else np.inf))
