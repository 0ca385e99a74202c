"""Runs joined once with judgments, to be scored under any part of those judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats
from rankbounds.collection.gains import GainRule, gain_rule
from rankbounds.collection.inputs import Reading
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.columns.native import worth_starting
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.rankings.join import join
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.threads import Progress, in_threads, processors


class JudgedRuns:
    """Many runs joined once with judgments, to score them under many subsets of the judgments.

    A subset is a flag per judgment. Documents without a judgment in it count as unjudged (for infAP: as pooled but not
    judged). Topics that a run lacks count as empty lists; ties are broken as in trec_eval.
    """

    def __init__(
        self, qrels: QrelsLike, runs: RunsLike, *, gain: str | Mapping[Any, float] | GainRule | None = None
    ) -> None:
        rule = gain_rule(gain)
        self.qrels: Qrels = Reading(gain=rule).judgments(qrels)
        self.facts = TopicFacts(self.qrels, rule)
        self.runs = Reading(threads=worth_starting()).runs(runs)
        self.names = [run.name for run in self.runs]
        self.qrels.pairs.index  # noqa: B018 (built once, before threads share it)
        self._rankings = list(in_threads(self._join_run, self.runs, processors()))

    def _join_run(self, run: Run) -> tuple[list[Rankings], list[Rankings]]:
        """Return a run's rankings, and those without documents unknown to all subsets."""
        batches = list(join(run, self.facts, keep_judgments=True).batches)
        return batches, [batch.condensed() for batch in batches]

    def scores(
        self, subsets: Sequence[Flags | None], measures: Sequence[Measure], *, progress: Progress | None = None
    ) -> Floats:
        """Values with axes subset, run, topic, measure; None stands for all judgments."""
        facts_by_subset = [self._facts_of(kept) for kept in subsets]
        shape = (len(facts_by_subset), len(self.facts.query_ids), len(measures))

        def score(rankings: tuple[list[Rankings], list[Rankings]]) -> Floats:
            values = np.zeros(shape)
            for batches, judged_only in zip(rankings, (False, True), strict=True):
                chosen = [item for item in enumerate(measures) if item[1].judged_only == judged_only]
                for subset, facts in enumerate(facts_by_subset) if chosen else ():
                    for batch in batches:
                        rejudged = batch.rejudged(facts)
                        for place, measure in chosen:
                            values[subset, batch.topic, place] = measure.value(rejudged)
            return values

        return np.stack(list(in_threads(score, self._rankings, processors(), progress)), axis=1)

    def low_high(
        self, kept: Flags | None, measure: Measure, runs: Sequence[int] | None = None
    ) -> tuple[Floats, Floats]:
        """Return the bounds of a measure under a subset of the judgments, with axes run and topic."""
        assumptions = Assumptions()
        facts = self._facts_of(kept)
        low, high = (np.full((len(self.names), len(self.facts.query_ids)), np.nan) for _ in range(2))
        for run in range(len(self.names)) if runs is None else runs:
            for batch in self._rankings[run][0]:
                bounds = assumptions.low_high(measure, batch.rejudged(facts))
                if bounds is not None:
                    low[run, batch.topic], high[run, batch.topic] = bounds
        return low, high

    def _facts_of(self, kept: Flags | None) -> TopicFacts:
        return self.facts if kept is None else self.facts.restricted(kept)
