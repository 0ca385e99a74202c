"""What unjudged documents leave open of the difference between two runs.

A document that both share is relevant for both or for neither: it counts once, with its net weight, that at its rank in
A minus that in B. The certain bounds come from ``evaluation/differences``, and probabilities keep within them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.differences import SharedLists, difference_bounds
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.options import shows_options
from rankbounds.evaluation.score_differences import drop_rounding, merit, merit_of_range
from rankbounds.measures import Measure
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.probability.completions import OpenCollection
from rankbounds.probability.distribution import EVEN, distribution_of_sum
from rankbounds.probability.documents import UnjudgedDocuments
from rankbounds.probability.drawn_scores import DrawnCompletions, draw_differences
from rankbounds.probability.models.chosen import (
    ChosenModels,
    Probabilities,
    ProbabilityFields,
    ProbabilityOptions,
)
from rankbounds.probability.models.groups_left_out import GroupsLeftOut, estimation_slopes
from rankbounds.rankings.documents import RetrievedDocuments
from rankbounds.results import Column, Result, interval
from rankbounds.tables import number, signed
from rankbounds.threads import in_threads, processors

if TYPE_CHECKING:
    from typing_extensions import Unpack

PAIRS_AT_ONCE = 200
"""For more pairs than this SciPy is loaded, which takes a tenth of a second; fewer are a matrix of documents each."""
MANY_PAIRS = 28
"""Up to this many pairs (of 8 runs), probabilities come from the distribution; beyond, from the normal one."""
DRAWN_CELLS, FEWEST_DRAWS = 150_000_000, 100
"""Where nobody says how often, measures that are not weighted sums are drawn so often that about so many cells are gone
through, less often than ``FEWEST_DRAWS`` not at all."""
MANY_DRAWN = 1 << 34
"""More cells of completed lists than this are not drawn: it would take hours."""


@dataclass(frozen=True)
class Difference:
    """One run minus another, the mean over topics."""

    run: str
    against: str
    measure: str
    difference: float
    sd: float
    probability_better: float
    probability_worse: float
    certain_low: float
    """NaN where no bounds are known."""
    certain_high: float
    ci_low: float
    ci_high: float
    error: float
    """The standard error of the probabilities; 0 where they were not drawn."""


@dataclass(frozen=True, eq=False, repr=False)
class Differences(Result):
    """All pairs of runs under each measure."""

    pairs: list[Difference]
    exact: bool
    """Do the probabilities come from the enumerated or convolved distribution, rather than a normal one?"""
    drawn: Sequence[str]
    remarks: Sequence[str]
    title = "Differences of means (run minus against), with the uncertainty from unjudged documents."
    figures = ("differences",)
    words_beside = "above"

    @property
    def columns(self) -> list[Column]:  # type: ignore[override]
        return [
            Column("run"),
            Column("against", importance=7),
            Column("measure"),
            Column("difference", "", lambda row: signed(row["difference"]), importance=6),
            Column("sd"),
            interval("ci_low", "ci_high", f"{100 * self.settings['confidence']:.6g}% (unjudged)", signed, importance=5),
            *(Column(name, None) for name in ("ci_low", "ci_high")),
            Column("probability_better", "P(better)", lambda row: number(row["probability_better"], 3), 2),
            Column("probability_worse", "P(worse)", lambda row: number(row["probability_worse"], 3), 1),
            Column("error", None),
            interval("certain_low", "certain_high", "certain bounds", signed, importance=3),
            *(Column(name, None) for name in ("certain_low", "certain_high")),
        ]

    def rows(self) -> list[dict[str, Any]]:
        return [{name: getattr(pair, name) for name in self.fields} for pair in self.pairs]

    def words(self) -> str:
        measure = self.pairs[0].measure
        pairs = [pair for pair in self.pairs if pair.measure == measure]
        apart = [pair for pair in pairs if pair.ci_low > 0 or pair.ci_high < 0]
        if len(pairs) > 1:
            are = "is" if len(apart) == 1 else "are"
            return f"{len(apart):,} of {len(pairs):,} pairs {are} told apart by {measure}: the interval leaves out 0."
        (pair,) = pairs
        names = (pair.run, pair.against)
        better, worse = names if pair.probability_better > 0.5 else names[::-1]
        first = f"{better} is better than {worse} in {measure}" if apart else f"Open which is better in {measure}"
        span = f"{signed(pair.difference)} [{signed(pair.ci_low)}, {signed(pair.ci_high)}]"
        return f"{first}: {names[0]} minus {names[1]} is {span}."

    def doubts(self) -> list[str]:
        return list(self.remarks)

    def notes(self) -> list[str]:
        how = "the distribution of the difference" if self.exact else "a normal approximation"
        exact = any(pair.measure not in self.drawn for pair in self.pairs)
        which = f"Unjudged documents are relevant with probability {self.settings['q']}"
        sentences = [which + (f"; probabilities from {how}." if exact else ".")]
        samples, seed = self.settings["samples"], self.settings["seed"]
        for measure in self.drawn:
            mine = [pair for pair in self.pairs if pair.measure == measure and not math.isnan(pair.sd)]
            if not mine:
                continue
            worst = max(pair.sd for pair in mine) / math.sqrt(samples)
            sentences.append(
                f"{measure}: from {samples} draws (seed {seed}); standard error of a difference at most "
                f"{worst:.2g}, of a probability {max(pair.error for pair in mine):.2g}."
            )
        return [*sentences, *self.remarks]


@shows_options(ProbabilityFields, Probabilities, more=True)
def differences(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike = DEFAULT_MEASURES[0],
    **options: Unpack[ProbabilityOptions],
) -> Differences:
    """Compare every pair of runs: the mean difference, its sd, who is probably better, and bounds that are certain.

    Differences are the second run minus the first of two, and the better minus the worse among many.

    Parameters
    ----------
    qrels, runs
        As in ``evaluate``; two runs or more.
    measures, q, groups, otherwise, confidence, samples, seed, **options
        As in ``uncertainty``; ``topics="shared"``: the topics that all runs have.

    Returns
    -------
    Differences
        A ``Difference`` for each pair and measure; prints as a table. A document counts once, with the mean of its
        probabilities in the runs that hold it. Mean and sd concern the retrieved documents; the certain bounds hold
        what lies beyond the ends of the lists too. The interval of weighted sums is a normal one within these bounds,
        that of other measures the middle of the draws, and with ``q="groups"`` as long as the calibration found to be
        needed: probabilities then lie within 0.01 and 0.99 unless the bounds decide, and are NaN where not known.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"q": {"d1": 1, "d2": 0}}
    >>> runs = {"b": {"q": ["d3", "d2"]}, "a": {"q": ["d1", "d3"]}}
    >>> (pair,) = rb.probability.differences(qrels, runs, "P@2", q=0.5).pairs
    >>> pair.difference, pair.certain_low, pair.certain_high
    (0.5, 0.5, 0.5)
    """
    models, chosen, asked = ChosenModels.read(qrels, runs, measures, options)
    names = [run.name for run in models.runs]
    if len(names) < 2:
        raise UsageError("A difference needs two runs.")
    places = list(itertools.combinations(range(len(names)), 2))
    exact = len(places) <= MANY_PAIRS and models.kind != "groups"
    drawn = [str(measure) for measure in chosen if not is_weighted_sum(measure)]
    pairs: list[Difference] = []
    for measure in chosen:
        mean, sd, better, worse, low, high, ci_low, ci_high, error = pair_columns(
            models, measure, range(len(names)), asked.confidence, asked.samples, asked.seed
        )
        # As in ``compare``: the second run minus the first of two, the better minus the worse among many.
        turn = ~(merit(mean, measure) > 0) | (len(names) == 2)
        first, second = np.where(turn, np.array(places).T[::-1], np.array(places).T)
        (better, worse), (low, high), (ci_low, ci_high) = (
            np.where(turn, (sign * other, sign * one), (one, other)) + 0.0
            for sign, (one, other) in ((1, (better, worse)), (-1, (low, high)), (-1, (ci_low, ci_high)))
        )
        numbers = np.where(turn, -mean, mean) + 0.0, sd, better, worse, low, high, ci_low, ci_high, error
        for a, b, *of_pair in zip(first.tolist(), second.tolist(), *map(np.ndarray.tolist, numbers), strict=True):
            pairs.append(Difference(names[a], names[b], str(measure), *of_pair))
    settings = {"q": models.words(chosen), "confidence": asked.confidence, "samples": asked.samples, "seed": asked.seed}
    remarks = [*models.remarks(), *models.pool_remarks(chosen, asked.confidence)]
    return Differences(pairs, exact, drawn, remarks, settings=settings)


def pair_columns(
    models: ChosenModels, measure: Measure, among: Sequence[int], confidence: float, samples: int, seed: int
) -> tuple[Floats, ...]:
    """The numbers of a ``Difference``, from the difference to its error, for all pairs of some runs."""
    from scipy.special import ndtri

    runs, batches = [models.runs[at] for at in among], [models.batches[at] for at in among]
    pairs = list(itertools.combinations(range(len(runs)), 2))
    model = models.model_of(measure)
    if is_weighted_sum(measure):
        unjudged_of = partial(models.unjudged, measure=measure)
        shared = SharedUnjudged(list(in_threads(unjudged_of, among, processors())), model)
        exact = len(pairs) <= MANY_PAIRS and not isinstance(model, GroupsLeftOut)
        lists = SharedLists(runs, models.facts, batches)
        bounds = difference_bounds(lists, measure, models.assumptions)
        mean, sd, better, worse = shared.columns((bounds.low, bounds.high), exact=exact)
        half = float(ndtri((1 + confidence) / 2)) * sd
        ends = np.maximum(mean - half, bounds.low), np.minimum(mean + half, bounds.high)
        columns: tuple[Floats, ...] = mean, sd, better, worse, bounds.low, bounds.high, *ends, np.zeros(mean.size)
    else:
        collection = OpenCollection(runs, models.facts, models.assumptions, batches)
        if isinstance(model, GroupsLeftOut) and all(model.out_of_sight(run.name) for run in runs):
            samples = 2  # their bounds alone are read
        columns = _drawn_columns(DrawnCompletions(collection, measure, model, samples, seed), pairs, confidence)
    if not isinstance(model, GroupsLeftOut):
        return columns
    if not is_weighted_sum(measure):
        stretches = np.array([model.stretch(run.name) for run in runs])
        if (stretches != (1.0, 0.0)).any():
            base = np.stack([models.base_and_bounds(at, measure)[0] for at in among])
            columns = _stretched(columns, base, stretches)
    return _calibrated(columns, measure, model, runs, confidence)


def _stretched(columns: tuple[Floats, ...], base: Floats, stretches: Floats) -> tuple[Floats, ...]:
    mean, sd, *others = columns
    pairs = list(itertools.combinations(range(len(base)), 2))
    judged = np.array([np.nanmean(base[one] - base[other]) for one, other in pairs])
    factor, error = np.array([(stretches[one] + stretches[other]) / 2 for one, other in pairs]).T
    change = np.where(sd == 0, 0.0, mean - judged)
    stretched = np.fmin(np.fmax(mean + (factor - 1) * change, others[2]), others[3])
    return (
        np.where((sd == 0) | np.isnan(mean), mean, stretched),
        np.hypot(np.maximum(factor, 1.0) * sd, error * change),
        *others,
    )


def _calibrated(
    columns: tuple[Floats, ...], measure: Measure, model: GroupsLeftOut, runs: Sequence[Run], confidence: float
) -> tuple[Floats, ...]:
    from scipy.special import ndtr, ndtri

    mean, sd, _, _, low, high, _, _, error = columns
    pairs = list(itertools.combinations([run.name for run in runs], 2))
    reach = np.array([model.reach_of_pair(run, against, confidence) for run, against in pairs])
    hidden = np.array([any(map(model.out_of_sight, pair)) for pair in pairs])
    mean = np.select([low == high, hidden], [low, np.nan], mean)
    sd = np.select([low == high, hidden], [0.0, np.nan], sd)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = np.where(sd == 0, 0.0, np.where(np.isnan(sd) | np.isinf(reach), np.inf, reach * sd))
        lead = np.where(np.isinf(half), np.nan, merit(mean, measure) * float(ndtri((1 + confidence) / 2)) / half)
    even, (least, most) = (sd == 0) & (mean == 0), merit_of_range(low, high, measure)
    better = np.select([least > 0, (most <= 0) | even], [1.0, 0.0], limit_certainty(ndtr(lead), most))
    worse = np.select([most < 0, (least >= 0) | even], [1.0, 0.0], limit_certainty(ndtr(-lead), -least))
    ends = np.stack([np.fmax(mean - half, low), np.fmin(mean + half, high)])
    return (mean, sd, better, worse, low, high, *np.where(np.isfinite(ends), ends, np.nan), error)


def _drawn_columns(
    completions: DrawnCompletions, pairs: Sequence[tuple[int, int]], confidence: float
) -> tuple[Floats, ...]:
    collection, measure = completions.collection, completions.measure
    if not collection.has_list.all(axis=0).any():
        raise UsageError("The runs have no topic in common.")
    if completions.samples * completions.cells(len(pairs)) > MANY_DRAWN:
        raise UsageError(
            f"Drawing {measure} {completions.samples} times for {len(pairs):,} pairs of runs would take hours. Use "
            "fewer runs or fewer draws (samples=, --samples)."
        )
    bounds = difference_bounds(collection, measure, collection.assumptions)
    found = draw_differences(completions, pairs)
    error = np.where([collection.is_open(measure, pair) for pair in pairs], found.error, 0.0)
    return (found.mean, found.sd, *found.better, bounds.low, bounds.high, *found.interval(confidence), error)


def chances_of_sums(
    of_runs: list[UnjudgedDocuments], model: Any, bounds: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Of weighted sums: how likely each run of every pair is the better one; NaN where nothing is open."""
    pairs = len(of_runs) * (len(of_runs) - 1) // 2
    _, sd, better, worse = SharedUnjudged(of_runs, model).columns(bounds, exact=pairs <= MANY_PAIRS)
    return np.where(sd > 0, better, np.nan), np.where(sd > 0, worse, np.nan)


def draw_chances(
    drawn: DrawnCompletions, pairs: Sequence[tuple[int, int]], lead: tuple[Floats, Floats] | None = None
) -> tuple[Floats, Floats, int] | None:
    """Of other measures the same, and how often they were drawn; None where that takes long. ``lead`` has bounds."""
    often = min(drawn.samples, int(DRAWN_CELLS / drawn.cells(len(pairs))))
    if often < FEWEST_DRAWS:
        return None
    if often < drawn.samples:
        drawn = drawn.again(often)
    low, high = lead or np.full((2, len(pairs)), np.nan)
    better, worse = np.where(low > 0, 1.0, 0.0), np.where(high < 0, 1.0, 0.0)
    unsettled = np.flatnonzero(~((low > 0) | (high < 0) | ((low == 0) & (high == 0))))
    if unsettled.size:
        found = draw_differences(drawn, [pairs[pair] for pair in unsettled.tolist()])
        better[unsettled], worse[unsettled] = found.better
    is_open = np.array([drawn.collection.is_open(drawn.measure, pair) for pair in pairs])
    return np.where(is_open, better, np.nan), np.where(is_open, worse, np.nan), often


class SharedUnjudged:
    """The unjudged documents of several runs, each document once, with its weight in every run."""

    def __init__(self, of_runs: list[UnjudgedDocuments], model: Any) -> None:
        self.counted = np.logical_and.reduce([unjudged.counted for unjudged in of_runs])
        self.topics = int(np.count_nonzero(self.counted))
        if not self.topics:
            raise UsageError("The runs have no topic in common.")
        if not self.counted.all():
            of_runs = [unjudged.of_topics(self.counted) for unjudged in of_runs]
        self.of_runs = of_runs
        entries = [
            np.stack((each.topic, np.full(each.row.size, number), each.rank, each.row))
            for number, each in enumerate(of_runs)
        ]
        documents = RetrievedDocuments.at([each.run for each in of_runs], np.concatenate(entries, axis=1))
        self.document = [documents.document[mine] for mine in documents.entries]
        self.copies = documents.number_of_runs
        chances = np.concatenate([model(unjudged) for unjudged in of_runs])
        self.chance = np.bincount(documents.document, chances, len(documents)) / self.copies
        self.bend = self.chance * (1 - self.chance)
        self.base = np.array([unjudged.base[self.counted].sum() for unjudged in of_runs])
        self.shift = model.shift if isinstance(model, GroupsLeftOut) else None
        self.slope, self.covariance = estimation_slopes(model, of_runs)

    def columns(self, bounds: tuple[Floats, Floats], *, exact: bool) -> tuple[Floats, ...]:
        from scipy.special import ndtr

        first, second = np.triu_indices(len(self.of_runs), 1)
        variance, bent = self._distances()
        opened = np.array([unjudged.weight.sum() for unjudged in self.of_runs])
        expected = self.base + self._weighted(self.chance)
        between = self.slope[first] - self.slope[second]
        # A variance of nothing may come out below 0 by a rounding.
        estimation = np.maximum(np.einsum("ij,jk,ik->i", between, self.covariance, between), 0.0)
        if self.shift is not None:
            # Documents that speak for a run shift with it, by as much as their net weights add up to.
            slope = self._weighted(self.bend)
            net = slope[first] - slope[second]
            ups, downs = np.maximum(bent + net, 0.0) / 2, np.maximum(bent - net, 0.0) / 2
            estimation += (self.shift * ups) ** 2 + (self.shift * downs) ** 2
        # Sums of equal worth may differ in their last bits, which makes no run the better one.
        whole = self.base + opened
        whole, (low, high) = whole[first] + whole[second], bounds
        mean = drop_rounding(expected[first] - expected[second], whole) / self.topics
        sd = np.sqrt(variance + estimation) / self.topics
        if exact:
            better, worse = np.zeros((2, first.size))
            for pair in np.flatnonzero(~((low > 0) | (high < 0) | ((low == 0) & (high == 0)))).tolist():
                extra = math.sqrt(estimation[pair]) / self.topics
                better[pair], worse[pair] = self._better(int(first[pair]), int(second[pair]), extra)
        else:
            ratio = np.divide(mean, sd, out=np.where(mean > 0, np.inf, -np.inf), where=sd > 0)
            even = (sd == 0) & (mean == 0)
            better, worse = np.where(even, 0.0, ndtr(ratio)), np.where(even, 0.0, ndtr(-ratio))
        # What is taken as normal reaches beyond bounds; what no judgments can bring about has no probability.
        better = np.select([low > 0, high <= 0], [1.0, 0.0], better)
        worse = np.select([high < 0, low >= 0], [1.0, 0.0], worse)
        return mean, sd, better, worse

    def _weighted(self, values: Floats) -> Floats:
        runs = zip(self.of_runs, self.document, strict=True)
        return np.array([float(unjudged.weight @ values[document]) for unjudged, document in runs])

    def _distances(self) -> tuple[Floats, Floats]:
        """By pair, summed over documents: the variance of the net weight, and its size times q (1 - q) if calibrated.

        Documents that one run alone holds are summed run by run; for the others each topic is a matrix. Differences are
        taken entry by entry, so that a run against itself gives exactly 0.
        """
        runs = len(self.of_runs)
        first, second = np.triu_indices(runs, 1)
        spread = np.sqrt(self.bend)
        alone_sums = np.zeros((2, runs))
        shared: list[tuple[Ints, Ints, Ints, Floats]] = []
        for run_number, (unjudged, document) in enumerate(zip(self.of_runs, self.document, strict=True)):
            alone = self.copies[document] == 1
            weight, bend = unjudged.weight[alone], self.bend[document[alone]]
            alone_sums[:, run_number] = weight**2 @ bend, weight @ bend
            rest = ~alone
            of_run = np.full(int(rest.sum()), run_number)
            shared.append((of_run, unjudged.topic[rest], document[rest], unjudged.weight[rest]))
        run, topic, document, weight = (np.concatenate(column) for column in zip(*shared, strict=True))
        order = np.argsort(topic, kind="stable")
        cuts = np.flatnonzero(np.diff(topic[order])) + 1

        def of_topic(cells: Ints) -> Floats:
            columns, column = np.unique(document[cells], return_inverse=True)
            matrix = np.zeros((runs, columns.size))
            matrix[run[cells], column] = weight[cells]
            if first.size <= PAIRS_AT_ONCE:
                net = np.abs(matrix[first] - matrix[second])
                return np.stack((net**2 @ self.bend[columns], net @ self.bend[columns]))
            from scipy.spatial.distance import pdist

            calibrated = self.shift is not None
            bent = pdist(matrix * self.bend[columns], "cityblock") if calibrated else np.zeros(first.size)
            return np.stack((pdist(matrix * spread[columns], "sqeuclidean"), bent))

        sums = alone_sums[:, first] + alone_sums[:, second]
        if order.size:
            for of_one_topic in in_threads(of_topic, np.split(order, cuts), processors()):
                sums = sums + of_one_topic
        return sums[0], sums[1]

    def _better(self, a: int, b: int, estimation_sd: float) -> tuple[float, float]:
        from scipy.special import ndtr

        document = np.concatenate((self.document[a], self.document[b]))
        each, place = np.unique(document, return_inverse=True)
        weight = np.concatenate((self.of_runs[a].weight, -self.of_runs[b].weight))
        net = np.bincount(place, weights=weight, minlength=each.size)
        base = float(self.base[a] - self.base[b])
        difference = distribution_of_sum(net / self.topics, self.chance[each], base / self.topics)
        apart = np.abs(difference.value) > EVEN  # equal scores make no run better, however they were estimated
        value, probability = difference.value[apart], difference.probability[apart]
        ahead, behind = value > 0, value < 0
        if estimation_sd:
            ahead, behind = ndtr(value / estimation_sd), ndtr(-value / estimation_sd)
        return min(1.0, float(probability @ ahead)), min(1.0, float(probability @ behind))


def limit_certainty(probability: Floats | float, most: Floats | float, error: Floats | float = 0.01) -> Floats:
    """Keep estimated probabilities ``error`` away from 0 and 1, but 0 where the lead is at most ``most`` <= 0."""
    impossible = np.less_equal(most, 0) & ~np.isnan(probability)
    return np.where(impossible, 0.0, np.clip(probability, error, np.subtract(1, error)))
