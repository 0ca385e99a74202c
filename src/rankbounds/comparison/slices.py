"""The comparison in slices of topics.

A difference shown in one slice and not in another does not show that they differ: small slices show little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.comparison.evidence import keep_shared_topics
from rankbounds.comparison.pairs import build_rows, pair_numbers, pairs_against, turned
from rankbounds.comparison.tables import FEW_RUNS, difference_columns
from rankbounds.comparison.testing import check_tests
from rankbounds.comparison.wording import POWER
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.evaluation.clusters import Clusters
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.score_differences import differences, limits_of_differences, mean_difference, merit
from rankbounds.evaluation.scores import Scores
from rankbounds.files.queries import labels_of
from rankbounds.measures import Measure
from rankbounds.notebook import shown
from rankbounds.phrases import some
from rankbounds.results import Column, Result, build_table
from rankbounds.stats import significance
from rankbounds.stats.corrections import CORRECTIONS, check_correction, correct_p_values
from rankbounds.stats.power import minimum_detectable_effect
from rankbounds.tables import Table

SHOWN = 20
"""Of many runs so many rows are printed, the least likely to be chance."""


@dataclass(frozen=True, eq=False, repr=False)
class Slices(Result):
    """The comparison of runs in slices of topics.

    ``rows()`` has one per measure, grouping, slice and pair: the means, the difference (``run`` minus ``against``) with
    its interval, ``p_value``, ``p_adjusted`` over all slices and pairs of the measure, whether a difference is
    ``shown``, and ``detectable``, the true difference found 80% of the time. Numbers are None for slices of one topic.

    Attributes
    ----------
    left_out : dict of list
        For each grouping, topics without a label.

    Examples
    --------
    >>> import rankbounds as rb
    >>> runs = {"old": {str(topic): ["r", "n"] if topic < 6 else ["n", "r"] for topic in range(12)}}
    >>> runs["new"] = {topic: ranking[::-1] for topic, ranking in runs["old"].items()}
    >>> length = {topic: "short" if int(topic) < 6 else "long" for topic in runs["old"]}
    >>> sliced = rb.compare(dict.fromkeys(length, {"r": 1}), runs, "RR").slices({"length": length})
    >>> [(row["slice"], row["difference"], row["p_adjusted"]) for row in sliced.rows()]
    [('long', 0.5, 0.0625), ('short', -0.5, 0.0625)]
    """

    slices: list[dict[str, Any]]
    left_out: dict[str, list[str]]
    measures: list[Measure]
    runs: list[str]
    overall: list[dict[str, Any]]
    """Rows over all topics, without p-values, for figures."""

    columns = tuple(
        Column(name)
        for name in (
            "by", "slice", "topics", "run", "against", "measure", "mean", "mean_against", "difference", "ci_low",
            "ci_high", "p_value", "p_adjusted", "shown", "detectable", "won", "lost",
        )
    )  # fmt: skip
    figures = ("forest",)

    def rows(self) -> list[dict[str, Any]]:
        return self.slices

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys((row["run"], row["against"]) for row in self.slices))

    def method(self) -> str:
        settings, used = self.settings, significance.TESTS[self.settings["test"]]
        drawn = significance.drawn_words(settings)
        how = f"{drawn}; all sign flips up to {used.exact_topics} topics" if used.exact_topics else drawn
        test = f"{used.name} test" + (f" ({how})" if used.resamples else "")
        corrected = (
            "not corrected"
            if settings["correction"] == "none"
            else f"corrected over all {settings['family']} tests of a measure ({settings['correction']})"
        )
        over = f" over {settings['clusters']} clusters" if settings["clusters"] else ""
        return (
            f"Slices: {test}{over}, {corrected}. detectable: the true difference that a t test finds {POWER:.0%} of "
            f"the time at the level {settings['level']:.3g}. A difference shown in one slice and not in another does "
            "not show that the slices differ."
        )

    def notes(self) -> list[str]:
        return [self.method()]

    # ---- tables and figures ----

    def tables(self) -> list[Table]:
        few = len(self.runs) <= FEW_RUNS or self.settings["baseline"] is not None
        pair = [Column("run"), Column("against")] if len(self.pairs) > 1 else []
        tables = []
        for label in map(str, self.measures):
            differ = difference_columns(f"{label}, difference", self.settings, (8, 6, 9))
            shown = Column("shown", cell=lambda row: "yes" if row["shown"] else "-")
            columns = [Column("by"), Column("slice"), *pair, Column("topics"), *differ, shown, Column("detectable")]
            rows = [row for row in self.slices if row["measure"] == label]
            if not few:
                rows = sorted(rows, key=lambda row: (row["p_value"] is None, row["p_value"]))[:SHOWN]
            tables.append(build_table(rows, columns))
        return tables

    def __repr__(self) -> str:
        return "\n".join([*(table.text() for table in self.tables()), f"{self.method()}\n"])

    def _repr_html_(self) -> str:
        return shown(*self.tables(), self.method())

    def forest_rows(
        self, measure: str | Measure | None = None, pair: tuple[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """Return what ``plots.forest`` draws: a row per slice under its heading, and one over all topics.

        By default of the first measure and pair.
        """
        label = str(self.measures[0] if measure is None else measure)
        named = next((row["run"], row["against"]) for row in self.slices if row["measure"] == label)
        asked = (label, *(pair or named))
        slices, overall = (
            [row for row in rows if (row["measure"], row["run"], row["against"]) == asked]
            for rows in (self.slices, self.overall)
        )
        drawn = [row | {"label": row["slice"], "heading": row["by"]} for row in slices]
        return drawn + [row | {"label": "all topics", "heading": ""} for row in overall]


def slices(scores: Scores, labels: Mapping[str, Any], question: Question) -> Slices:
    check_tests(question, scores.runs)
    if question.alternative != "two-sided":
        raise UsageError("Slices are compared with two-sided tests.")
    known = CORRECTIONS.get(question.correction)
    if question.correction == "auto" or (known and known.resamples):
        question = replace(question, correction="holm")
    correction = question.correction
    check_correction(correction)
    scores = keep_shared_topics(scores)
    clusters = question.clusters_of(scores)
    cut, left_out, _ = cut_topics(labels, scores.query_ids)
    baseline = question.baseline
    first, second = pairs_against(scores.runs, baseline)
    parts = [(by, label, topics) for by, held in cut.items() for label, topics in held.items()]
    grouped = [None if clusters is None else clusters.take(topics) for *_, topics in parts]
    sizes = [topics.size if own is None else len(own) for (*_, topics), own in zip(parts, grouped, strict=True)]
    family = sum(size > 1 for size in sizes) * first.size
    level = question.alpha if correction == "none" else question.alpha / max(family, 1)
    rows: list[dict[str, Any]] = []
    overall: list[dict[str, Any]] = []
    for place, measure in enumerate(scores.measures):
        values = scores.value[:, :, place]
        apart = significance.check_differences(differences(values[first], values[second]))
        significance.check_finite(apart, "a comparison in slices", measure)
        around = turned(merit(mean_difference(values[first], values[second]), measure), len(scores.runs), baseline)
        run, against = np.where(around, second, first), np.where(around, first, second)
        apart = np.where(around[:, None], -apart, apart)
        names = {
            "run": [scores.runs[at] for at in run.tolist()],
            "against": [scores.runs[at] for at in against.tolist()],
        }
        names["measure"] = [str(measure)] * first.size
        everything = ("", "", np.arange(apart.shape[-1]))
        *compared, whole = [
            build_rows(
                by=by, slice=label, topics=int(topics.size), **names,
                **_compare_slice(values[:, topics], run, against, measure, question, level, own),
            )
            for (by, label, topics), own in zip([*parts, everything], [*grouped, clusters], strict=True)
        ]  # fmt: skip
        rows += _correct(list(chain(*compared)), correction)
        overall += [row | {"p_value": None} for row in whole]
        for row in [*rows[-len(parts) * first.size :], *overall[-first.size :]]:
            p, could = row["p_adjusted"], not row.pop("opposed") and row["difference"] != 0
            row["shown"] = could and p is not None and p < question.alpha
    settings = {
        "test": question.test, "correction": correction, "alpha": question.alpha, "confidence": question.confidence,
        "resamples": question.resamples, "seed": question.seed, "baseline": question.baseline, "family": family,
        "level": level, "topics": len(scores.query_ids), "clusters": None if clusters is None else len(clusters),
    }  # fmt: skip
    return Slices(rows, left_out, scores.measures, scores.runs, overall, settings=settings)


def cut_topics(
    labels: Mapping[str, Any], queries: Sequence[str]
) -> tuple[dict[str, dict[str, Ints]], dict[str, list[str]], list[tuple[str, str]]]:
    unseen: list[tuple[str, str]] = []
    places: dict[str, dict[str, Ints]] = {}
    left_out: dict[str, list[str]] = {}
    if labels and not any(isinstance(given, Mapping) for given in labels.values()):
        labels = {"label": labels}
    for by, given in labels.items():
        label_of = labels_of(given, by)[by] if given else {}
        of_topics = [label_of.get(query) for query in queries]
        names = sorted({label for label in of_topics if label is not None}, key=_natural)
        if not names:
            raise DataError(
                f'None of the {len(queries)} topics has a label for "{by}". The topics are {some(list(queries))}; '
                f"labels are for {some(list(label_of)) or 'none'}."
            )
        places[by] = {name: np.array([at for at, label in enumerate(of_topics) if label == name]) for name in names}
        unseen += [(by, label) for label in sorted(set(label_of.values()) - {*names}, key=_natural)]
        if all(topics.size < 2 for topics in places[by].values()):
            raise DataError(
                f'By "{by}" every slice has a single topic: group the labels, so that each slice has several.'
            )
        left_out[by] = [query for query, label in zip(queries, of_topics, strict=True) if label is None]
        if left_out[by]:
            warn(
                f'{len(left_out[by])} of {len(queries)} topics have no label by "{by}" and are in no slice '
                f"({some(left_out[by])})."
            )
    if not places:
        raise UsageError("No labels of topics were given.")
    return places, left_out, unseen


def _natural(label: str) -> tuple[bool, float, str]:
    try:
        return False, float(label), label
    except ValueError:
        return True, 0.0, label


def _compare_slice(
    values: Floats,
    first: Ints,
    second: Ints,
    measure: Measure,
    question: Question,
    level: float,
    clusters: Clusters | None,
) -> dict[str, Any]:
    topics, means = values.shape[-1] if clusters is None else len(clusters), values.mean(axis=-1)
    if topics > 1:
        numbers = pair_numbers(values, first, second, measure, question, clusters)
        deviation, most = numbers["deviation"], limits_of_differences(measure, values)[1]
        # Where all differences are the same, nothing is known of how they vary; beyond the limits there are none, and
        # few topics find nothing of any size.
        with np.errstate(invalid="ignore"):
            wanted = minimum_detectable_effect(1.0, topics, level, POWER) * deviation
        can = np.isfinite(wanted) & (significance.least_of_signs(topics) < level)
        detectable = np.where((deviation > 0) & (wanted <= most) & can, wanted, np.nan)
    else:
        gains, detectable = merit(differences(values[first], values[second]), measure), np.full(first.size, np.nan)
        won, lost = (np.count_nonzero(side, axis=-1).astype(np.float64) for side in (gains > 0, gains < 0))
        numbers = {"difference": mean_difference(values[first], values[second]), "won": won, "lost": lost}
        numbers |= dict.fromkeys(("ci_low", "ci_high", "p_value", "opposed"), detectable)
    return {
        "mean": means[first],
        "mean_against": means[second],
        **{name: numbers[name] for name in ("difference", "ci_low", "ci_high", "p_value")},
        "p_adjusted": numbers["p_value"],
        "opposed": numbers["opposed"],
        "detectable": detectable,
        **{name: numbers[name].astype(int).tolist() for name in ("won", "lost")},
    }


def _correct(rows: list[dict[str, Any]], correction: str) -> list[dict[str, Any]]:
    tested = [row for row in rows if row["p_value"] is not None]
    corrected = correct_p_values(np.array([row["p_value"] for row in tested]), correction)
    for row, p in zip(tested, corrected.tolist(), strict=True):
        row["p_adjusted"] = p
    return rows
