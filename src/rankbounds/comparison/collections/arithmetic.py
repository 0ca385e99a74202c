"""The numbers of a comparison over several collections: differences, intervals, tests, summaries and places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.comparison.collections.result import (
    CELL_FIELDS,
    DIFFERENCE_FIELDS,
    PAIR_FIELDS,
    SYSTEM_FIELDS,
    CollectionsComparison,
)
from rankbounds.comparison.pairs import run_number
from rankbounds.evaluation.score_differences import (
    differences,
    levelled,
    limits_of,
    limits_of_differences,
    mean_difference,
    merit,
    zeroed,
)
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.stats import stratified
from rankbounds.stats.corrections import groups_not_separable
from rankbounds.stats.random_effects import RandomEffects, random_effects
from rankbounds.stats.rank_intervals import Places, places, resampled_places
from rankbounds.stats.significance import Resampling, mean_interval, pairs_of
from rankbounds.tables import plain, plain_rows


def compared_by_all(
    scored: Mapping[str, Scores], settings: dict[str, Any], resampling: Resampling
) -> CollectionsComparison:
    """The comparison by every measure, from scores that fit together."""
    runs = list(dict.fromkeys(run for scores in scored.values() for run in scores.runs))
    measures = next(iter(scored.values())).measures
    topics = np.array([len(scores.query_ids) for scores in scored.values()])
    first, second = pairs_of(len(runs))
    if settings["baseline"] is not None:
        against = run_number(runs, settings["baseline"])
        first = np.delete(np.arange(len(runs)), against)
        second = np.full(first.size, against)
    values = [_aligned(scores, runs) for scores in scored.values()]
    counts = stratified.topic_counts(topics, first.size, resampling)
    settings["family_resamples"] = len(counts[0])
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ("systems", "pairs", "cells", "differences")}
    for place, measure in enumerate(measures):
        table = _Compared(
            measure,
            list(scored),
            runs,
            [of_collection[:, :, place] for of_collection in values],
            topics,
            first,
            second,
            settings,
        )
        rows["pairs"] += table.pair_rows(counts)
        rows["differences"] += table.difference_rows()
        rows["systems"] += table.system_rows(counts)
        rows["cells"] += _cell_rows(scored, place, settings["confidence"])
    return CollectionsComparison(list(scored), runs, topics.tolist(), list(measures), **rows, settings=settings)


def _aligned(scores: Scores, runs: Sequence[str]) -> Floats:
    """By run, topic and measure; NaN for runs that are not there."""
    values = np.full((len(runs), *scores.value.shape[1:]), np.nan)
    values[[runs.index(run) for run in scores.runs]] = scores.value
    return values


def _cell_rows(scored: Mapping[str, Scores], place: int, confidence: float) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, scores in scored.items():
        mean = scores.mean()
        label, size = str(scores.measures[place]), len(scores.runs)
        rows += plain_rows(
            CELL_FIELDS,
            [label] * size,
            [name] * size,
            scores.runs,
            [len(scores.query_ids)] * size,
            mean.value[:, 0, place],
            *np.clip(
                mean_interval(scores.value[:, :, place], confidence),
                *limits_of(scores.measures[place], scores.value[:, :, place]),
            ),
            mean.low[:, 0, place],
            mean.high[:, 0, place],
            mean.judged[:, 0],
        )
    return rows


class _Compared:
    """The comparison by one measure, in arrays."""

    def __init__(
        self,
        measure: Measure,
        collections: list[str],
        runs: list[str],
        values: list[Floats],
        topics: Ints,
        first: Ints,
        second: Ints,
        settings: Mapping[str, Any],
    ) -> None:
        self.measure, self.collections, self.runs, self.values = measure, collections, runs, values
        self.topics, self.first, self.second, self.settings = topics, first, second, settings
        self.parts = [differences(part[first], part[second]) for part in values]
        self.has = stratified.held(values)
        self.both = stratified.held(self.parts)
        self.share = stratified.shares(self.both, topics, settings["mean"])
        self.means = np.stack([mean_difference(part[first], part[second]) for part in values], axis=-1)
        self.variances = stratified.variances_of_means(self.parts)
        scores = np.concatenate(values, axis=-1)
        self.limits, self.apart_limits = limits_of(measure, scores), limits_of_differences(measure, scores)
        self.separated: Flags = np.zeros(first.size, dtype=bool)

    def pair_rows(self, counts: Sequence[Floats]) -> list[dict[str, Any]]:
        confidence = self.settings["confidence"]
        difference, low, high = stratified.interval(self.means, self.variances, self.share, self.topics, confidence)
        sizes = [np.nan_to_num(np.abs(part)).mean(axis=-1) for part in self.parts]
        difference = zeroed(difference, (self.share * np.stack(sizes, axis=-1)).sum(axis=-1))
        p_value = stratified.t_p_values(self.means, self.variances, self.share, self.topics)
        p_adjusted = p_value
        if self.first.size > 1:
            p_adjusted = np.maximum(p_value, stratified.family_wise_p_values(self.parts, self.share, counts))
        count = self.both.sum(axis=-1)
        lead = np.sign(merit(difference, self.measure))
        self.separated = (p_adjusted < self.settings["alpha"]) & (lead != 0)
        with np.errstate(invalid="ignore"):
            gains = merit(self.means, self.measure)
            won, lost = ((side & self.both).sum(axis=-1) for side in (gains > 0, gains < 0))
        summary = random_effects(self.means, self.variances, self.settings["estimator"], confidence)
        verdict = np.where(self.separated, np.where(lead > 0, "a better", "b better"), "no difference shown")
        none = count == 0
        low, high = (np.clip(end, *self.apart_limits) for end in (low, high))
        numbers = [np.where(none, np.nan, column) for column in (difference, low, high, p_value, p_adjusted)]
        return plain_rows(
            PAIR_FIELDS,
            [str(self.measure)] * self.first.size,
            [self.settings["mean"]] * self.first.size,
            [self.runs[run] for run in self.first.tolist()],
            [self.runs[run] for run in self.second.tolist()],
            count.tolist(),
            (self.both @ self.topics).tolist(),
            *numbers,
            won.tolist(),
            lost.tolist(),
            verdict.tolist(),
            *self._summary_columns(summary),
        )

    def _summary_columns(self, summary: RandomEffects) -> list[Floats]:
        better = 1 - summary.new_above if self.measure.lower_is_better else summary.new_above
        with np.errstate(invalid="ignore"):
            tau = np.sqrt(summary.tau_squared)
        return [
            summary.mean,
            *(np.clip(end, *self.apart_limits) for end in (summary.low, summary.high)),
            tau,
            summary.i_squared,
            summary.q,
            summary.q_p_value,
            *(np.clip(end, *self.apart_limits) for end in (summary.new_low, summary.new_high)),
            better,
        ]

    def difference_rows(self) -> list[dict[str, Any]]:
        ends = [np.full((2, self.first.size), np.nan) for _ in self.parts]
        for place, part in enumerate(self.parts):
            there = self.both[:, place]
            if there.any():
                ends[place][:, there] = mean_interval(part[there], self.settings["confidence"])
        low, high = np.clip(np.stack(ends, axis=-1), *self.apart_limits)
        pair, collection = np.nonzero(self.both)
        return plain_rows(
            DIFFERENCE_FIELDS,
            [str(self.measure)] * pair.size,
            [self.runs[run] for run in self.first[pair].tolist()],
            [self.runs[run] for run in self.second[pair].tolist()],
            [self.collections[number] for number in collection.tolist()],
            self.topics[collection].tolist(),
            self.means[pair, collection],
            low[pair, collection],
            high[pair, collection],
        )

    def system_rows(self, counts: Sequence[Floats]) -> list[dict[str, Any]]:
        complete = np.flatnonzero(self.has.all(axis=-1))
        parts = [part[complete] for part in self.values]
        share = stratified.shares(np.ones((complete.size, len(parts)), dtype=bool), self.topics, self.settings["mean"])
        of_collections = np.stack([part.mean(axis=-1) for part in parts], axis=-1)
        mean, low, high = stratified.interval(
            of_collections,
            stratified.variances_of_means(parts),
            share,
            self.topics,
            self.settings["confidence"],
        )
        low, high = (np.clip(end, *self.limits) for end in (low, high))
        mean = levelled(mean)
        columns: dict[str, list[Any]] = {name: [None] * len(self.runs) for name in SYSTEM_FIELDS}
        led = self._led()
        known: dict[str, Any] = {"mean": mean, "ci_low": low, "ci_high": high}
        if self.settings["baseline"] is None:
            merits = merit(mean, self.measure)
            placed, groups = self._placed(complete, merits, parts, share, counts)
            known |= {
                "group": groups,
                "rank": placed.rank,
                "rank_low": placed.low,
                "rank_high": placed.high,
                "probability_best": placed.probability_best,
                "expected_rank": placed.expected,
            }
        for name, column in known.items():
            for place, value in zip(complete.tolist(), list(column), strict=True):
                columns[name][place] = plain(value)
        columns["measure"] = [str(self.measure)] * len(self.runs)
        columns["mean_over"] = [self.settings["mean"]] * len(self.runs)
        columns["run"] = self.runs
        columns["collections"] = self.has.sum(axis=-1).tolist()
        columns["collections_led"] = led.tolist()
        columns["lacks"] = [
            [name for name, there in zip(self.collections, row, strict=True) if not there] for row in self.has.tolist()
        ]
        return [dict(zip(SYSTEM_FIELDS, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _led(self) -> Floats:
        """In how many collections no other run that has it is better; one that several lead is shared among them."""
        with np.errstate(invalid="ignore"):
            means = np.stack([merit(part.mean(axis=-1), self.measure) for part in self.values])
        level = levelled(np.where(np.isnan(means), -np.inf, means))
        best = (level == level.max(axis=-1, keepdims=True)) & self.has.T
        led: Floats = (best / best.sum(axis=-1, keepdims=True)).sum(axis=0)
        return led

    def _placed(
        self, complete: Ints, merits: Floats, parts: Sequence[Floats], share: Floats, counts: Sequence[Floats]
    ) -> tuple[Places, list[str]]:
        """Between which places the complete runs stand, by the pairs that are separated and by resampled topics."""
        own_number = np.full(len(self.runs), -1)
        own_number[complete] = np.arange(complete.size)
        first, second = own_number[self.first], own_number[self.second]
        among = (first >= 0) & (second >= 0)
        first, second, separated = first[among], second[among], self.separated[among]
        weighted = np.concatenate(
            [
                merit(part, self.measure) * weight[:, None] / part.shape[-1]
                for part, weight in zip(parts, share.T, strict=True)
            ],
            axis=-1,
        )
        best, expected = resampled_places(weighted, np.concatenate(counts, axis=-1))
        separable = np.zeros((complete.size, complete.size), dtype=bool)
        separable[first, second] = separable[second, first] = separated
        bounds = places(merits, first, second, separated)
        return Places(*bounds, best, expected), groups_not_separable(merits, separable)
