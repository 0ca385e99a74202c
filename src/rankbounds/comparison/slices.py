"""Does a difference hold for every kind of query? The comparison in slices of topics, and a test of the interaction.

In every slice two runs are compared as over all topics, and p-values are corrected over all slices and pairs of a
measure. That one slice shows a difference and another none does not show that they differ: small slices show little.
Whether the difference depends on the slice is a question of its own, and has a test of its own, the interaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.comparison.comparable_scores import keep_shared_topics
from rankbounds.comparison.pairs import PairTesting, PairTestingOptions
from rankbounds.comparison.tables import FEW_RUNS, p_column
from rankbounds.comparison.wording import POWER, compared_words
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.evaluation.run_notes import some
from rankbounds.evaluation.score_differences import differences, limits_of_differences, mean_difference, merit, zeroed
from rankbounds.evaluation.scores import Scores
from rankbounds.files.query_labels import labels_of
from rankbounds.measures import Measure
from rankbounds.notebook import shown
from rankbounds.results import Column, Result, build_table, interval
from rankbounds.stats.corrections import CORRECTIONS, adjusted, check_correction
from rankbounds.stats.power import minimum_detectable_effect
from rankbounds.stats.significance import (
    TESTS,
    Resampling,
    check_differences,
    check_finite,
    deviation_of,
    drawn_words,
    mean_interval,
    p_values,
    rounding,
)
from rankbounds.tables import Table, plain_rows, signed

if TYPE_CHECKING:
    from typing_extensions import Unpack

INTERACTION_FIELDS = ("by", "slices", "topics", "smallest", "a", "b", "measure", "statistic", "p_value", "p_adjusted")
FEW_TOPICS = 10
"""With fewer topics in a slice, little is known of how much they vary, and chance passes more easily for an effect."""
SHOWN_INTERACTIONS = 10
"""Of many runs so many interactions are printed, the least likely to be chance."""
_CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class Slices(Result):
    """The comparison of runs in slices of topics, and whether differences depend on the slice.

    ``rows()`` has one for each measure, way of slicing, slice and pair: the means, the difference (``a`` minus ``b``)
    with its interval, ``p_value``, ``p_adjusted`` over all slices and pairs of the measure, and ``detectable``, the
    true difference that is found 80% of the time. None where a slice has one topic.

    Attributes
    ----------
    interactions : list of dict
        For each measure, way of slicing and pair: is the mean difference the same in every slice?
    settings : dict
        The test and all else that p-values depend on.
    left_out : dict of list
        For each way of slicing, topics without a label.

    Examples
    --------
    >>> import rankbounds as rb
    >>> runs = {"a": {str(topic): ["r", "n"] if topic < 6 else ["n", "r"] for topic in range(12)}}
    >>> runs["b"] = {topic: ranking[::-1] for topic, ranking in runs["a"].items()}
    >>> length = {topic: "short" if int(topic) < 6 else "long" for topic in runs["a"]}
    >>> sliced = rb.slices(rb.evaluate(dict.fromkeys(length, {"r": 1}), runs, "RR"), {"length": length})
    >>> [(row["slice"], row["difference"], row["p_adjusted"]) for row in sliced.rows()]
    [('long', -0.5, 0.0625), ('short', 0.5, 0.0625)]
    >>> sliced.interactions[0]["p_value"] < 0.01
    True
    """

    slices: list[dict[str, Any]]
    interactions: list[dict[str, Any]]
    left_out: dict[str, list[str]]
    measures: list[Measure]
    runs: list[str]
    overall: list[dict[str, Any]]
    """Rows over all topics, without p-values, for figures."""

    columns = tuple(
        Column(name)
        for name in (
            "by", "slice", "topics", "a", "b", "measure", "mean_a", "mean_b", "difference", "ci_low", "ci_high",
            "p_value", "p_adjusted", "detectable", "won", "lost",
        )
    )  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        """A row for each measure, way of slicing, slice and pair."""
        return self.slices

    def of(self, measure: str | Measure | None = None, pair: tuple[str, str] | None = None) -> list[dict[str, Any]]:
        """The rows of one measure and pair; the first ones where none is named."""
        return [row for row in self.slices if self._chosen(row, measure, pair)]

    def _chosen(self, row: Mapping[str, Any], measure: str | Measure | None, pair: tuple[str, str] | None) -> bool:
        label = str(self.measures[0]) if measure is None else str(measure)
        a, b = (self.slices[0]["a"], self.slices[0]["b"]) if pair is None else pair
        return bool(row["measure"] == label and (row["a"], row["b"]) == (a, b))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of runs that were compared."""
        return list(dict.fromkeys((row["a"], row["b"]) for row in self.slices))

    # ---- words ----

    def words(self) -> str:
        """For every measure, way of slicing and pair, what the slices and their interaction say."""
        return "".join(f"{self._words(row)}\n" for row in self.interactions)

    def _words(self, interaction: Mapping[str, Any]) -> str:
        same = ("by", "a", "b", "measure")
        rows = [row for row in self.slices if all(row[name] == interaction[name] for name in same)]
        measure = next(measure for measure in self.measures if str(measure) == interaction["measure"])
        gains, losses, unclear = [], [], []
        for row in rows:
            p = row["p_adjusted"]
            shown = p is not None and p < self.settings["alpha"] and row["difference"] != 0
            if not shown:
                unclear.append(row["slice"])
            elif (row["difference"] > 0) != measure.lower_is_better:
                gains.append(row)
            else:
                losses.append(row)
        parts = [
            f"{verb} on {_listed([_slice_words(row) for row in several])}"
            for verb, several in (("gains", gains), ("loses", losses))
            if several
        ]
        a, b = interaction["a"], interaction["b"]
        name = compared_words(measure)
        told = f"{name} by {interaction['by']}: "
        if parts:
            told += f"{a} {' and '.join(parts)} against {b}"
            told += f"; on {_listed(unclear)} no difference is shown. " if unclear else ". "
        else:
            told += f"no slice shows a difference between {a} and {b}. "
        return told + self._interaction_words(interaction)

    def _interaction_words(self, row: Mapping[str, Any]) -> str:
        if row["p_value"] is None:
            return "Whether it depends on the slice cannot be tested: that takes two slices of two topics or more."
        p = f"interaction p = {row['p_value']:.4f}"
        if self._several:
            p += f", corrected {row['p_adjusted']:.4f}"
        if row["p_adjusted"] < self.settings["alpha"]:
            told = f"The difference depends on {row['by']} ({p})."
            if row["smallest"] < FEW_TOPICS:
                told += (
                    f" The smallest slice has {row['smallest']} topics, and with fewer than {FEW_TOPICS} chance alone "
                    f"says so more often than the level of {self.settings['alpha']:g} promises: take it as a hint."
                )
            return told
        return f"That the difference depends on {row['by']} is not shown ({p})."

    @property
    def _several(self) -> bool:
        """Are interactions corrected for their number?"""
        tested = sum(
            row["p_value"] is not None and row["measure"] == str(self.measures[0]) for row in self.interactions
        )
        return tested > 1 and self.settings["correction"] != "none"

    def notes(self) -> list[str]:
        """What p-values, detectable differences and the interaction come from."""
        return [self.method()]

    def method(self) -> str:
        """What p-values, detectable differences and the interaction come from."""
        settings, used = self.settings, TESTS[self.settings["test"]]
        drawn = drawn_words(settings)
        how = f"{drawn}; all sign flips up to {used.exact_topics} topics" if used.exact_topics else drawn
        test = f"{used.name} test" + (f" ({how})" if used.resamples else "")
        corrected = (
            "not corrected"
            if settings["correction"] == "none"
            else f"corrected over all {settings['family']} tests of a measure ({settings['correction']})"
        )
        return (
            f"Slices: {test}, {corrected}. detectable: the true difference that a t test finds {POWER:.0%} of the time "
            f"at the level {settings['level']:.3g}. interaction: is the difference the same in all slices? The larger "
            f"p of two tests: Welch's F test, and labels shuffled over topics ({drawn}), by Welch's statistic. With "
            f"fewer than {FEW_TOPICS} topics in a slice it errs more often than its level says."
        )

    # ---- tables ----

    def tables(self) -> list[Table]:
        """For each measure the slices, where runs are few or one is the baseline; of several pairs the interactions."""
        few = len(self.runs) <= FEW_RUNS or self.settings["baseline"] is not None
        found = []
        for label in map(str, self.measures):
            found += [self._slice_table(label)] if few else []
            if len(self.pairs) > 1:
                found.append(self._interaction_table([row for row in self.interactions if row["measure"] == label]))
        return found

    def _slice_table(self, label: str) -> Table:
        corrected = self.settings["correction"] != "none"
        columns = [
            Column("by"),
            Column("slice"),
            *([Column("a", "run"), Column("b", "against")] if len(self.pairs) > 1 else []),
            Column("topics"),
            Column("difference", f"{label}, difference", lambda row: signed(row["difference"])),
            interval("ci_low", "ci_high", f"{self.settings['confidence']:.0%} interval"),
            Column("won"),
            Column("lost"),
            p_column("p_value", "p"),
            *([p_column("p_adjusted", "p corrected")] if corrected else []),
            Column("detectable"),
        ]
        return build_table([row for row in self.slices if row["measure"] == label], columns)

    def _interaction_table(self, rows: list[dict[str, Any]]) -> Table:
        ordered = sorted(rows, key=lambda row: (row["p_value"] is None, row["p_value"], -(row["statistic"] or 0)))
        columns = [
            *(Column("by"), Column("a", "run"), Column("b", "against"), Column("slices")),
            *(p_column("p_value", "interaction p"), p_column("p_adjusted", "p corrected")),
        ]
        return build_table(ordered[:SHOWN_INTERACTIONS], columns)

    def __repr__(self) -> str:
        parts = [table.text() for table in self.tables()]
        return "\n".join([*parts, *([self.words()] if len(self.runs) == 2 else []), f"{self.method()}\n"])

    def _repr_html_(self) -> str:
        return shown(*self.tables(), self.words() if len(self.runs) == 2 else None, self.method())

    def forest_rows(
        self, measure: str | Measure | None = None, pair: tuple[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """What ``plots.forest`` draws: a row for each slice under its heading, and one over all topics."""
        chosen = [row | {"label": row["slice"], "heading": row["by"]} for row in self.of(measure, pair)]
        tested = {row["by"]: row["p_value"] for row in self.interactions if self._chosen(row, measure, pair)}
        for row in chosen:
            p = tested.get(row["by"])
            row["heading"] += "" if p is None else f"  (interaction p = {p:.4f})"
        overall = [
            row | {"label": "all topics", "heading": ""} for row in self.overall if self._chosen(row, measure, pair)
        ]
        return [*chosen, *overall]


def slices(scores: Scores, labels: Mapping[str, Any], **how: Unpack[PairTestingOptions]) -> Slices:
    """Compare runs in slices of topics, and test whether the difference depends on the slice.

    Parameters
    ----------
    scores : Scores
        Of two runs or more.
    labels : mapping
        For each way of slicing its name and the topics' labels: ``{"length": {"301": "short", "302": "long"}}``; of one
        way the labels alone, ``{"301": "short", "302": "long"}``.
    **how
        As in ``compare``: ``test`` is the paired test in each slice; ``correction`` (``auto`` is ``holm``) is over all
        slices and pairs of a measure, and over the interactions of a measure; ``alpha`` and ``confidence`` are the
        level of words and of detectable differences, and that of the intervals; ``resamples`` and ``seed`` are those of
        tests that resample and of the interaction; with a ``baseline``, only pairs of this run with each other one, as
        ``b``. ``alternative`` is always two-sided.

    Returns
    -------
    Slices

    Notes
    -----
    The interaction is a randomisation test: if the difference does not depend on the slice, labels could as well have
    been dealt out to topics otherwise. Its statistic is Welch's, the squared distances of the slices' means from their
    common mean, each over its own squared standard error, to which one topic with the variance over all topics is
    added, so that a slice without any variance has one. It is exact where topics' differences have the same
    distribution in every slice. Where slices vary differently, small ones raise false alarms; so the p-value is at
    least that of Welch's F test, wherever all slices vary. In simulations at the level 0.05, a slice of two or three
    topics that varies five times as much as the others gives 5 to 8% of false alarms (two such slices 12%), or 14%
    where differences are as skewed as an exponential distribution; without Welch's test it is 25 to 40%.
    Slices of one topic take no part. Detectable differences are those of a t test at the level alpha over the number of
    tests, which is what Holm's correction asks of the smallest p-value. Nothing is said of unjudged documents.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(topic): {"r": 1} for topic in range(8)}
    >>> runs = {"a": {topic: {"r": 2, "n": 1} for topic in qrels}}
    >>> runs["b"] = {topic: {"r": 1, "n": int(topic) % 2 * 2} for topic in qrels}
    >>> kind = {"kind": {topic: "odd" if int(topic) % 2 else "even" for topic in qrels}}
    >>> [(row["slice"], row["difference"]) for row in rb.slices(rb.evaluate(qrels, runs, "RR"), kind).rows()]
    [('even', 0.0), ('odd', 0.5)]
    """
    testing = PairTesting(**how)
    testing.check(scores.runs)
    if testing.alternative != "two-sided":
        raise UsageError("Slices are compared with two-sided tests.")
    by_shuffles = testing.correction in CORRECTIONS and CORRECTIONS[testing.correction].by_shuffles
    correction = "holm" if testing.correction == "auto" or by_shuffles else testing.correction
    check_correction(correction)
    scores = keep_shared_topics(scores)
    places, left_out = _places(labels, scores.query_ids)
    first, second = testing.pairs(scores.runs)
    cut = [(by, label, topics) for by, held in places.items() for label, topics in held.items()]
    family = sum(topics.size > 1 for _, _, topics in cut) * first.size
    level = testing.alpha if correction == "none" else testing.alpha / max(family, 1)
    rows: list[dict[str, Any]] = []
    interactions: list[dict[str, Any]] = []
    overall: list[dict[str, Any]] = []
    everything = np.arange(len(scores.query_ids))
    for place, measure in enumerate(scores.measures):
        apart = check_differences(differences(scores.value[first, :, place], scores.value[second, :, place]))
        check_finite(apart, "a comparison in slices", measure)
        settled = _Cut(scores, place, measure, first, second, apart, testing, level)
        of_measure = [row for by, label, topics in cut for row in settled.rows(by, label, topics)]
        _correct(of_measure, correction)
        rows += of_measure
        tested = [row for by, held in places.items() for row in settled.interactions(by, list(held.values()))]
        _correct(tested, correction)
        interactions += tested
        overall += [row | {"p_value": None} for row in settled.rows("", "", everything)]
    settings = {
        "test": testing.test, "correction": correction, "alpha": testing.alpha, "confidence": testing.confidence,
        "resamples": testing.resamples, "seed": testing.seed, "baseline": testing.baseline, "family": family,
        "level": level,
    }  # fmt: skip
    return Slices(rows, interactions, left_out, scores.measures, scores.runs, overall, settings=settings)


def _places(
    labels: Mapping[str, Any], queries: Sequence[str]
) -> tuple[dict[str, dict[str, Ints]], dict[str, list[str]]]:
    """For each way of slicing, where each slice's topics stand; and the topics without a label."""
    places: dict[str, dict[str, Ints]] = {}
    left_out: dict[str, list[str]] = {}
    if labels and not any(isinstance(given, Mapping) for given in labels.values()):
        labels = {"label": labels}
    for by, given in labels.items():
        label_of = labels_of(given, by)[by] if given else {}
        found = [label_of.get(query) for query in queries]
        names = sorted({label for label in found if label is not None}, key=_natural)
        column = np.array([-1 if label is None else names.index(label) for label in found])
        if not names:
            raise DataError(
                f'None of the {len(queries)} topics has a label by "{by}". Topics are called {some(list(queries))}; '
                f"labels are of {some(list(label_of)) or 'none'}."
            )
        places[by] = {label: np.flatnonzero(column == at) for at, label in enumerate(names)}
        if all(topics.size < 2 for topics in places[by].values()):
            raise DataError(f'By "{by}" every slice has a single topic: group the labels, so that slices have several.')
        left_out[by] = [query for query, label in zip(queries, found, strict=True) if label is None]
        if left_out[by]:
            warn(
                f'{len(left_out[by])} of {len(queries)} topics have no label by "{by}" and are in no slice '
                f"({some(left_out[by])}).",
            )
    if not places:
        raise UsageError("No labels of topics were given.")
    return places, left_out


def _natural(label: str) -> tuple[bool, float, str]:
    """Numbers in their order, before words in theirs."""
    try:
        return False, float(label), label
    except ValueError:
        return True, 0.0, label


@dataclass(frozen=True)
class _Cut:
    """All pairs' differences by one measure, to be cut into slices."""

    scores: Scores
    place: int
    measure: Measure
    first: Ints
    second: Ints
    apart: Floats
    testing: PairTesting
    level: float

    @property
    def names(self) -> tuple[list[str], list[str], list[str]]:
        a, b = ([self.scores.runs[run] for run in side.tolist()] for side in (self.first, self.second))
        return a, b, [str(self.measure)] * len(a)

    def rows(self, by: str, label: str, topics: Ints) -> list[dict[str, Any]]:
        """The rows of one slice."""
        apart, count = self.apart[:, topics], self.first.size
        values = self.scores.value[:, topics, self.place]
        unknown = np.full(count, np.nan)
        ends, p, detectable = np.stack([unknown, unknown]), unknown, unknown
        if topics.size > 1:
            gains = merit(apart, self.measure)
            p = p_values(gains, self.testing.test, resampling=self.testing.resampling, measure=self.measure)
            limits = limits_of_differences(self.measure, values)
            ends = np.clip(mean_interval(apart, self.testing.confidence), *limits)
            deviation = deviation_of(apart)
            # Where all differences are the same, nothing is known of how they vary; beyond the limits there are none.
            wanted = minimum_detectable_effect(1.0, topics.size, self.level, POWER) * deviation
            detectable = np.where((deviation > 0) & (wanted <= limits[1]) & np.isfinite(wanted), wanted, np.nan)
        means = values.mean(axis=-1)
        a, b, measures = self.names
        counts = [np.count_nonzero(merit(apart, self.measure) * side > 0, axis=-1).tolist() for side in (1, -1)]
        return plain_rows(
            [column.name for column in Slices.columns], [by] * count, [label] * count, [int(topics.size)] * count,
            a, b, measures,
            means[self.first], means[self.second], mean_difference(values[self.first], values[self.second]),
            *ends, p, p.copy(), detectable, *counts,
        )  # fmt: skip

    def interactions(self, by: str, held: Sequence[Ints]) -> list[dict[str, Any]]:
        """The rows of one way of slicing: is the mean difference the same in its slices?"""
        count = self.first.size
        large = [topics for topics in held if topics.size > 1]
        statistic = p = np.full(count, np.nan)
        if len(large) > 1:
            group = np.repeat(np.arange(len(large)), [topics.size for topics in large])
            statistic, p = interaction_test(self.apart[:, np.concatenate(large)], group, self.testing.resampling)
        a, b, measures = self.names
        sizes = [int(topics.size) for topics in large]
        return plain_rows(
            INTERACTION_FIELDS, [by] * count, [len(large)] * count, [sum(sizes)] * count,
            [min(sizes, default=None)] * count, a, b, measures, statistic, p, p.copy(),
        )  # fmt: skip


def _correct(rows: list[dict[str, Any]], correction: str) -> None:
    """Correct the p-values of rows that were tested for their number."""
    tested = [row for row in rows if row["p_value"] is not None]
    corrected = adjusted(np.array([row["p_value"] for row in tested]), correction)
    for row, p in zip(tested, corrected.tolist(), strict=True):
        row["p_adjusted"] = p


def interaction_test(apart: Floats, group: Ints, resampling: Resampling) -> tuple[Floats, Floats]:
    """Is the mean difference of each pair (a row) the same in every group of topics? The statistic and its p-value.

    Labels are shuffled over topics, the same way for all pairs; the outcome at hand counts as one (the +1). Shuffles
    take all groups to vary alike, so the p-value is at least that of Welch's F test, which does not.
    """
    size = np.bincount(group).astype(np.float64)
    spread = zeroed(apart - apart.mean(axis=-1, keepdims=True), np.abs(apart).max(axis=-1, keepdims=True))
    variance = (spread**2).sum(axis=-1) / max(apart.shape[-1] - 1, 1)
    observed = _welch(spread, group[None], size, variance)[:, 0]
    generator = resampling.generator()
    as_extreme = np.zeros(apart.shape[0])
    step = max(1, _CELLS_AT_ONCE // (max(apart.shape) * size.size))
    for at in range(0, resampling.resamples, step):
        count = min(step, resampling.resamples - at)
        shuffled = generator.permuted(np.broadcast_to(group, (count, group.size)), axis=-1)
        statistic = _welch(spread, shuffled, size, variance)
        as_extreme += np.count_nonzero(statistic >= (observed - rounding(observed))[:, None], axis=-1)
    return observed, np.maximum((as_extreme + 1) / (resampling.resamples + 1), _welch_p_values(spread, group))


def _welch_p_values(spread: Floats, group: Ints) -> Floats:
    """Welch's F test of the same means for every pair; 0 where a group does not vary, so that it says nothing."""
    from scipy import stats

    parts = [spread[:, group == number] for number in range(int(group.max()) + 1)]
    count, size = len(parts), np.array([part.shape[-1] for part in parts], dtype=np.float64)
    mean = np.stack([part.mean(axis=-1) for part in parts], axis=-1)
    variance = np.stack([deviation_of(part) ** 2 for part in parts], axis=-1)
    varying = np.atleast_1d((variance > 0).all(axis=-1))
    weight = size / np.where(varying[:, None], variance, 1.0)
    share = weight / weight.sum(axis=-1, keepdims=True)
    between = (weight * (mean - (share * mean).sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1) / (count - 1)
    lacking = ((1 - share) ** 2 / (size - 1)).sum(axis=-1)
    statistic = between / (1 + 2 * (count - 2) / (count**2 - 1) * lacking)
    return np.where(varying, stats.f.sf(statistic, count - 1, (count**2 - 1) / (3 * lacking)), 0.0)


def _welch(spread: Floats, group: Ints, size: Floats, variance: Floats) -> Floats:
    """Pairs by deals of labels: squared distances of groups' means from the common one, over squared errors."""
    means, weights = [], []
    for number_of_group, count in enumerate(size.tolist()):
        member = (group == number_of_group).astype(np.float64).T
        mean = spread @ member / count
        within = np.maximum((spread**2) @ member - count * mean**2, 0.0)
        error = (within + variance[:, None]) / count**2
        means.append(mean)
        weights.append(np.divide(1.0, error, out=np.zeros(error.shape), where=error > 0))
    mean, weight = np.stack(means), np.stack(weights)
    total = weight.sum(axis=0)
    common = np.divide((weight * mean).sum(axis=0), total, out=np.zeros(total.shape), where=total > 0)
    found: Floats = (weight * (mean - common) ** 2).sum(axis=0)
    return found


def _slice_words(row: Mapping[str, Any]) -> str:
    return f"{row['slice']} ({signed(row['difference'])} over {row['topics']} topics, p = {row['p_adjusted']:.4f})"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
