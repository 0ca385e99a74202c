"""What the labels claim, corrected by a sample that people judged, with an interval that covers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.choices import check_choice, check_share
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.judging.audits.estimates import LINEARISED, Estimate, design_variance, estimates_of, select_runs
from rankbounds.judging.audits.expected_scores import check_measure
from rankbounds.judging.audits.judged_sample import JudgedSample
from rankbounds.judging.audits.labelled_pool import LabelledPool
from rankbounds.judging.audits.sample import SURE
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.results import Column, Result, build_table, interval
from rankbounds.stats.significance import pairs_of
from rankbounds.tables import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.evaluation.options import OrderOptions

SOURCES = ("judgments", "both")
LEAST_LACKING, CHANCE = 0.02, 4.0
"""A sample that lacks more than this share of the weight, and more than so many standard errors, is noted."""
BLOCK = 1 << 22
"""How many numbers are looked at at once."""


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Result):
    """Scores of runs, or of differences of runs, by labels and corrected by judgments."""

    runs: tuple[str, ...]
    estimates: list[Estimate]
    sample: JudgedSample
    confidence: float
    sources: str
    difference: bool
    remarks: Sequence[str] = ()

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]
        """``run`` and ``against`` for differences."""
        names = ("run", "against") if self.difference else ("run",)
        return (
            *(Column(name, name) for name in names),
            *map(Column, ("measure", "by_labels", "estimate", "sd")),
            Column("ci_low", None),
            Column("ci_high", None),
            interval("ci_low", "ci_high", f"{100 * self.confidence:.6g}% interval"),
            Column("judged"),
            Column("method", None),
        )

    def rows(self) -> list[dict[str, Any]]:
        """A dict per run and measure, or per pair of runs and measure."""
        first, second = pairs_of(len(self.runs))[::-1] if self.difference else (np.arange(len(self.runs)), None)
        step = max(1, BLOCK // max(1, len(self.sample)))
        rows: list[dict[str, Any]] = []
        for estimate, start in itertools.product(self.estimates, range(0, first.size, step)):
            part = slice(start, start + step)
            if second is None:
                rows += self._rows_of(estimate, first[part], None)
            else:
                rows += self._rows_of(estimate, *self._orient(estimate, first[part], second[part]))
        return rows

    def _orient(self, estimate: Estimate, later: Ints, earlier: Ints) -> tuple[Ints, Ints]:
        """As in ``compare``: the second run minus the first of two, the better minus the worse among many."""
        if len(self.runs) == 2:
            return later, earlier
        lead = select_runs(estimate.value, later, earlier)
        behind = lead > 0 if estimate.measure.lower_is_better else lead < 0
        return np.where(behind, earlier, later), np.where(behind, later, earlier)

    def _rows_of(self, estimate: Estimate, first: Ints, second: Ints | None) -> Iterator[dict[str, Any]]:
        """Rows of these runs, or of these pairs of them."""
        names = ([self.runs[run] for run in side.tolist()] for side in (first, second) if side is not None)
        by_labels, value = (select_runs(column, first, second) for column in (estimate.by_labels, estimate.value))
        numbers = (by_labels, value, *self._errors(estimate, value, first, second))
        measure, judged, method = map(itertools.repeat, (str(estimate.measure), len(self.sample), estimate.method))
        cells = zip(*names, measure, *(column.tolist() for column in numbers), judged, method, strict=False)
        return map(dict, map(partial(zip, self.fields), cells))

    def _errors(
        self, estimate: Estimate, value: Floats, first: Ints, second: Ints | None
    ) -> tuple[Floats, Floats, Floats]:
        """The standard error of each estimate (NaN where the sample's spread does not tell it), and its interval."""
        from scipy.special import stdtrit

        variance, freedom = estimate.variance(self.sample.probability, first, second)
        if self.sources == "both":
            topics = select_runs(estimate.topics, first, second)
            number_of_topics = topics.shape[-1]
            # The estimates of topics differ by what the topics are and by the sample: their variance holds both.
            over_topics = topics.var(axis=-1, ddof=1) / number_of_topics
            freedom = np.where(over_topics > variance, number_of_topics - 1.0, freedom)
            variance = np.maximum(variance, over_topics)
        sd = np.sqrt(variance)
        half = np.nan_to_num(sd * stdtrit(freedom, (1 + self.confidence) / 2), nan=np.inf)
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
        rows = self.rows()
        if not self.difference:
            value = dict(zip(self.runs, self.estimates[0].value.tolist(), strict=True))
            place = {str(estimate.measure): number for number, estimate in enumerate(self.estimates)}
            rows.sort(key=lambda row: (place[row["measure"]], -value[row["run"]]))
        return build_table(rows, self.columns)

    def notes(self) -> list[str]:
        """What a reader of the numbers must know, in sentences."""
        covers = "these topics only" if self.sources == "judgments" else "other topics of the same kind too"
        certain = int(np.count_nonzero(self.sample.probability >= SURE))
        unvaried = [str(estimate.measure) for estimate in self.estimates if not estimate.varies]
        sentences = [
            f"{len(self.sample):,} judgments, {certain:,} of them of documents that were certain to be drawn; the "
            f"intervals cover the documents that were not drawn, and hold for {covers}."
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


def audit(
    labels: QrelsLike,
    sample: Any,
    runs: RunsLike,
    measures: MeasuresLike = "RBP(p=0.8)",
    *,
    difference: bool = False,
    judgments: Any = None,
    sources: str = "judgments",
    label_rel: float | None = None,
    confidence: float = 0.95,
    **options: Unpack[OrderOptions],
) -> Audit:
    """Correct scores by labels with a sample that people judged, with intervals that cover.

    Parameters
    ----------
    labels
        The labels that the sample was drawn from, as ``evaluate`` takes judgments. They may be on another scale than
        the judgments: what a label stands for is read off the sample.
    sample
        A file, a frame or a list of dicts with ``query_id, doc_id, probability, relevance``: what ``draw_sample`` drew,
        judged.
    runs, measures, **options
        As in ``evaluate``; weighted sums over ranks (RBP, P, DCG), nDCG, AP and Recall; ties in one fixed order.
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

    Returns
    -------
    Audit
        ``rows()`` are dicts ``run, measure, by_labels, estimate, sd, ci_low, ci_high, judged, method``, with
        ``difference`` ``run, against`` in place of ``run``. ``by_labels`` is what the labels alone claim, NaN where
        they never reach the measure's ``rel``; ``sd`` is NaN where documents of a label were all judged alike, so that
        the sample has no spread; ``judged`` the number of judgments; ``method`` says what the interval
        rests on: ``design`` (the sampling alone) or ``linearised``.

    Notes
    -----
    The estimate is of the score with people's judgments of every labelled document; documents without a label count as
    non-relevant. For weighted sums it is unbiased whatever the labels are. The interval holds for the question that the
    sample was drawn for: documents without a weight in that may have had no chance to be drawn.

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
    pool = LabelledPool.of(labels, runs, options)
    if difference and len(pool.names) < 2:
        raise UsageError("Two runs at least are compared.")
    if sources == "both" and pool.number_of_topics < 2:
        raise UsageError("One topic says nothing of others: two at least are needed for sources=both.")
    judged = JudgedSample.of(sample, pool, None if judgments is None else pool.reading.judgments(judgments))
    levels = {measure: label_level(measure, pool, label_rel) for measure in chosen}
    estimates = estimates_of(levels, pool, judged, difference=difference)
    remarks = list(_remarks(pool, judged, levels, estimates))
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


def _remarks(
    pool: LabelledPool, judged: JudgedSample, levels: dict[Measure, Measure | None], estimates: list[Estimate]
) -> Iterator[str]:
    """What is special about these labels, this sample and these runs."""
    labels, judgments = (f"{grade.min():g} to {grade.max():g}" for grade in (pool.labels.grade, judged.grade))
    if labels != judgments:
        yield (
            f"Labels are on another scale than the judgments: {pool.source} has {labels}, the sample {judgments}; what "
            "a label stands for is read off the sample."
        )
    for measure, read in levels.items():
        if read is None:
            yield (
                f"{measure} by labels is not known, because no label reaches {measure.rel:g}: say which label stands "
                "for relevant (label_rel=, --label-rel)."
            )
        elif read != measure:
            yield f"{measure} by labels counts documents as relevant whose label is at least {read.rel:g}."
    lacking, listed = pool.unlabelled(10)
    if lacking:
        yield (
            f"{lacking:,} of {listed:,} documents in the first ten of the lists have no label and count as "
            "non-relevant: nothing here speaks of what people would say of them."
        )
    for estimate in estimates:
        weight, total = estimate.weight[judged.row], float(estimate.weight.sum())
        expanded = float((weight / judged.probability).sum())
        error = math.sqrt(max(float(design_variance(weight[None], judged.probability)[0][0]), 0.0))
        if total - expanded > max(LEAST_LACKING * total, CHANCE * error):
            yield (
                f"{estimate.measure}: by its probabilities the sample speaks for {expanded / total:.0%} of the weight "
                "that is asked about, and chance does not explain the rest: it was drawn for another question, and "
                "documents that count here could not be drawn. Draw a sample for this one."
            )
