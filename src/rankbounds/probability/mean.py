"""How uncertain a mean score is when unjudged documents are relevant with a probability.

For a weighted sum such as RBP, a topic's score is what its judged documents add for certain plus, for every unjudged
document, its weight with its probability. Mean and variance are exact, documents being independent of each other, and
add up over topics. For other measures (AP, nDCG) the same probabilities are drawn many times.

Source: Park, Uncertainty in Rank-Biased Precision, ADCS 2016; equation 8 is the case of one probability and the same
unjudged ranks in every topic.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.gains import gain_rule
from rankbounds.collection.inputs import all_runs
from rankbounds.collection.qrels import as_qrels
from rankbounds.collection.run import Run
from rankbounds.errors import RankboundsWarning, UsageError, did_you_mean
from rankbounds.evaluation.assumptions import Assumptions, Topics
from rankbounds.evaluation.scores import ALL, RunNotes, topic_warnings
from rankbounds.measures import Measure, RankWeighted, parse_measures
from rankbounds.probability.distribution import Distribution, distribution_of_sum
from rankbounds.probability.estimates import KINDS, Estimate, RetrievedDocuments, estimate, estimate_urn, gather
from rankbounds.probability.models import RelevanceProbability, as_relevance_probability
from rankbounds.probability.unjudged_documents import Holes, find_holes, is_weighted_sum, joined_run
from rankbounds.rankings.join import join
from rankbounds.rankings.order import Precision
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.tables import Table, number, render_rows

FIELDS = ("run", "query_id", "measure", "base", "mean", "sd", "ci_low", "ci_high", "low", "high")
PARTS = ("sd_documents", "sd_topics")
SOURCES = ("documents", "topics", "both")
INTERVALS = ("normal", "distribution")
ENOUGH_TOPICS = 30
"""With fewer topics the mean's distribution may be far from normal."""
SHOWN_DISTRIBUTIONS = 12
"""A table of up to so many rows says how far each distribution is from normal; that takes a moment for each."""


@dataclass(frozen=True, eq=False)
class UncertainScore:
    """One run under one measure: by topic (NaN: left out) the certain part, mean, variance and bounds.

    ``weight``, ``chance`` and ``topic`` are those of its unjudged documents; measures that are not weighted sums have
    ``draws`` instead, a row for each draw and a column for each topic. ``estimation`` is the variance that estimating
    the probabilities adds to the mean over topics.
    """

    run: str
    measure: Measure
    query_ids: Sequence[str]
    base: Floats
    mean: Floats
    variance: Floats
    low: Floats
    high: Floats
    topic: Ints
    weight: Floats
    chance: Floats
    draws: Floats | None = None
    estimation: float = 0.0

    @cached_property
    def topics(self) -> int:
        """How many topics are scored."""
        return int(np.count_nonzero(~np.isnan(self.base)))

    def mean_of(self, values: Floats) -> float:
        """The mean over the topics that are scored."""
        return float(np.nansum(np.where(np.isnan(self.base), np.nan, values)) / self.topics)

    @property
    def variance_of_documents(self) -> float:
        """The part of the mean's variance that comes from not knowing which unjudged documents are relevant."""
        return float(np.nansum(self.variance)) / self.topics**2 + self.estimation

    @property
    def variance_of_topics(self) -> float:
        """The part of the mean's variance that comes from the topics being a sample."""
        if self.topics < 2:
            raise UsageError("With one topic nothing can be said about other topics.")
        return float(np.nanvar(self.mean, ddof=1)) / self.topics

    def sd(self, sources: str = "documents") -> float:
        """The standard deviation of the mean over topics."""
        documents = self.variance_of_documents if sources != "topics" else 0.0
        topics = self.variance_of_topics if sources != "documents" else 0.0
        return math.sqrt(documents + topics)

    def distribution(self, query_id: str = ALL) -> Distribution:
        """The distribution of one topic's score, or of the mean over topics: enumerated or convolved, not normal."""
        if query_id == ALL:
            if self.draws is not None:
                return _of_draws(np.nanmean(self.draws, axis=-1))
            return distribution_of_sum(self.weight / self.topics, self.chance, self.mean_of(self.base))
        at = list(self.query_ids).index(query_id)
        if self.draws is not None:
            return _of_draws(self.draws[:, at])
        mine = self.topic == at
        return distribution_of_sum(self.weight[mine], self.chance[mine], float(self.base[at]))

    def interval(self, confidence: float, sources: str = "documents", kind: str = "normal") -> tuple[float, float]:
        """An interval for the mean over topics.

        ``documents``: the mean over these topics, were all documents judged. ``topics`` and ``both``: the mean over
        all topics these are a sample of (Student's t).
        """
        from scipy.special import ndtri, stdtrit

        if sources == "documents" and kind == "distribution":
            return self.distribution().interval(confidence)
        share = (1 + confidence) / 2
        middle = self.mean_of(self.mean)
        if sources == "documents":
            half = float(ndtri(share)) * self.sd()
            return _within(middle - half, middle + half, self.mean_of(self.low), self.mean_of(self.high))
        half = float(stdtrit(self.topics - 1, share)) * self.sd(sources)
        return middle - half, middle + half

    def distance_from_normal(self) -> float | None:
        """By how much the normal approximation's probabilities are off at most; None for draws, too coarse to say."""
        return None if self.draws is not None else self.distribution().distance_from_normal()

    def topic_interval(self, at: int, confidence: float, kind: str) -> tuple[float, float]:
        """An interval for one topic's score."""
        from scipy.special import ndtri

        if kind == "distribution":
            return self.distribution(self.query_ids[at]).interval(confidence)
        half = float(ndtri((1 + confidence) / 2)) * math.sqrt(self.variance[at])
        return _within(self.mean[at] - half, self.mean[at] + half, self.low[at], self.high[at])


def _within(low: float, high: float, least: float, most: float) -> tuple[float, float]:
    """The interval without what is impossible; where bounds are not known (NaN), as it is."""
    return float(np.fmax(low, least)), float(np.fmin(high, most))


def _of_draws(values: Floats) -> Distribution:
    return Distribution(np.sort(values), np.full(values.size, 1 / values.size), float("nan"))


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """What unjudged documents (and the sampling of topics, if asked) leave uncertain of each run's mean score."""

    scores: list[UncertainScore]
    confidence: float
    sources: str
    interval: str
    model: str
    """The probabilities in words."""
    samples: int
    seed: int
    remarks: Sequence[str] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns of ``rows``."""
        return FIELDS if self.sources == "documents" else (*FIELDS, *PARTS)

    def rows(self, *, per_topic: bool = False) -> Iterator[dict[str, Any]]:
        """A dict for each run and measure; with ``per_topic`` one for each topic before it."""
        for one in self.scores:
            for at in np.flatnonzero(~np.isnan(one.base)).tolist() if per_topic else ():
                yield self._topic_row(one, at)
            yield self._row(one)

    def _row(self, one: UncertainScore) -> dict[str, Any]:
        low, high = one.interval(self.confidence, self.sources, self.interval)
        middle = one.mean_of(one.mean), one.sd(self.sources)
        bounds = one.mean_of(one.low), one.mean_of(one.high)
        row = dict(zip(FIELDS, (one.run, ALL, str(one.measure), one.mean_of(one.base), *middle, low, high, *bounds),
                       strict=True))  # fmt: skip
        if self.sources != "documents":
            row |= dict(zip(PARTS, (one.sd("documents"), one.sd("topics")), strict=True))
        return row

    def _topic_row(self, one: UncertainScore, at: int) -> dict[str, Any]:
        low, high = one.topic_interval(at, self.confidence, self.interval)
        sd = math.sqrt(one.variance[at])
        values = (one.base[at], one.mean[at], sd, low, high, one.low[at], one.high[at])
        row = dict(zip(FIELDS, (one.run, one.query_ids[at], str(one.measure), *map(float, values)), strict=True))
        if self.sources != "documents":
            row |= dict(zip(PARTS, (sd, None), strict=True))
        return row

    def table(self, *, per_topic: bool = False) -> Table:
        """The table for people."""
        with_parts = self.sources != "documents"
        with_shape = not per_topic and len(self.scores) <= SHOWN_DISTRIBUTIONS and self.sources == "documents"
        header = [
            "run", *(["topic"] if per_topic else []), "measure", "judged", "mean", "sd",
            *(["sd documents", "sd topics"] if with_parts else []),
            f"{self.confidence:.6g} interval", "certain bounds", *(["normal off by"] if with_shape else []),
        ]  # fmt: skip
        rows = []
        for row in self.rows(per_topic=per_topic):
            cells = [row["run"], *([row["query_id"]] if per_topic else []), row["measure"]]
            cells += [number(row[name]) for name in ("base", "mean", "sd", *(PARTS if with_parts else ()))]
            cells.append(f"[{number(row['ci_low'])}, {number(row['ci_high'])}]")
            cells.append("-" if math.isnan(row["low"]) else f"[{number(row['low'])}, {number(row['high'])}]")
            rows.append(cells)
        if with_shape:
            for cells, one in zip(rows, self.scores, strict=True):
                cells.append(number(one.distance_from_normal(), 3))
        return Table(header, rows, frozenset(range(3 if per_topic else 2)))

    def render(self, kind: str, *, per_topic: bool = False, raw: bool = False) -> str:
        """In any text format of the command line."""
        if kind in ("json", "jsonl", "csv", "tsv"):
            return render_rows(self.rows(per_topic=per_topic), kind, self.fields, raw=raw)
        return self.table(per_topic=per_topic).render(kind)

    def notes(self) -> list[str]:
        """What a reader of the numbers must know, in sentences."""
        told = [f"{self.model} for unjudged documents.", *self.remarks]
        drawn = [one for one in self.scores if one.draws is not None]
        if drawn:
            names = ", ".join(dict.fromkeys(str(one.measure) for one in drawn))
            worst = max(one.sd() for one in drawn) / math.sqrt(self.samples)
            told.append(
                f"{names}: from {self.samples} draws (seed {self.seed}); standard error of a mean at most {worst:.2g}, "
                f"of an sd {1 / math.sqrt(2 * self.samples):.1%} of it."
            )
        return told

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


class Models:
    """The probabilities asked for; those estimated from judgments are fitted once for each kind of relevance."""

    def __init__(
        self,
        given: Any,
        otherwise: float | None,
        runs: list[Run],
        facts: TopicFacts,
        assumptions: Assumptions,
        rankings_of_runs: Sequence[list[Rankings]] | None = None,
    ) -> None:
        self.runs, self.facts, self.assumptions, self.rankings_of_runs = runs, facts, assumptions, rankings_of_runs
        self.kind = given if isinstance(given, str) and given in KINDS else None
        self.given = None if self.kind else as_relevance_probability(given, otherwise)
        self._fitted: dict[Any, RelevanceProbability] = {}
        self._documents: RetrievedDocuments | None = None

    def of(self, measure: Measure) -> RelevanceProbability:
        """The model for documents relevant to this measure."""
        if self.given is not None:
            return self.given
        graded, rel = getattr(measure, "graded", False), getattr(measure, "rel", 1.0)
        if (graded, rel) not in self._fitted:
            self._fitted[graded, rel] = self._fit(measure, rel)
        return self._fitted[graded, rel]

    def unpooled(self) -> list[str]:
        """Runs whose first documents are not judged, where probabilities were estimated from documents at all."""
        known = self._documents.pooled if self._documents else {}
        return [name for name, pooled in known.items() if not pooled]

    def remarks(self) -> list[str]:
        """What a reader of estimated probabilities must know, in sentences."""
        apart = self.unpooled()
        if not apart:
            return []
        some = ", ".join(apart[:5]) + (f" and {len(apart) - 5} more" if len(apart) > 5 else "")
        return [
            f"{some}: many of the first documents are unjudged, so that the estimate rests on what other runs found; "
            "trust the certain bounds, not the probabilities."
        ]

    def _fit(self, measure: Measure, rel: float) -> RelevanceProbability:
        if self.kind == "urn":
            return estimate_urn(self.runs, self.facts, self.assumptions, rel=rel)
        self._documents = self._documents or gather(self.runs, self.facts, self.assumptions, self.rankings_of_runs)
        return estimate(
            str(self.kind), self.runs, self.facts, self.assumptions, measure=measure, documents=self._documents
        )


def prepare(
    qrels: Any, runs: Any, measures: Any, *, ties: str, gain: Any, topics: str, score_precision: str, lenient: bool
) -> tuple[TopicFacts, list[Run], list[Measure], Assumptions]:
    """Read what was given, and reject measures that have no uncertainty of this kind."""
    assumptions = Assumptions(
        ties, gain=gain_rule(gain), topics=cast(Topics, topics), score_precision=cast(Precision, score_precision)
    )
    chosen = parse_measures(measures)
    for measure in chosen:
        if measure.judged_only or measure.as_retrieved:
            raise UsageError(f"{measure} does not depend on what unjudged documents turn out to be.")
        if measure.total == "sum":
            raise UsageError(f"{measure} is a count, not a mean over topics.")
        if assumptions.ties not in ORDERS and not is_weighted_sum(measure):
            raise UsageError(f'{measure} is drawn in one order of tied documents. Use ties="trec".')
    facts = TopicFacts(as_qrels(qrels), assumptions.gain)
    read = all_runs(runs, lenient=lenient)
    joined = [join(run, facts) for run in read]
    notes = [RunNotes(missing=one.missing, unknown=one.unknown) for one in joined]
    for message in topic_warnings([run.name for run in read], notes, topics):
        warnings.warn(message, RankboundsWarning, stacklevel=3)
    return facts, read, chosen, assumptions


def check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    """Reject a word that is not among those known."""
    if value not in known:
        raise UsageError(
            f'There is no choice "{value}" for {what}.{did_you_mean(value, list(known))} Known: {", ".join(known)}.'
        )


def uncertainty(
    qrels: Any,
    runs: Any,
    measures: Any = "RBP(p=0.8)",
    *,
    q: Any = "logistic",
    otherwise: float | None = None,
    confidence: float = 0.95,
    tail: bool = False,
    sources: str = "documents",
    interval: str = "normal",
    ties: str = "trec",
    gain: Any = None,
    topics: str = "judged",
    score_precision: str = "double",
    samples: int = 1000,
    seed: int = 0,
    lenient: bool = False,
) -> Uncertainty:
    """Mean scores with intervals for what unjudged documents may turn out to be.

    ``q``: the probability that an unjudged document is relevant: a number, a sequence by rank, ``{query: {document:
    probability}}``, a file, a model of ``relevance_probability``, or estimated from the judgments at hand
    (``"logistic"``, ``"isotonic"``, ``"urn"``). ``otherwise`` holds for documents, topics or runs that a table lacks.
    ``tail``: count what lies beyond the ends of the lists in mean and sd too (``low`` and ``high`` always hold it).
    ``sources``: ``documents`` (unjudged ones), ``topics`` (the sampling of topics) or ``both``.
    ``interval``: ``normal``, or ``distribution`` for quantiles of the enumerated or convolved distribution.
    Measures that are not weighted sums over ranks are drawn ``samples`` times.
    """
    check_choice("sources", sources, SOURCES)
    check_choice("interval", interval, INTERVALS)
    if not 0 < confidence < 1:
        raise UsageError(f"The confidence must lie between 0 and 1, not {confidence:g}.")
    if samples < 2:
        raise UsageError(f"At least two samples are needed, not {samples}.")
    if interval == "distribution" and sources != "documents":
        raise UsageError("The distribution is that of unjudged documents alone; intervals over topics are Student's.")
    facts, read, chosen, assumptions = prepare(
        qrels, runs, measures, ties=ties, gain=gain, topics=topics, score_precision=score_precision, lenient=lenient
    )
    models = Models(q, otherwise, read, facts, assumptions)
    scores = []
    for at, run in enumerate(read):
        for measure in chosen:
            model = models.of(measure)
            if is_weighted_sum(measure):
                holes = find_holes(run, facts, cast(RankWeighted, measure), assumptions, tail=tail)
                scores.append(exact_score(holes, measure, model))
            elif tail:
                raise UsageError(f"{measure} says nothing about what lies beyond the end of a list.")
            else:
                rng = np.random.default_rng((seed, at))
                scores.append(drawn_score(run, facts, measure, assumptions, model, samples, rng))
    told = ", ".join(dict.fromkeys(str(models.of(measure)) for measure in chosen))
    result = Uncertainty(scores, confidence, sources, interval, told, samples, seed, models.remarks())
    _warn_of_few_topics(result)
    return result


def exact_score(holes: Holes, measure: Measure, model: RelevanceProbability) -> UncertainScore:
    """The moments of a weighted sum."""
    chance = model(holes)
    mean = holes.base + holes.sums(holes.weight * chance)
    variance = np.where(holes.counted, holes.sums(holes.weight**2 * chance * (1 - chance)), np.nan)
    estimation = 0.0
    if isinstance(model, Estimate):
        slope = model.slope(holes) / np.count_nonzero(holes.counted)
        estimation = float(slope @ model.covariance @ slope)
    return UncertainScore(
        holes.run.name, measure, holes.facts.query_ids, holes.base, mean, variance, holes.low, holes.high,
        holes.topic, holes.weight, chance, estimation=estimation,
    )  # fmt: skip


def drawn_score(
    run: Run,
    facts: TopicFacts,
    measure: Measure,
    assumptions: Assumptions,
    model: RelevanceProbability,
    samples: int,
    rng: np.random.Generator,
) -> UncertainScore:
    """The moments of any measure, from draws of which unjudged documents are relevant.

    A document that is drawn relevant counts among the topic's relevant ones, as it does in the measure's bounds.
    """
    topics = len(facts.query_ids)
    base, low, high = (np.full(topics, np.nan) for _ in range(3))
    draws = np.full((samples, topics), np.nan)
    for rankings in joined_run(run, facts, assumptions).batches:
        base[rankings.topic] = measure.value(rankings.assume(0.0))
        found = measure.bounds(rankings)
        if found is not None:
            low[rankings.topic], high[rankings.topic] = found
        line, rank = np.nonzero(rankings.holes)
        assert rankings.row is not None
        nothing = np.zeros(line.size)
        holes = Holes(
            run, facts, base, np.zeros(topics), rankings.topic[line], rank + 1, nothing, rankings.row[line, rank]
        )
        chance = model(holes)
        turned = np.zeros(rankings.grade.shape)
        for sample in range(samples):
            turned[line, rank] = rng.random(line.size) < chance
            draws[sample, rankings.topic] = measure.value(rankings.assume(turned))
    nobody = np.empty(0, dtype=np.int64)
    return UncertainScore(
        run.name, measure, facts.query_ids, base, draws.mean(axis=0), draws.var(axis=0, ddof=1), low, high,
        nobody, np.empty(0), np.empty(0), draws=draws,
    )  # fmt: skip


def _warn_of_few_topics(result: Uncertainty) -> None:
    if result.sources != "documents" or result.interval != "normal":
        return
    few = [one for one in result.scores if one.topics < ENOUGH_TOPICS]
    if few:
        off = [one.distance_from_normal() for one in few[:SHOWN_DISTRIBUTIONS]]
        known = [one for one in off if one is not None]
        how_far = f": its probabilities are off by up to {max(known):.3f} here" if known else ""
        warnings.warn(
            f"{few[0].topics} topic{'s are' if few[0].topics != 1 else ' is'} few for a normal interval (at least "
            f"{ENOUGH_TOPICS} are wanted){how_far}. The interval of the distribution (--interval distribution) is free "
            "of that.",
            RankboundsWarning,
            stacklevel=3,
        )
