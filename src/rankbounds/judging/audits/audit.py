"""What the labels claim, corrected by a sample that people judged, with an interval that covers.

An interval rests on the variance of the estimate as its draws show it, and on that of one draw that contradicts its
label: where labels are good, no draw may have shown an error, and the second keeps the interval from ending before
errors that nobody saw (Poisson's upper limit of a count of 0: 3.7 cases at 95%). With a size fixed in advance, it takes
Student's quantile; at every look, the boundary of Robbins' normal mixture (Annals of Mathematical Statistics 41, 1970;
for estimated variances Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Annals of Statistics 52, 2024).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.run_names import GroupsLike
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.options import OrderOptions
from rankbounds.evaluation.question import ALL, Question
from rankbounds.judging.audits.estimates import LINEARISED, CalibratedPool, Estimate, select_runs
from rankbounds.judging.audits.expected_scores import check_measure
from rankbounds.judging.audits.labelled_pool import ONE_ORDER, JudgedSample, LabelledPool
from rankbounds.judging.audits.sample import chances_in_order, sizes_of_question
from rankbounds.measures import Measure
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.phrases import counted
from rankbounds.results import Column, Result, build_table, count, interval
from rankbounds.stats.significance import pairs_of
from rankbounds.tables import Table, number, signed

if TYPE_CHECKING:
    from typing_extensions import Unpack

ROUNDED = 1e-3
"""By how much of itself a probability may differ where it passed through other programs."""
BLOCK = 1 << 22
"""How many numbers are looked at at once."""
STEP, STEPS = 1.05, 160
"""How finely numbers of judgments are tried, and how many."""


def half_widths(variance: Floats, unseen: Floats, critical: float) -> Floats:
    """Of intervals for a size that was fixed in advance; ``critical`` is the quantile that the confidence asks for."""
    from scipy.special import log_ndtr

    return np.sqrt(np.square(critical) * variance + np.square(log_ndtr(-critical)) * unseen)


def half_widths_at_any_look(variance: Floats, unseen: Floats, confidence: float) -> Floats:
    """Of intervals that hold at all looks together."""
    from scipy.special import ndtri

    mixed = unseen * float(ndtri((1 + confidence) / 2)) ** 2
    finite = np.isfinite(variance + mixed)
    ratio = np.divide(variance + mixed, mixed, out=np.ones(mixed.shape), where=finite & (mixed > 0))
    return np.where(finite, np.sqrt((variance + mixed) * np.log(ratio / (1 - confidence) ** 2)), np.inf)


def judgments_until(
    half_width: Floats, variance: Floats, unseen: Floats, confidence: float, judged: int, most: Ints
) -> Ints:
    """How many judgments in all, at most ``most``, make intervals at any look this short, if they go on like this."""
    growth = STEP ** np.arange(STEPS)[:, None]
    enough = half_widths_at_any_look(variance / growth, unseen / growth**2, confidence) <= half_width
    needed = np.ceil(judged * growth[np.argmax(enough, axis=0), 0])
    return np.where(enough.any(axis=0), np.minimum(needed, most), most).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Result):
    """Scores of runs, or of differences of runs, by labels and corrected by judgments."""

    runs: tuple[str, ...]
    estimates: list[Estimate]
    sample: JudgedSample
    confidence: float
    difference: bool
    sequential: bool = False
    remarks: Sequence[str] = ()
    families: bool = False
    words_beside = "above"

    @property
    def title(self) -> str:  # type: ignore[override]
        what = "Differences of scores (run minus against)" if self.difference else "Scores"
        return f"{what} by a model's labels, and estimates that a sample of human judgments corrects."

    @property
    def figures(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("differences",) if self.difference else ("leaderboard",)

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]
        names, write = (("run", "against"), signed) if self.difference else (("run",), number)
        level = f"{100 * self.confidence:.6g}% (sampled labels)"
        return (
            *(Column(name, name) for name in names),
            Column("measure"),
            *(Column(name, "", lambda row, name=name: write(row[name])) for name in ("by_labels", "estimate")),  # type: ignore[misc]
            Column("sd"),
            *(Column(name, None) for name in ("ci_low", "ci_high")),
            interval("ci_low", "ci_high", level, write, of="estimate"),
            Column("judged"),
            Column("method", None),
            *((Column("decided"), count("judgments_needed", "needed")) if self.sequential and self.difference else ()),
        )

    def rows(self) -> list[dict[str, Any]]:
        """A dict per run and measure, or per pair of runs and measure."""
        first, second = pairs_of(len(self.runs))[::-1] if self.difference else (np.arange(len(self.runs)), None)
        rows: list[dict[str, Any]] = []
        for estimate in self.estimates:
            step = max(1, BLOCK // (estimate.single.shape[1] + estimate.slopes.shape[1]))
            for start in range(0, first.size, step):
                part = slice(start, start + step)
                if second is None:
                    rows += self._rows_of(estimate, first[part], None)
                else:
                    rows += self._rows_of(estimate, *self._orient(estimate, first[part], second[part]))
        return rows

    def _orient(self, estimate: Estimate, later: Ints, earlier: Ints) -> tuple[Ints, Ints]:
        if len(self.runs) == 2:
            return later, earlier
        lead = select_runs(estimate.value, later, earlier)
        behind = lead > 0 if estimate.measure.lower_is_better else lead < 0
        return np.where(behind, earlier, later), np.where(behind, later, earlier)

    def _rows_of(self, estimate: Estimate, first: Ints, second: Ints | None) -> Iterator[dict[str, Any]]:
        names = ([self.runs[run] for run in side.tolist()] for side in (first, second) if side is not None)
        value, variance, unseen, low, high = self._with_interval(estimate, first, second)
        sd = np.where(np.isfinite(variance), np.sqrt(variance), np.nan)  # one judgment has no spread
        numbers = (select_runs(estimate.by_labels, first, second), value, sd, low, high)
        judged = len(self.sample)
        cells = [*names, itertools.repeat(str(estimate.measure)), *(column.tolist() for column in numbers)]
        cells += [itertools.repeat(judged), itertools.repeat(estimate.method)]
        if self.sequential and second is not None:
            decided = (low > 0) | (high < 0) | (low == high)
            most = judged + np.count_nonzero(select_runs(estimate.slopes, first, second), axis=1)
            needed = judgments_until(np.abs(value), variance, unseen, self.confidence, judged, most)
            cells += [decided.tolist(), np.where(decided, judged, needed).tolist()]
        return map(dict, map(partial(zip, self.fields), zip(*cells, strict=False)))

    def _with_interval(
        self, estimate: Estimate, first: Ints, second: Ints | None
    ) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        from scipy.special import stdtrit

        value, variance, unseen = estimate.errors(first, second)
        least, most = estimate.possible(first, second)
        value = np.clip(value, least, most)
        if self.sequential:
            half = half_widths_at_any_look(variance, unseen, self.confidence)
        else:
            quantile = stdtrit(max(estimate.effective_size - 1, 1.0), (1 + self.confidence) / 2)
            half = half_widths(variance, unseen, float(quantile))
        return value, variance, unseen, np.maximum(value - half, least), np.minimum(value + half, most)

    def table(self) -> Table:
        """The table for people: runs by their estimates of the first measure, the best first."""
        rows = self.rows()
        if not self.difference:
            value = dict(zip(self.runs, self.estimates[0].value.tolist(), strict=True))
            place = {str(estimate.measure): number for number, estimate in enumerate(self.estimates)}
            rows.sort(key=lambda row: (place[row["measure"]], -value[row["run"]]))
        return build_table(rows, self.columns)

    def notes(self) -> list[str]:
        holds = "at every look" if self.sequential else "if the number of judgments was fixed in advance"
        covered = (
            f"{counted(len(self.sample), 'judgment')}. The intervals cover the documents that nobody judged; they hold "
            f"{holds}, for these topics only."
        )
        linearised = [str(estimate.measure) for estimate in self.estimates if estimate.method == LINEARISED]
        if linearised:
            covered += f" Those of {', '.join(linearised)} use linearisation, which is approximate."
        return [covered, *self.remarks]

    def doubts(self) -> list[str]:
        return list(self.remarks)

    def words(self) -> str:
        rows = self.rows()
        each, say = len(rows) // len(self.estimates), self.settled if self.difference else self._leader
        by_measure = [rows[at : at + each] for at in range(0, len(rows), each)]
        bias = map(_words_on_bias, by_measure) if self.families and self.difference else ()
        return "\n".join((*bias, *map(say, by_measure)))

    def _leader(self, rows: Sequence[dict[str, Any]]) -> str:
        known = [row for row in rows if not math.isnan(row["by_labels"])]
        choose = min if self._lower_is_better(rows[0]["measure"]) else max
        best = choose(rows, key=lambda row: row["estimate"])
        alone = choose(known, key=lambda row: row["by_labels"], default=None)
        corrected = (
            f"By {best['measure']}, {best['run']} {'leads with' if len(rows) > 1 else 'has'} {best['estimate']:.4f} "
            f"[{best['ci_low']:.4f}, {best['ci_high']:.4f}], corrected by {counted(best['judged'], 'judgment')}"
        )
        if alone is None:
            return f"{corrected}."
        other = "" if alone is best else f"{alone['run']} leads with "
        return f"{corrected}; by the labels alone, {other}{alone['by_labels']:.4f}."

    def settled(self, rows: Sequence[dict[str, Any]]) -> str:
        """Whether the pairs of these rows, of one measure, are settled, in a sentence."""
        settled = "settled" if self.sequential else "told apart"
        decided = [row for row in rows if row["ci_low"] > 0 or row["ci_high"] < 0 or row["ci_low"] == row["ci_high"]]
        if len(rows) > 1:
            are = "is" if len(decided) == 1 else "are"
            return f"{len(decided):,} of {len(rows):,} pairs {are} {settled} by {rows[0]['measure']}, each on its own."
        (row,) = rows
        names, measure = (row["run"], row["against"]), row["measure"]
        if not decided:
            more = ""
            if self.sequential:
                more = (
                    f" If it is about {row['estimate']:+.4f}, the current estimate, about "
                    f"{row['judgments_needed']:,} judgments in all will settle it."
                )
            return (
                f"Not {settled} after {counted(row['judged'], 'judgment')}: {measure} of {names[0]} minus that of "
                f"{names[1]} is between {row['ci_low']:+.4f} and {row['ci_high']:+.4f}.{more}"
            )
        if row["ci_low"] == row["ci_high"] == 0:
            return f"{settled.capitalize()}: {names[0]} and {names[1]} have the same {measure}."
        better, worse = names if (row["ci_low"] > 0) != self._lower_is_better(measure) else names[::-1]
        return f"{settled.capitalize()}: {better} is better than {worse} in {measure}."

    def _lower_is_better(self, measure: str) -> bool:
        return any(one.measure.lower_is_better for one in self.estimates if str(one.measure) == measure)


def _words_on_bias(rows: Sequence[dict[str, Any]]) -> str:
    shown = [row for row in rows if row["by_labels"] < row["ci_low"] or row["by_labels"] > row["ci_high"]]
    first = rows[0]
    if len(rows) > 1:
        return f"By {first['measure']}, labels are shown to favour a family in {len(shown):,} of {len(rows):,} pairs."
    bias, low, high = (first["by_labels"] - first[end] for end in ("estimate", "ci_high", "ci_low"))
    return (
        f"{'Shown' if shown else 'Not shown'}: that the labels favour one family by {first['measure']}. They add "
        f"{bias:+.4f} [{low:+.4f}, {high:+.4f}] to {first['run']} minus {first['against']}."
    )


def audit(
    labels: QrelsLike,
    sample: Any,
    runs: RunsLike,
    measures: MeasuresLike = DEFAULT_MEASURES[0],
    *,
    difference: bool = False,
    judgments: Any = None,
    sequential: bool = False,
    label_rel: float | None = None,
    confidence: float = 0.95,
    families: GroupsLike | None = None,
    **options: Unpack[OrderOptions],
) -> Audit:
    """Correct scores by labels with a sample that people judged, with intervals that cover.

    Parameters
    ----------
    labels
        The labels that the sample was drawn from, as ``evaluate`` takes judgments. They may be on another scale than
        the judgments: what a label means is estimated from the sample.
    sample
        A file, a frame or a list of dicts with ``query_id, doc_id, order, probability, relevance``: what
        ``draw_sample`` drew, judged in that order. Documents from the first one without a relevance on do not count.
    runs, measures, **options
        As in ``evaluate``; weighted sums over ranks (RBP, P, DCG), nDCG, AP and Recall; ties in one fixed order.
    difference
        Compare the runs in pairs.
    judgments
        Where the sample's own column ``relevance`` is not to be used: judgments of its documents, and of no others.
    sequential
        Whether you look at the result while people judge, and stop when it is settled: the intervals then hold at all
        looks together. Otherwise they hold for a number of judgments that was fixed in advance, and are shorter.
    label_rel
        The lowest label that means relevant in ``by_labels``; without it, the measure's own ``rel``, or the higher
        one of labels that have two values and never reach ``rel``.
    confidence
        Of the intervals.
    families
        The family of each run, as in ``compare_judges``: rows are then of families, by means over their runs.

    Returns
    -------
    Audit
        ``rows()`` are dicts ``run, measure, by_labels, estimate, sd, ci_low, ci_high, judged, method``, with
        ``difference`` ``run, against`` in place of ``run``. ``by_labels`` is what the labels alone claim, NaN where
        they never reach the measure's ``rel``; ``method`` says what the interval relies on: ``design`` or
        ``linearised``. With ``sequential`` and ``difference`` there are ``decided`` and ``judgments_needed`` (in all).

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
    ...     {"query_id": "q", "doc_id": "a", "order": 1, "probability": 0.5, "relevance": 1},
    ...     {"query_id": "q", "doc_id": "b", "order": 2, "probability": 1.0, "relevance": 0},
    ... ]
    >>> rows = rb.audit(labels, judged, {"run": {"q": ["a", "b"]}}, "P@2").rows()
    >>> [rows[0][name] for name in ("by_labels", "estimate", "sd", "judged")]
    [1.0, 0.5, 0.0, 2]
    """
    asked = {"compare": ALL if difference else None, "confidence": confidence}
    question, reading = Question.of(options, measures, OrderOptions, one_order=ONE_ORDER, **asked)
    chosen = list(map(check_measure, question.measures))
    pool = LabelledPool.of(labels, runs, question, reading, families)
    if difference and len(pool.names) < 2:
        raise UsageError("A difference needs at least two runs, or families of runs.")
    judged = JudgedSample.of(sample, pool, None if judgments is None else pool.reading.judgments(judgments))
    levels = {measure: label_level(measure, pool, label_rel) for measure in chosen}
    calibrated = {}  # once for measures that tell the same levels of relevance apart
    estimates = []
    for measure, read in levels.items():
        level = None if measure.graded else measure.rel
        if level not in calibrated:
            calibrated[level] = CalibratedPool.of(pool, judged, measure)
        estimates.append(calibrated[level].estimate(measure, read))
    remarks = list(_remarks(pool, judged, levels, sequential=sequential))
    return Audit(pool.names, estimates, judged, confidence, difference, sequential, remarks, families is not None)


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
    pool: LabelledPool,
    judged: JudgedSample,
    levels: dict[Measure, Measure | None],
    *,
    sequential: bool,
) -> Iterator[str]:
    unused = f" {judged.unused:,} judgments are not used, because an earlier document in the order has no judgment."
    unused = unused if judged.unused else ""
    if judged.left and not sequential:
        yield (
            f"Only {len(judged):,} of the sample's {judged.size:,} documents are judged.{unused} If you look "
            "repeatedly and stop when an interval excludes 0, these intervals miss the true value far more often than "
            "they claim: use sequential=True (--sequential), or judge the whole sample."
        )
    elif unused:
        yield unused.strip()
    if other := [str(measure) for measure in levels if not _drawn_for(measure, pool, judged)]:
        yield (
            f"The sample was drawn for another question, measure or labels than {pool.question.words(pool.names)} in "
            f"{', '.join(other)}. Other documents matter to that: intervals are wider, and may miss what had hardly a "
            "chance of being drawn."
        )
    for measure in (measure for measure, read in levels.items() if read is None):
        yield (
            f"{measure} by labels is not known, because no label reaches {measure.rel:g}: set the lowest label that "
            "counts as relevant (label_rel=, --label-rel)."
        )
    lacking, listed = pool.unlabelled(10)
    if lacking:
        yield (
            f"{lacking:,} of {listed:,} documents in the first ten of the lists have no label and count as "
            "non-relevant: the estimates do not allow for how people would judge them."
        )


def _drawn_for(measure: Measure, pool: LabelledPool, judged: JudgedSample) -> bool:
    for of_differences in (True,) if pool.question.compare else (False, True):
        if of_differences and len(pool.names) < 2:
            continue
        sizes = sizes_of_question(measure, pool, differences=of_differences)
        if np.allclose(judged.probability, chances_in_order(sizes, judged.row), rtol=ROUNDED, atol=0.0):
            return True
    return False
