"""Discounted gain as the rate of a user who reads to a depth."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.cwl.continuation import Continuing
from rankbounds.measures.discounted_gain import check_discount, discounts


class SDCG(Continuing):
    """Discounted gain of relevant documents to depth k, divided by that of k relevant documents: between 0 and 1.

    Unlike nDCG it asks nothing of documents that were not retrieved. As a user it looks past rank i with probability
    log(i + 1) / log(i + 2), and never past k. The scale depends on the depth: with ``base=2`` the divisor is 21.79 at
    depth 100 and 123.99 at depth 1000, so that only scores at one depth compare. If the list is shorter than k, the
    ranks behind it are unknown.

    Source: Moffat and Zobel 2008, section 4.6; ``base`` as in DCG.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.SDCG @ 3).value.item(), 4)
    0.7039
    """

    base: float | None = None
    rel: float = 1.0
    cutoff: int | None = None

    name = "SDCG"
    value_range = (0.0, 1.0)
    examples = ("SDCG@3", "SDCG@10", "SDCG(base=2)@8")
    sources = ("moffat2008rank", "jarvelin2002cumulated")
    needs_cutoff = True

    def check(self) -> None:
        check_discount(self, self.base, "linear")

    def continuation(self, n: int) -> Floats:
        weight = discounts(self.base, n + 1)
        return np.where(np.arange(1, n + 1) == self.cutoff, 0.0, weight[1:] / weight[:-1])
