"""Findings in run files, for programs, as a table and as sentences; and what ties may do to ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError, Place, readable
from rankbounds.evaluation.score_differences import better, equal
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import parse_measure
from rankbounds.phrases import counted, some
from rankbounds.results import Column, Result, Row, build_table, count
from rankbounds.tables import Table, percent, render_rows

NOTHING_MOVES = "no run's place depends on how ties are broken."
SHOWN = 10
"""How many of the best runs are looked at by themselves, and how many runs have a row each."""
NAMED = 3
"""How many of the runs that fail by the same finding are named."""
Severity: TypeAlias = Literal["error", "warning", "note"]
FAILING: tuple[Severity, ...] = ("error", "warning")
"""What a run fails by; by warnings only where the check is strict."""


@dataclass(frozen=True)
class Kind:
    """A kind of finding: its severity, heading, what is counted, and its sentence."""

    severity: Severity
    heading: str
    unit: str
    words: str


KINDS = {
    "unreadable": Kind("error", "unreadable", "file", "that cannot be read as a run"),
    "bad_line": Kind("error", "bad lines", "line", "with too few or too many fields"),
    "bad_score": Kind("error", "bad scores", "line", "with a score that is not a number"),
    "bad_rank": Kind("error", "bad ranks", "line", "with a rank that is not a whole number"),
    "duplicate": Kind("error", "duplicates", "line", "with a document that is already listed for the topic"),
    "missing_topics": Kind("error", "missing topics", "topic", "missing"),
    "foreign_topics": Kind("error", "foreign topics", "topic", "not asked for"),
    "too_many": Kind("error", "too many docs", "topic", "with more documents than allowed"),
    "outside_corpus": Kind("error", "not in corpus", "document", "that are not in the corpus"),
    "empty": Kind("warning", "empty lists", "topic", "without documents"),
    "none_judged": Kind("warning", "none judged", "run", "without a single judged document"),
    "rank_against_score": Kind("warning", "rank vs score", "place", "where stated ranks contradict the scores"),
    "line_against_score": Kind("warning", "line vs score", "place", "where a score is higher than on the line above"),
    "line_against_rank": Kind(
        "warning", "line vs rank", "place", "where a stated rank is lower than on the line above"
    ),
    "rank_gaps": Kind("warning", "rank gaps", "topic", "whose stated ranks are not 1, 2, 3, ..."),
    "ties": Kind("note", "tied docs", "document", "tied with the one before"),
    "single_precision": Kind("note", "tied in single", "document", "that only single precision would tie"),
}
"""Everything that can be found, in the order in which it is shown."""


@dataclass(frozen=True)
class Finding:
    """Something found in a run: how often, and where first."""

    kind: str
    severity: Severity
    count: int
    share: float | None
    """Of all lines or topics."""
    message: str
    places: Sequence[str] = ()
    """The first places, as ``file:line``."""
    examples: Sequence[str] = ()
    """What is wrong at each of these places."""
    topics: int | None = None
    """In how many topics, where documents are counted."""

    @classmethod
    def of(
        cls,
        kind: str,
        number_of: int,
        whole: int | None = None,
        more: str = "",
        examples: Iterable[tuple[Place, str]] = (),
        severity: Severity | None = None,
        topics: int | None = None,
    ) -> Finding:
        """Build a finding of ``number_of`` among ``whole``; ``more`` is appended to the usual words."""
        known, shown = KINDS[kind], list(examples)
        share = number_of / whole if whole else None
        of_all = "" if share is None else f" ({share:.1%} of {'topics' if known.unit == 'topic' else 'lines'})"
        message = f"{counted(number_of, known.unit)}{of_all} {known.words}{more}"
        where, what = [str(place) for place, _ in shown], [words for _, words in shown]
        return cls(kind, severity or known.severity, number_of, share, message, where, what, topics)

    def lines(self) -> Iterator[str]:
        yield f"  {self.severity}: {self.message}"
        yield from (f"    {place}: {readable(words)}" for place, words in zip(self.places, self.examples, strict=True))
        if self.places and self.count > len(self.places):
            yield f"    ... and {self.count - len(self.places):,} more"


@dataclass(frozen=True)
class TieEffect:
    """The mean of a measure in trec_eval's order of ties, over all orders, and at worst and best."""

    measure: str
    value: float
    expected: float
    low: float
    high: float

    @property
    def width(self) -> float:
        return 0.0 if equal(self.high, self.low) else self.high - self.low


@dataclass(frozen=True)
class CheckedRun:
    """What was found in one run."""

    run: str
    file: str
    lines: int = 0
    topics: int = 0
    findings: Sequence[Finding] = ()
    judged: float | None = None
    """The share of the first ten documents that is judged."""
    effects: Sequence[TieEffect] = ()
    scores: Scores | None = None
    strict: bool = False

    def count(self, kind: str) -> int:
        """Return how often this was found."""
        return sum(finding.count for finding in self.findings if finding.kind == kind)

    def topics_with(self, kind: str) -> int:
        """Return in how many topics this was found."""
        return sum(finding.topics or 0 for finding in self.findings if finding.kind == kind)

    @property
    def errors(self) -> int:
        """How many lines, topics or documents are in error."""
        return sum(finding.count for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> int:
        """How many places tools may disagree about."""
        return sum(finding.count for finding in self.findings if finding.severity == "warning")

    @property
    def ok(self) -> bool:
        """Return whether there are no errors, and where the check is strict no warnings."""
        return not (self.errors or (self.strict and self.warnings))

    def words(self) -> str:
        """Everything that was found, with the first places."""
        heading = f"{self.run} ({self.file}): {counted(self.errors, 'error')}, {counted(self.warnings, 'warning')}"
        return "\n".join([heading, *(line for finding in self.findings for line in finding.lines())])


@dataclass(frozen=True, eq=False, repr=False)
class Checks(Result):
    """What was found in each run; iterates over ``CheckedRun`` objects."""

    runs: list[CheckedRun]
    title = "Checks of run files, and by how much the order of tied documents moves each mean."
    judged_outside: Sequence[tuple[str, str, float]] | None = None
    """Topic, document and grade of the judgments whose document the corpus lacks, where both were given."""
    telling: Sequence[dict[str, Any]] = ()
    """With judgments, per measure whether the queries still tell the runs apart: ``measure``, ``ceiling`` (the mean of
    the best possible lists), ``queries`` with relevant documents, how many of them all runs answer perfectly
    (``perfect``), and the smallest difference that they can show (``shows``; None: unknown)."""
    words_beside = "below"

    @property
    def figures(self) -> tuple[str, ...]:  # type: ignore[override]
        """The functions of ``rankbounds.plots`` that draw it."""
        return ("leaderboard",) if self._tie_measures else ()

    def __iter__(self) -> Iterator[CheckedRun]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, number: int) -> CheckedRun:
        return self.runs[number]

    def ranking(self, measure: int = 0) -> list[dict[str, Any]]:
        """Return rows of the scored runs by their mean of a measure, the best first; equal means share a rank.

        A run ranks as high as its best order of ties allows with all others in their worst, and as low as the reverse.
        """
        effects = {run.run: run.effects[measure] for run in self.runs if run.effects}
        if not effects:
            raise DataError("No run could be scored: no run has a judged topic.")
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

    def words_of_ties(self, measure: int = 0) -> str:
        """Say what ties do to the order of the runs by a measure; nothing of one run."""
        ranking = self.ranking(measure)
        movable = [row for row in ranking if row["highest_place"] < row["lowest_place"]]
        if len(ranking) < 2 or not movable:
            return f"By {ranking[0]['measure']}, {NOTHING_MOVES}" if len(ranking) > 1 else ""
        widest = max(movable, key=lambda row: (row["lowest_place"] - row["highest_place"], row["range"], row["run"]))
        words = (
            "By {measure}, the places of {} of {} runs depend on how ties are broken; most of all for {run}, which "
            "is in place {place} and could be anywhere from {highest_place} to {lowest_place}."
        ).format(len(movable), len(ranking), **widest)
        top = ["{run} ({highest_place} to {lowest_place})".format(**row) for row in movable if row["place"] <= SHOWN]
        return f"{words} Among the top {SHOWN}: {some(top)}." if top else words

    @property
    def ok(self) -> bool:
        """Return whether every run passes; with ``strict``, the corpus must also hold all judged documents."""
        lacking = self.settings.get("strict") and self.judged_outside
        return all(run.ok for run in self.runs) and not lacking

    def rows(self) -> list[dict[str, Any]]:
        """A dict per run, with its findings as dicts."""
        return [self._row(run) | {"findings": [asdict(finding) for finding in run.findings]} for run in self.runs]

    def _row(self, run: CheckedRun) -> dict[str, Any]:
        row = {name: getattr(run, name) for name in ("run", "file", "ok", "errors", "warnings", "lines", "topics")}
        if self._tie_measures:
            row["judged"] = run.judged
            row["ties_move"] = {effect.measure: effect.width for effect in run.effects}
        return row

    @cached_property
    def _kinds(self) -> list[str]:
        return [kind for kind in KINDS if any(run.count(kind) for run in self.runs)]

    @cached_property
    def _tie_measures(self) -> list[str]:
        return next(([effect.measure for effect in run.effects] for run in self.runs if run.effects), [])

    def counts(self) -> list[dict[str, Any]]:
        """Return a flat dict per run: the number of findings by kind, and the effect of ties by measure."""
        flat = []
        for run in self.runs:
            row = self._row(run)
            moved = row.pop("ties_move", {})
            row |= {kind: run.count(kind) for kind in self._kinds}
            flat.append(row | {f"ties_move {name}": moved.get(name) for name in self._tie_measures})
        return flat

    def table(self) -> Table:
        """The runs, with how often each kind was found."""
        columns = [
            Column("run", left=True),
            Column("ok", cell=lambda row: "yes" if row["ok"] else "no", importance=6),
            count("errors", importance=5),
            count("warnings", importance=4),
            count("lines"),
            count("topics"),
            *map(_kind_column, self._kinds),
        ]
        if moved := self._tie_measures:
            columns.append(Column("judged", "judged@10", lambda row: percent(row["judged"]), importance=3))
            columns += [
                Column(f"ties_move {name}", f"ties move {name}", importance=2 * (name == moved[0])) for name in moved
            ]
        return build_table(self.counts(), columns)

    def by_finding(self) -> Table:
        """Everything that was found: in how many runs, how often, and where most."""
        rows = []
        for kind in self._kinds:
            concerned = sorted((row for row in self.counts() if row[kind]), key=lambda row: -row[kind])
            found = {"finding": KINDS[kind].heading, "severity": self._found(kind)[0][1].severity}
            times = {"runs": len(concerned), "times": sum(row[kind] for row in concerned)}
            most = {"most": f"{concerned[0]['run']}: {_kind_column(kind).text(concerned[0])}"}
            rows.append(found | times | most)
        return build_table(
            rows, [*map(Column, ("finding", "severity")), *map(count, ("runs", "times")), Column("most", "most in")]
        )

    def _found(self, kind: str) -> list[tuple[CheckedRun, Finding]]:
        return [(run, one) for run in self.runs for one in run.findings if one.kind == kind]

    def _failing(self) -> Iterator[str]:
        for kind in self._kinds:
            found = [pair for pair in self._found(kind) if pair[1].severity in FAILING[: 1 + pair[0].strict]]
            if found:
                yield f"{found[0][1].severity}: {KINDS[kind].heading}, in {counted(len(found), 'run')}"
            for run, one in found[:NAMED]:
                yield f"  {run.run}: {one.message}"
                yield from list(one.lines())[1:2]
            if len(found) > NAMED:
                yield f"  ... and {len(found) - NAMED:,} more"

    def words(self) -> str:
        """Say how many runs are ok, what the others fail by (of one run alone, all findings), and what ties decide."""
        parts = [run.words() for run in self.runs[:1]]
        if len(self.runs) > 1:
            passed = sum(run.ok for run in self.runs)
            parts = [f"{passed:,} of {len(self.runs):,} runs {'is' if passed == 1 else 'are'} ok."]
            parts.append("\n".join(self._failing()))
        of_ties = {measure: self.words_of_ties(number) for number, measure in enumerate(self._tie_measures)}
        unmoved = [measure for measure, words in of_ties.items() if NOTHING_MOVES in words]
        moved = [measure for measure, words in of_ties.items() if words and measure not in unmoved]
        told = [of_ties[measure] for measure in moved[:1]]
        told += [f"Places by {', '.join(moved[1:])} depend on it, too."] * bool(moved[1:])
        parts.append("\n".join([*told, *([f"By {', '.join(unmoved)}, {NOTHING_MOVES}"] if unmoved else [])]))
        return "\n\n".join(filter(None, parts))

    def notes(self) -> list[str]:
        """What the corpus says of the judgments."""
        lacking = self.judged_outside
        if not lacking:
            return [] if lacking is None else ["The corpus contains the documents of all judgments."]
        (topic, document, _), relevant = lacking[0], sum(grade >= 1 for _, _, grade in lacking)
        return [
            f"Judgments of documents that the corpus lacks, and no system can retrieve: {len(lacking):,}, {relevant:,} "
            f'of them relevant (such as topic {topic}, "{document}").'
        ]

    def render(self, kind: str, *, raw: bool = False) -> str:
        """Return the result in any text format; CSV and TSV have the counts, JSON the findings."""
        if kind in ("csv", "tsv"):
            flat = self.counts()
            return render_rows(flat, kind, list(flat[0]), raw=raw)
        if kind != "table" or len(self.runs) < 2:
            return super().render(kind, raw=raw) + self._telling_text() * (kind == "table")
        passed, *more = self.words().split("\n\n")
        whole = len(self.runs) <= SHOWN
        table = self.table().text() if whole else f"{self.by_finding().text()}(--format csv has a row per run)\n"
        return "\n".join([f"{passed}\n", table, *(f"{part}\n" for part in more)]) + self._telling_text()

    def _telling_text(self) -> str:
        if not self.telling:
            return ""
        if len(self.runs) > SHOWN:
            first, shows = self.telling[0], ""
            if first["shows"] is not None:
                shows = f"; differences from {first['shows']:.4f} on are shown 80% of the time"
            return (
                f"\nBy {first['measure']}, the best possible mean is {first['ceiling']:.4f}; {first['perfect']:,} of "
                f"{first['queries']:,} queries are answered perfectly by all runs{shows}.\n"
            )
        columns = [
            Column("measure"),
            Column("ceiling"),
            Column("perfect", "perfect in all runs", lambda row: f"{row['perfect']:,} of {row['queries']:,}"),
            Column("shows", "shows differences from"),
        ]
        return (
            f"\n{build_table(list(self.telling), columns).text()}\nceiling: the mean of the best possible lists.\n"
            "perfect in all runs: queries with relevant documents that every run answers\nas well as that.\n"
            "shows differences from: the smallest true difference of two runs that is found\n"
            "80% of the time (t test); - where there is none to compute.\n"
        )


def _kind_column(kind: str) -> Column:
    def cell(row: Row) -> str:
        total = row["topics" if KINDS[kind].unit == "topic" else "lines"]
        shared = KINDS[kind].severity != "error" and row[kind] and total
        return f"{row[kind]:,} ({row[kind] / total:.1%})" if shared else f"{row[kind]:,}"

    return Column(kind, KINDS[kind].heading, cell)
