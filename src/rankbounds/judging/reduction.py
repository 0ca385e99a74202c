"""Samples of judgments: what fewer judgments would have been."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rankbounds.arrays import Flags
from rankbounds.collection.inputs import judgments_from
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.errors import UsageError
from rankbounds.judging.subsets import subset

RATES = (90.0, 70.0, 50.0, 30.0, 10.0)
"""In percent."""


class Reduction:
    """Samples of judgments, as in Sakai's and Buckley and Voorhees's experiments.

    For each topic the relevant and the non-relevant documents are shuffled, and at a rate of j percent the first
    max(1, trunc(R j / 100)) relevant and max(10, trunc(N j / 100)) non-relevant ones are kept. One seed shuffles once,
    so that the judgments of a smaller rate are among those of a larger one.

    Parameters
    ----------
    qrels
        The judgments.
    seed
        Of the shuffle.
    rel
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = rb.Qrels.from_columns(["q"] * 40, [f"d{number}" for number in range(40)], [1, 0] * 20)
    >>> [int(rb.pools.Reduction(qrels, seed=0).kept(rate).sum()) for rate in (100, 50, 10)]
    [40, 20, 12]

    """

    def __init__(self, qrels: Qrels, seed: int, rel: float = 1.0) -> None:
        self.qrels, self.seed = qrels, seed
        judged = qrels.grade != POOLED_NOT_JUDGED
        self._rows = np.flatnonzero(judged)
        relevant = qrels.grade[self._rows] >= rel
        stratum = 2 * qrels.pairs.topic[self._rows] + relevant
        shuffled = np.lexsort((np.random.default_rng(seed).random(self._rows.size), stratum))
        counts = np.bincount(stratum, minlength=2 * len(qrels.query_ids))
        place = np.empty(self._rows.size, dtype=np.int64)
        place[shuffled] = np.arange(self._rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
        self._place, self._size, self._least = place, counts[stratum], np.where(relevant, 1, 10)

    def kept(self, rate: float) -> Flags:
        """Which judgments are kept at this rate, in percent; documents that were only pooled are not."""
        if not 0 < rate <= 100:
            raise UsageError(f"A rate is a percentage above 0 and up to 100, not {rate:g}.")
        # A rate with decimals, such as 12.3, must not lose a document to rounding.
        number = np.maximum(self._least, np.floor(self._size * rate / 100 + 1e-9).astype(np.int64))
        kept = np.zeros(len(self.qrels), dtype=bool)
        kept[self._rows[self._place < number]] = True
        return kept


def reduce(qrels: Any, rates: Iterable[float] = RATES, *, seed: int = 0, rel: float = 1.0) -> dict[float, Qrels]:
    """Reduced judgments by rate.

    Parameters
    ----------
    qrels
        Judgments, in any form that ``evaluate`` takes.
    rates
        Percentages above 0 and up to 100.
    seed
        Of the shuffle: one for all rates, so that a smaller sample is part of a larger one.
    rel
        The lowest grade that counts as relevant.

    Returns
    -------
    dict
        For each rate the judgments that are kept, of the relevant and of the non-relevant documents of each topic (see
        ``Reduction``). Documents that were only pooled are left out.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"q": {f"d{number}": number % 2 for number in range(40)}}
    >>> {rate: len(kept) for rate, kept in rb.pools.reduce(qrels, [100, 50, 10]).items()}
    {100: 40, 50: 20, 10: 12}

    """
    judgments = judgments_from(qrels)
    reduction = Reduction(judgments, seed, rel)
    return {rate: subset(judgments, reduction.kept(rate)) for rate in rates}
