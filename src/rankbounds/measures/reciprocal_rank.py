"""Reciprocal rank."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Measure
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_products


class RR(Measure):
    """One over the rank of the first relevant document, 0 if none is retrieved (within the depth).

    For users who want one answer. The mean over topics is known as MRR.

    Source: Voorhees, The TREC-8 Question Answering Track Report, 1999.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.RR).value.item(), 4)
    1.0
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "RR"
    value_range = (0.0, 1.0)
    aliases = ("MRR",)
    examples = ("RR", "RR@2", "RR(rel=2)")
    sources = ("voorhees1999trec8",)
    trec_names = ("recip_rank",)
    monotone = True
    multilinear = True
    list_only = True

    def value(self, rankings: Rankings) -> Floats:
        depth = self.depth(rankings)
        if rankings.certain:
            relevant = rankings.possibly_relevant(self.rel)[..., :depth]
            first = relevant.argmax(axis=-1)
            return relevant[np.arange(first.size), first] / (first + 1)
        return expected_stop(rankings.relevant(self.rel)[..., :depth])

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return expected_stop_over_ties(rankings, rankings.relevant(self.rel), self.depth(rankings))


def expected_stop(stops: Floats) -> Floats:
    """The mean of 1/rank where a user stops, who stops at each document with the probability given there."""
    rank = np.arange(1, stops.shape[-1] + 1)
    went_on = np.ones(stops.shape)
    np.cumprod(1 - stops[..., :-1], axis=-1, out=went_on[..., 1:])
    return (stops * went_on) @ (1 / rank)


def expected_stop_over_ties(rankings: Rankings, stops: Floats, depth: int) -> Floats:
    """The mean of that over all orders of tied documents: who stops at a rank got past the one before, not past it."""
    got_past = expected_products(rankings, 1 - stops)[..., :depth]
    stopped = -np.diff(got_past, prepend=1.0, axis=-1)
    mean: Floats = stopped @ (1 / np.arange(1, depth + 1))
    return mean
