"""How uncertain mean scores are when unjudged documents are relevant with a probability.

For a weighted sum such as RBP, mean and variance are exact, documents being independent of each other, and add up over
topics. For other measures (AP, nDCG) the same probabilities are drawn many times.

Source: Park, Uncertainty in Rank-Biased Precision, ADCS 2016; equation 8 is the case of one probability and the same
unjudged ranks in every topic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.choices import check_choice
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError, warn
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.mean_intervals import intervals_of_means, widen
from rankbounds.evaluation.options import shows_options
from rankbounds.evaluation.score_differences import limits_of, merge_equal, merit
from rankbounds.evaluation.scores import ALL
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.probability.completions import OpenCollection
from rankbounds.probability.documents import UnjudgedDocuments
from rankbounds.probability.drawn_scores import DrawnCompletions
from rankbounds.probability.models.chosen import (
    ChosenModels,
    Probabilities,
    ProbabilityFields,
    ProbabilityOptions,
)
from rankbounds.probability.models.groups_left_out import GroupsLeftOut, estimation_slopes
from rankbounds.probability.models.probabilities import RelevanceProbability
from rankbounds.results import Column, Result
from rankbounds.results import interval as interval_column
from rankbounds.stats.significance import deviation_of
from rankbounds.tables import number

if TYPE_CHECKING:
    from typing_extensions import Unpack

SOURCES = ("documents", "topics", "both")
ENOUGH_TOPICS = 30
"""With fewer topics the mean's distribution may be far from normal."""


@dataclass(frozen=True, eq=False)
class UncertainScore:
    """One run under one measure: by topic (NaN: left out) the certain part, mean, variance and bounds.

    Measures that are not weighted sums have ``draws``, a row for each draw and a column for each topic. ``estimation``
    is the variance that estimating the probabilities adds to the mean over topics. ``reach`` gives for a confidence how
    many standard deviations an interval reaches, where that was calibrated; None where documents alone are random.
    """

    run: str
    measure: Measure
    query_ids: Sequence[str]
    base: Floats
    mean: Floats
    variance: Floats
    low: Floats
    high: Floats
    draws: Floats | None = None
    estimation: float = 0.0
    reach: Callable[[float], float] | None = None

    @cached_property
    def topics(self) -> int:
        return int(np.count_nonzero(~np.isnan(self.base)))

    def value(self, name: str, topic: int | None = None) -> float:
        values = getattr(self, name)
        if topic is not None:
            return float(values[topic])
        return float(values[~np.isnan(self.base)].sum() / self.topics)

    def sd(self, sources: str = "documents", topic: int | None = None) -> float:
        """The standard deviation of one topic's score, or of the mean, by what documents or topics leave open."""
        if topic is not None:
            return math.sqrt(self.variance[topic])
        variance = 0.0
        if sources != "documents":
            if self.topics < 2:
                raise UsageError("One topic says nothing about other topics.")
            variance = float(deviation_of(self.mean[~np.isnan(self.base)])) ** 2 / self.topics
        if sources != "topics" and self.draws is not None:  # estimated probabilities move together in all topics
            variance += float(deviation_of(self.draws[:, ~np.isnan(self.base)].mean(axis=-1))) ** 2
        elif sources != "topics":
            variance += float(self.variance[~np.isnan(self.base)].sum()) / self.topics**2 + self.estimation
        return math.sqrt(variance)

    def interval(self, confidence: float, sources: str = "documents", topic: int | None = None) -> tuple[float, float]:
        """An interval for the mean over topics, or one topic's score (where only the mean is calibrated, its bounds).

        ``documents``: the score, were all documents judged. ``topics`` and ``both``: the mean over all topics these are
        a sample of, as ``Scores.mean`` gives it, with ``both`` widened by what documents leave open.
        """
        alone = self._interval_of_documents(confidence, topic)
        if topic is not None or sources == "documents":
            return alone
        by_topic, middle = self.mean[~np.isnan(self.base)], self.value("mean")
        least, most = limits_of(self.measure, by_topic)
        found = intervals_of_means(by_topic if math.isfinite(middle) else np.empty(0), least, most, confidence)
        if sources == "both":
            ends = np.array(alone)
            found = widen(np.array(middle), found, middle - ends[0], ends[1] - middle)
        low, high = map(float, found)
        return max(low, least), min(high, most)

    def _interval_of_documents(self, confidence: float, topic: int | None) -> tuple[float, float]:
        from scipy.special import ndtri

        middle, level = self.value("mean", topic), (1 + confidence) / 2
        reach = float(ndtri(level)) if self.reach is None else math.inf if topic is not None else self.reach(confidence)
        sd = self.sd(topic=topic)
        low, high = (self.value(end, topic) for end in ("low", "high"))  # where they are not known, NaN
        drawn_alike = self.draws is not None and math.isinf(reach) and low < high
        half = reach * sd if sd > 0 else 0.0 if sd == 0 and not drawn_alike else math.inf
        low, high = float(np.fmax(middle - half, low)), float(np.fmin(middle + half, high))
        if math.isinf(half) and math.isinf(low) and math.isinf(high):
            return math.nan, math.nan  # neither the calibration nor the bounds say anything
        return low, high


def exact_score(unjudged: UnjudgedDocuments, measure: Measure, model: RelevanceProbability) -> UncertainScore:
    name, chance = unjudged.run.name, model(unjudged)
    mean = unjudged.base + unjudged.sums(unjudged.weight * chance)
    variance = np.where(unjudged.counted, unjudged.sums(unjudged.weight**2 * chance * (1 - chance)), np.nan)
    (slope,), covariance = estimation_slopes(model, [unjudged])
    estimation = float(slope @ covariance @ slope)
    if isinstance(model, GroupsLeftOut):
        estimation += (model.shift * float(unjudged.weight @ (chance * (1 - chance)))) ** 2
    estimation = max(estimation, 0.0) / np.count_nonzero(unjudged.counted) ** 2  # rounding may leave it below
    if isinstance(model, GroupsLeftOut) and model.out_of_sight(name):
        mean, variance = np.full((2, mean.size), np.nan)
    return UncertainScore(
        name, measure, unjudged.facts.query_ids, unjudged.base, mean, variance, unjudged.base, unjudged.high,
        estimation=estimation, reach=_reach(model, name),
    )  # fmt: skip


def _reach(model: RelevanceProbability, run: str) -> Callable[[float], float] | None:
    return partial(model.reach, run) if isinstance(model, GroupsLeftOut) else None


@np.errstate(invalid="ignore")  # of searches that never end
def draw_score(models: ChosenModels, at: int, measure: Measure, samples: int, seed: int) -> UncertainScore:
    run, facts, assumptions = models.runs[at], models.facts, models.assumptions
    base, low, high = models.base_and_bounds(at, measure)
    draws = np.full((samples, len(facts.query_ids)), np.nan)
    model = models.model_of(measure)
    if not (isinstance(model, GroupsLeftOut) and model.out_of_sight(run.name)):
        collection = OpenCollection([run], facts, assumptions, [models.batches[at]])
        completions = DrawnCompletions(collection, measure, model, samples, seed)
        if not np.isnan(completions.chance).any():
            for _, part, scores in completions.scores([(0,)]):
                draws[:, part] = scores[0].T
            if isinstance(model, GroupsLeftOut):
                factor, error = model.stretch(run.name)
                by = factor + error * np.random.default_rng((seed, 3)).normal(size=(samples, 1))
                expected, fixed = draws.mean(axis=0), (draws == draws[0]).all(axis=0)
                fixed |= ~np.isfinite(base + expected)  # (searches that may never end)
                stretched = base + by * (expected - base) + max(factor, 1.0) * (draws - expected)
                draws = np.where(fixed, draws, np.fmin(np.fmax(stretched, low), high))
    moments = draws.mean(axis=0), draws.var(axis=0, ddof=1)
    return UncertainScore(
        run.name, measure, facts.query_ids, base, *moments, low, high, draws=draws, reach=_reach(model, run.name)
    )


@dataclass(frozen=True, eq=False, repr=False)
class Uncertainty(Result):
    """What unjudged documents (and the sampling of topics, if asked) leave uncertain of each run's mean score."""

    scores: list[UncertainScore]
    judged_to: Mapping[str, int]
    pooled: Mapping[str, bool]
    remarks: Sequence[str] = ()
    per_topic: bool = False
    title = "Mean scores with the uncertainty from unjudged documents; judged: the mean if none of them is relevant."
    figures = ("leaderboard",)
    words_beside = "above"

    @property
    def columns(self) -> list[Column]:  # type: ignore[override]
        parts = ("sd_documents", "sd_topics") if self.settings["sources"] != "documents" else ()
        covered = {"documents": "unjudged", "both": "unjudged, topics"}.get(self.settings["sources"], "topics")
        level = f"{100 * self.settings['confidence']:.6g}% ({covered})"
        return [
            Column("run"),
            Column("query_id", "topic" if self.per_topic else None, importance=5),
            Column("measure", importance=1),
            Column("pooled", "pooled to", lambda row: str(row["judged_to"]) if row["pooled"] else "no", importance=1),
            Column("judged_to", None),
            Column("base", "judged"),
            Column("mean", importance=4),
            Column("sd"),
            *(Column(name, in_rows=False) for name in parts),
            interval_column("ci_low", "ci_high", level, importance=3, of="mean"),
            interval_column("low", "high", "certain bounds", importance=2),
            *(Column(name, None) for name in ("ci_low", "ci_high", "low", "high", *parts)),
        ]

    def rows(self) -> list[dict[str, Any]]:
        rows = []
        confidence, sources = self.settings["confidence"], self.settings["sources"]
        for score in self.scores:
            scored = np.flatnonzero(~np.isnan(score.base)).tolist() if self.per_topic else []
            for topic in [*scored, None]:
                query_id = ALL if topic is None else score.query_ids[topic]
                row: dict[str, Any] = {"run": score.run, "query_id": query_id, "measure": str(score.measure)}
                row |= {name: score.value(name, topic) for name in ("base", "mean", "low", "high")}
                row["sd"] = score.sd(sources, topic)
                row["ci_low"], row["ci_high"] = score.interval(confidence, sources, topic)
                row["pooled"], row["judged_to"] = self.pooled[score.run], self.judged_to[score.run]
                if sources != "documents":
                    row["sd_documents"] = score.sd("documents", topic)
                    row["sd_topics"] = score.sd("topics") if topic is None else None
                rows.append({name: row[name] for name in self.fields})
        return rows

    def sort(self, by: str | None = None) -> Uncertainty:
        """The runs by their means of a measure (the first one, unless named), the best first; ``"run"``: by name."""
        if by == "run":
            return replace(self, scores=sorted(self.scores, key=lambda score: score.run))
        wanted = str(self.scores[0].measure) if by is None else str(parse_measure(by))
        chosen = [score for score in self.scores if str(score.measure) == wanted]
        if not chosen:
            raise UsageError(f"There is no score by {wanted} to sort by.")
        mean, base = (np.array([score.value(name) for score in chosen]) for name in ("mean", "base"))
        means = merge_equal(merit(np.where(np.isnan(mean), base, mean), chosen[0].measure))
        place = {chosen[at].run: place for place, at in enumerate(np.argsort(-means, kind="stable").tolist())}
        return replace(self, scores=sorted(self.scores, key=lambda score: place[score.run]))

    def first(self, runs: int) -> Uncertainty:
        kept = list(dict.fromkeys(score.run for score in self.scores))[:runs]
        return replace(self, scores=[score for score in self.scores if score.run in kept])

    def words(self) -> str:
        measure = self.scores[0].measure
        scores = [score for score in self.scores if score.measure == measure]
        out = [run for run, pooled in self.pooled.items() if not pooled]
        unpooled = [score for score in scores if score.run in out]
        known = [score for score in unpooled or scores if not math.isnan(score.value("mean"))] or unpooled or scores
        best = max(known, key=lambda score: float(merit(np.array(score.value("mean")), measure)))
        who = f"{best.run} was {'not ' if unpooled else ''}pooled"
        if len(self.pooled) > 1 and (len(out) != 1 or not unpooled):
            those = f"{len(out)} of {len(self.pooled)} runs {'was' if len(out) == 1 else 'were'} not"
            who = f"{those if out else f'All {len(self.pooled)} runs were'} pooled; {best.run} is the best"
            who += " of them" if unpooled else " shown" if out else ""
        low, high = map(number, best.interval(self.settings["confidence"], self.settings["sources"]))
        mean, judged = number(best.value("mean")), number(best.value("base"))
        alone = "" if mean == judged else f"; by its judged documents alone, {judged}"
        return f"{who}: its {measure} is {'probably ' if alone else ''}{mean} [{low}, {high}]{alone}."

    def doubts(self) -> list[str]:
        return list(self.remarks)

    def notes(self) -> list[str]:
        samples, seed = self.settings["samples"], self.settings["seed"]
        sentences = [f"Unjudged documents are relevant with probability {self.settings['q']}.", *self.remarks]
        drawn = [score for score in self.scores if score.draws is not None and score.sd() > 0]
        if drawn:
            names = ", ".join(dict.fromkeys(str(score.measure) for score in drawn))
            worst = max(score.sd() for score in drawn) / math.sqrt(samples)
            sentences.append(
                f"{names}: from {samples} draws (seed {seed}); standard error of a mean at most {worst:.2g}, "
                f"of an sd {1 / math.sqrt(2 * samples):.1%} of it."
            )
        return sentences


@shows_options(ProbabilityFields, Probabilities, more=True)
def uncertainty(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike = DEFAULT_MEASURES[0],
    *,
    tail: bool = False,
    sources: str = "documents",
    per_topic: bool = False,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[ProbabilityOptions],
) -> Uncertainty:
    """Score runs with intervals for what unjudged documents may turn out to be.

    How often a run's unjudged documents are relevant is learned by leaving groups of other runs out of the pool, and so
    is how far that may be off: intervals hold the scores of other groups as often as they say. For weighted sums such
    as RBP, mean and sd are exact, given the probabilities. Other measures (AP, nDCG) are drawn; the standard error is
    among the ``notes()``.

    Parameters
    ----------
    qrels, runs, measures, progress, **options
        As in ``evaluate``.
    q
        The probability that an unjudged document is relevant: a number, ``{query: {document: probability}}``, a frame
        or a file, a function of ``UnjudgedDocuments``; or how to estimate it from the judgments: ``"groups"`` (leaving
        groups of runs out of the pool), ``"logistic"`` (not calibrated: intervals are too narrow). Of graded measures,
        weighted sums count a relevant document with the largest gain; others draw its grade from the judged relevant
        ones, so that ``q=1`` leaves a standard deviation.
    groups
        The group of each run, such as its team: ``{run: group}``, or a file with lines of ``run group``. A run without
        one is a group of its own.
    otherwise, confidence
        The probability of documents that a table lacks, and the confidence of intervals.
    tail
        Count what lies beyond the ends of the lists in mean and sd too (``low`` and ``high`` always hold it).
    sources
        ``"documents"`` (unjudged ones), ``"topics"`` (the sampling of topics) or ``"both"``.
    samples, seed
        How often measures that are not weighted sums over ranks are drawn, and where the draws start.
    per_topic
        Add a row for each topic.

    Returns
    -------
    Uncertainty
        For each run and measure ``base`` (unjudged documents non-relevant), ``mean``, ``sd``, ``ci_low, ci_high`` and
        the certain bounds ``low, high``; ``pooled``, whether the run was pooled as far as the judgments show, and
        ``judged_to``, the depth to which nearly all of its documents are judged. It prints as a table.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = ({str(topic): documents for topic in range(30)} for documents in ({"a": 1}, ["a", "b", "c"]))
    >>> (row,) = rb.uncertainty(qrels, run, "RBP(p=0.5)", q=0.5).rows()
    >>> [row["base"], row["mean"], round(row["sd"], 4), row["low"], row["high"]]
    [0.5, 0.6875, 0.0255, 0.5, 1.0]
    """
    check_choice("sources", sources, SOURCES)
    models, chosen, asked = ChosenModels.read(qrels, runs, measures, options)
    scores = []
    for at in range(len(models.runs)):
        for measure in chosen:
            if is_weighted_sum(measure):
                scores.append(exact_score(models.unjudged(at, measure, tail=tail), measure, models.model_of(measure)))
            elif tail:
                raise UsageError(f"{measure} does not depend on documents beyond the end of a list.")
            else:
                scores.append(draw_score(models, at, measure, asked.samples, asked.seed))
        if progress:
            progress(at + 1, len(models.runs))
    settings = {
        "q": models.words(chosen), "confidence": asked.confidence, "sources": sources, "tail": tail,
        "samples": asked.samples, "seed": asked.seed,
    }  # fmt: skip
    fewest = min(score.topics for score in scores)
    if fewest < ENOUGH_TOPICS and sources == "documents" and not isinstance(models.model_of(chosen[0]), GroupsLeftOut):
        warn(f"A normal interval needs at least {ENOUGH_TOPICS} topics, not {fewest}: its probabilities are rough.")
    names = [run.name for run in models.runs]
    judged_to = dict(zip(names, models.depth.judged_to.tolist(), strict=True))
    pooled = dict(zip(names, models.depth.pooled.tolist(), strict=True))
    remarks = [*models.remarks(), *models.pool_remarks(chosen, asked.confidence)]
    return Uncertainty(scores, judged_to, pooled, remarks, per_topic, settings=settings)
