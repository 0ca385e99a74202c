"""Tables of scores by topic, as many tools write them: rows, matrices, ``trec_eval -q``, nested JSON, data frames.

What a file is shows in its contents. Names are taken as they stand: which of them are measures, whoever calls says, by
``is_measure``. The topic ``all`` is a mean, kept apart. A file that holds means alone is refused, since nothing that
is said over topics can be said from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from rankbounds.errors import DataError, Place
from rankbounds.files.json_formats import is_mteb_scores
from rankbounds.files.named_columns import QUERY_NAMES, find_column
from rankbounds.files.objects import listed_values
from rankbounds.files.opening import PARQUET_MAGIC, STANDARD_INPUT, plain_name, read_content
from rankbounds.files.parquet import read_frame
from rankbounds.files.records import (
    decoded,
    filled_lines,
    first_line_of,
    is_number,
    json_records,
    records,
    separator_in,
    table_rows,
)
from rankbounds.tables import without_apostrophe

ALL = "all"
"""The topic that stands for the mean over all."""
SCORE = "score"
"""What a measure is called of which a table does not say the name."""
RUN_NAMES = ("run", "run_id", "runid", "system", "model", "name", "system_id", "run_name")
MEASURE_NAMES = ("measure", "metric")
VALUE_NAMES = ("value", "score")
NOT_SCORES = ("low", "high", "judged_at_10", "certain", "residual_unjudged", "residual_tail", "residual_ties")
"""Columns of our own tables beside the value."""
MISSING = frozenset(("", "nan", "na", "n/a", "null", "none", "-"))
"""What stands in a cell without a score, in any case."""
TRUTH = {"true": 1.0, "false": 0.0}
"""Scores that are a success or none."""
ENDINGS = (".trec_eval", ".eval", ".scores")
"""Of files of scores, beside those of any table; no part of a run's name."""
TEXT_ROWS = ("runid", "relstring")
"""What trec_eval prints as text, not as a number."""
MEANS_ALONE = "only means over topics stand here, and every test and interval needs the scores of single topics."

IsMeasure = Callable[[str], bool]


@dataclass
class ScoreTable:
    """What one file states: scores by run, topic and measure, and the means that it gives beside them."""

    file: str
    name: str
    """What to call a run of which the file does not say the name."""
    cells: dict[tuple[str, str, str], tuple[float, float, float]] = field(default_factory=dict)
    """(run, query_id, measure): value, low, high."""
    means: dict[tuple[str, str], float] = field(default_factory=dict)
    """(run, measure): the mean that the file states."""

    def add(self, key: tuple[str, str, str], place: Place, value: Any, low: Any = None, high: Any = None) -> None:
        """Take in a score; a cell without one is left out."""
        run, query, measure = key
        number = _number(value, place)
        if math.isnan(number):
            return
        if query == ALL:
            self.means[run, measure] = number
            return
        if key in self.cells:
            raise DataError(
                place, f"a second score of {measure} for topic {query} and run {run}.", "Keep one score of each."
            )
        self.cells[key] = number, _number(low, place), _number(high, place)

    def checked(self) -> ScoreTable:
        """The table itself; refused where no topic has a score."""
        if not self.cells:
            raise DataError(
                self.file,
                MEANS_ALONE if self.means else "no score stands here.",
                "Write the scores of topics too (-q in trec_eval and rankbounds)." if self.means else "",
            )
        return self


def read_score_table(
    path: str, is_measure: IsMeasure, *, name: str | None = None, columns: Mapping[str, str] | None = None
) -> ScoreTable | Mapping[str, Any]:
    """One file of scores; scores that rankbounds saved are handed back as the JSON that they are.

    ``name`` is that of the file's only run or, for a matrix, of its measure; ``columns`` says what the table calls
    ``run``, ``query_id``, ``measure`` and ``value``.
    """
    content = read_content(path)
    table = ScoreTable(content.name, name or _name_of(path))
    of_matrix = name or (table.name if is_measure(table.name) else SCORE)
    layout = partial(_Columns, table, is_measure, of_matrix, columns or {})
    if content.starts_with(PARQUET_MAGIC):
        frame = read_frame(path, content.tobytes() if path == STANDARD_INPUT else None)
        layout(frame.columns).read(_placed(table.file, frame.iter_rows(named=True)))
        return table.checked()
    text = decoded(content.text())
    if text.lstrip()[:1] in ("{", "["):
        held = json_records(text, table.file)
        if isinstance(held, Mapping):
            if str(held.get("format", "")).startswith("rankbounds scores"):
                return held
            _read_nested(held, table, is_measure, of_matrix)
        else:
            if not held or not all(isinstance(row, Mapping) for _, row in held):
                raise DataError(table.file, "a table of scores in JSON is a list of objects, or an object.")
            layout(list(dict.fromkeys(name for _, row in held for name in row))).read(held)
    elif _is_trec_eval(text):
        _read_trec_eval(text, table, is_measure, named=name is not None)
    else:
        if separator_in(first_line_of(text), "\t,;") is None:
            raise DataError(
                Place(table.file, 1),
                "this is no table of scores that is known.",
                "Known are CSV, TSV, JSON and Parquet with a score a row or a topic a row, and trec_eval -q's output.",
            )
        rows = table_rows(text, table.file, "\t,;")
        _, header = next(rows, (None, []))
        plain = ((place, list(map(without_apostrophe, row))) for place, row in rows)
        if header:  # otherwise no cell holds anything
            layout(header).read(records(plain, header))
    return table.checked()


def _placed(file: str, rows: Iterable[Mapping[str, Any]]) -> Iterable[tuple[Place, Mapping[str, Any]]]:
    return ((Place(file, row=number), row) for number, row in enumerate(rows, 1))


def read_score_frame(given: Any, is_measure: IsMeasure, columns: Mapping[str, str] | None = None) -> ScoreTable:
    """A pandas, polars or pyarrow frame of scores, as a file with the same columns is read."""
    given = given.collect() if type(given).__name__ == "LazyFrame" else given
    columns_given = list(getattr(given, "column_names", None) or given.columns)
    names = list(map(str, columns_given))
    table = ScoreTable("the data frame", "run")
    rows = zip(*(listed_values(given[name]) for name in columns_given), strict=True)
    layout = _Columns(table, is_measure, SCORE, columns or {}, names)
    layout.read(_placed(table.file, (dict(zip(names, row, strict=True)) for row in rows)))
    return table.checked()


def _name_of(path: str) -> str:
    name = plain_name(path)
    return next((name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending) and name != ending), name)


def _number(value: Any, place: Place) -> float:
    if value is None:
        return math.nan
    if isinstance(value, str):
        text = value.strip().lower()
        if text in MISSING:
            return math.nan
        if text in TRUTH:
            return TRUTH[text]
        if "_" not in text:
            try:
                return float(text)
            except ValueError:
                pass
    elif isinstance(value, int | float | np.number | np.bool_):
        return float(value)
    problem = f'the score "{str(value).strip()}" is not a number.'
    raise DataError(place, problem, "Leave the cell empty where there is no score.")


# ---- trec_eval -q, ir_measures -q ----


def _fields(line: str) -> list[str]:
    """The measure, the topic and the value of a line; a run's name may hold blanks."""
    parts = [part.strip() for part in line.split("\t")]
    return parts if len(parts) == 3 else line.split(None, 2)


def _is_trec_eval(text: str) -> bool:
    parts = _fields(first_line_of(text))
    return len(parts) == 3 and (parts[0] in TEXT_ROWS or is_number(parts[2])) and "," not in parts[0]


def _topic_comes_first(lines: Iterable[Sequence[str]], is_measure: IsMeasure) -> bool:
    """ir_measures prints the topic before the measure: where the means say so, or the names of measures."""
    first, second = (set(names) for names in zip(*((line[0], line[1]) for line in lines), strict=True))
    if (ALL in first) != (ALL in second):
        return ALL in first
    return mostly(second, is_measure) and not mostly(first, is_measure)


def _read_trec_eval(text: str, table: ScoreTable, is_measure: IsMeasure, *, named: bool) -> None:
    """Lines ``measure, topic, value``, or ``topic, measure, value`` as ir_measures prints them.

    A run ends where topics, or another run's name, follow means. trec_eval tells a run's name (``runid``) among the
    means, behind the topics; a table of several runs before them.
    """
    sections: list[list[tuple[Place, list[str]]]] = [[]]
    names: list[str | None] = [None]
    means_began = False
    lines = [(place, _fields(line)) for place, line in filled_lines(text, table.file)]
    for place, parts in lines:
        if len(parts) != 3:
            raise no_line_of_trec_eval(place, len(parts))
    topic_first = _topic_comes_first((parts for _, parts in lines), is_measure)
    for place, fields in lines:
        parts = [fields[1], fields[0], fields[2]] if topic_first else fields
        names_run = parts[0] == "runid"
        if means_began and (parts[1] != ALL or names_run) and not (names_run and names[-1] is None):
            sections.append([])
            names.append(None)
            means_began = False
        if names_run:
            names[-1] = parts[2]
            means_began = bool(sections[-1])
            continue
        means_began = means_began or parts[1] == ALL
        if parts[0] not in TEXT_ROWS:
            sections[-1].append((place, parts))
    alone = len(sections) == 1
    for number, (section, given) in enumerate(zip(sections, names, strict=True), 1):
        run = table.name if given is None or (named and alone) else given
        if given is None and not alone:
            run = f"{run} #{number}"
        for place, (measure, query, value) in section:
            table.add((run, query, measure), place, value)


def no_line_of_trec_eval(place: Place, fields: int) -> DataError:
    """What is wrong with a line of so many fields."""
    problem = f"a line of trec_eval's output is a measure, a topic and a value; this one has {fields} fields."
    return DataError(place, problem)


# ---- tables with named columns ----


class _Columns:
    """What the columns of a table are: a score a row, or a topic (or run) a row with a column for each score."""

    def __init__(
        self,
        table: ScoreTable,
        is_measure: IsMeasure,
        of_matrix: str,
        columns: Mapping[str, str],
        header: Sequence[str],
    ) -> None:
        self.table, self.of_matrix, self.header = table, of_matrix, header
        unknown = [ours for ours in columns if ours not in ("run", "query_id", "measure", "value")]
        if unknown:
            raise DataError(
                table.file, f'a table of scores has no "{unknown[0]}".', "It has run, query_id, measure and value."
            )
        place = Place(table.file, 1)
        repeated = [name for name in header if name and header.count(name) > 1]
        if repeated:
            raise DataError(place, f'two columns are called "{repeated[0]}".', "Rename one.")

        def called(ours: str, known: tuple[str, ...]) -> str | None:
            if ours in columns and columns[ours] not in header:
                raise DataError(place, f'there is no column "{columns[ours]}".')
            return columns.get(ours) or find_column(header, known)

        self.run, self.query = called("run", RUN_NAMES), called("query_id", QUERY_NAMES)
        self.measure = called("measure", MEASURE_NAMES)
        if self.query is None and self.run is None and header and not header[0]:
            self.query = ""  # what data frames write for their index
        self.value = called("value", VALUE_NAMES) if self.measure is not None or "value" in columns else None
        taken = (self.run, self.query, self.measure, self.value)
        self.wide = [name for name in header if name not in taken]
        if self.value is not None:
            self.layout = "tidy"
            if self.query is None:
                raise self._lacking("topics", QUERY_NAMES)
            return
        if self.measure is not None:
            raise self._lacking("scores", VALUE_NAMES)
        named = any(map(is_measure, self.wide))
        if self.query is None:
            if self.run is None:
                raise self._lacking("topics", QUERY_NAMES)
            if named:
                raise DataError(place, MEANS_ALONE)
            self.layout = "topics across"
        elif self.run is not None or named:
            self.layout = "measures across"
            self.wide = [name for name in self.wide if name not in NOT_SCORES]
        else:
            self.layout = "runs across"
        if not self.wide:
            raise DataError(place, "no column holds scores.")

    def _lacking(self, what: str, known: tuple[str, ...]) -> DataError:
        return DataError(
            Place(self.table.file, 1),
            f"no column holds {what}: none of {', '.join(self.header[:12])} is one of {', '.join(known)}.",
            "Say what it is called: --columns query_id=...,run=...,measure=...,value=... (columns= in Python).",
        )

    def read(self, rows: Iterable[tuple[Place, Mapping[str, Any]]]) -> None:
        """Put every score into the table."""
        table = self.table
        for place, row in rows:
            query = "" if self.query is None else _name(row.get(self.query), "topic", place)
            run = table.name if self.run is None else _name(row.get(self.run), "run", place)
            if self.value is not None:
                measure = self.of_matrix if self.measure is None else _name(row.get(self.measure), "measure", place)
                table.add((run, query, measure), place, row.get(self.value), row.get("low"), row.get("high"))
                continue
            for name in self.wide:
                key = {
                    "topics across": (run, name, self.of_matrix),
                    "measures across": (run, query, name),
                    "runs across": (name, query, self.of_matrix),
                }[self.layout]
                table.add(key, place, row.get(name))


def _name(value: Any, what: str, place: Place) -> str:
    text = str(value).strip() if value is not None else ""
    if not text:
        raise DataError(place, f"the {what} has no name.")
    return text


# ---- JSON ----


def is_ranx_report(content: Mapping[str, Any]) -> bool:
    """Is this ranx' report on several runs?"""
    return "model_names" in content and "metrics" in content


def _read_nested(content: Mapping[str, Any], table: ScoreTable, is_measure: IsMeasure, of_matrix: str) -> None:
    if is_mteb_scores(content):
        raise DataError(
            table.file,
            f"these are MTEB's results: {MEANS_ALONE}",
            "Let MTEB save its predictions (prediction_folder=...), and compare these with the judgments.",
        )
    if is_ranx_report(content):
        raise DataError(
            table.file,
            f"this is ranx' report: {MEANS_ALONE}",
            "Save run.scores instead, which holds {measure: {query: score}} after ranx' evaluate.",
        )
    for key, value in _nested(content, _layers(content), is_measure, table, of_matrix):
        table.add(key, Place(table.file), value)


def _layers(content: Any) -> int:
    """How many names stand before a number."""
    layers = 0
    while isinstance(content, Mapping) and content:
        content, layers = next(iter(content.values())), layers + 1
    return layers


def _nested(
    content: Mapping[str, Any], layers: int, is_measure: IsMeasure, table: ScoreTable, of_matrix: str
) -> Iterable[tuple[tuple[str, str, str], Any]]:
    """Every (run, topic, measure) of nested objects with its number."""
    if layers == 1:
        if mostly(content, is_measure):
            raise DataError(table.file, MEANS_ALONE, "Save a score for each query.")
        yield from (((table.name, query, of_matrix), value) for query, value in content.items())
        return
    if layers not in (2, 3):
        raise DataError(
            table.file,
            "this is no table of scores that is known.",
            "In JSON: rows, {query: {measure: score}}, {measure: {query: score}}, or these by run.",
        )
    by_run: Mapping[str, Any] = {table.name: content} if layers == 2 else content
    for run, outer in by_run.items():
        if not isinstance(outer, Mapping) or not all(isinstance(inner, Mapping) for inner in outer.values()):
            raise DataError(table.file, f'what stands under "{run}" is nested less deep than the rest.')
        names = list(dict.fromkeys(name for inner in outer.values() for name in inner))
        if mostly(outer, is_measure):
            if mostly(names, is_measure):
                raise DataError(
                    table.file, MEANS_ALONE, "BEIR's evaluate gives no more: compare the rankings with the judgments."
                )
            cells = [(query, measure, value) for measure, inner in outer.items() for query, value in inner.items()]
        else:
            cells = [(query, measure, value) for query, inner in outer.items() for measure, value in inner.items()]
        yield from (((run, query, measure), value) for query, measure, value in cells)


def mostly(names: Iterable[str], is_measure: IsMeasure) -> bool:
    """Are most of these names of measures?"""
    known = [is_measure(name) for name in names]
    return 2 * sum(known) > len(known)
