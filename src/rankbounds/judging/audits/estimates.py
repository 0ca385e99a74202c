"""Estimates of scores from labels and a judged sample, and how far they may be off.

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

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.qrels import Qrels
from rankbounds.judging.audits.calibration import calibrate_labels, simulate_levels
from rankbounds.judging.audits.expected_scores import Steps, expected_scores
from rankbounds.judging.audits.judged_sample import JudgedSample
from rankbounds.judging.audits.labelled_pool import LabelledPool
from rankbounds.judging.audits.sample import SURE, SquaresOverRuns
from rankbounds.measures import Measure
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.rankings.topic_facts import TopicFacts

DESIGN, LINEARISED = "design", "linearised"
DRAWS = 40
"""Collections drawn to see what linearisation leaves out."""
CAUTION, CAUTION_OF_AP = 3.0, 5.0
"""What linearisation leaves out varies more than drawn collections say, in which documents of a topic hang together by
its richness alone: held against real labels, about so many times more. AP rewards relevant documents that stand
together, so that most is left out there: where labels are poor, differences come out about a tenth too small."""
MOST_EXCEPTIONS = 16
"""More are never looked at: that many are possible at a confidence of 0.9999997."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """One measure of all runs: an estimate, what each sampled document adds to its error, and the topics' estimates."""

    measure: Measure
    by_labels: Floats
    """Of each run, what the labels alone claim; NaN where they cannot be read."""
    value: Floats
    """Of each run."""
    terms: Floats
    """Runs by sampled documents: slope times (judged - calibrated), over the number of topics."""
    topics: Floats
    """Runs by topics: the estimates that the value is the mean of."""
    remainder: Floats | None
    """Runs by draws: what linearisation may leave out of the mean over topics; None for weighted sums."""
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
        return DESIGN if self.remainder is None else LINEARISED

    def variance(self, probability: Floats, first: Ints, second: Ints | None) -> tuple[Floats, Floats]:
        """Of the values of these runs, or of their differences; and the degrees of freedom of each."""
        design, freedom = design_variance(select_runs(self.terms, first, second), probability)
        if self.remainder is None:
            return design, freedom
        caution = CAUTION_OF_AP if self.measure.averaged == "precisions" else CAUTION
        left_out = select_runs(self.remainder, first, second).var(axis=-1, ddof=1) * (caution**2 + 1 / DRAWS)
        total = design + left_out
        spread = design**2 / freedom + left_out**2 / (DRAWS - 1)
        return total, np.divide(total**2, spread, out=np.ones(total.size), where=spread > 0)

    def possible(self, first: Ints, second: Ints | None, sources: str) -> tuple[Floats, Floats]:
        """The least and the greatest value that each run, or difference of runs, can have."""
        least, most = self.least, self.most
        if sources == "both":  # judgments of these topics' documents say nothing of other topics
            least, most = np.zeros(least.size), np.full(most.size, self.limit)
        if second is None:
            return least[first], most[first]
        return least[first] - most[second], most[first] - least[second]

    def reach_unsampled(self, probability: Floats, first: Ints, second: Ints | None) -> Floats:
        """How far unjudged documents may move a value that no document of the sample counts in."""
        counting = select_runs(self.terms, first, second)[:, probability < SURE].any(axis=-1)
        reach = np.zeros(first.size)
        for row in np.flatnonzero(~counting).tolist():
            own = slice(row, row + 1)
            reach[row] = np.abs(select_runs(self.slopes, first[own], None if second is None else second[own])).sum()
        return reach

    def reach_of_exceptions(self, confidence: float, first: Ints, second: Ints | None) -> tuple[Floats, Floats]:
        """How far below and above the estimate as many exceptions take it as a sample without one leaves possible."""
        moves = np.stack([select_runs(way, first, second) for way in self.exceptions])
        alike = int(np.count_nonzero(self.exceptions.any(axis=(0, 1))))
        if not alike:
            return np.zeros(first.size), np.zeros(first.size)
        possible = alike * (1 - ((1 - confidence) / 2) ** (1 / alike))
        counted = np.clip(possible - np.arange(min(alike, MOST_EXCEPTIONS)), 0.0, 1.0)
        below, above = (np.sort(np.maximum(way.max(axis=0), 0.0), axis=-1)[:, ::-1] for way in (-moves, moves))
        return below[:, : counted.size] @ counted, above[:, : counted.size] @ counted


def estimates_of(
    levels: dict[Measure, Measure | None], pool: LabelledPool, judged: JudgedSample, *, difference: bool
) -> list[Estimate]:
    """All measures of all runs; ``levels`` has the measure as it reads labels.

    Labels are calibrated once for measures that tell the same levels of relevance apart.
    """
    calibrated: dict[float | None, CalibratedPool] = {}
    estimates = []
    for measure, read in levels.items():
        level = None if measure.graded else measure.rel
        if level not in calibrated:
            calibrated[level] = CalibratedPool.of(pool, judged, measure)
        estimates.append(calibrated[level].estimate(measure, read, difference=difference))
    return estimates


@dataclass(frozen=True, eq=False)
class CalibratedPool:
    """A pool whose documents are judged, or reach each level with a probability."""

    pool: LabelledPool
    judged: JudgedSample
    steps: Steps
    reached: Floats
    """Levels by judged documents: 1 where the document reaches the level."""
    calibrated: Floats
    """The probability of every document to reach each level, as its label says."""

    @classmethod
    def of(cls, pool: LabelledPool, judged: JudgedSample, measure: Measure) -> CalibratedPool:
        """Calibrate the labels on the sample, for what the measure tells apart."""
        steps = Steps.of(judged.grade, TopicFacts(judged.judgments, pool.assumptions.gain), measure)
        reached = steps.reached(judged.grade)
        return cls(pool, judged, steps, reached, calibrate_labels(pool, judged.row, reached))

    @cached_property
    def known(self) -> Floats:
        """As ``calibrated``, and 0 or 1 where the document is judged."""
        known = self.calibrated.copy()
        known[:, self.judged.row] = self.reached
        return known

    def estimate(self, measure: Measure, for_labels: Measure | None, *, difference: bool) -> Estimate:
        """The expected score given what is judged, and the correction by what the sample says of the rest."""
        pool, rows, number_of_topics = self.pool, self.judged.row, self.pool.number_of_topics
        beyond = 1 / self.judged.probability - 1
        rest = self.reached - self.calibrated[:, rows]
        exact = is_weighted_sum(measure)
        raised, lowered = self._alike
        unjudged = np.ones(len(pool), dtype=bool)
        unjudged[rows] = False
        squares = SquaresOverRuns()
        terms, topics, remainders, exceptions, certain, slopes = [], [], [], [], [], []
        for run, (value, slope) in enumerate(expected_scores(measure, pool, self.steps, self.known)):
            squares.add(slope)
            of_sample = slope[:, rows] / number_of_topics
            terms.append((of_sample * rest).sum(axis=0))
            exceptions.append([(of_sample * raised).sum(axis=0) * beyond, -(of_sample * lowered).sum(axis=0) * beyond])
            certain.append((of_sample * self.reached).sum())
            slopes.append(slope[:, unjudged].sum(axis=0) / number_of_topics)
            by_topic = value + np.bincount(
                pool.topic[rows], terms[-1] * beyond * number_of_topics, minlength=number_of_topics
            )
            if not exact:
                left_out = self._left_out(measure, run, value, slope)
                by_topic += left_out.mean(axis=0)
                remainders.append(left_out.mean(axis=1))
            topics.append(by_topic)
        drawn = self.judged.probability < SURE
        varies = not drawn.any() or not (raised | lowered)[:, drawn].all()
        if not varies:  # that some may be otherwise is for the interval to say
            topics = [value for value, _ in expected_scores(measure, pool, self.steps, self._without_exceptions())]
        estimates = np.stack(topics)
        limit, least, most = 1.0, np.zeros(len(pool.names)), np.ones(len(pool.names))
        if is_weighted_sum(measure):
            widest = max(measure.depth(rankings) for lists in pool.rankings for rankings in lists)
            limit = float(measure.weights(widest).sum() * self.steps.heights(measure).sum())
            least = np.minimum(certain, limit)  # above it by rounding
            most = np.minimum(least + np.sum(slopes, axis=-1), limit)
        return Estimate(
            measure,
            _claims_of_labels(for_labels, pool),
            np.clip(estimates.mean(axis=1), least, most),
            np.stack(terms),
            estimates,
            None if exact else np.stack(remainders),
            np.sqrt(squares.mean(differences=difference).sum(axis=0)),
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
        reaching = np.stack([np.bincount(label[drawn], of_level[drawn], size.size) for of_level in self.reached])
        return drawn & (reaching == 0)[:, label], drawn & (reaching == size)[:, label]

    def _without_exceptions(self) -> Floats:
        """As ``known``, with the documents of a label that were all judged alike as these were."""
        chance = self.known.copy()
        label = self.pool.group[self.judged.row]
        for of_level, none, all_of_them in zip(chance, *self._alike, strict=True):
            of_level[np.isin(self.pool.group, label[none])] = 0.0
            of_level[np.isin(self.pool.group, label[all_of_them])] = 1.0
        chance[:, self.judged.row] = self.reached
        return chance

    def _left_out(self, measure: Measure, run: int, value: Floats, slope: Floats) -> Floats:
        """Draws by topics: the score of a collection that may be the true one, minus what linearisation says of it."""
        pool, (drawn, facts_of_draws) = self.pool, self._drawn
        exact, linear = np.zeros((2, DRAWS, pool.number_of_topics))
        for draw, facts in enumerate(facts_of_draws):
            for rankings in pool.rankings[run]:
                exact[draw, rankings.topic] = measure.value(rankings.rejudged(facts))
            for level, of_documents in enumerate(slope):
                moved = of_documents * ((drawn[draw] > level) - self.known[level])
                linear[draw] += np.bincount(pool.topic, moved, pool.number_of_topics)
        return exact - value - linear

    @cached_property
    def _drawn(self) -> tuple[Ints, list[TopicFacts]]:
        """Collections that may be the true one: how many levels documents reach (a row for each), and their facts."""
        drawn = simulate_levels(self.pool, self.judged.row, self.reached, DRAWS, np.random.default_rng(0))
        grades = np.concatenate(([0.0], self.steps.level))
        labels, rule = self.pool.labels, self.pool.assumptions.gain
        return drawn, [TopicFacts(Qrels._of_pairs(labels.pairs, grades[height]), rule) for height in drawn]


def _claims_of_labels(measure: Measure | None, pool: LabelledPool) -> Floats:
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


def select_runs(of_runs: Floats, first: Ints, second: Ints | None) -> Floats:
    """What is known of these runs, or of the differences of these pairs of runs."""
    return of_runs[first] if second is None else of_runs[first] - of_runs[second]
