"""What the scores of the same systems on several collections say: their numbers, rows, a leaderboard, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.comparison.pairs import build_rows, pairs_against, run_number, turn, turned
from rankbounds.comparison.tables import LONGEST_GROUP, best_first, measure_place, of_topics
from rankbounds.comparison.wording import measure_words
from rankbounds.errors import UsageError
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
from rankbounds.notebook import shown
from rankbounds.phrases import some
from rankbounds.results import Column, Result, build_table, interval, place_cell
from rankbounds.stats import stratified
from rankbounds.stats.corrections import correct_p_values, group_letters
from rankbounds.stats.rank_intervals import places
from rankbounds.stats.significance import least_of_signs, mean_interval, too_few
from rankbounds.stats.stratified import random_effects
from rankbounds.tables import Table, number, p_words, plain, signed

MEAN_WORDS = {"collections": "mean of {count} collections' means", "queries": "mean over all {topics:,} queries"}
HEADERS = {"collections": "mean of means", "queries": "over queries"}
FEW_TOPICS = 20
"""With fewer in a collection its standard error is too rough to be taken as known."""
NAMED_COLLECTIONS = 6
"""The leaderboard shows the means of collections where there are no more than this."""


@dataclass(frozen=True, eq=False, repr=False)
class CollectionsComparison(Result):
    """The comparison of systems on several collections. It prints as a leaderboard and the leading pair.

    ``ci_low`` and ``ci_high`` concern the topics of these collections. ``summary`` is the random-effects mean over
    collections like these, with the interval of Hartung and Knapp.

    Attributes
    ----------
    collections, runs : list of str
        Their names; runs are matched by name.
    topics : list of int
        The number of topics of each collection.
    systems : list of dict
        A row per measure and run. A run that lacks collections (named by ``lacks``) has no ``mean`` and no ``rank``.
        ``collections_led`` counts collections in which no other run is better.
    pairs : list of dict
        A row per measure and pair: ``difference`` is ``run`` minus ``against``, over the collections that both have.
        ``won`` and ``lost`` count collections. ``tau`` is the standard deviation of true differences between
        collections.
    cells : list of dict
        A row per measure, collection and run that has it.
    differences : list of dict
        A row per measure, pair and collection that both have.
    settings : dict
        The kind of mean and levels.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(query): {"r": 1} for query in range(6)}
    >>> good, poor = {query: ["r"] for query in qrels}, {query: ["n", "r"] for query in qrels}
    >>> compared = rb.compare_collections(
    ...     {"web": (qrels, {"poor": poor, "good": good}), "news": (qrels, {"poor": good, "good": good})}, "RR"
    ... )
    >>> compared.pairs[0]["difference"], compared.pairs[0]["won"]
    (0.25, 1)
    """

    collections: list[str]
    runs: list[str]
    topics: list[int]
    measures: list[Measure]
    systems: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    cells: list[dict[str, Any]]
    differences: list[dict[str, Any]]
    title = "Runs over all collections."
    figures = ("forest", "leaderboard")

    @property
    def missing(self) -> list[dict[str, str]]:
        first = [row for row in self.systems if row["measure"] == str(self.measures[0])]
        return [{"run": row["run"], "collection": name} for row in first for name in row["lacks"]]

    def rows(self) -> list[dict[str, Any]]:
        return self.pairs

    # ---- parts ----

    def measure(self, label: str | Measure | None = None) -> Measure:
        return self.measures[measure_place(self.measures, label)]

    def leaderboard(self, measure: str | Measure | None = None) -> list[dict[str, Any]]:
        return best_first(self.systems, self.measure(measure))

    def pair(self, a: str, b: str, measure: str | Measure | None = None) -> dict[str, Any]:
        for name in (a, b):
            run_number(self.runs, name)
        rows = self._rows_of(self.pairs, a, b, str(self.measure(measure)))
        if not rows or a == b:
            raise UsageError(f'"{a}" and "{b}" are not among the pairs of this comparison.')
        return rows[0]

    def differences_of(self, a: str, b: str, measure: str | Measure | None = None) -> list[dict[str, Any]]:
        return self._rows_of(self.differences, a, b, str(self.measure(measure)))

    def _rows_of(self, rows: list[dict[str, Any]], a: str, b: str, label: str) -> list[dict[str, Any]]:
        found = [row for row in rows if row["measure"] == label and {row["run"], row["against"]} == {a, b}]
        return [row if row["run"] == a else turn(row) for row in found]

    def leading_pair(self, measure: str | Measure | None = None) -> tuple[str, str]:
        """Return the first two of the leaderboard; of two runs the second and the first given.

        With a baseline, the best of the others and the baseline.
        """
        baseline = self.settings["baseline"]
        if baseline is None and len(self.runs) == 2:
            return self.runs[1], self.runs[0]
        first, second, *_ = (row["run"] for row in self.leaderboard(measure) if row["run"] != baseline or not baseline)
        return (first, second) if baseline is None else (first, baseline)

    # ---- for people ----

    def table(self, measure: str | Measure | None = None) -> Table:
        chosen, settings = self.measure(measure), self.settings
        lower = ", lower is better" * chosen.lower_is_better
        columns = [
            Column("run"),
            Column("mean", f"{chosen} ({HEADERS[settings['mean']]}{lower})"),
            interval("ci_low", "ci_high", of_topics(settings)),
        ]
        if self._has_letters(chosen):
            columns.append(Column("group", left=True))
        if settings["baseline"] is None:
            columns.append(Column("rank", cell=place_cell))
        columns.append(Column("best in", cell=lambda row: f"{row['collections_led']:.3g} of {row['collections']}"))
        if len(self.collections) <= NAMED_COLLECTIONS:
            columns += [Column(name, name) for name in self.collections]
        if any(row["lacks"] for row in self.systems):
            columns.append(Column("lacks", cell=lambda row: some(row["lacks"], 3), left=True))
        return build_table([self._means(row["run"], chosen) | row for row in self.leaderboard(chosen)], columns)

    def _means(self, run: str, measure: Measure) -> dict[str, Any]:
        return {
            row["collection"]: row["mean"] for row in self.cells if row["measure"] == str(measure) and row["run"] == run
        }

    def _has_letters(self, measure: Measure) -> bool:
        groups = [row["group"] for row in self.leaderboard(measure) if row["group"] is not None]
        return bool(groups) and max(map(len, groups)) <= LONGEST_GROUP

    def pair_table(self, a: str, b: str, measure: str | Measure | None = None) -> Table:
        chosen = self.measure(measure)
        row, means = self.pair(a, b, chosen), [self._means(run, chosen) for run in (a, b)]
        rows = [
            part | {f"mean_{side}": of_run[part["collection"]] for side, of_run in zip("ab", means, strict=True)}
            for part in self.differences_of(a, b, chosen)
        ]
        rows.append(row | {"collection": self.mean_words(row["collections"], row["topics"])})
        if row["summary"] is not None:
            ends = {"ci_low": row["summary_low"], "ci_high": row["summary_high"]}
            rows.append({"collection": "collections like these", "difference": row["summary"], **ends})
        columns = [
            Column("collection"),
            Column("topics", cell=lambda row: f"{row['topics']:,}" if "topics" in row else ""),
            *(
                Column(name, run, lambda row, name=name: number(row[name]) if name in row else "")  # type: ignore[misc]
                for name, run in (("mean_a", a), ("mean_b", b))
            ),
            Column("difference", cell=lambda row: signed(row["difference"]), importance=2),
            interval("ci_low", "ci_high", of_topics(self.settings), signed, importance=1),
        ]
        return build_table(rows, columns)

    def mean_words(self, count: int, topics: int) -> str:
        return MEAN_WORDS[self.settings["mean"]].format(count=count, topics=topics)

    def method(self) -> str:
        settings = self.settings
        scores = f"Scores are the {self.mean_words(len(self.collections), sum(self.topics))}"
        sentences = [f"{scores}; intervals and tests are over topics, and say nothing about other collections."]
        if settings["baseline"] is None and sum(row["mean"] is not None for row in self.leaderboard()) > 2:
            letters = "; runs that share a letter are not separated" * any(map(self._has_letters, self.measures))
            sentences.append(f"Ranks hold for all runs at once with {1 - settings['alpha']:.0%} confidence{letters}.")
        if lacking := list(dict.fromkeys(cell["run"] for cell in self.missing)):
            sentences.append(f"Not placed, and compared over the collections that both have: {some(lacking)}.")
        if settings["left_out"]:
            sentences.append(f"Left out, because a run lacks them: {some(settings['left_out'])}.")
        return " ".join(sentences)

    def words(self, a: str | None = None, b: str | None = None, measure: str | Measure | None = None) -> str:
        first, second = self.leading_pair(measure)
        row = self.pair(a or first, b or second, measure)
        if not row["collections"]:
            return f"{row['measure']}: {row['run']} and {row['against']} have no collection in common."
        chosen, count = self.measure(row["measure"]), row["collections"]
        name = measure_words(row["measure"], lower_is_better=chosen.lower_is_better)
        p, p_adjusted, q_p = (p_words(row[name]) for name in ("p_value", "p_adjusted", "q_p_value"))
        tested = f"{p} alone, {p_adjusted} corrected for all pairs" if len(self.pairs) > len(self.measures) else p
        of_all = f" (of {len(self.collections)}; one of the two lacks the rest)" * (count != len(self.collections))
        notes = [
            f"{name}: {row['run']} minus {row['against']} is {row['difference']:+.4f} in the "
            f"{self.mean_words(count, row['topics'])}{of_all}: {row['verdict']} ({tested}); better in {row['won']} and "
            f"worse in {row['lost']} of {count}."
        ]
        if row["summary"] is None:
            why = "one collection" if count < 2 else "a collection in which all topics differ by the same"
            return f"{notes[0]} Collections like these are not estimated from {why}."
        notes.append(
            f"True differences vary between collections by tau = {row['tau']:.4f} (I2 = {row['i_squared']:.0%}; "
            f"Q = {row['q']:.1f}, {q_p})."
        )
        parts = self.differences_of(row["run"], row["against"], row["measure"])
        if (smallest := min(part["topics"] for part in parts)) < FEW_TOPICS:
            notes.append(f"A collection has only {smallest} topics: its standard error is rough, and tau too large.")
        return " ".join(notes)

    def notes(self) -> list[str]:
        return [self.method()]

    def __str__(self) -> str:
        return "\n".join(self.table(measure).text() for measure in self.measures)

    def __repr__(self) -> str:
        return f"{self}\n{self.method()}\n\n{self.words()}"

    def _repr_html_(self) -> str:
        return shown(*map(self.table, self.measures), self.method(), self.words())


# ---- the numbers ----


def compare_scores(scored: Mapping[str, Scores], settings: dict[str, Any]) -> CollectionsComparison:
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
        compared = _ByMeasure(measure, list(scored), runs, by_run, topics, first, second, settings)
        rows["pairs"] += compared.pair_rows()
        rows["differences"] += compared.difference_rows()
        rows["systems"] += compared.system_rows()
        for name, scores in scored.items():
            mean = scores.mean(settings["confidence"])
            rows["cells"] += build_rows(
                measure=str(measure), collection=name, run=scores.runs, topics=len(scores.query_ids),
                mean=mean.value[:, 0, place],
                **{end: getattr(mean, end)[:, 0, place] for end in ("ci_low", "ci_high", "low", "high")},
                judged_at_10=mean.judged[:, 0],
            )  # fmt: skip
    return CollectionsComparison(list(scored), runs, topics.tolist(), list(measures), **rows, settings=settings)


@dataclass(eq=False)
class _ByMeasure:
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
        confidence = self.settings["confidence"]
        difference, low, high = stratified.interval(self.means, self.variances, self.share, self.topics, confidence)
        sizes = np.stack([np.nan_to_num(np.abs(part)).mean(axis=-1) for part in self.parts], axis=-1)
        low, high = np.where(too_few(self.differing, confidence), np.nan, [low, high])
        return drop_rounding(difference, (self.share * sizes).sum(axis=-1)), low, high

    def pair_rows(self) -> list[dict[str, Any]]:
        difference, *ends = self._estimates
        p_value, p_adjusted, separated = self._tests
        none = ~self.both.any(axis=-1)
        columns = (difference, *np.clip(ends, *self.apart_limits), p_value, p_adjusted)
        numbers = [np.where(none, np.nan, column) for column in columns]
        better = np.where(merit(difference, self.measure) > 0, "better", "worse")
        with np.errstate(invalid="ignore"):
            gains = merit(self.means, self.measure)
            won, lost = ((side & self.both).sum(axis=-1).tolist() for side in (gains > 0, gains < 0))
        summary = random_effects(self.means, self.variances, self.settings["confidence"])
        summary_low, summary_high = np.clip([summary.low, summary.high], *self.apart_limits)
        rows = build_rows(
            measure=str(self.measure), mean_over=self.settings["mean"],
            run=[self.runs[run] for run in self.first.tolist()],
            against=[self.runs[run] for run in self.second.tolist()],
            collections=self.both.sum(axis=-1).tolist(), topics=(self.both @ self.topics).tolist(),
            **dict(zip(("difference", "ci_low", "ci_high", "p_value", "p_adjusted"), numbers, strict=True)),
            won=won, lost=lost, verdict=np.where(separated, better, "no difference shown").tolist(),
            summary=summary.mean, summary_low=summary_low, summary_high=summary_high,
            tau=np.sqrt(summary.tau_squared), i_squared=summary.i_squared, q=summary.q, q_p_value=summary.q_p_value,
        )  # fmt: skip
        return self._orient(rows, np.arange(self.first.size))

    def _orient(self, rows: list[dict[str, Any]], pair: Ints) -> list[dict[str, Any]]:
        around = turned(merit(self._estimates[0], self.measure), len(self.runs), self.settings["baseline"])[pair]
        return [turn(row) if is_turned else row for row, is_turned in zip(rows, around.tolist(), strict=True)]

    def difference_rows(self) -> list[dict[str, Any]]:
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
            topics=self.topics[collection].tolist(), difference=self.means[pair, collection],
            ci_low=low[pair, collection], ci_high=high[pair, collection],
        )  # fmt: skip
        return self._orient(rows, pair)

    def system_rows(self) -> list[dict[str, Any]]:
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
            measure=str(self.measure), mean_over=self.settings["mean"], run=self.runs, mean=of_all(mean),
            ci_low=of_all(np.clip(low, *self.limits)), ci_high=of_all(np.clip(high, *self.limits)),
            **{name: of_all(column) for name, column in zip(names, placed, strict=True)},
            collections=self.has.sum(axis=-1).tolist(),
            # Those in which no other run that has it is better; one that several lead is shared among them.
            collections_led=(best / best.sum(axis=-1, keepdims=True)).sum(axis=0),
            lacks=[[self.collections[place] for place in np.flatnonzero(~has)] for has in self.has],
        )  # fmt: skip

    def _rank_runs(self, complete: Ints, merits: Floats) -> tuple[Any, ...]:
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
