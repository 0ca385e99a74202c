"""What the scores of the same systems on several collections say: rows, a leaderboard, tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rankbounds.comparison.pairs import run_number, turn
from rankbounds.comparison.tables import LONGEST_GROUP, best_first, measure_place, percent_cell, place_cell
from rankbounds.comparison.wording import measure_words
from rankbounds.errors import UsageError
from rankbounds.evaluation.run_notes import some
from rankbounds.measures import Measure
from rankbounds.notebook import shown
from rankbounds.results import Column, Result, Row, build_table
from rankbounds.tables import Table, number, signed

MEAN_WORDS = {"collections": "mean of {count} collections' means", "queries": "mean over all {topics:,} queries"}
HEADERS = {"collections": "mean of means", "queries": "over queries"}
FEW_TOPICS = 20
"""With fewer in a collection its standard error is too rough to be taken as known."""
CONSISTENT = 0.1
"""Where Q's p-value is above it, nothing shows that collections differ by more than their topics."""
NAMED_COLLECTIONS = 6
"""The leaderboard shows the means of collections where there are no more than this."""


@dataclass(frozen=True, eq=False, repr=False)
class CollectionsComparison(Result):
    """What the scores of the same systems on several collections say. It prints as a leaderboard and words.

    ``ci_low`` and ``ci_high`` are about the topics of these collections. ``summary`` is the random-effects mean over
    collections like these, ``new_low`` and ``new_high`` are where the true difference in a new one would lie.

    Attributes
    ----------
    collections, runs : list of str
        Their names; runs are matched by name.
    topics : list of int
        How many each collection has.
    systems : list of dict
        A row for each measure and run. A run that lacks a collection has no ``mean`` and no ``rank``; ``lacks`` names
        what it lacks. ``collections_led`` counts collections in which no other run is better.
    pairs : list of dict
        A row for each measure and pair, differences being ``a`` minus ``b``, over the collections that both have.
        ``won`` and ``lost`` count collections. ``tau`` is the standard deviation of true differences between
        collections.
    cells : list of dict
        A row for each measure, collection and run that has it.
    differences : list of dict
        A row for each measure, pair and collection that both have.
    settings : dict
        Which mean, which estimator, levels, seed.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(query): {"r": 1} for query in range(6)}
    >>> good, poor = {query: ["r"] for query in qrels}, {query: ["n", "r"] for query in qrels}
    >>> compared = rb.compare_collections(
    ...     {"web": (qrels, {"good": good, "poor": poor}), "news": (qrels, {"good": good, "poor": good})}, "RR"
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

    @property
    def missing(self) -> list[dict[str, str]]:
        """A row for each run and collection that it lacks."""
        first = [row for row in self.systems if row["measure"] == str(self.measures[0])]
        return [{"run": row["run"], "collection": name} for row in first for name in row["lacks"]]

    def rows(self) -> list[dict[str, Any]]:
        """The pairs."""
        return self.pairs

    # ---- parts ----

    def measure(self, label: str | Measure | None = None) -> Measure:
        """The measure of this name; the first, where none is named."""
        return self.measures[measure_place(self.measures, label)]

    def leaderboard(self, measure: str | Measure | None = None) -> list[dict[str, Any]]:
        """The systems by one measure, best first; those without a place last."""
        return best_first(self.systems, self.measure(measure))

    def pair(self, a: str, b: str, measure: str | Measure | None = None) -> dict[str, Any]:
        """The row of two runs by one measure, differences being the first minus the second."""
        label = str(self.measure(measure))
        for name in (a, b):
            run_number(self.runs, name)
        for row in self.pairs:
            if row["measure"] == label and {row["a"], row["b"]} == {a, b} and a != b:
                return row if row["a"] == a else turn(row)
        raise UsageError(f'"{a}" and "{b}" are not among the pairs of this comparison.')

    def differences_of(self, a: str, b: str, measure: str | Measure | None = None) -> list[dict[str, Any]]:
        """The rows of two runs by one measure, collection by collection."""
        label = str(self.measure(measure))
        rows = [row for row in self.differences if row["measure"] == label and {row["a"], row["b"]} == {a, b}]
        return [row if row["a"] == a else turn(row) for row in rows]

    def leading_pair(self, measure: str | Measure | None = None) -> tuple[str, str]:
        """The first two of the leaderboard; with a baseline, the best of the others and the baseline."""
        ordered = [row["run"] for row in self.leaderboard(measure)]
        baseline = self.settings["baseline"]
        if baseline is not None:
            return next(run for run in ordered if run != baseline), baseline
        return ordered[0], ordered[1]

    # ---- for people ----

    def table(self, measure: str | Measure | None = None) -> Table:
        """The leaderboard of one measure, the means of collections beside it where they are few."""
        chosen = self.measure(measure)
        label = str(chosen)
        mean = f"{label} ({HEADERS[self.settings['mean']]}{', lower is better' * chosen.lower_is_better})"
        interval = f"{self.settings['confidence']:.0%} interval"
        means = self._means(label)
        columns = [
            Column("run"),
            Column("mean", mean),
            Column("ci_low", interval, lambda row: _range(row, "ci", number)),
        ]
        if self._lettered(label):
            columns.append(Column("group", cell=lambda row: row["group"] or "-", left=True))
        if self.settings["baseline"] is None:
            first_in = Column("probability_best", "first in", percent_cell("probability_best"))
            columns += [Column("rank", cell=place_cell), first_in]
        columns.append(Column("led", cell=lambda row: f"{row['collections_led']:.3g} of {row['collections']}"))
        if len(self.collections) <= NAMED_COLLECTIONS:
            columns += [
                Column(name, name, lambda row, name=name: number(means.get((row["run"], name))))  # type: ignore[misc]
                for name in self.collections
            ]
        if any(row["lacks"] for row in self.systems):
            columns.append(Column("lacks", cell=lambda row: some(row["lacks"], 3), left=True))
        return build_table(self.leaderboard(chosen), columns)

    def _means(self, label: str) -> dict[tuple[str, str], float]:
        """By run and collection."""
        return {(row["run"], row["collection"]): row["mean"] for row in self.cells if row["measure"] == label}

    def _lettered(self, label: str) -> bool:
        """Are there letters for groups, few enough to be read?"""
        groups = [row["group"] for row in self.systems if row["measure"] == label and row["group"] is not None]
        return bool(groups) and max(map(len, groups)) <= LONGEST_GROUP

    def pair_table(self, a: str, b: str, measure: str | Measure | None = None) -> Table:
        """Two runs collection by collection, then over all, over collections like these, and in a new one."""
        label = str(self.measure(measure))
        row, means = self.pair(a, b, label), self._means(label)
        lines = [
            [
                part["collection"],
                f"{part['topics']:,}",
                *(number(means[run, part["collection"]]) for run in (a, b)),
                signed(part["difference"]),
                _range(part, "ci", signed),
            ]
            for part in self.differences_of(a, b, label)
        ]
        over = [self.mean_words(row["collections"], row["topics"]), f"{row['topics']:,}", "", ""]
        lines.append([*over, signed(row["difference"]), _range(row, "ci", signed)])
        if row["summary"] is not None:
            lines.append(["collections like these", "", "", "", signed(row["summary"]), _range(row, "summary", signed)])
        if row["new_low"] is not None:
            lines.append(["a new collection", "", "", "", "", _range(row, "new", signed)])
        return Table(["collection", "topics", a, b, "difference", f"{self.settings['confidence']:.0%} interval"], lines)

    def mean_words(self, count: int, topics: int) -> str:
        """Which mean it is, in words."""
        return MEAN_WORDS[self.settings["mean"]].format(count=count, topics=topics)

    def method(self) -> str:
        """What the numbers of the leaderboard are, in a paragraph."""
        settings = self.settings
        placed = [row["run"] for row in self.leaderboard() if row["mean"] is not None]
        sentences = [
            f"Scores are the {self.mean_words(len(self.collections), sum(self.topics))}; intervals and tests are over "
            f"topics resampled within the collections, and say nothing of other collections."
        ]
        if settings["baseline"] is None and len(placed) > 2:
            sentences.append(f"Ranks hold for all runs together with {1 - settings['alpha']:.0%} confidence.")
            if any(self._lettered(str(measure)) for measure in self.measures):
                sentences.append("Runs that share a letter are not separated.")
        lacking = list(dict.fromkeys(cell["run"] for cell in self.missing))
        if lacking:
            have = "lacks a collection and is" if len(lacking) == 1 else "lack collections and are"
            sentences.append(
                f"{some(lacking)} {have} not placed: no score is filled in, and pairs are over the collections that "
                "both runs have."
            )
        if settings["left_out"]:
            sentences.append(
                f"Left out, since a run lacks {'it' if len(settings['left_out']) == 1 else 'them'}: "
                f"{some(settings['left_out'])}."
            )
        return " ".join(sentences)

    def words(self, a: str | None = None, b: str | None = None, measure: str | Measure | None = None) -> str:
        """What is known of two runs (without names, of the first two of the leaderboard), in a paragraph."""
        label = str(self.measure(measure))
        first, second = self.leading_pair(label)
        return " ".join(_sentences(self, self.pair(a or first, b or second, label)))

    def notes(self) -> list[str]:
        """What the numbers of the leaderboard are."""
        return [self.method()]

    def __str__(self) -> str:
        return "\n".join(self.table(measure).text() for measure in self.measures)

    def __repr__(self) -> str:
        return f"{self}\n{self.method()}\n\n{self.words()}"

    def _repr_html_(self) -> str:
        return shown(*map(self.table, self.measures), self.method(), self.words())


# ---- words ----


def _range(row: Row, name: str, shown: Callable[[float], str] = "{:+.4f}".format) -> str:
    """From the low to the high of this name, or a dash where they are not known."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "-" if low is None or high is None else f"{shown(low)} to {shown(high)}"


def _sentences(compared: CollectionsComparison, row: Row) -> list[str]:
    """What the row of a pair says: these collections first, then collections like these."""
    settings = compared.settings
    a, b, count = row["a"], row["b"], row["collections"]
    level, lower = f"{settings['confidence']:.0%}", compared.measure(row["measure"]).lower_is_better
    if not count:
        return [f"{row['measure']}: {a} and {b} have no collection in common."]
    of_all = (
        ""
        if count == len(compared.collections)
        else f" (of {len(compared.collections)}; one of the two lacks the rest)"
    )
    if row["ci_low"] is None and row["won"] == row["lost"] == 0:
        return [f"{row['measure']}: {a} and {b} have the same scores on all topics of {count} collections."]
    interval = (
        "without an interval (within each collection all topics differ by the same)"
        if row["ci_low"] is None
        else f"{level} interval {_range(row, 'ci')} for other topics of the same collections"
    )
    sentences = [
        f"{measure_words(row['measure'], lower_is_better=lower)}: {a} minus {b} is {row['difference']:+.4f} in the "
        f"{compared.mean_words(count, row['topics'])}{of_all}, {interval}. "
        f"{a} is better in {row['won']} and worse in {row['lost']} of {count}."
    ]
    tested = f"p {_p(row['p_value'])}"
    if len(compared.pairs) > len(compared.measures):
        tested += f" alone, p {_p(row['p_adjusted'])} corrected for all pairs"
    if row["verdict"] == "no difference shown":
        sentences.append(f"That may be chance ({tested}).")
    else:
        better = a if row["verdict"] == "a better" else b
        sentences.append(f"Chance in the topics does not explain it: {better} is better here ({tested}).")
    if row["summary"] is None:
        why = (
            "one collection says nothing of others"
            if count < 2
            else "in a collection all topics differ by the same, so that its error is not known"
        )
        return [*sentences, f"What other collections would show is not estimated: {why}."]
    if row["q_p_value"] < CONSISTENT:
        sentences.append(
            f"Collections differ by more than their topics explain (Q = {row['q']:.1f}, p {_p(row['q_p_value'])}, "
            f"I2 = {row['i_squared']:.0%}): true differences vary between them with a standard deviation of "
            f"{row['tau']:.4f}."
        )
    else:
        sentences.append(
            f"That collections differ by more than their topics explain is not shown (Q = {row['q']:.1f}, p "
            f"{_p(row['q_p_value'])}, I2 = {row['i_squared']:.0%}, tau = {row['tau']:.4f}"
            + ("); few collections show little." if count < 10 else ").")
        )
    sentences.append(
        f"Over collections like these the mean difference is {row['summary']:+.4f} ({level} interval "
        f"{_range(row, 'summary')})"
        + (
            "; the true difference in a new one would lie within "
            f"{_range(row, 'new')} ({level} prediction interval), {a} being the "
            f"better one in about {row['new_a_better']:.0%} of such."
            if row["new_low"] is not None
            else "; for where a new one would lie, three collections are needed."
        )
    )
    smallest = min(part["topics"] for part in compared.differences_of(a, b, row["measure"]))
    if smallest < FEW_TOPICS:
        sentences.append(
            f"A collection has only {smallest} topics: its error is rough, and collections seem to differ too easily."
        )
    return sentences


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.00005 else f"= {value:.4f}"
