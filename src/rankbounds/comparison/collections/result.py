"""What the scores of the same systems on several collections say: rows, a leaderboard, tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankbounds.comparison.collections.words import range_words, sentences_of
from rankbounds.comparison.pairs import run_number
from rankbounds.comparison.tables import LONGEST_GROUP
from rankbounds.comparison.wording import measure_words
from rankbounds.errors import UsageError
from rankbounds.evaluation.run_notes import some
from rankbounds.measures import Measure, parse_measure
from rankbounds.notebook import shown
from rankbounds.tables import Table, number, signed

if TYPE_CHECKING:
    import polars

SYSTEM_FIELDS = (
    "measure", "mean_over", "run", "mean", "ci_low", "ci_high", "group", "rank", "rank_low", "rank_high",
    "probability_best", "expected_rank", "collections", "collections_led", "lacks",
)  # fmt: skip
PAIR_FIELDS = (
    "measure", "mean_over", "a", "b", "collections", "topics", "difference", "ci_low", "ci_high", "p_value",
    "p_adjusted", "won", "lost", "verdict", "summary", "summary_low", "summary_high", "tau", "i_squared", "q",
    "q_p_value", "new_low", "new_high", "new_a_better",
)  # fmt: skip
CELL_FIELDS = ("measure", "collection", "run", "topics", "mean", "ci_low", "ci_high", "low", "high", "judged_at_10")
DIFFERENCE_FIELDS = ("measure", "a", "b", "collection", "topics", "difference", "ci_low", "ci_high")
MEAN_WORDS = {"collections": "mean of {count} collections' means", "queries": "mean over all {topics:,} queries"}
HEADERS = {"collections": "mean of means", "queries": "over queries"}
NAMED_COLLECTIONS = 6
"""The means of up to so many collections stand in the leaderboard."""


@dataclass(frozen=True, eq=False, repr=False)
class CollectionsComparison:
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
        A row for each measure and pair, differences being ``a`` less ``b``, over the collections that both have.
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
    settings: dict[str, Any]

    @property
    def missing(self) -> list[dict[str, str]]:
        """A row for each run and collection that it lacks."""
        first = [row for row in self.systems if row["measure"] == str(self.measures[0])]
        return [{"run": row["run"], "collection": name} for row in first for name in row["lacks"]]

    def rows(self) -> list[dict[str, Any]]:
        """The pairs."""
        return self.pairs

    def to_polars(self) -> polars.DataFrame:
        """The pairs as a polars data frame."""
        import polars

        return polars.DataFrame({name: [row[name] for row in self.pairs] for name in PAIR_FIELDS})

    # ---- parts ----

    def measure(self, label: str | Measure | None = None) -> str:
        """The label of a measure that was compared by; of the first, where none is named."""
        labels = [str(measure) for measure in self.measures]
        wanted = labels[0] if label is None else str(label)
        wanted = wanted if wanted in labels else str(parse_measure(wanted))
        if wanted not in labels:
            raise UsageError(f"These runs were not compared by {wanted}, but by {', '.join(labels)}.")
        return wanted

    def _lower_is_better(self, label: str) -> bool:
        return self.measures[[str(measure) for measure in self.measures].index(label)].lower_is_better

    def measure_words(self, label: str) -> str:
        """The measure's name, and which way is up where that is not plain."""
        return measure_words(label, lower_is_better=self._lower_is_better(label))

    def leaderboard(self, measure: str | Measure | None = None) -> list[dict[str, Any]]:
        """The systems by one measure, best first; those without a place last."""
        label = self.measure(measure)
        lower = self._lower_is_better(label)
        rows = [row for row in self.systems if row["measure"] == label]
        placed = [row for row in rows if row["mean"] is not None]
        return sorted(placed, key=lambda row: row["mean"] if lower else -row["mean"]) + [
            row for row in rows if row["mean"] is None
        ]

    def pair(self, a: str, b: str, measure: str | Measure | None = None) -> dict[str, Any]:
        """The row of two runs by one measure, differences being the first less the second."""
        label = self.measure(measure)
        for name in (a, b):
            run_number(self.runs, name)
        for row in self.pairs:
            if row["measure"] == label and {row["a"], row["b"]} == {a, b} and a != b:
                return row if row["a"] == a else _turned(row)
        raise UsageError(f'"{a}" and "{b}" are not among the pairs of this comparison.')

    def differences_of(self, a: str, b: str, measure: str | Measure | None = None) -> list[dict[str, Any]]:
        """The rows of two runs by one measure, collection by collection."""
        label = self.measure(measure)
        rows = [row for row in self.differences if row["measure"] == label and {row["a"], row["b"]} == {a, b}]
        return [row if row["a"] == a else _turned(row) for row in rows]

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
        label = self.measure(measure)
        ranked = self.settings["baseline"] is None
        shown = self.collections if len(self.collections) <= NAMED_COLLECTIONS else []
        means = {(row["run"], row["collection"]): row["mean"] for row in self.cells if row["measure"] == label}
        lacking = any(row["lacks"] for row in self.systems)
        header = [
            "run",
            f"{label} ({HEADERS[self.settings['mean']]}{', lower is better' * self._lower_is_better(label)})",
            f"{self.settings['confidence']:.0%} interval",
            *(["group"] if self._lettered(label) else []),
            *(["rank", "first in"] if ranked else []),
            "led",
            *shown,
            *(["lacks"] if lacking else []),
        ]
        cells = [
            [
                row["run"],
                number(row["mean"]),
                range_words(row["ci_low"], row["ci_high"], number),
                *([row["group"] or "-"] if self._lettered(label) else []),
                *(_standing(row) if ranked else []),
                f"{row['collections_led']:.3g} of {row['collections']}",
                *(number(means.get((row["run"], collection))) for collection in shown),
                *([some(row["lacks"], 3)] if lacking else []),
            ]
            for row in self.leaderboard(label)
        ]
        words = {0} | ({3} if self._lettered(label) else set()) | ({len(header) - 1} if lacking else set())
        return Table(header, cells, frozenset(words))

    def _lettered(self, label: str) -> bool:
        """Are there letters for groups, few enough to be read?"""
        groups = [row["group"] for row in self.systems if row["measure"] == label and row["group"] is not None]
        return bool(groups) and max(map(len, groups)) <= LONGEST_GROUP

    def pair_table(self, a: str, b: str, measure: str | Measure | None = None) -> Table:
        """Two runs collection by collection, then over all, over collections like these, and in a new one."""
        label = self.measure(measure)
        row = self.pair(a, b, label)
        means = {(cell["run"], cell["collection"]): cell["mean"] for cell in self.cells if cell["measure"] == label}
        lines = [
            [
                part["collection"],
                f"{part['topics']:,}",
                number(means[a, part["collection"]]),
                number(means[b, part["collection"]]),
                signed(part["difference"]),
                range_words(part["ci_low"], part["ci_high"], signed),
            ]
            for part in self.differences_of(a, b, label)
        ]
        over = self.mean_words(row["collections"], row["topics"])
        interval = range_words(row["ci_low"], row["ci_high"], signed)
        lines.append([over, f"{row['topics']:,}", "", "", signed(row["difference"]), interval])
        if row["summary"] is not None:
            interval = range_words(row["summary_low"], row["summary_high"], signed)
            lines.append(["collections like these", "", "", "", signed(row["summary"]), interval])
        if row["new_low"] is not None:
            lines.append(["a new collection", "", "", "", "", range_words(row["new_low"], row["new_high"], signed)])
        header = ["collection", "topics", a, b, "difference", f"{self.settings['confidence']:.0%} interval"]
        return Table(header, lines)

    def mean_words(self, count: int, topics: int) -> str:
        """Which mean it is, of so many collections and topics."""
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
        label = self.measure(measure)
        first, second = self.leading_pair(label)
        return " ".join(sentences_of(self, self.pair(a or first, b or second, label)))

    def __str__(self) -> str:
        return "\n".join(f"{self.table(measure).text()}" for measure in self.measures)

    def __repr__(self) -> str:
        return f"{self}\n{self.method()}\n\n{self.words()}"

    def _repr_html_(self) -> str:
        return shown(*map(self.table, self.measures), self.method(), self.words())


def _standing(row: Mapping[str, Any]) -> list[str]:
    if row["rank"] is None:
        return ["-", "-"]
    return [f"{row['rank']} ({row['rank_low']}-{row['rank_high']})", f"{row['probability_best']:.0%}"]


OPPOSITE = {"a better": "b better", "b better": "a better"}


def _turned(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a pair with its sides exchanged."""
    turned = dict(row) | {"a": row["b"], "b": row["a"]}
    for low, high in (("ci_low", "ci_high"), ("summary_low", "summary_high"), ("new_low", "new_high")):
        if row.get(low) is not None:
            turned[low], turned[high] = 0.0 - row[high], 0.0 - row[low]
    for name in ("difference", "summary"):
        if row.get(name) is not None:
            turned[name] = 0.0 - row[name]
    if row.get("new_a_better") is not None:
        turned["new_a_better"] = 1 - row["new_a_better"]
    if "verdict" in row:
        turned |= {"won": row["lost"], "lost": row["won"], "verdict": OPPOSITE.get(row["verdict"], row["verdict"])}
    return turned
