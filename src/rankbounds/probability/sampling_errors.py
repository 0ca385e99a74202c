"""How far an estimate from a sample of judgments may be off: standard errors over what could have been drawn.

Documents were drawn for judging from strata of the pool, without replacement and at a rate of each stratum's own. Had
others been drawn, xinfAP, infNDCG and inferred counts would differ; the standard error says by how much. It is the
stratified jackknife with the correction for finite strata: each drawn document in turn counts as not drawn, and

    variance = sum over strata h of (1 - n_h / N_h) (n_h - 1) / n_h * sum over its drawn documents of (e_i - mean e)^2,

where e_i is the estimate without document i. A stratum that was judged entirely adds nothing. Topics are taken as they
are and their documents drawn independently: the variance of a mean is the sum of theirs over their number squared.

Source: Wolter, Introduction to Variance Estimation, chapter 4 (the jackknife for stratified samples).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats
from rankbounds.choices import check_share
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.options import RankingOptions, chosen_options
from rankbounds.evaluation.scores import ALL
from rankbounds.evaluation.scoring import join_lists
from rankbounds.measures import MeasureLike, parse_measures
from rankbounds.measures.samples import Sampled
from rankbounds.rankings.strata import StratifiedLists
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.results import Column, Result, interval
from rankbounds.threads import processors

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True, eq=False, repr=False)
class SamplingErrors(Result):
    """Estimates of runs by topic, each with its standard error; NaN where that is not known, or a topic is lacking."""

    runs: tuple[str, ...]
    query_ids: tuple[str, ...]
    measures: tuple[Sampled, ...]
    value: Floats
    standard_error: Floats
    sampled: Flags
    """Of which topics some documents of the pool were not drawn?"""
    confidence: float
    per_topic: bool = False
    """Are there rows for each topic, before those of the mean?"""

    title = "Mean scores estimated from a sample of judgments, with their standard errors."

    @property
    def columns(self) -> list[Column]:  # type: ignore[override]
        """The columns of rows and table."""
        return [
            Column("run"),
            Column("query_id", "topic" if self.per_topic else None),
            Column("measure"),
            Column("value", "estimate"),
            Column("standard_error"),
            interval("ci_low", "ci_high", f"{100 * self.confidence:.6g}% interval"),
            Column("ci_low", None),
            Column("ci_high", None),
        ]

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each run and measure, ``query_id`` being "all"; with ``per_topic`` one for each topic before."""
        rows = []
        for run_number, run in enumerate(self.runs):
            for place, measure in enumerate(self.measures):
                value, error = self.value[run_number, :, place], self.standard_error[run_number, :, place]
                there = np.flatnonzero(~np.isnan(value))
                for topic in there.tolist() if self.per_topic else ():
                    rows.append(self._row(run, topic, measure, value[topic], error[topic]))
                shared = 1 if measure.total == "sum" else there.size
                total = math.sqrt(float((error[there] ** 2).sum())) / shared
                rows.append(self._row(run, None, measure, value[there].sum() / shared, total))
        return rows

    def _row(self, run: str, topic: int | None, measure: Sampled, value: float, error: float) -> dict[str, Any]:
        from scipy.special import ndtri

        query = ALL if topic is None else self.query_ids[topic]
        if not error and self.sampled[slice(None) if topic is None else topic].any():
            error = math.nan  # drawn documents without spread say nothing of those not drawn
        reach = float(ndtri(0.5 + self.confidence / 2)) * float(error)
        low = math.nan if math.isnan(reach) else max(0.0, float(value) - reach)
        cells = (run, query, str(measure), float(value), float(error), low, float(value) + reach)
        return dict(zip(self.fields, cells, strict=True))

    def notes(self) -> list[str]:
        """What a reader of the numbers must know, in sentences."""
        if not self.sampled.any():
            return [
                "These judgments are not a sample: every document is judged, so no estimate is uncertain. A sample "
                "lists the whole pool, with -1 for documents that were not drawn."
            ]
        lacking = np.flatnonzero((np.isnan(self.standard_error) & ~np.isnan(self.value)).any(axis=(0, 2)))
        topics = [self.query_ids[number] for number in lacking.tolist()]
        if not topics:
            return []
        return [
            f"No standard error for {len(topics)} of {len(self.query_ids)} topics ({', '.join(topics[:5])}"
            f"{', ...' if len(topics) > 5 else ''}): fewer than two documents were drawn from a stratum that was not "
            "judged entirely."
        ]


def estimate_sampling_errors(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasureLike | Iterable[MeasureLike] = ("xinfAP", "infNDCG"),
    *,
    confidence: float = 0.95,
    per_topic: bool = False,
    **options: Unpack[RankingOptions],
) -> SamplingErrors:
    """Score runs by a sample of judgments, with standard errors and confidence intervals over what was drawn.

    Parameters
    ----------
    qrels, runs, **options
        As in ``evaluate``; judgments list the whole pool, -1 for documents that were not drawn, with the stratum of
        each (five fields in a TREC file, a column ``stratum`` in tables; without it the pool is one stratum).
    measures
        Of xinfAP, infNDCG, infP@k, infNumRelRet, infNumRel.
    confidence
        Of the intervals.
    per_topic
        Add a row for each topic.

    Returns
    -------
    SamplingErrors
        For each run and measure ``value``, ``standard_error``, ``ci_low`` and ``ci_high``; it prints as a table.

    Notes
    -----
    The stratified jackknife with the correction for finite strata, and a normal interval cut at 0: approximate, and
    about the drawing of documents alone, not about that of topics. NaN where a stratum was not judged entirely and
    fewer than two of its documents were drawn, or where what was drawn has no spread.

    Examples
    --------
    >>> import rankbounds as rb
    >>> sample = {
    ...     "query_id": ["q"] * 6, "stratum": [1, 2, 2, 2, 2, 2], "doc_id": list("abcdef"),
    ...     "relevance": [1, 1, -1, 0, 1, -1],
    ... }
    >>> (row,) = rb.probability.estimate_sampling_errors(sample, {"q": ["a", "c", "b", "d"]}, "infNumRel").rows()
    >>> [round(row[name], 4) for name in ("value", "standard_error", "ci_low", "ci_high")]
    [4.3333, 1.0541, 2.2673, 6.3993]
    """
    check_share("The confidence", confidence)
    sampled: list[Sampled] = []
    for measure in parse_measures(measures):
        if not isinstance(measure, Sampled):
            known = "xinfAP, infNDCG, infP@10, infNumRelRet or infNumRel"
            raise UsageError(f"{measure} is not an estimate from a sample with strata. Use {known}.")
        sampled.append(measure)
    one_order = "Estimates from a sample need"
    assumptions, reading = chosen_options(options, RankingOptions, one_order=one_order, threads=processors())
    facts = TopicFacts(reading.judgments(qrels), assumptions.gain)
    systems = reading.runs(runs)
    value, error = (np.full((len(systems), len(facts.query_ids), len(sampled)), np.nan) for _ in range(2))
    undrawn = facts.qrels.pairs.topic[np.isnan(facts.grade)]
    partly = np.bincount(undrawn, minlength=len(facts.query_ids)) > 0
    for run_number, run in enumerate(systems):
        for rankings in join_lists(run, facts, assumptions, keep_rows=False, keep_judgments=True).batches:
            for place, measure in enumerate(sampled):
                lists = StratifiedLists.of(rankings, measure.rel)
                value[run_number, rankings.topic, place] = measure.estimate(lists)
                error[run_number, rankings.topic, place] = np.sqrt(
                    [_variance(measure, lists.of_list(row)) for row in range(rankings.length.size)]
                )
    names = tuple(run.name for run in systems)
    settings = {"confidence": confidence}
    return SamplingErrors(
        names, tuple(facts.query_ids), tuple(sampled), value, error, partly, confidence, per_topic, settings=settings
    )


def _variance(measure: Sampled, lists: StratifiedLists) -> float:
    """That of one list's estimate; NaN where a stratum does not tell."""
    population, drawn = lists.population[0], lists.sampled[0]
    partly = np.flatnonzero(drawn < population)
    if (drawn[partly] < 2).any():
        return math.nan
    variance = 0.0
    for stratum in partly.tolist():
        without, times = _left_out(lists, stratum, graded=measure.graded)
        estimates = measure.estimate(without)
        n = drawn[stratum]
        spread = times @ (estimates - times @ estimates / n) ** 2
        variance += (1 - n / population[stratum]) * (n - 1) / n * float(spread)
    return variance


def _left_out(lists: StratifiedLists, stratum: int, *, graded: bool) -> tuple[StratifiedLists, Floats]:
    """The list without each drawn document of a stratum in turn, and for how many documents each stands.

    Documents that are not retrieved count only by how many there are: of the same worth they make the same difference.
    """
    counted = lists.gain_sampled[0, stratum] if graded else lists.relevant_sampled[0, stratum, None]
    inside = (lists.stratum[0] == stratum) & lists.drawn[0]
    column = np.flatnonzero(inside)
    if graded:
        kind = np.searchsorted(lists.levels, lists.gain[0, column])
        kind = np.where(lists.gain[0, column] > 0, kind, -1)
    else:
        kind = np.where(lists.relevant[0, column], 0, -1)
    kinds = np.arange(-1, counted.size)
    all_of_kind = np.append(lists.sampled[0, stratum] - counted.sum(), counted)
    elsewhere = all_of_kind - np.bincount(kind + 1, minlength=kinds.size)
    of_row = np.append(kind, kinds)
    times: Floats = np.append(np.ones(column.size), elsewhere).astype(np.float64)
    kept = times > 0
    of_row, times = of_row[kept], times[kept]
    rows = np.arange(of_row.size)
    many = lists.of_list(np.zeros(of_row.size, dtype=np.int64))
    sampled, relevant, by_gain = (part.copy() for part in (many.sampled, many.relevant_sampled, many.gain_sampled))
    sampled[:, stratum] -= 1
    worth = of_row >= 0
    if graded:
        by_gain[rows[worth], stratum, of_row[worth]] -= 1
    else:
        relevant[worth, stratum] -= 1
    gone = np.zeros(many.stratum.shape, dtype=bool)
    gone[np.arange(column.size), column] = True
    changed = replace(
        many,
        drawn=many.drawn & ~gone,
        relevant=many.relevant & ~gone,
        gain=np.where(gone, 0.0, many.gain),
        sampled=sampled,
        relevant_sampled=relevant,
        gain_sampled=by_gain,
    )
    return changed, times
