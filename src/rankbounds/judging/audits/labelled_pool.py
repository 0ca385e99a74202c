"""Documents that carry labels, and where runs have them: what samples are drawn from and audits speak of.

A document without a label counts as non-relevant, as an unjudged one does elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.inputs import Reading
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.columns.native import worth_starting
from rankbounds.errors import warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.options import OrderOptions, chosen_options
from rankbounds.evaluation.run_notes import RunNotes, topic_warnings
from rankbounds.evaluation.scoring import join_lists
from rankbounds.judging.candidates import runs_to_compare
from rankbounds.judging.pools import subset
from rankbounds.rankings.rankings import NOT_POOLED, Rankings
from rankbounds.rankings.topic_facts import TopicFacts

MOST_GROUPS = 12
"""Up to this number of different labels each stands for itself; more are put into groups of like size."""
LEAST_PROBABLE, RISE = 0.15, 0.5
"""Before anybody judged: documents of the lowest label are relevant with the first probability, and those of the
highest with the sum. Models call too much relevant rather than too little, so that the high labels are the unsure ones;
the probabilities are mild, because a judge of whom nothing is known may be a bad one."""

SMOOTHING, LEAST_SUPPORT = 10, 1000
"""Of a document that no run has the reciprocal rank is that of the second; the first keeps top ranks from towering."""


@dataclass(frozen=True, eq=False)
class LabelledPool:
    """Labels, and the rankings of runs in which each document is known by its row among the labels."""

    labels: Qrels
    names: tuple[str, ...]
    rankings: tuple[tuple[Rankings, ...], ...]
    """The lists of each run."""
    assumptions: Assumptions
    reading: Reading

    @classmethod
    def of(cls, labels: QrelsLike, runs: RunsLike, options: OrderOptions) -> LabelledPool:
        """From anything that ``evaluate`` takes."""
        assumptions, reading = chosen_options(
            options, OrderOptions, one_order="Labels are audited in", threads=worth_starting()
        )
        read = reading.judgments(labels)
        labelled = read.grade != POOLED_NOT_JUDGED
        kept = read if labelled.all() else subset(read, labelled)
        facts, systems = TopicFacts(kept, assumptions.gain), reading.runs(runs)
        joined = [join_lists(run, facts, assumptions, keep_rows=False, keep_judgments=True) for run in systems]
        names, notes = tuple(run.name for run in systems), [RunNotes(one.missing, one.unknown) for one in joined]
        for message in topic_warnings(names, notes, assumptions.topics):
            warn(message)
        return cls(kept, names, tuple(tuple(one.batches) for one in joined), assumptions, reading)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def source(self) -> str:
        """Where the labels come from."""
        return self.labels.pairs.source.name

    @property
    def topic(self) -> Ints:
        """The topic of each document."""
        return self.labels.pairs.topic

    @property
    def number_of_topics(self) -> int:
        """Over how many topics means are taken."""
        return len(self.labels.query_ids)

    def about(self, compare: tuple[str, str] | str | None) -> LabelledPool:
        """The same documents in those runs alone that are compared; in all where nothing is."""
        if compare is None:
            return self
        return self.of_runs(runs_to_compare(self.names, compare))

    def of_runs(self, chosen: Sequence[int]) -> LabelledPool:
        """The same documents in these runs alone."""
        names, lists = zip(*((self.names[run], self.rankings[run]) for run in chosen), strict=True)
        return replace(self, names=names, rankings=lists)

    @cached_property
    def group(self) -> Ints:
        """The label of each document as a number from 0 on, the lowest first; labels of many values in groups."""
        values, group = np.unique(self.labels.grade, return_inverse=True)
        if values.size <= MOST_GROUPS:
            return group.reshape(-1)
        share = (np.cumsum(np.bincount(group)) - 0.5 * np.bincount(group)) / group.size
        of_value = np.unique((share * MOST_GROUPS).astype(np.int64), return_inverse=True)[1].reshape(-1)
        return of_value[group].reshape(-1)

    @cached_property
    def support(self) -> Floats:
        """How high the runs have each document, standardised: reciprocal ranks summed over runs, in logarithms."""
        total = np.zeros(len(self) + 2)
        for rankings in self._all():
            assert rankings.judgment is not None
            total[rankings.judgment] += 1 / (SMOOTHING + np.arange(rankings.width))
        logarithm = np.log(total[:-2] + 1 / LEAST_SUPPORT)
        spread = logarithm.std()
        return (logarithm - logarithm.mean()) / (spread if spread > 0 else 1.0)

    @cached_property
    def prior(self) -> Floats:
        """The probability that each document is relevant, from its label alone, before anybody judged."""
        label = self.labels.grade
        low, high = float(label.min()), float(label.max())
        if low == high:
            return np.full(label.size, 0.5)
        return LEAST_PROBABLE + RISE * (label - low) / (high - low)

    def unlabelled(self, depth: int) -> tuple[int, int]:
        """Of the documents down to this depth in all lists, how many have no label; and how many there are."""
        lacking = total = 0
        for rankings in self._all():
            judgment = rankings.judgment
            assert judgment is not None
            lacking += int(np.count_nonzero(judgment[:, :depth] == NOT_POOLED))
            total += int(np.minimum(rankings.length, depth).sum())
        return lacking, total

    def _all(self) -> Iterable[Rankings]:
        return (rankings for lists in self.rankings for rankings in lists)
