"""The probabilities that somebody asked for: given, estimated, or calibrated for each measure."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.choices import check_share
from rankbounds.collection.qrels import POOLED_NOT_JUDGED
from rankbounds.collection.run import Run
from rankbounds.collection.run_names import GroupsLike, number_groups
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.options import RankingOptions, chosen_options
from rankbounds.evaluation.run_notes import RunNotes, topic_warnings
from rankbounds.evaluation.scoring import join_lists
from rankbounds.measures import Measure, RankWeighted
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.phrases import some
from rankbounds.probability.documents import (
    POOLED,
    PoolDepth,
    UnjudgedDocuments,
    find_unjudged,
    open_measures,
)
from rankbounds.probability.models.estimates import (
    ALL_RELEVANT,
    GroupedRanks,
    NotEstimatedError,
    estimate,
    relevance_of,
)
from rankbounds.probability.models.groups_left_out import FEWEST, GroupedLists, GroupsLeftOut
from rankbounds.probability.models.probabilities import RelevanceProbability, as_relevance_probability
from rankbounds.probability.models.relevant_grades import lowest_relevant_grade
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.threads import processors

KINDS = ("groups", "logistic")
"""The ways to estimate probabilities from the judgments at hand: calibrated by groups of runs left out, and not."""


SAMPLES = 1000


class ProbabilityFields(TypedDict, total=False):
    """The fields of ``Probabilities``, as keyword arguments."""

    q: Any
    groups: GroupsLike | None
    otherwise: float | None
    confidence: float
    samples: int
    seed: int


class ProbabilityOptions(ProbabilityFields, RankingOptions, total=False):
    """How unjudged documents count, and the options of ``evaluate`` without them."""


@dataclass(frozen=True)
class Probabilities:
    """How probable it is that unjudged documents are relevant, and how intervals follow, as in ``uncertainty``."""

    q: Any = "groups"
    groups: GroupsLike | None = None
    otherwise: float | None = None
    confidence: float = 0.95
    samples: int = SAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        check_share("The confidence", self.confidence)
        if self.samples < 2:
            raise UsageError(f"At least two samples are needed, not {self.samples}.")


class ChosenModels:
    """Runs and the probabilities asked for; those estimated from judgments are fitted once per kind of relevance."""

    def __init__(
        self,
        given: Any,
        otherwise: float | None,
        runs: list[Run],
        facts: TopicFacts,
        assumptions: Assumptions,
        batches: Sequence[list[Rankings]] | None = None,
        groups: GroupsLike | None = None,
    ) -> None:
        self.runs, self.facts, self.assumptions = runs, facts, assumptions
        self.batches = batches or [list(join_lists(run, facts, assumptions).batches) for run in runs]
        self.groups = groups
        self.unknown = ""
        """Why the probabilities could not be estimated."""
        self.kind = given if isinstance(given, str) and given in KINDS else None
        self.given = None if self.kind else as_relevance_probability(given, otherwise)
        self._fitted: dict[Any, RelevanceProbability] = {}

    def or_even(self, measure: Measure) -> ChosenModels:
        """Return these; 0.5 where judgments do not show probabilities for this measure, and why in ``unknown``."""
        try:
            self.model_of(measure)
        except NotEstimatedError as error:
            even = ChosenModels(0.5, None, self.runs, self.facts, self.assumptions, self.batches)
            even.unknown = error.why
            return even
        return self

    @classmethod
    def read(
        cls, qrels: QrelsLike, runs: RunsLike, measures: MeasuresLike, options: Mapping[str, Any]
    ) -> tuple[ChosenModels, list[Measure], Probabilities]:
        """Read and join each run once, from everything that ``uncertainty`` takes; return also what was asked."""
        own = {name: value for name, value in options.items() if name in ProbabilityFields.__annotations__}
        asked, others = Probabilities(**own), {name: value for name, value in options.items() if name not in own}
        assumptions, reading = chosen_options(others, ProbabilityOptions, threads=processors())
        chosen = open_measures(measures, assumptions)
        facts = TopicFacts(reading.judgments(qrels), assumptions.gain)
        systems = reading.runs(runs)
        lists_pool = bool((facts.qrels.grade == POOLED_NOT_JUDGED).any())
        batches = join_and_warn(systems, facts, assumptions, keep_judgments=lists_pool)
        models = cls(asked.q, asked.otherwise, systems, facts, assumptions, batches, asked.groups)
        models.reject_lone_run(chosen)
        return models, chosen, asked

    def reject_lone_run(self, measures: Sequence[Measure]) -> None:
        """Reject probabilities of one run's unjudged documents that only its own judged ones could tell."""
        if len(self.runs) > 1 or self.kind is None:
            return
        deepest = max((measure.cutoff or self.batches[0][0].width for measure in measures), default=0)
        if any(rankings.holes[:, :deepest].any() for rankings in self.batches[0]):
            raise UsageError(
                f"{self.runs[0].name} has unjudged documents, and one run alone cannot show how often these are "
                "relevant: its judged documents are those that other runs retrieved too. Add the runs of the pool, or "
                "give a probability (--q 0.1)."
            )

    def unjudged(self, at: int, measure: RankWeighted, *, tail: bool = False) -> UnjudgedDocuments:
        batches = self.batches[at]
        return find_unjudged(self.runs[at], self.facts, measure, self.assumptions, tail=tail, rankings_of_run=batches)

    def base_and_bounds(self, at: int, measure: Measure) -> tuple[Floats, Floats, Floats]:
        """By topic, one run's score where unjudged documents are non-relevant, and its certain bounds; NaN: unknown."""
        base, low, high = np.full((3, len(self.facts.query_ids)), np.nan)
        for rankings in self.batches[at]:
            base[rankings.topic] = self.assumptions.value(measure, rankings.assume(0.0))
            bounds = self.assumptions.low_high(measure, rankings)
            if bounds is not None:
                low[rankings.topic], high[rankings.topic] = bounds
        return base, low, high

    def words(self, measures: Sequence[Measure]) -> str:
        return ", ".join(dict.fromkeys(str(self.model_of(measure)) for measure in measures))

    def model_of(self, measure: Measure) -> RelevanceProbability:
        """The model that scores of this measure are computed with; or drawn, by grades from the lowest relevant one."""
        if self.given is not None:
            return self.given
        graded = measure if measure.graded and is_weighted_sum(measure) else None
        rel = measure.rel if is_weighted_sum(measure) else lowest_relevant_grade(measure, self.facts)
        key = (graded is not None, rel, measure if self.kind == "groups" else None)
        if key not in self._fitted:
            if self.kind == "groups":
                lists = self._grouped_lists
                relevance = relevance_of(lists.grade, self.facts, graded, rel)
                self._fitted[key] = GroupsLeftOut(lists, relevance, measure, self.assumptions)
            else:
                self._fitted[key] = estimate(self._retrieved, self.facts, measure=graded, rel=rel)
        return self._fitted[key]

    @cached_property
    def _retrieved(self) -> GroupedRanks:
        return GroupedRanks.of(self.runs, self.batches)

    @cached_property
    def depth(self) -> PoolDepth:
        return PoolDepth.of(self.batches)

    @cached_property
    def _grouped_lists(self) -> GroupedLists:
        group = np.array(number_groups([run.name for run in self.runs], self.groups))
        return GroupedLists(self.runs, self.batches, self.facts, group, self.depth)

    def unpooled(self) -> list[str]:
        known = self._retrieved.pooled if self.kind == "logistic" and self._fitted else {}
        return [name for name, pooled in known.items() if not pooled]

    def unsupported(self, runs: Collection[str]) -> str:
        if self.unknown:
            return self.unknown
        few = [name for name in self.unpooled() if name in runs]
        return f"fewer than {POOLED} of {some(few)} are judged" if few else ""

    def remarks(self) -> list[str]:
        if self.unknown:
            return [f"q cannot be estimated from these judgments: {self.unknown}. The order assumes q = 0.5."]
        unpooled = self.unpooled()
        remark = (
            f"{some(unpooled)}: fewer than {POOLED} are judged, so the estimate relies on the documents of other runs."
        )
        return [f"{remark} Rely on the certain bounds instead of the probabilities."] if unpooled else []

    def pool_remarks(self, measures: Sequence[Measure], confidence: float) -> list[str]:
        if self.kind != "groups":
            return []
        models = [model for measure in measures if isinstance(model := self.model_of(measure), GroupsLeftOut)]
        asked = [(model, run.name) for model in models for run in self.runs if model.is_open(run.name)]
        if any(model.all_relevant for model, _ in asked):
            why = f"q cannot be estimated from these judgments: {ALL_RELEVANT}."
            return [f"{why} The intervals are the certain bounds; --q NUMBER gives others."]
        left_out = [model.groups_of(name) for model, name in asked]
        needed = max(FEWEST, math.ceil(confidence / (1 - confidence) - 1e-9))
        few, many, sentences = min(left_out, default=needed), max(left_out, default=needed), []
        if few < needed:
            lacking = dict.fromkeys(name for count, (_, name) in zip(left_out, asked, strict=True) if count < needed)
            those = f" for {some(list(lacking))}" if many >= needed else ""
            means = "no expected score is given" if few < FEWEST else "mean and sd are not calibrated"
            sentences.append(
                f"A {100 * confidence:.6g}% interval needs {needed} other groups that added documents to the pool; "
                f"there {'is' if few == 1 else 'are'} {few}{those}, so the intervals are the certain bounds, and "
                f"{means}. Use more runs of the pool, a lower --confidence, or --q NUMBER."
            )
            if many < needed:
                return sentences
        pooled = dict(zip((run.name for run in self.runs), self.depth.pooled.tolist(), strict=True))
        if any(pooled[name] for _, name in asked):
            sentences.append(
                f"A pooled run's unjudged documents lie below rank {self.depth.pool}, deeper than those it was "
                "calibrated on: its interval is extrapolated, and may be too narrow."
            )
        unseen = dict.fromkeys(str(model.measure) for model, name in asked if model.out_of_sight(name))
        for depth in dict.fromkeys(model.deepest for model, _ in asked):
            names = dict.fromkeys(str(model.measure) for model, _ in asked if model.deepest == depth)
            if math.isfinite(depth) and not names.keys() <= unseen.keys():
                sentences.append(
                    f"{', '.join(names)}: the expected score and the interval are those with each run's first "
                    f"{depth:g} documents judged; deeper unjudged documents count as non-relevant."
                )
        if unseen:
            sentences.append(
                f"{', '.join(unseen)}: no expected score is given, and the interval is the certain bounds, where most "
                f"of a run's unjudged documents, by weight, lie below rank {2 * self.depth.pool}, twice the pool's "
                "depth."
            )
        if asked and self.groups is None:
            sentences.append(
                "Every run counts as its own group. Runs of one team retrieve the same documents, so name the teams "
                "with --groups."
            )
        return sentences


def join_and_warn(
    runs: Sequence[Run], facts: TopicFacts, assumptions: Assumptions, *, keep_judgments: bool = False
) -> list[list[Rankings]]:
    joined = [join_lists(run, facts, assumptions, keep_judgments=keep_judgments) for run in runs]
    notes = [RunNotes(missing=lists.missing, unknown=lists.unknown) for lists in joined]
    for message in topic_warnings([run.name for run in runs], notes, assumptions.topics):
        warn(message)
    return [list(lists.batches) for lists in joined]
