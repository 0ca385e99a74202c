"""What the scores of the same systems on several collections say: rows, a leaderboard, tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankbounds.comparison.pairs import run_number, turn
from rankbounds.comparison.tables import LONGEST_GROUP, best_first, measure_place
from rankbounds.comparison.wording import measure_words
from rankbounds.errors import UsageError
from rankbounds.evaluation.run_notes import some
from rankbounds.measures import Measure
from rankbounds.notebook import shown
from rankbounds.results import Column, Result, Row, build_table, interval, place_cell
from rankbounds.tables import Table, number, p_words, signed

MEAN_WORDS = {"collections": "mean of {count} collections' means", "queries": "mean over all {topics:,} queries"}
HEADERS = {"collections": "mean of means", "queries": "over queries"}
FEW_TOPICS = 20
"""With fewer in a collection its standard error is too rough to be taken as known."""
CONSISTENT = 0.1
"""Where Q's p-value is above it, nothing shows that collections differ by more than their topics."""
NAMED_COLLECTIONS = 6
"""The leaderboard shows the means of collections where there are no more than this."""
SPANS = ("ci", "summary", "new")
NO_INTERVAL = "without an interval (within each collection all topics differ by the same)"
_SUMMARY = "Over collections like these the mean difference is {summary:+.4f} ({level} interval {over_like})"
_ALIKE = "It is not shown that collections differ by more than their topics explain ({varying}, tau = {tau:.4f})"
TEMPLATES = {
    "apart": "{measure}: {run} and {against} have no collection in common.",
    "same": "{measure}: {run} and {against} have the same scores on all topics of {collections} collections.",
    "difference": "{name}: {run} minus {against} is {difference:+.4f} in the {mean}{of_all}, {interval}. {run} is "
    "better in {won} and worse in {lost} of {collections}.",
    "chance": "Chance alone can produce a difference this large ({tested}).",
    "shown": "Chance alone would rarely produce a difference this large: {better} is better here ({tested}).",
    "one_collection": "Other collections are not estimated: one collection says nothing about others.",
    "no_error": "Other collections are not estimated: in one collection all topics differ by the same amount, so its "
    "error is not known.",
    "varies": "Collections differ by more than their topics explain ({varying}): true differences vary between them "
    "with a standard deviation of {tau:.4f}.",
    "perhaps_alike": f"{_ALIKE}.",
    "perhaps_alike_of_few": f"{_ALIKE}; with few collections, little can be shown.",
    "summary": f"{_SUMMARY}; to predict a new one, three collections are needed.",
    "prediction": f"{_SUMMARY}; the true difference in a new one would lie within {{in_new}} ({{level}} prediction "
    "interval), {run} would be better in about {new_better:.0%} of them.",
    "few_topics": "A collection has only {smallest} topics: its standard error is imprecise, so collections look more "
    "different than they are.",
}
"""What is said of a pair, by name."""


@dataclass(frozen=True, eq=False, repr=False)
class CollectionsComparison(Result):
    """The comparison of systems on several collections. It prints as a leaderboard and sentences.

    ``ci_low`` and ``ci_high`` concern the topics of these collections. ``summary`` is the random-effects mean over
    collections like these; ``new_low`` and ``new_high`` bound the true difference in a new one.

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
        The kind of mean, the estimator and levels.

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
    figures = ("collections_forest", "leaderboard")

    @property
    def missing(self) -> list[dict[str, str]]:
        """A row for each run and collection that it lacks."""
        first = [row for row in self.systems if row["measure"] == str(self.measures[0])]
        return [{"run": row["run"], "collection": name} for row in first for name in row["lacks"]]

    def rows(self) -> list[dict[str, Any]]:
        """List the pairs."""
        return self.pairs

    # ---- parts ----

    def measure(self, label: str | Measure | None = None) -> Measure:
        """Find the measure of this name; the first, where none is named."""
        return self.measures[measure_place(self.measures, label)]

    def leaderboard(self, measure: str | Measure | None = None) -> list[dict[str, Any]]:
        """List the systems by one measure, best first; those without a place last."""
        return best_first(self.systems, self.measure(measure))

    def pair(self, a: str, b: str, measure: str | Measure | None = None) -> dict[str, Any]:
        """Find the row of two runs by one measure, as the first minus the second."""
        for name in (a, b):
            run_number(self.runs, name)
        rows = self._rows_of(self.pairs, a, b, measure)
        if not rows or a == b:
            raise UsageError(f'"{a}" and "{b}" are not among the pairs of this comparison.')
        return rows[0]

    def differences_of(self, a: str, b: str, measure: str | Measure | None = None) -> list[dict[str, Any]]:
        """List the rows of two runs by one measure, collection by collection."""
        return self._rows_of(self.differences, a, b, measure)

    def _rows_of(
        self, rows: list[dict[str, Any]], a: str, b: str, measure: str | Measure | None
    ) -> list[dict[str, Any]]:
        label = str(self.measure(measure))
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
        """Show the leaderboard of one measure, with the means of few collections."""
        chosen, settings = self.measure(measure), self.settings
        lower = ", lower is better" * chosen.lower_is_better
        columns = [
            Column("run"),
            Column("mean", f"{chosen} ({HEADERS[settings['mean']]}{lower})"),
            interval("ci_low", "ci_high", f"{settings['confidence']:.0%} interval"),
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
        """Are there letters for groups, few enough to be read?"""
        groups = [row["group"] for row in self.leaderboard(measure) if row["group"] is not None]
        return bool(groups) and max(map(len, groups)) <= LONGEST_GROUP

    def pair_table(self, a: str, b: str, measure: str | Measure | None = None) -> Table:
        """Show two runs per collection, over all, over collections like these, and in a new one."""
        chosen = self.measure(measure)
        row, means = self.pair(a, b, chosen), [self._means(run, chosen) for run in (a, b)]
        rows = [
            part | {f"mean_{side}": of_run[part["collection"]] for side, of_run in zip("ab", means, strict=True)}
            for part in self.differences_of(a, b, chosen)
        ]
        rows.append(row | {"collection": self.mean_words(row["collections"], row["topics"])})
        for name, what in (("summary", "collections like these"), ("new", "a new collection")):
            if row[f"{name}_low"] is not None:
                ends = {"ci_low": row[f"{name}_low"], "ci_high": row[f"{name}_high"]}
                rows.append({"collection": what, "difference": row.get(name), **ends})
        columns = [
            Column("collection"),
            Column("topics", cell=lambda row: f"{row['topics']:,}" if "topics" in row else ""),
            *(
                Column(name, run, lambda row, name=name: number(row[name]) if name in row else "")  # type: ignore[misc]
                for name, run in (("mean_a", a), ("mean_b", b))
            ),
            Column(
                "difference",
                cell=lambda row: "" if row["difference"] is None else signed(row["difference"]),
                importance=2,
            ),
            interval("ci_low", "ci_high", f"{self.settings['confidence']:.0%} interval", signed, importance=1),
        ]
        return build_table(rows, columns)

    def mean_words(self, count: int, topics: int) -> str:
        """Say which mean it is."""
        return MEAN_WORDS[self.settings["mean"]].format(count=count, topics=topics)

    def method(self) -> str:
        """Say in a paragraph what the numbers of the leaderboard are."""
        settings = self.settings
        placed = [row["run"] for row in self.leaderboard() if row["mean"] is not None]
        sentences = [
            f"Scores are the {self.mean_words(len(self.collections), sum(self.topics))}; intervals and tests "
            "are over topics within the collections, and say nothing about other collections."
        ]
        if settings["baseline"] is None and len(placed) > 2:
            sentences.append(f"Ranks hold for all runs at once with {1 - settings['alpha']:.0%} confidence.")
            if any(map(self._has_letters, self.measures)):
                sentences.append("Runs that share a letter are not separated.")
        lacking = list(dict.fromkeys(cell["run"] for cell in self.missing))
        if lacking:
            have = "lacks a collection and is" if len(lacking) == 1 else "lack collections and are"
            sentences.append(
                f"{some(lacking)} {have} not placed: no score is filled in, and pairs are over the collections that "
                "both runs have."
            )
        if settings["left_out"]:
            which = "it" if len(settings["left_out"]) == 1 else "them"
            sentences.append(f"Left out, because a run lacks {which}: {some(settings['left_out'])}.")
        return " ".join(sentences)

    def words(self, a: str | None = None, b: str | None = None, measure: str | Measure | None = None) -> str:
        """Describe two runs in a paragraph, by default the first two of the leaderboard."""
        first, second = self.leading_pair(measure)
        held = self._held(self.pair(a or first, b or second, measure))
        return " ".join(TEMPLATES[name].format_map(held) for name in _choose(held))

    def _held(self, row: Row) -> dict[str, Any]:
        level = f"{self.settings['confidence']:.0%}"
        p, p_adjusted, q_p = (p_words(row[name]) for name in ("p_value", "p_adjusted", "q_p_value"))
        several = len(self.pairs) > len(self.measures)
        incomplete = row["collections"] != len(self.collections)
        spans = {name: interval(f"{name}_low", f"{name}_high", "", "{:+.4f}".format).text(row) for name in SPANS}
        parts = self.differences_of(row["run"], row["against"], row["measure"])
        lower = self.measure(row["measure"]).lower_is_better
        return {
            **row,
            "name": measure_words(row["measure"], lower_is_better=lower),
            "mean": self.mean_words(row["collections"], row["topics"]),
            "of_all": f" (of {len(self.collections)}; one of the two lacks the rest)" * incomplete,
            "interval": NO_INTERVAL
            if row["ci_low"] is None
            else f"{level} interval {spans['ci']} for other topics of the same collections",
            "better": row["run"] if row["verdict"] == "better" else row["against"],
            "tested": f"{p} alone, {p_adjusted} corrected for all pairs" if several else p,
            "varying": "" if row["q"] is None else f"Q = {row['q']:.1f}, {q_p}, I2 = {row['i_squared']:.0%}",
            "level": level,
            "over_like": spans["summary"],
            "in_new": spans["new"],
            "smallest": min((part["topics"] for part in parts), default=None),
        }

    def notes(self) -> list[str]:
        """Say what the numbers of the leaderboard are."""
        return [self.method()]

    def __str__(self) -> str:
        return "\n".join(self.table(measure).text() for measure in self.measures)

    def __repr__(self) -> str:
        return f"{self}\n{self.method()}\n\n{self.words()}"

    def _repr_html_(self) -> str:
        return shown(*map(self.table, self.measures), self.method(), self.words())


def _choose(held: Row) -> list[str]:
    """Choose the sentences on a pair: these collections first, then collections like these."""
    count = held["collections"]
    if not count:
        return ["apart"]
    if held["ci_low"] is None and held["won"] == held["lost"] == 0:
        return ["same"]
    chosen = ["difference", "chance" if held["verdict"] == "no difference shown" else "shown"]
    if held["summary"] is None:
        return [*chosen, "one_collection" if count < 2 else "no_error"]
    alike = "perhaps_alike" if count >= 10 else "perhaps_alike_of_few"
    chosen.append("varies" if held["q_p_value"] < CONSISTENT else alike)
    chosen.append("summary" if held["new_low"] is None else "prediction")
    return [*chosen, *["few_topics"] * (held["smallest"] < FEW_TOPICS)]
