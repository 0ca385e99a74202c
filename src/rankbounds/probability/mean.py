"""How uncertain mean scores are when unjudged documents are relevant with a probability."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankbounds.choices import check_choice, check_share
from rankbounds.collection.inputs import all_runs, judgments_from
from rankbounds.errors import UsageError, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.score_differences import levelled, merit
from rankbounds.evaluation.scores import ALL
from rankbounds.measures import parse_measure
from rankbounds.measures.measure import is_weighted_sum
from rankbounds.notebook import shown
from rankbounds.probability.models.choice import ChosenModels
from rankbounds.probability.uncertain_score import UncertainScore, drawn_score, exact_score
from rankbounds.probability.unjudged_documents import find_unjudged, open_measures, warn_of_topics
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
        for score in self.scores:
            for topic in np.flatnonzero(~np.isnan(score.base)).tolist() if per_topic else ():
                yield self._topic_row(score, topic)
            yield self._row(score)

    def sort(self, by: str | None = None) -> Uncertainty:
        """The runs by their means of a measure (the first one, unless named), the best first; ``"run"``: by name."""
        if by == "run":
            return replace(self, scores=sorted(self.scores, key=lambda score: score.run))
        wanted = str(self.scores[0].measure) if by is None else str(parse_measure(by))
        chosen = [score for score in self.scores if str(score.measure) == wanted]
        if not chosen:
            raise UsageError(f"There is no score by {wanted} to sort by.")
        means = levelled(merit(np.array([score.mean_of(score.mean) for score in chosen]), chosen[0].measure))
        place = {chosen[at].run: place for place, at in enumerate(np.argsort(-means, kind="stable").tolist())}
        return replace(self, scores=sorted(self.scores, key=lambda score: place[score.run]))

    def first(self, runs: int) -> Uncertainty:
        """What is known of the first of the runs."""
        kept = list(dict.fromkeys(score.run for score in self.scores))[:runs]
        return replace(self, scores=[score for score in self.scores if score.run in kept])

    def _row(self, score: UncertainScore) -> dict[str, Any]:
        low, high = score.interval(self.confidence, self.sources, self.interval)
        middle = score.mean_of(score.base), score.mean_of(score.mean), score.sd(self.sources)
        bounds = score.mean_of(score.low), score.mean_of(score.high)
        row = dict(zip(FIELDS, (score.run, ALL, str(score.measure), *middle, low, high, *bounds), strict=True))
        if self.sources != "documents":
            row |= dict(zip(PARTS, (score.sd("documents"), score.sd("topics")), strict=True))
        return row

    def _topic_row(self, score: UncertainScore, topic: int) -> dict[str, Any]:
        interval = score.topic_interval(topic, self.confidence, self.interval)
        sd = math.sqrt(score.variance[topic])
        values = (score.base[topic], score.mean[topic], sd, *interval, score.low[topic], score.high[topic])
        names = (score.run, score.query_ids[topic], str(score.measure))
        row = dict(zip(FIELDS, (*names, *map(float, values)), strict=True))
        if self.sources != "documents":
            row |= dict(zip(PARTS, (sd, None), strict=True))
        return row

    def table(self, *, per_topic: bool = False) -> Table:
        """The table for people."""
        with_parts = self.sources != "documents"
        with_shape = not per_topic and len(self.scores) <= SHOWN_DISTRIBUTIONS and self.sources == "documents"
        interval = f"{self.confidence:.6g} interval"
        header = [
            "run", *(["topic"] if per_topic else []), "measure", "judged", "mean", "sd",
            *(["sd documents", "sd topics"] if with_parts else []),
            interval, "certain bounds", *(["normal off by"] if with_shape else []),
        ]  # fmt: skip
        rows = []
        for row in self.rows(per_topic=per_topic):
            cells = [row["run"], *([row["query_id"]] if per_topic else []), row["measure"]]
            cells += [number(row[name]) for name in ("base", "mean", "sd", *(PARTS if with_parts else ()))]
            cells.append(f"[{number(row['ci_low'])}, {number(row['ci_high'])}]")
            cells.append("-" if math.isnan(row["low"]) else f"[{number(row['low'])}, {number(row['high'])}]")
            rows.append(cells)
        if with_shape:
            for cells, score in zip(rows, self.scores, strict=True):
                cells.append(number(score.distance_from_normal(), 3))
        words = 3 if per_topic else 2
        first = [
            *range(1, words - 1),
            *(header.index(name) for name in ("mean", interval, "certain bounds", "measure")),
        ]
        return Table(header, rows, frozenset(range(words)), first)

    def render(self, kind: str, *, per_topic: bool = False, raw: bool = False) -> str:
        """In any text format of the command line."""
        if kind in ("json", "jsonl", "csv", "tsv"):
            return render_rows(self.rows(per_topic=per_topic), kind, self.fields, raw=raw)
        return self.table(per_topic=per_topic).render(kind)

    def notes(self) -> list[str]:
        """What a reader of the numbers must know, in sentences."""
        sentences = [f"{self.model} for unjudged documents.", *self.remarks]
        drawn = [score for score in self.scores if score.draws is not None]
        if drawn:
            names = ", ".join(dict.fromkeys(str(score.measure) for score in drawn))
            worst = max(score.sd() for score in drawn) / math.sqrt(self.samples)
            sentences.append(
                f"{names}: from {self.samples} draws (seed {self.seed}); standard error of a mean at most {worst:.2g}, "
                f"of an sd {1 / math.sqrt(2 * self.samples):.1%} of it."
            )
        return sentences

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return shown(self.table())


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
    progress: Callable[[int, int], None] | None = None,
) -> Uncertainty:
    """Mean scores with intervals for what unjudged documents may turn out to be.

    Parameters
    ----------
    qrels, runs, measures
        As in ``evaluate``.
    q
        The probability that an unjudged document is relevant: a number, a sequence by rank, ``{query: {document:
        probability}}``, a file, a model of ``rankbounds.probability.models.probabilities``, or estimated from the
        judgments (``"logistic"``, ``"isotonic"``, ``"urn"``).
    otherwise
        The probability of documents, topics or runs that a table lacks.
    confidence
        Of the intervals.
    tail
        Count what lies beyond the ends of the lists in mean and sd too (``low`` and ``high`` always hold it).
    sources
        ``"documents"`` (unjudged ones), ``"topics"`` (the sampling of topics) or ``"both"``.
    interval
        ``"normal"``, or ``"distribution"`` for quantiles of the enumerated or convolved distribution.
    ties, gain, topics, score_precision, lenient
        As in ``evaluate``.
    samples, seed
        Measures that are not weighted sums over ranks are drawn so many times.
    progress : callable, optional
        Told how many of how many runs are scored.

    Returns
    -------
    Uncertainty
        For each run and measure ``base`` (unjudged documents non-relevant), ``mean``, ``sd``, ``ci_low, ci_high`` and
        the certain bounds ``low, high``; it prints as a table.

    Notes
    -----
    For weighted sums such as RBP, mean and sd are exact, given the probabilities and that documents are relevant
    independently of each other. Other measures (AP, nDCG) are drawn; the standard error is among the ``notes()``.
    Estimated probabilities are an extrapolation from judged to unjudged documents.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    >>> found = rb.uncertainty(qrels, run, "RBP(p=0.5)", q=0.5, interval="distribution")
    >>> row = next(found.rows())
    >>> [row["base"], row["mean"], round(row["sd"], 4), row["low"], row["high"]]
    [0.5, 0.6875, 0.1398, 0.5, 1.0]

    """
    check_choice("sources", sources, SOURCES)
    check_choice("interval", interval, INTERVALS)
    check_share("The confidence", confidence)
    if samples < 2:
        raise UsageError(f"At least two samples are needed, not {samples}.")
    if interval == "distribution" and sources != "documents":
        raise UsageError("The distribution is that of unjudged documents alone; intervals over topics are Student's.")
    by_urn = isinstance(q, str) and q == "urn"
    if interval == "distribution" and by_urn:
        raise UsageError("The distribution takes documents for independent, which those of an urn are not: use normal.")
    assumptions = Assumptions(ties, gain=gain, topics=topics, score_precision=score_precision)
    chosen = open_measures(measures, assumptions)
    facts = TopicFacts(judgments_from(qrels, lenient, rule=assumptions.gain), assumptions.gain)
    systems = all_runs(runs, lenient=lenient)
    warn_of_topics(systems, facts, assumptions.topics)
    models = ChosenModels(q, otherwise, systems, facts, assumptions)
    scores = []
    for number_of_run, run in enumerate(systems, 1):
        for measure in chosen:
            if is_weighted_sum(measure):
                unjudged = find_unjudged(run, facts, measure, assumptions, tail=tail)
                scores.append(exact_score(unjudged, measure, models.of(measure)))
            elif tail:
                raise UsageError(f"{measure} says nothing about what lies beyond the end of a list.")
            else:
                model = models.of_grades(measure)
                scores.append(drawn_score(run, facts, measure, assumptions, model, samples, seed))
        if progress:
            progress(number_of_run, len(systems))
    in_words = ", ".join(dict.fromkeys(str(models.of(measure)) for measure in chosen))
    result = Uncertainty(scores, confidence, sources, interval, in_words, samples, seed, models.remarks())
    if not by_urn:  # there is no other interval to use
        _warn_of_few_topics(result)
    return result


def _warn_of_few_topics(result: Uncertainty) -> None:
    if result.sources != "documents" or result.interval != "normal":
        return
    few = [score for score in result.scores if score.topics < ENOUGH_TOPICS]
    if few:
        off = [score.distance_from_normal() for score in few[:SHOWN_DISTRIBUTIONS]]
        known = [distance for distance in off if distance is not None]
        how_far = f": its probabilities are off by up to {max(known):.3f} here" if known else ""
        warn(
            f"{few[0].topics} topic{'s are' if few[0].topics != 1 else ' is'} few for a normal interval (at least "
            f"{ENOUGH_TOPICS} are wanted){how_far}. The interval of the distribution (--interval distribution) is free "
            "of that.",
        )
