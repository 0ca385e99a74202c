"""What runs and judgments tell beyond scores: shared unjudged documents, ties, other persistences, what to judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.comparison.significance import pairs_of
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import mean_difference
from rankbounds.measures import Measure, RankWeighted
from rankbounds.measures.rank_biased_precision import RBP

JUDGMENTS = 10
"""How many documents to name as those whose judgments matter most."""


@dataclass(frozen=True)
class Evidence:
    """What more is known of a pair than scores tell; None where nobody looked."""

    ties: tuple[float, float] | None = None
    """The least and the greatest mean difference over all orders of tied documents."""
    probability: str | None = None
    """A sentence on who is probably better, and on which probabilities of relevance that rests."""
    persistence: str | None = None
    """A sentence on other persistences."""
    to_judge: str | None = None
    """A sentence on which documents to judge."""


@dataclass(frozen=True)
class Inputs:
    """The judgments and runs behind scores, and how they were ranked."""

    qrels: Any
    runs: Any
    names: Sequence[str]
    ties: str = "trec"
    gain: Any = None
    topics: str = "judged"
    score_precision: str = "double"

    @classmethod
    def of(cls, chosen: Any, qrels: Any, runs: Any, names: Sequence[str]) -> Inputs:
        """Ranked as ``chosen`` says, an object with options of these names."""
        return cls(qrels, runs, names, chosen.ties, chosen.gain, chosen.topics, chosen.score_precision)

    def ranking(self) -> dict[str, Any]:
        """The options that every function of runs takes."""
        return {"ties": self.ties, "gain": self.gain, "score_precision": self.score_precision}


@dataclass(frozen=True, eq=False)
class SharedHoles:
    """What unjudged documents do to every pair's mean difference, each taking the one value it has in both runs."""

    bounds: dict[Measure, tuple[Floats, Floats]]
    """For weighted sums over ranks, the least and the greatest difference."""
    probability: dict[Measure, Floats]
    """That the first run of a pair is the better one; NaN where nothing is open."""
    unpooled: frozenset[str]
    """Runs of which too few documents are judged for such a probability."""


def shared_holes(inputs: Inputs, measures: Sequence[Measure], q: float | str = "logistic") -> SharedHoles:
    """Bounds and probabilities of all pairs, with the probabilities of relevance that ``q`` says."""
    known: list[Measure] = [measure for measure in measures if isinstance(measure, RankWeighted)]
    if not known or inputs.ties in ("best", "worst"):
        return SharedHoles({}, {}, frozenset())
    from rankbounds.comparison.unjudged_differences import differences

    try:
        found = differences(inputs.qrels, inputs.runs, known, q=q, topics=inputs.topics, **inputs.ranking())
    except UsageError:
        if q == 0.5:
            raise
        return replace(shared_holes(inputs, measures, 0.5), probability={})  # nothing to estimate q from
    first, second = pairs_of(len(inputs.names))
    wanted = [(inputs.names[a], inputs.names[b]) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    by_pair = {(one.measure, one.run_a, one.run_b): one for one in found.pairs}
    bounds, probability = {}, {}
    for measure in known:
        pairs = [by_pair[str(measure), a, b] for a, b in wanted]
        bounds[measure] = np.array([one.certain_low for one in pairs]), np.array([one.certain_high for one in pairs])
        probability[measure] = np.array([one.probability_a_better if one.sd else np.nan for one in pairs])
    return SharedHoles(bounds, probability, found.unpooled)


def certain_bounds(inputs: Inputs, measures: Sequence[Measure]) -> Callable[[Measure], tuple[Floats, Floats] | None]:
    """Bounds of every pair's mean difference, each unjudged document taking the one value it has in both runs.

    Known for weighted sums over ranks; others get None.
    """
    return shared_holes(inputs, measures, 0.5).bounds.get


def gather(inputs: Inputs, measure: Measure) -> Evidence:
    """Everything that can be said of two runs under one measure."""
    return Evidence(
        ties=_over_ties(inputs, measure),
        probability=_probability(inputs, measure) if isinstance(measure, RankWeighted) else None,
        persistence=_other_persistences(inputs, measure) if isinstance(measure, RBP) else None,
        to_judge=_to_judge(inputs, measure) if isinstance(measure, RBP) and inputs.gain is None else None,
    )


def _over_ties(inputs: Inputs, measure: Measure) -> tuple[float, float] | None:
    from rankbounds.evaluation.evaluate import evaluate

    scores = evaluate(inputs.qrels, inputs.runs, measure, bounds="ties", topics=inputs.topics, **inputs.ranking())
    scored = ~np.isnan(scores.value[..., 0]).any(axis=0)
    low, high = scores.low[:, scored, 0], scores.high[:, scored, 0]
    least, most = float(mean_difference(low[0], high[1])), float(mean_difference(high[0], low[1]))
    return None if np.isnan(least) or np.isnan(most) else (least, most)


def _probability(inputs: Inputs, measure: Measure) -> str:
    from rankbounds.comparison.unjudged_differences import differences

    found = differences(inputs.qrels, inputs.runs, measure, q="logistic", topics=inputs.topics, **inputs.ranking())
    pair = found.pairs[0]
    if pair.sd == 0:
        return ""
    if found.unpooled:  # so much is unjudged that the estimate would be one of other runs' documents
        return (
            " How likely that is cannot be estimated from these judgments: too few of a run's first documents have one."
        )
    return (
        f" With probabilities of relevance estimated from the judgments at hand, {pair.run_a} is the better one on "
        f"these topics with probability {pair.probability_a_better:.2f}."
    )


def _other_persistences(inputs: Inputs, measure: RBP) -> str | None:
    from rankbounds.persistence.crossings import crossings

    if inputs.ties not in ("trec", "run", "line", "rank", "docid"):
        return None
    rows = crossings(inputs.qrels, inputs.runs[:2], measure=measure, **inputs.ranking())
    changes = [row for row in rows if row["change"] == "winner"]
    if not changes:
        return "Does it hold for other p? Yes: as judged, the same run leads at every p."
    told = ", ".join(f"{row['p']:.3f} ({row['from']} below, {row['to']} above)" for row in changes[:4])
    more = f" and {len(changes) - 4} more" if len(changes) > 4 else ""
    return f"Does it hold for other p? Not for all: as judged, the lead changes at p = {told}{more}."


def _to_judge(inputs: Inputs, measure: RBP) -> str | None:
    from rankbounds.judging.next_judgments import judge_next

    if inputs.ties not in ("trec", "run", "line", "rank", "docid"):
        return None
    plan = judge_next(
        inputs.qrels,
        inputs.runs,
        budget=JUDGMENTS,
        measure=measure,
        compare=(inputs.names[0], inputs.names[1]),
        ties=inputs.ties,
        score_precision=inputs.score_precision,
    )
    if not len(plan):
        return None
    named = ", ".join(f"{query}/{doc}" for query, doc in list(zip(plan.query_ids, plan.doc_ids, strict=True))[:3])
    topics = plan.number_of_topics
    return (
        f"Which judgments would help most? The {len(plan)} that matter most (topic/document {named}, ...) narrow the "
        f"range of the difference from {plan.residual_before / topics:.4f} to {plan.residual_after[-1] / topics:.4f}; "
        '"rankbounds judge-next" lists more.'
    )
