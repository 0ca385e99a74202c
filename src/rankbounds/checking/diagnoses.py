"""What was found in run files: for programs, as a table, and in words; and where ties could take a run.

Lines that cannot be used, ties, orders that contradict each other, and what ties do to scores and places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError, Place
from rankbounds.evaluation.run_notes import some
from rankbounds.evaluation.score_differences import better, equal
from rankbounds.measures import parse_measure
from rankbounds.results import Column, Result, Row, build_table
from rankbounds.tables import Table

SHOWN = 10
"""How many of the best runs are looked at by themselves."""
SUMMARY = (
    "run", "file", "lines", "topics", "errors", "tied_documents", "tied_topics", "contradictions_rank",
    "contradictions_line", "largest_group",
)  # fmt: skip
"""What the row of a run has, in this order."""


DETAILS = ("rank_gap_topics", "exponent_mistakes", "single_precision_ties", "tied_topics_top10")


@dataclass(frozen=True)
class Problem:
    """Something that makes a line, or the whole file, unusable as it stands."""

    place: Place
    kind: str
    """``fields``, ``score``, ``rank``, ``duplicate`` or ``file``."""
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True)
class JudgedOutside:
    """Judged documents that the corpus lacks."""

    judged: int
    """How many judgments there are."""
    documents: list[tuple[str, str, float]]
    """Topic, document and grade of those whose document the corpus lacks."""

    @property
    def relevant(self) -> int:
        """How many of them are relevant."""
        return sum(grade >= 1 for _, _, grade in self.documents)

    def __str__(self) -> str:
        if not self.documents:
            return f"Corpus: it holds the documents of all {self.judged:,} judgments."
        topic, document, _ = self.documents[0]
        are = "is" if len(self.documents) == 1 else "are"
        return (
            f"Corpus: {len(self.documents):,} of {self.judged:,} judgments {are} of documents that it does not hold, "
            f'{self.relevant:,} of them relevant (topic {topic}, "{document}"): no system can retrieve them.'
        )


@dataclass(frozen=True)
class TieEffect:
    """The mean of a measure under trec_eval's order of ties, over all orders, and between the worst and the best."""

    measure: str
    value: float
    expected: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """How far ties can move the mean."""
        return 0.0 if equal(self.high, self.low) else self.high - self.low


@dataclass(frozen=True)
class Diagnosis:
    """One run's file, its ties, and its contradictions. Examples are sentences that name file and line."""

    run: str
    file: str
    lines: int = 0
    topics: int = 0
    problems: Sequence[Problem] = ()
    tied_documents: int = 0
    """Documents with the score of the one before them, once ranked by score."""
    tied_topics: int = 0
    tied_topics_top10: int = 0
    """Topics in which a tie reaches into the first ten ranks."""
    group_sizes: dict[int, int] = field(default_factory=dict)
    """How many tied groups there are of each size."""
    contradictions_rank: int | None = None
    """Neighbours by score whose stated ranks say the opposite; None where the run states no ranks."""
    contradictions_line: int = 0
    """Neighbouring lines of which the second has the higher score."""
    exponent_mistakes: int = 0
    """Those of them that are in order when exponents are ignored, as a text sort does: -1.37 before -7.8e-05."""
    rank_gap_topics: int = 0
    """Topics whose stated ranks are not 1, 2, 3, ... (or 0, 1, 2, ...)."""
    single_precision_ties: int = 0
    """How many further documents would be tied if scores were read in single precision."""
    examples: dict[str, list[str]] = field(default_factory=dict)
    missing_topics: Sequence[str] = ()
    judged: float | None = None
    """The share of the first ten documents that is judged."""
    residual: float | None = None
    """What is open in RBP(p=0.8) because documents are unjudged."""
    effects: Sequence[TieEffect] = ()
    outside_corpus: int | None = None
    """How many documents of the run the corpus does not hold; None where no corpus was given."""

    @property
    def errors(self) -> int:
        """How many problems the file has."""
        return len(self.problems)

    @property
    def largest_group(self) -> int:
        """The size of the largest group of equal scores."""
        return max(self.group_sizes, default=min(self.topics, 1))

    @property
    def sound(self) -> bool:
        """Is nothing wrong? Ties are not wrong."""
        wrong = (self.problems, self.contradictions_rank, self.contradictions_line, self.rank_gap_topics)
        return not any((*wrong, self.missing_topics, self.outside_corpus))

    def notes(self) -> str:
        """What else there is to say of the file, in a cell of the table."""
        counted = (
            (self.exponent_mistakes, "line", "{} sorted as if exponents were not there"),
            (self.rank_gap_topics, "topic", "stated ranks are not 1, 2, 3, ... in {}"),
            (len(self.missing_topics), "judged topic", "{} missing"),
            (self.outside_corpus, "document", "{} not in the corpus"),
            (self.tied_topics_top10, "topic", "ties reach the first 10 in {}"),
            (self.single_precision_ties, "more document", "single precision would tie {}"),
        )
        return "; ".join(words.format(_count(number_of, unit)) for number_of, unit, words in counted if number_of)

    def examples_in_words(self, most: int) -> str:
        """The first problems of the file, and examples of contradictions, a line each."""
        lines = [str(problem) for problem in self.problems[:most]]
        if self.errors > most:
            lines.append(f"{self.file}: and {self.errors - most} more.")
        return "\n".join([*lines, *(sentence for several in self.examples.values() for sentence in several)])

    def details(self) -> dict[str, Any]:
        """Everything else, as JSON can hold it."""
        kinds = Counter(problem.kind for problem in self.problems)
        return {
            "duplicates": kinds["duplicate"],
            "bad_lines": sum(kinds[kind] for kind in ("fields", "score", "rank")),
            "problems": [str(problem) for problem in self.problems],
            **{name: getattr(self, name) for name in DETAILS},
            "group_sizes": {str(size): count for size, count in self.group_sizes.items()},
            "examples": self.examples,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Diagnoses(Result):
    """A ``Diagnosis`` for each run; over them one can iterate."""

    found: list[Diagnosis]
    examples: int
    """How many problems and contradictions of each kind the words name."""
    has_judgments: bool = False
    has_corpus: bool = False
    judged_outside: JudgedOutside | None = None
    """What the judgments name and the corpus lacks, where both were given."""

    def __iter__(self) -> Iterator[Diagnosis]:
        return iter(self.found)

    def __getitem__(self, number: int) -> Diagnosis:
        return self.found[number]

    @property
    def sound(self) -> bool:
        """Is nothing wrong with any run, nor with the judgments?"""
        return all(one.sound for one in self.found) and not (self.judged_outside and self.judged_outside.documents)

    def rows(self) -> list[dict[str, Any]]:
        """A dict per run."""
        return [self._row(diagnosis) for diagnosis in self.found]

    def _row(self, diagnosis: Diagnosis) -> dict[str, Any]:
        row = {name: getattr(diagnosis, name) for name in SUMMARY}
        if self.has_corpus:
            row["outside_corpus"] = diagnosis.outside_corpus
        if self.judged_outside is not None:
            row["judged_outside_corpus"] = len(self.judged_outside.documents)
        if self.has_judgments:
            row |= {"judged": diagnosis.judged, "residual": diagnosis.residual}
            row["missing_topics"] = list(diagnosis.missing_topics)
            row["ties_move"] = {effect.measure: effect.width for effect in diagnosis.effects}
        return row

    def table(self) -> Table:
        """The runs, with notes, for people."""
        measures = next(([effect.measure for effect in one.effects] for one in self.found if one.effects), [])
        columns = [
            Column("run", left=True),
            Column("lines"),
            Column("topics"),
            Column("errors", importance=5),
            Column("tied_documents", "tied docs", _tied_documents, importance=4),
            Column("tied_topics"),
            Column("largest_group"),
            Column("contradictions_rank", "rank vs score"),
            Column("contradictions_line", "line vs score"),
        ]
        if measures:
            columns += [
                Column("judged", "judged@10", _judged, importance=3),
                Column("residual", "RBP(p=0.8) open"),
                *(Column(name, f"ties move {name}", importance=2 * (name == measures[0])) for name in measures),
            ]
        rows = [
            row | row.get("ties_move", {}) | {"notes": one.notes()}
            for row, one in zip(self.rows(), self.found, strict=True)
        ]
        return build_table(rows, [*columns, Column("notes", left=True, importance=1)])

    def words(self) -> str:
        """Examples of what is wrong, how many runs have ties and contradictions, and what ties do to places."""
        parts = [diagnosis.examples_in_words(self.examples) for diagnosis in self.found]
        if len(self.found) > 1:
            parts.append(self._totals())
        if any(diagnosis.effects for diagnosis in self.found):
            measures = max(len(diagnosis.effects) for diagnosis in self.found)
            ranked = [places(self.found, measure) for measure in range(measures)]
            parts.append("\n".join(filter(None, map(in_words, ranked))))
        return "\n\n".join(filter(None, [*parts, str(self.judged_outside or "")]))

    def _totals(self) -> str:
        """The shares of runs, topics and documents concerned."""
        count = {name: [getattr(one, name) or 0 for one in self.found] for name in SUMMARY[2:]}
        tied_runs = sum(tied > 0 for tied in count["tied_documents"])
        sentences = [
            f"Ties: in {tied_runs} of {len(self.found)} runs ({_share(tied_runs, len(self.found))}), "
            f"{_share(sum(count['tied_topics']), sum(count['topics']))} of all run-topics, "
            f"{_share(sum(count['tied_documents']), sum(count['lines']))} of all lines."
        ]
        for name, what in (
            ("contradictions_rank", "Stated rank against score"),
            ("contradictions_line", "Line order against score"),
            ("errors", "Errors"),
        ):
            if concerned := sum(number_of > 0 for number_of in count[name]):
                sentences.append(f"{what}: {_count(sum(count[name]), 'place')} in {_count(concerned, 'run')}.")
        return "\n".join(sentences)


def _tied_documents(row: Row) -> str:
    return f"{row['tied_documents']} ({_share(row['tied_documents'], row['lines'])})"


def _judged(row: Row) -> str:
    return "-" if row["judged"] is None else f"{row['judged']:.0%}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _count(number_of: int, unit: str) -> str:
    return f"{number_of} {unit}{'s' * (number_of != 1)}"


def places(diagnoses: Iterable[Diagnosis], measure: int = 0) -> list[dict[str, Any]]:
    """Rows of the runs that could be scored by their mean of a measure, the best first; equal means share a place.

    A run could stand as high as its best order of ties allows with all others in their worst, and as low as the
    reverse.
    """
    effects = {diagnosis.run: diagnosis.effects[measure] for diagnosis in diagnoses if diagnosis.effects}
    if not effects:
        raise DataError("No run could be scored: none shares a topic with the judgments.")
    value, expected, low, high = np.array(
        [(effect.value, effect.expected, effect.low, effect.high) for effect in effects.values()]
    ).T
    kind = parse_measure(next(iter(effects.values())).measure)
    worst, best = (high, low) if kind.lower_is_better else (low, high)

    def place(others: Floats, mean: float) -> int:
        return 1 + int(np.count_nonzero(better(others, mean, kind)))

    ranking = [
        {"run": run, "measure": effect.measure, "place": place(value, value[number])}
        | {"value": effect.value, "expected": effect.expected, "low": effect.low, "high": effect.high}
        | {"range": effect.width, "highest_place": place(worst, best[number])}
        | {"lowest_place": place(np.delete(best, number), worst[number])}
        | {"expected_place": place(expected, expected[number])}
        for number, (run, effect) in enumerate(effects.items())
    ]
    return sorted(ranking, key=lambda row: (row["place"], row["run"]))


def in_words(ranking: Sequence[Row]) -> str:
    """What ties do to the order of the runs, in plain words."""
    if len(ranking) < 2:
        return ""
    movable = [row for row in ranking if row["highest_place"] < row["lowest_place"]]
    if not movable:
        return f"By {ranking[0]['measure']}, no run's place depends on how ties are broken."
    widest = max(movable, key=lambda row: (row["lowest_place"] - row["highest_place"], row["range"], row["run"]))
    sentences = [
        "By {measure}, the places of {} of {} runs depend on how ties are broken; most of all that of {run}, which "
        "stands in place {place} and could stand anywhere from {highest_place} to {lowest_place}.".format(
            len(movable), len(ranking), **widest
        )
    ]
    if top := ["{run} ({highest_place} to {lowest_place})".format(**row) for row in movable if row["place"] <= SHOWN]:
        sentences.append(f"Among the first {SHOWN}: {some(top)}.")
    moved = [row for row in ranking if row["place"] != row["expected_place"]]
    example = ", such as {run} from {place} to {expected_place}".format(**moved[0]) if moved else ""
    sentences.append(
        f"With the mean over all orders in place of trec_eval's, {_count(len(moved), 'run')} would change place"
        f"{example}."
    )
    return " ".join(sentences)
