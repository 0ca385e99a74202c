"""Normalised discounted gain from a sample with strata: infNDCG."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import quotient
from rankbounds.measures.samples.sampled import Sampled
from rankbounds.rankings.strata import StratifiedLists

WHOLE = 1e-9
"""What a number of documents may lack of a whole one by rounding."""


class infNDCG(Sampled):  # noqa: N801 (the name everybody knows it by)
    """nDCG estimated from judgments of a sample that was drawn from strata at different rates.

    Judgments as for xinfAP. The gain of the retrieved documents of a stratum is that of its drawn ones there,
    discounted by 1 / log2(rank + 1), times how many documents of the stratum are retrieved for each drawn one. The
    ideal has of each grade as many documents as the sample suggests: N/n for each drawn. Grades are gains, unless a
    gain rule says otherwise.

    Lists and the ideal are read down to rank 1000 (or ``@k``). It is an estimate, which may be more than 1, and no
    bounds are given. For its standard error see ``sampling_errors``.

    Source: Yilmaz, Kanoulas and Aslam, SIGIR 2008; as in TREC's sample_eval.pl.

    Parameters
    ----------
    cutoff : int | None, default None
        The depth, written behind the @; None: 1000.

    Examples
    --------
    >>> import rankbounds as rb
    >>> sample = {"query_id": ["q"] * 4, "stratum": [1, 2, 2, 2], "doc_id": list("abcd"), "relevance": [1, 1, -1, 0]}
    >>> round(rb.evaluate(sample, {"q": ["a", "c", "b", "d"]}, "infNDCG").value.item(), 4)
    1.073
    """

    cutoff: int | None = None

    name = "infNDCG"
    aliases = ("inf_nDCG",)
    examples = ("infNDCG", "infNDCG@3")
    sources = ("yilmaz2008simple",)
    graded = True

    def estimate(self, lists: StratifiedLists) -> Floats:
        rank = np.arange(1, lists.stratum.shape[1] + 1)
        read = rank <= self.longest
        discounted = np.where(read, lists.gain / np.log2(rank + 1), 0.0)
        total = np.zeros(lists.stratum.shape[0])
        for _, inside, _, _, _ in lists.down_to():
            documents, drawn = ((inside & read & mark).sum(axis=-1) for mark in (True, lists.drawn))
            total += quotient(documents * np.where(inside, discounted, 0.0).sum(axis=-1), drawn)
        return quotient(total, self._ideal(lists))

    def _ideal(self, lists: StratifiedLists) -> Floats:
        """Documents of each gain one after the other, the best first; their numbers need not be whole."""
        number = (lists.gain_sampled * lists.expansion[..., None]).sum(axis=-2)
        ideal, start = np.zeros(number.shape[0]), np.zeros(number.shape[0])
        for level in range(lists.levels.size - 1, -1, -1):
            fitting = np.maximum(np.ceil(self.longest - start - WHOLE), 1)
            whole = np.minimum(np.floor(number[:, level] + WHOLE), fitting)
            place = np.arange(1, int(whole.max(initial=0)) + 1)
            discount = 1 / np.log2(start[:, None] + place + 1)
            ideal += lists.levels[level] * np.where(place <= whole[:, None], discount, 0.0).sum(axis=-1)
            start = start + number[:, level]
        return ideal
