"""The numbers of a comparison over several collections: differences, intervals, tests, summaries and places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.comparison.collections.result import CollectionsComparison
from rankbounds.comparison.pairs import build_rows, pairs_against, turn, turned
from rankbounds.evaluation.score_differences import (
    differences,
    drop_rounding,
    limits_of,
    limits_of_differences,
    mean_difference,
    merge_equal,
    merit,
)
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.stats import stratified
from rankbounds.stats.corrections import correct_p_values, group_letters
from rankbounds.stats.random_effects import random_effects
from rankbounds.stats.rank_intervals import places
from rankbounds.stats.significance import least_of_signs, mean_interval, too_few
from rankbounds.tables import plain


def compare_scores(scored: Mapping[str, Scores], settings: dict[str, Any]) -> CollectionsComparison:
    """Compare by every measure, from scores that fit together."""
    runs = list(dict.fromkeys(run for scores in scored.values() for run in scores.runs))
    measures = next(iter(scored.values())).measures
    topics = np.array([len(scores.query_ids) for scores in scored.values()])
    first, second = pairs_against(runs, settings["baseline"])
    aligned = []
    for scores in scored.values():
        values = np.full((len(runs), *scores.value.shape[1:]), np.nan)  # NaN for runs that are not there
        values[[runs.index(run) for run in scores.runs]] = scores.value
        aligned.append(values)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ("systems", "pairs", "cells", "differences")}
    for place, measure in enumerate(measures):
        by_run = [values[:, :, place] for values in aligned]
        compared = ByMeasure(measure, list(scored), runs, by_run, topics, first, second, settings)
        rows["pairs"] += compared.pair_rows()
        rows["differences"] += compared.difference_rows()
        rows["systems"] += compared.system_rows()
        for name, scores in scored.items():
            mean = scores.mean(settings["confidence"])
            rows["cells"] += build_rows(
                measure=str(measure),
                collection=name,
                run=scores.runs,
                topics=len(scores.query_ids),
                mean=mean.value[:, 0, place],
                ci_low=mean.ci_low[:, 0, place],
                ci_high=mean.ci_high[:, 0, place],
                low=mean.low[:, 0, place],
                high=mean.high[:, 0, place],
                judged_at_10=mean.judged[:, 0],
            )
    return CollectionsComparison(list(scored), runs, topics.tolist(), list(measures), **rows, settings=settings)


@dataclass(eq=False)
class ByMeasure:
    """The comparison by one measure: ``values`` by collection, run and topic; NaN if missing."""

    measure: Measure
    collections: list[str]
    runs: list[str]
    values: list[Floats]
    topics: Ints
    first: Ints
    second: Ints
    settings: Mapping[str, Any]

    def __post_init__(self) -> None:
        first, second, values = self.first, self.second, self.values
        self.parts = [differences(part[first], part[second]) for part in values]
        self.has, self.both = stratified.held(values), stratified.held(self.parts)
        self.share = stratified.shares(self.both, self.topics, self.settings["mean"])
        self.means = np.stack([mean_difference(part[first], part[second]) for part in values], axis=-1)
        self.variances = stratified.variances_of_means(self.parts)
        self.differing = np.sum([np.count_nonzero(np.nan_to_num(part), axis=-1) for part in self.parts], axis=0)
        scores = np.concatenate(values, axis=-1)
        self.limits, self.apart_limits = limits_of(self.measure, scores), limits_of_differences(self.measure, scores)

    @cached_property
    def _tests(self) -> tuple[Floats, Floats, Flags]:
        p_value = stratified.t_p_values(self.means, self.variances, self.share, self.topics)
        p_value = np.maximum(p_value, least_of_signs(self.differing))
        p_adjusted, there = np.ones(p_value.size), self.both.any(axis=-1)
        p_adjusted[there] = correct_p_values(p_value[there], "holm")
        return p_value, p_adjusted, (p_adjusted < self.settings["alpha"]) & (self._estimates[0] != 0)

    @cached_property
    def _estimates(self) -> tuple[Floats, Floats, Floats]:
        """Return each pair's mean difference over its collections, with its interval."""
        confidence = self.settings["confidence"]
        difference, low, high = stratified.interval(self.means, self.variances, self.share, self.topics, confidence)
        sizes = np.stack([np.nan_to_num(np.abs(part)).mean(axis=-1) for part in self.parts], axis=-1)
        low, high = np.where(too_few(self.differing, confidence), np.nan, [low, high])
        return drop_rounding(difference, (self.share * sizes).sum(axis=-1)), low, high

    def pair_rows(self) -> list[dict[str, Any]]:
        """List a row per pair, over the collections that both runs have."""
        difference, *ends = self._estimates
        p_value, p_adjusted, separated = self._tests
        none = ~self.both.any(axis=-1)
        columns = (difference, *np.clip(ends, *self.apart_limits), p_value, p_adjusted)
        numbers = [np.where(none, np.nan, column) for column in columns]
        better = np.where(merit(difference, self.measure) > 0, "better", "worse")
        with np.errstate(invalid="ignore"):
            gains = merit(self.means, self.measure)
            won, lost = ((side & self.both).sum(axis=-1).tolist() for side in (gains > 0, gains < 0))
        confidence, estimator = self.settings["confidence"], self.settings["estimator"]
        summary = random_effects(self.means, self.variances, estimator, confidence)
        ends = [summary.low, summary.high, summary.new_low, summary.new_high]
        summary_low, summary_high, new_low, new_high = np.clip(ends, *self.apart_limits)
        rows = build_rows(
            measure=str(self.measure),
            mean_over=self.settings["mean"],
            run=[self.runs[run] for run in self.first.tolist()],
            against=[self.runs[run] for run in self.second.tolist()],
            collections=self.both.sum(axis=-1).tolist(),
            topics=(self.both @ self.topics).tolist(),
            **dict(zip(("difference", "ci_low", "ci_high", "p_value", "p_adjusted"), numbers, strict=True)),
            won=won,
            lost=lost,
            verdict=np.where(separated, better, "no difference shown").tolist(),
            summary=summary.mean,
            summary_low=summary_low,
            summary_high=summary_high,
            tau=np.sqrt(summary.tau_squared),
            i_squared=summary.i_squared,
            q=summary.q,
            q_p_value=summary.q_p_value,
            new_low=new_low,
            new_high=new_high,
            new_better=1 - summary.new_above if self.measure.lower_is_better else summary.new_above,
        )
        return self._orient(rows, np.arange(self.first.size))

    def _orient(self, rows: list[dict[str, Any]], pair: Ints) -> list[dict[str, Any]]:
        """Orient the rows of pairs as the first run minus the second."""
        around = turned(merit(self._estimates[0], self.measure), len(self.runs), self.settings["baseline"])[pair]
        return [turn(row) if is_turned else row for row, is_turned in zip(rows, around.tolist(), strict=True)]

    def difference_rows(self) -> list[dict[str, Any]]:
        """List a row per pair and collection that both runs have."""
        ends = [np.full((2, self.first.size), np.nan) for _ in self.parts]
        for place, part in enumerate(self.parts):
            there = self.both[:, place]
            if there.any():
                ends[place][:, there] = mean_interval(part[there], self.settings["confidence"])
        low, high = np.clip(np.stack(ends, axis=-1), *self.apart_limits)
        pair, collection = np.nonzero(self.both)
        rows = build_rows(
            measure=str(self.measure),
            run=[self.runs[run] for run in self.first[pair].tolist()],
            against=[self.runs[run] for run in self.second[pair].tolist()],
            collection=[self.collections[number] for number in collection.tolist()],
            topics=self.topics[collection].tolist(),
            difference=self.means[pair, collection],
            ci_low=low[pair, collection],
            ci_high=high[pair, collection],
        )
        return self._orient(rows, pair)

    def system_rows(self) -> list[dict[str, Any]]:
        """List a row per run; one that lacks a collection has no mean and no rank."""
        complete = np.flatnonzero(self.has.all(axis=-1))
        parts = [part[complete] for part in self.values]
        share = stratified.shares(self.has[complete], self.topics, self.settings["mean"])
        means = np.stack([part.mean(axis=-1) for part in parts], axis=-1)
        variances, confidence = stratified.variances_of_means(parts), self.settings["confidence"]
        mean, low, high = stratified.interval(means, variances, share, self.topics, confidence)
        mean = merge_equal(mean)
        placed: Sequence[Any] = [[None] * complete.size] * 4
        if self.settings["baseline"] is None:
            placed = self._rank_runs(complete, merit(mean, self.measure))
        with np.errstate(invalid="ignore"):
            merits = np.stack([merit(part.mean(axis=-1), self.measure) for part in self.values])
        level = merge_equal(np.where(np.isnan(merits), -np.inf, merits))
        best = (level == level.max(axis=-1, keepdims=True)) & self.has.T

        def of_all(column: Sequence[Any] | Floats) -> list[Any]:
            known = {run: plain(value) for run, value in zip(complete.tolist(), column, strict=True)}
            return [known.get(run) for run in range(len(self.runs))]

        names = ("group", "rank", "rank_low", "rank_high")
        return build_rows(
            measure=str(self.measure),
            mean_over=self.settings["mean"],
            run=self.runs,
            mean=of_all(mean),
            ci_low=of_all(np.clip(low, *self.limits)),
            ci_high=of_all(np.clip(high, *self.limits)),
            **{name: of_all(column) for name, column in zip(names, placed, strict=True)},
            collections=self.has.sum(axis=-1).tolist(),
            # Those in which no other run that has it is better; one that several lead is shared among them.
            collections_led=(best / best.sum(axis=-1, keepdims=True)).sum(axis=0),
            lacks=[[self.collections[place] for place in np.flatnonzero(~has)] for has in self.has],
        )

    def _rank_runs(self, complete: Ints, merits: Floats) -> tuple[Any, ...]:
        """Return groups, ranks and rank intervals of the complete runs, by the separated pairs."""
        own_number = np.full(len(self.runs), -1)
        own_number[complete] = np.arange(complete.size)
        first, second = own_number[self.first], own_number[self.second]
        among = (first >= 0) & (second >= 0)
        first, second, separated = first[among], second[among], self._tests[2][among]
        lead = merit(self._estimates[0][among], self.measure)
        return (
            group_letters(merits, first, second, separated),
            1 + np.count_nonzero(merits[None, :] > merits[:, None], axis=1),
            *places(complete.size, first, second, lead, separated),
        )
