"""What the labels claim, corrected by a sample that people judged, with an interval that covers.

For a weighted sum the estimate is sum of w*f over all labelled documents + sum over the sample of w*(h - f)/pi: f is
the label calibrated on the sample (cross-fitted), h what people said, pi the probability with which a document was
drawn. The second sum corrects the first whatever the labels are, so that a bad judge costs width and not honesty
(Sarndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992; as "prediction-powered inference" by Angelopoulos
et al., Science 382, 2023). Its variance is that of the design (Hajek 1964; Deville 1999), with Student's quantiles for
as many degrees of freedom as the spread of its terms leaves.

nDCG, AP and Recall are not sums. Their expected value given the judgments, with calibrated labels for the rest, takes
the place of the first sum, and how fast it moves with each document that of the weights (linearisation).

A sample in which all documents of a label were judged alike has no spread to tell of the others. Its interval reaches
at least as far as the score would move if so many of these judgments were otherwise as a sample without an exception
leaves possible (Clopper and Pearson, Biometrika 26, 1934: 3.6 of 100 judgments for an interval of 95%), those that move
it most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_choice, check_share
from rankbounds.collection.inputs import judgments_from
from rankbounds.collection.qrels import Qrels
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.judging.audits.calibration import crossfitted, simulated
from rankbounds.judging.audits.expected_scores import Steps, check_measure, expected_scores
from rankbounds.judging.audits.labelled_pool import LabelledPool
from rankbounds.judging.audits.sample_estimates import JudgedSample
from rankbounds.judging.sample import SURE
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.measure import is_weighted_sum
from rankbounds.notebook import shown
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.tables import Table, number, render_rows

VALUES = ("measure", "by_labels", "estimate", "sd", "ci_low", "ci_high", "judged", "method")
FIELDS = ("run", *VALUES)
PAIR_FIELDS = ("run_a", "run_b", *VALUES)
SOURCES = ("judgments", "both")
DESIGN, LINEARISED = "design", "linearised"
DRAWS = 40
"""Collections drawn to see what linearisation leaves out."""
CAUTION, CAUTION_OF_AP = 3.0, 5.0
"""What linearisation leaves out varies more than drawn collections say, in which documents of a topic hang together by
its richness alone: held against real labels, about so many times more. AP rewards relevant documents that stand
together, so that most is left out there: where labels are poor, differences come out about a tenth too small."""
LEAST_LACKING, CHANCE = 0.02, 4.0
"""A sample that lacks more than this share of the weight, and more than so many standard errors, is told of."""
BLOCK = 1 << 22
"""How many numbers are looked at at once."""
MOST_EXCEPTIONS = 16
"""More are never looked at: so many are possible at a confidence of 0.9999997."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """One measure of all runs: an estimate, what each sampled document adds to its error, and the topics' estimates."""

    measure: Measure
    by_labels: Floats
    value: Floats
    """Of each run."""
    terms: Floats
    """Runs by sampled documents: slope times (judged - calibrated), over the number of topics."""
    topics: Floats
    """Runs by topics: the estimates that the value is the mean of."""
    remainder: Floats | None
    """Runs by draws: what linearisation may leave out of the mean over topics."""
    weight: Floats
    """The weight of each document in what is asked: the root mean square of slopes over runs, or over pairs."""
    exceptions: Floats
    """Two by runs by sampled documents: what the value gains if documents like this one were judged higher, or lower,
    where all of its label were judged alike."""
    slopes: Floats
    """Runs by documents that nobody judged: what the value gains when the document is relevant instead of not."""
    varies: bool
    """Were documents of one label judged differently, so that the sample has a spread?"""
    least: Floats
    most: Floats
    """Between which values each run's score lies, whatever the documents are that nobody judged."""
    limit: float
    """The highest score that any list of these lengths can have."""

    @property
    def method(self) -> str:
        """What the interval rests on."""
        return DESIGN if is_weighted_sum(self.measure) else LINEARISED

    def variance(self, probability: Floats, first: Ints, second: Ints | None) -> tuple[Floats, Floats]:
        """Of the values of these runs, or of their differences; and the degrees of freedom of each."""
        design, freedom = design_variance(_chosen(self.terms, first, second), probability)
        if self.remainder is None:
            return design, freedom
        caution = CAUTION_OF_AP if self.measure.averaged == "precisions" else CAUTION
        left_out = _chosen(self.remainder, first, second).var(axis=-1, ddof=1) * (caution**2 + 1 / DRAWS)
        total = design + left_out
        spread = design**2 / freedom + left_out**2 / (DRAWS - 1)
        return total, np.divide(total**2, spread, out=np.ones(total.size), where=spread > 0)

    def possible(self, first: Ints, second: Ints | None, sources: str) -> tuple[Floats, Floats]:
        """The least and the greatest value that each run, or difference of runs, can have."""
        least, most = (self.least, self.most)
        if sources == "both":  # judgments of these topics' documents say nothing of other topics
            least, most = np.zeros(least.size), np.full(most.size, self.limit)
        return (
            (least[first], most[first])
            if second is None
            else (least[first] - most[second], most[first] - least[second])
        )

    def reach_unsampled(self, probability: Floats, first: Ints, second: Ints | None) -> Floats:
        """How far unjudged documents may move a value that no document of the sample counts in."""
        counting = _chosen(self.terms, first, second)[:, probability < SURE].any(axis=-1)
        reach = np.zeros(first.size)
        for row in np.flatnonzero(~counting).tolist():
            own = slice(row, row + 1)
            reach[row] = np.abs(_chosen(self.slopes, first[own], None if second is None else second[own])).sum()
        return reach

    def reach_of_exceptions(self, confidence: float, first: Ints, second: Ints | None) -> tuple[Floats, Floats]:
        """How far below and above the estimate as many exceptions take it as a sample without one leaves possible."""
        moves = np.stack([_chosen(way, first, second) for way in self.exceptions])
        alike = int(np.count_nonzero(self.exceptions.any(axis=(0, 1))))
        if not alike:
            return np.zeros(first.size), np.zeros(first.size)
        possible = alike * (1 - ((1 - confidence) / 2) ** (1 / alike))
        counted = np.clip(possible - np.arange(min(alike, MOST_EXCEPTIONS)), 0.0, 1.0)
        below, above = (np.sort(np.maximum(way.max(axis=0), 0.0), axis=-1)[:, ::-1] for way in (-moves, moves))
        return below[:, : counted.size] @ counted, above[:, : counted.size] @ counted


@dataclass(frozen=True, eq=False)
class Audit:
    """Scores of runs, or of differences of runs, by labels and corrected by judgments."""

    runs: tuple[str, ...]
    estimates: list[Estimate]
    sample: JudgedSample
    confidence: float
    sources: str
    difference: bool
    remarks: Sequence[str] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns of ``rows``."""
        return PAIR_FIELDS if self.difference else FIELDS

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each run and measure, or for each pair of runs and measure."""
        return list(self._rows())

    def _rows(self) -> Iterator[dict[str, Any]]:
        for estimate in self.estimates:
            for first, second in self._blocks():
                names: list[tuple[str, ...]]
                if second is None:
                    names = [(self.runs[run],) for run in first.tolist()]
                else:
                    pairs = zip(first.tolist(), second.tolist(), strict=True)
                    names = [(self.runs[one], self.runs[other]) for one, other in pairs]
                by_labels, value = (_chosen(column, first, second) for column in (estimate.by_labels, estimate.value))
                sd, low, high = self._errors(estimate, value, first, second)
                columns = (by_labels, value, sd, low, high)
                for name, *numbers in zip(names, *(column.tolist() for column in columns), strict=True):
                    row = (*name, str(estimate.measure), *numbers, len(self.sample), estimate.method)
                    yield dict(zip(self.fields, row, strict=True))

    def _blocks(self) -> Iterator[tuple[Ints, Ints | None]]:
        """The runs, or the pairs of them, so many at a time that memory holds their terms."""
        number_of_runs = len(self.runs)
        step = max(1, BLOCK // max(1, len(self.sample)))
        if not self.difference:
            yield from (
                (np.arange(number_of_runs)[start : start + step], None) for start in range(0, number_of_runs, step)
            )
            return
        first, second = np.triu_indices(number_of_runs, 1)
        for start in range(0, first.size, step):
            yield first[start : start + step], second[start : start + step]

    def _errors(
        self, estimate: Estimate, value: Floats, first: Ints, second: Ints | None
    ) -> tuple[Floats, Floats, Floats]:
        """The standard error of each estimate (NaN where the sample's spread does not tell it), and its interval."""
        variance, freedom = estimate.variance(self.sample.probability, first, second)
        if self.sources == "both":
            topics = _chosen(estimate.topics, first, second)
            number_of_topics = topics.shape[-1]
            # The estimates of topics differ by what the topics are and by the sample: their variance holds both.
            over_topics = topics.var(axis=-1, ddof=1) / number_of_topics
            freedom = np.where(over_topics > variance, number_of_topics - 1.0, freedom)
            variance = np.maximum(variance, over_topics)
        sd = np.sqrt(variance)
        half = np.nan_to_num(sd * student_quantile(self.confidence, freedom), nan=np.inf)
        half = np.maximum(half, estimate.reach_unsampled(self.sample.probability, first, second))
        below, above = estimate.reach_of_exceptions(self.confidence, first, second)
        least, most = estimate.possible(first, second, self.sources)
        if self.sources == "both" and not estimate.varies:  # nor is there a spread of topics: others may be exceptions
            share = 1 - ((1 - self.confidence) / 2) ** (1 / estimate.topics.shape[-1])
            below, above = np.maximum(below, share * (value - least)), np.maximum(above, share * (most - value))
        low, high = value - np.maximum(half, below), value + np.maximum(half, above)
        return np.where(estimate.varies, sd, np.nan), np.maximum(low, least), np.minimum(high, most)

    def table(self) -> Table:
        """The table for people: runs by their estimates of the first measure, the best first."""
        names = list(self.fields[: 2 if self.difference else 1])
        ordered = self.rows()
        if not self.difference:
            value = dict(zip(self.runs, self.estimates[0].value.tolist(), strict=True))
            place = {str(estimate.measure): number for number, estimate in enumerate(self.estimates)}
            ordered.sort(key=lambda row: (place[row["measure"]], -value[row["run"]]))
        header = [*names, "measure", "by labels", "estimate", "sd", f"{self.confidence:.6g} interval", "judged"]
        rows = [
            [
                *(row[name] for name in (*names, "measure")),
                *(number(row[name]) for name in ("by_labels", "estimate", "sd")),
                f"[{number(row['ci_low'])}, {number(row['ci_high'])}]",
                str(row["judged"]),
            ]
            for row in ordered
        ]
        return Table(header, rows, frozenset(range(len(names) + 1)))

    def render(self, kind: str, *, raw: bool = False) -> str:
        """In any text format of the command line."""
        if kind in ("json", "jsonl", "csv", "tsv"):
            return render_rows(self.rows(), kind, self.fields, raw=raw)
        return self.table().render(kind)

    def notes(self) -> list[str]:
        """What a reader of the numbers must know, in sentences."""
        covers = "these topics alone" if self.sources == "judgments" else "other topics of the same kind as well"
        certain = int(np.count_nonzero(self.sample.probability >= SURE))
        unvaried = [str(estimate.measure) for estimate in self.estimates if not estimate.varies]
        sentences = [
            f"{len(self.sample):,} judgments, {certain:,} of them of documents that were certain to be drawn; the "
            f"intervals are about the judgments that nobody made, and hold for {covers}."
        ]
        linearised = [str(estimate.measure) for estimate in self.estimates if estimate.method == LINEARISED]
        if linearised:
            sentences.append(
                f"{', '.join(linearised)}: no sum over documents, so that estimate and interval are by linearisation, "
                "which is approximate."
            )
        if unvaried:
            sentences.append(
                f"{', '.join(unvaried)}: the sample has no spread to tell a standard error by, because all its "
                "documents of a label were judged alike; the interval allows for as many exceptions among the others "
                "as such a sample leaves possible."
            )
        return [*sentences, *self.remarks]

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return shown(self.table())


def audit(
    labels: Any,
    sample: Any,
    runs: Any,
    measures: Any = "RBP(p=0.8)",
    *,
    difference: bool = False,
    judgments: Any = None,
    sources: str = "judgments",
    label_rel: float | None = None,
    confidence: float = 0.95,
    ties: str = "trec",
    gain: Any = None,
    score_precision: str = "double",
    lenient: bool = False,
) -> Audit:
    """Scores by labels, corrected by a sample that people judged, with intervals that cover.

    Parameters
    ----------
    labels
        The labels that the sample was drawn from; in any form that ``evaluate`` takes judgments in. They may be on
        another scale than the judgments: what a label stands for is read off the sample.
    sample
        A file, a frame or a list of dicts with ``query_id, doc_id, probability, relevance``: what ``draw_sample`` drew,
        judged.
    runs, measures
        As in ``evaluate``; measures are weighted sums over ranks (RBP, P, DCG), nDCG, AP and Recall.
    difference
        Compare the runs in pairs.
    judgments
        Where the sample's own column ``relevance`` is not to be used: judgments of its documents, and of no others.
    sources
        ``"judgments"``: the interval is about the judgments that nobody made; ``"both"``: about topics being a sample
        too.
    label_rel
        The lowest label that stands for relevant in ``by_labels``; without it, the measure's own ``rel``, or the higher
        one of labels that have two values and never reach ``rel``.
    confidence
        Of the intervals.
    ties, gain, score_precision, lenient
        As in ``evaluate``; ties in one fixed order.

    Returns
    -------
    Audit
        ``rows()`` are dicts ``run, measure, by_labels, estimate, sd, ci_low, ci_high, judged, method``, with
        ``difference`` ``run_a, run_b`` in place of ``run``. ``by_labels`` is what the labels alone claim, NaN where
        they never reach the measure's ``rel``; ``sd`` is NaN where documents of a label were all judged alike, so that
        the sample has no spread; ``judged`` the number of judgments; ``method`` says what the interval
        rests on: ``design`` (the sampling alone) or ``linearised``.

    Notes
    -----
    What is estimated is the score with people's judgments of every labelled document; documents without a label count
    as non-relevant, as unjudged ones do elsewhere. For weighted sums the estimate is unbiased whatever the labels are,
    up to what folds of one sample know of each other; the interval is approximate as every one from few observations
    is. It holds for the question that the sample was drawn for: documents without a weight in that may have had no
    chance to be drawn.

    Examples
    --------
    >>> import rankbounds as rb
    >>> labels = {"q": {"a": 1, "b": 1, "c": 0}}
    >>> judged = [
    ...     {"query_id": "q", "doc_id": "a", "probability": 1.0, "relevance": 1},
    ...     {"query_id": "q", "doc_id": "b", "probability": 1.0, "relevance": 0},
    ... ]
    >>> rows = rb.audit(labels, judged, {"run": {"q": ["a", "b"]}}, "P@2").rows()
    >>> [rows[0][name] for name in ("by_labels", "estimate", "sd", "judged")]
    [1.0, 0.5, 0.0, 2]

    """
    check_choice("sources", sources, SOURCES)
    check_share("The confidence", confidence)
    chosen = [check_measure(measure) for measure in parse_measures(measures)]
    assumptions = Assumptions(ties, gain=gain, score_precision=score_precision)
    pool = LabelledPool.of(labels, runs, assumptions, lenient=lenient)
    if difference and len(pool.names) < 2:
        raise UsageError("Two runs at least are compared.")
    if sources == "both" and pool.number_of_topics < 2:
        raise UsageError("One topic says nothing of others: two at least are needed for sources=both.")
    given = None if judgments is None else judgments_from(judgments, lenient, rule=assumptions.gain)
    judged = JudgedSample.of(sample, pool, given)
    levels = {measure: label_level(measure, pool, label_rel) for measure in chosen}
    estimates = estimates_of(levels, pool, judged, difference=difference)
    remarks = [*_scales(pool, judged, levels), *_unlabelled(pool), *_unreached(estimates, judged)]
    return Audit(pool.names, estimates, judged, confidence, sources, difference, remarks)


def label_level(measure: Measure, pool: LabelledPool, label_rel: float | None) -> Measure | None:
    """The measure as it reads the labels; None where no label is high enough to count."""
    if "rel" not in measure.parameters or measure.graded:
        return measure
    if label_rel is not None:
        return measure.at_level(label_rel)
    values = np.unique(pool.labels.grade)
    if values[-1] >= measure.rel:
        return measure
    return measure.at_level(float(values[-1])) if values.size == 2 and values[-1] > 0 else None


def estimates_of(
    levels: dict[Measure, Measure | None], pool: LabelledPool, judged: JudgedSample, *, difference: bool
) -> list[Estimate]:
    """All measures of all runs; ``levels`` has the measure as it reads labels.

    Labels are calibrated once for measures that tell the same levels of relevance apart.
    """
    calibrated: dict[float | None, CalibratedPool] = {}
    estimates = []
    for measure, read in levels.items():
        told_apart = None if measure.graded else measure.rel
        if told_apart not in calibrated:
            calibrated[told_apart] = CalibratedPool.of(pool, judged, measure)
        estimates.append(calibrated[told_apart].estimate(measure, read, difference=difference))
    return estimates


@dataclass(frozen=True, eq=False)
class CalibratedPool:
    """A pool whose documents are judged or reach each level with a probability."""

    pool: LabelledPool
    judged: JudgedSample
    steps: Steps
    calibrated: Floats
    """The probability of every document to reach each level, as its label says."""
    known: Floats
    """As ``calibrated``, and 0 or 1 where the document is judged."""
    rest: Floats
    """What judged documents are, less what their labels said."""

    @classmethod
    def of(cls, pool: LabelledPool, judged: JudgedSample, measure: Measure) -> CalibratedPool:
        """Calibrate the labels on the sample, for what the measure tells apart."""
        steps = Steps.of(judged.grade, TopicFacts(judged.judgments, pool.assumptions.gain), measure)
        reached = steps.reached(judged.grade)
        calibrated = crossfitted(pool, judged.row, reached)
        known = calibrated.copy()
        known[:, judged.row] = reached
        return cls(pool, judged, steps, calibrated, known, reached - calibrated[:, judged.row])

    def estimate(self, measure: Measure, for_labels: Measure | None, *, difference: bool) -> Estimate:
        """The expected score given what is judged, and the correction by what the sample says of the rest."""
        pool, judged = self.pool, self.judged
        beyond = 1 / judged.probability - 1
        topic = pool.topic[judged.row]
        exact = is_weighted_sum(measure)
        raised, lowered = self._alike
        unjudged = np.ones(len(pool), dtype=bool)
        unjudged[judged.row] = False
        terms, topics, remainders, exceptions, possible, slopes = [], [], [], [], [], []
        total, squares = np.zeros(self.known.shape), np.zeros(self.known.shape)
        for run, (value, slope) in enumerate(expected_scores(measure, pool, self.steps, self.known)):
            total += slope
            squares += slope**2
            term = (slope[:, judged.row] * self.rest).sum(axis=0)
            terms.append(term / pool.number_of_topics)
            moves = slope[:, judged.row] * (beyond / pool.number_of_topics)
            exceptions.append([(moves * raised).sum(axis=0), -(moves * lowered).sum(axis=0)])
            known_part = float((slope[:, judged.row] * self._reached).sum())
            slopes.append(slope[:, unjudged].sum(axis=0) / pool.number_of_topics)
            possible.append((known_part, known_part + float(slope[:, unjudged].sum())))
            by_topic = value + np.bincount(topic, term * beyond, pool.number_of_topics)
            if not exact:
                left_out = self._left_out(measure, run, value, slope)
                by_topic += left_out.mean(axis=0)
                remainders.append(left_out.mean(axis=1))
            topics.append(by_topic)
        drawn = judged.probability < SURE
        varies = not drawn.any() or not (raised | lowered)[:, drawn].all()
        if not varies:  # that some may be otherwise is for the interval to say
            topics = [value for value, _ in expected_scores(measure, pool, self.steps, self._without_exceptions)]
        estimates = np.stack(topics)
        limit, least, most = 1.0, np.zeros(len(pool.names)), np.ones(len(pool.names))
        if is_weighted_sum(measure):
            widest = max(measure.depth(rankings) for lists in pool.rankings for rankings in lists)
            limit = float(measure.weights(widest).sum() * self.steps.heights(measure).sum())
            least, most = np.minimum(np.array(possible).T / pool.number_of_topics, limit)  # above it by rounding
        remainder = None if exact else np.stack(remainders)
        square = squares / len(pool.names) - ((total / len(pool.names)) ** 2 if difference else 0.0)
        return Estimate(
            measure,
            by_labels(for_labels, pool),
            np.clip(estimates.mean(axis=1), least, most),
            np.stack(terms),
            estimates,
            remainder,
            np.sqrt(np.maximum(square, 0.0).sum(axis=0)),
            np.array(exceptions).swapaxes(0, 1),
            np.stack(slopes),
            varies,
            least,
            most,
            limit,
        )

    @cached_property
    def _alike(self) -> tuple[Flags, Flags]:
        """Levels by judged documents: where none of a label reached the level, and where all did.

        Documents that were certain to be drawn are known, and say nothing of others.
        """
        drawn = self.judged.probability < SURE
        label = self.pool.group[self.judged.row]
        size = np.bincount(label[drawn], minlength=label.max() + 1)
        reaching = np.stack([np.bincount(label[drawn], of_level[drawn], size.size) for of_level in self._reached])
        return drawn & (reaching == 0)[:, label], drawn & (reaching == size)[:, label]

    @property
    def _without_exceptions(self) -> Floats:
        """As ``known``, with the documents of a label that were all judged alike as these were."""
        chance = self.known.copy()
        label = self.pool.group[self.judged.row]
        for level, ways in enumerate(zip(*self._alike, strict=True)):
            for judgment, way in zip((0.0, 1.0), ways, strict=True):
                chance[level, np.isin(self.pool.group, label[way])] = judgment
        chance[:, self.judged.row] = self._reached
        return chance

    def _left_out(self, measure: Measure, run: int, value: Floats, slope: Floats) -> Floats:
        """Draws by topics: the score of a collection that may be the true one, less what linearisation says of it."""
        pool = self.pool
        exact = np.zeros((DRAWS, pool.number_of_topics))
        for draw, facts in enumerate(self._drawn_facts):
            for rankings in pool.rankings[run]:
                exact[draw, rankings.topic] = measure.value(rankings.rejudged(facts))
        linear = np.zeros((DRAWS, pool.number_of_topics))
        for level, of_documents in enumerate(slope):
            moved = (self._drawn > level) - self.known[level]
            for draw in range(DRAWS):
                linear[draw] += np.bincount(pool.topic, of_documents * moved[draw], pool.number_of_topics)
        return exact - value - linear

    @cached_property
    def _drawn(self) -> Ints:
        """How many levels documents reach, in collections that may be the true one."""
        return simulated(self.pool, self.judged.row, self._reached, DRAWS, np.random.default_rng(0))

    @cached_property
    def _reached(self) -> Floats:
        """Levels by judged documents: 1 where the document reaches the level."""
        return self.steps.reached(self.judged.grade)

    @cached_property
    def _drawn_facts(self) -> list[TopicFacts]:
        grades = np.concatenate(([0.0], self.steps.level))
        labels, rule = self.pool.labels, self.pool.assumptions.gain
        return [TopicFacts(Qrels(labels.pairs, grades[height]), rule) for height in self._drawn]


def by_labels(measure: Measure | None, pool: LabelledPool) -> Floats:
    """What the labels alone claim of each run; NaN where they cannot be read."""
    if measure is None:
        return np.full(len(pool.names), np.nan)
    claimed = np.zeros((len(pool.names), pool.number_of_topics))
    for run, lists in enumerate(pool.rankings):
        for rankings in lists:
            claimed[run, rankings.topic] = measure.value(rankings)
    return claimed.mean(axis=1)


def design_variance(terms: Floats, probability: Floats) -> tuple[Floats, Floats]:
    """The variance over samples of each row's sum of terms / probability, and its degrees of freedom.

    Hajek's approximation for samples of fixed size that are as random as their probabilities allow, with Deville's
    weights. The degrees of freedom are those of a chi-squared distribution with the spread that the squares have.
    """
    free = probability < SURE
    size = int(np.count_nonzero(free))
    if size < 2:
        return np.zeros(len(terms)) if size == 0 else np.full(len(terms), np.nan), np.ones(len(terms))
    weight = (1 - probability[free]) * (size / (size - 1))
    expanded = terms[:, free] / probability[free]
    middle = (expanded @ weight / weight.sum())[:, None]
    squares = weight * (expanded - middle) ** 2
    variance = squares.sum(axis=1)
    spread = squares.var(axis=1) * size
    freedom = np.divide(2 * variance**2, spread, out=np.full(len(terms), size - 1.0), where=spread > 0)
    return variance, np.clip(freedom, 1.0, size - 1.0)


def student_quantile(confidence: float, freedom: Floats) -> Floats:
    """How many standard errors an interval of this confidence reaches to each side."""
    from scipy.special import stdtrit

    quantile: Floats = stdtrit(freedom, (1 + confidence) / 2)
    return quantile


def _chosen(of_runs: Floats, first: Ints, second: Ints | None) -> Floats:
    """What is known of runs, or the difference of what is known of two."""
    return of_runs[first] if second is None else of_runs[first] - of_runs[second]


def _scales(pool: LabelledPool, judged: JudgedSample, levels: dict[Measure, Measure | None]) -> list[str]:
    """That labels and judgments are on different scales, and how measures read the labels."""
    labels = _range(pool.labels.grade)
    told = []
    if labels != _range(judged.grade):
        told.append(
            f"Labels are on another scale than the judgments: {pool.source} has {labels}, the sample "
            f"{_range(judged.grade)}; what a label stands for is read off the sample."
        )
    for measure, read in levels.items():
        if read is None:
            told.append(
                f"{measure} by labels is not known, because no label reaches {measure.rel:g}: say which label stands "
                "for relevant (label_rel=, --label-rel)."
            )
        elif read != measure:
            told.append(f"{measure} by labels counts documents as relevant whose label is at least {read.rel:g}.")
    return told


def _range(values: Floats) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{low:g} to {high:g}"


def _unlabelled(pool: LabelledPool) -> list[str]:
    """How many documents near the top have no label."""
    lacking, total = pool.unlabelled(10)
    if not lacking:
        return []
    return [
        f"{lacking:,} of {total:,} documents in the first ten of the lists have no label and count as non-relevant: "
        "nothing here speaks of what people would say of them."
    ]


def _unreached(estimates: list[Estimate], judged: JudgedSample) -> list[str]:
    """Measures whose documents the sample does not reach, because it was drawn for another question."""
    return [
        f"{estimate.measure}: by its probabilities the sample speaks for {share:.0%} of the weight that is asked "
        "about, and chance does not explain the rest: it was drawn for another question, and documents that count here "
        "could not be drawn. Draw a sample for this one."
        for estimate in estimates
        if (share := _share_reached(estimate.weight, judged)) is not None
    ]


def _share_reached(weight: Floats, judged: JudgedSample) -> float | None:
    """How much of the known total of weights the sample stands for, if that is less than chance explains."""
    total = float(weight.sum())
    expanded = float((weight[judged.row] / judged.probability).sum())
    variance = float(design_variance(weight[None, judged.row], judged.probability)[0][0])
    lacking = total - expanded
    if lacking <= LEAST_LACKING * total or lacking <= CHANCE * math.sqrt(max(variance, 0.0)):
        return None
    return expanded / total
