"""Measures that are estimated from judgments of a sample, drawn from strata of the pool at different rates.

A drawn document stands for N/n documents of its stratum, which has N of which n were drawn. An estimate has no bounds,
and none are given; its standard error is another question (``sampling_errors``).

Sources: Yilmaz, Kanoulas and Aslam, A Simple and Efficient Sampling Method for Estimating AP and NDCG, SIGIR 2008; as
in TREC's script sample_eval.pl, whose constants for smoothing and longest list (1000) these are.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.strata import StratifiedLists

SMOOTHING = 0.00001
LONGEST = 1000
"""How far a list is read where no depth is given."""


class Sampled(Measure):
    """A subclass has ``estimate``."""

    promotable = False
    exactness = "unknown"
    reads_judgments = True
    value_range = (0.0, np.inf)

    def estimate(self, lists: StratifiedLists) -> Floats:
        """One number for each list."""
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        return self.estimate(StratifiedLists.of(rankings, self.rel))

    def bounds(self, rankings: Rankings) -> Bounds | None:  # noqa: ARG002
        return None

    @property
    def longest(self) -> int:
        """How many ranks are read at most."""
        return self.cutoff or LONGEST


def inferred_relevant(lists: StratifiedLists) -> Floats:
    """At every rank, how many documents down to it are relevant by the rates seen in their strata so far."""
    total = np.zeros(lists.stratum.shape)
    for _, _, documents, drawn, relevant in lists.down_to():
        total += documents * (relevant + SMOOTHING) / (drawn + 3 * SMOOTHING)
    return total


def inferred_total(lists: StratifiedLists) -> Floats:
    """How many documents of the pool are relevant."""
    return (lists.relevant_sampled * lists.expansion).sum(axis=-1)
