"""Tables of scores by topic, as many tools write them: rows, matrices, ``trec_eval -q``, nested JSON, data frames.

What a file is shows in its contents. Names are taken as they stand: which of them are measures, whoever calls says, by
``is_measure``. The topic ``all`` is a mean, kept apart. A file that holds means alone is refused, since nothing that
is said over topics can be said from it.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankbounds.errors import DataError, Place
from rankbounds.files import json_text
from rankbounds.files.frame_columns import listed_values
from rankbounds.files.named_columns import QUERY_NAMES, find_column
from rankbounds.files.opening import PARQUET_MAGIC, STANDARD_INPUT, Content, plain_name, read_content
from rankbounds.files.parquet import read_frame
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
    if content.starts_with(PARQUET_MAGIC):
        frame = read_frame(path, content.tobytes() if path == STANDARD_INPUT else None)
        header = list(map(str, frame.columns))
        rows = ((Place(table.file, row=number), row) for number, row in enumerate(frame.iter_rows(), 1))
        _Columns(header, table, is_measure, of_matrix, columns or {}).read(rows)
        return table.checked()
    text = _text(content)
    first = text.lstrip()[:1]
    if first in ("{", "["):
        return _read_json(text, table, is_measure, of_matrix, columns or {})
    if _is_trec_eval(text):
        _read_trec_eval(text, table, is_measure, named=name is not None)
    else:
        _read_delimited(text, table, is_measure, of_matrix, columns or {})
    return table.checked()


def read_score_frame(given: Any, is_measure: IsMeasure, columns: Mapping[str, str] | None = None) -> ScoreTable:
    """A pandas, polars or pyarrow frame of scores, as a file with the same columns is read."""
    given = given.collect() if type(given).__name__ == "LazyFrame" else given
    names = list(getattr(given, "column_names", None) or given.columns)
    table = ScoreTable("the data frame", "run")
    rows = zip(*(listed_values(given[name]) for name in names), strict=True)
    layout = _Columns(list(map(str, names)), table, is_measure, SCORE, columns or {})
    layout.read((Place(table.file, row=number), row) for number, row in enumerate(rows, 1))
    return table.checked()


def _name_of(path: str) -> str:
    name = plain_name(path)
    return next((name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending) and name != ending), name)


def _text(content: Content) -> str:
    text = content.text()
    return text.buffer[text.begin : text.end].tobytes().decode("utf-8", "surrogateescape")


def _number(value: Any, place: Place) -> float:
    if value is None:
        return math.nan
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in MISSING:
            return math.nan
        if text.lower() in TRUTH:
            return TRUTH[text.lower()]
        if "_" in text:
            value = None
        else:
            try:
                return float(text)
            except ValueError:
                value = None
    elif isinstance(value, int | float | np.number | np.bool_):
        return float(value)
    shown = text if value is None else value
    raise DataError(place, f'the score "{shown}" is not a number.', "Leave the cell empty where there is no score.")


# ---- trec_eval -q, ir_measures -q ----


def _fields(line: str) -> list[str]:
    """The measure, the topic and the value of a line; a run's name may hold blanks."""
    parts = [part.strip() for part in line.split("\t")]
    return parts if len(parts) == 3 else line.split(None, 2)


def _is_trec_eval(text: str) -> bool:
    first = next((line for line in text.split("\n") if line.strip()), "")
    parts = _fields(first)
    return len(parts) == 3 and (parts[0] in TEXT_ROWS or _is_number(parts[2])) and "," not in parts[0]


def _topic_comes_first(lines: Iterable[Sequence[str]], is_measure: IsMeasure) -> bool:
    """ir_measures prints the topic before the measure: where the means say so, or the names of measures."""
    first, second = (set(names) for names in zip(*((line[0], line[1]) for line in lines), strict=True))
    if (ALL in first) != (ALL in second):
        return ALL in first
    return _mostly(second, is_measure) and not _mostly(first, is_measure)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_trec_eval(text: str, table: ScoreTable, is_measure: IsMeasure, *, named: bool) -> None:
    """Lines ``measure, topic, value``, or ``topic, measure, value`` as ir_measures prints them.

    A run ends where topics, or another run's name, follow means. trec_eval tells a run's name (``runid``) among the
    means, behind the topics; a table of several runs before them.
    """
    sections: list[list[tuple[int, list[str]]]] = [[]]
    names: list[str | None] = [None]
    means_began = False
    lines = [(number, _fields(line)) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for number, parts in lines:
        if len(parts) != 3:
            raise DataError(
                Place(table.file, number),
                f"a line of trec_eval's output is a measure, a topic and a value; this one has {len(parts)} fields.",
            )
    topic_first = _topic_comes_first((parts for _, parts in lines), is_measure)
    for number, fields in lines:
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
            sections[-1].append((number, parts))
    alone = len(sections) == 1
    for place, (section, given) in enumerate(zip(sections, names, strict=True), 1):
        run = table.name if given is None or (named and alone) else given
        if given is None and not alone:
            run = f"{run} #{place}"
        for number, (measure, query, value) in section:
            table.add((run, query, measure), Place(table.file, number), value)


# ---- tables with named columns ----


def _read_delimited(
    text: str, table: ScoreTable, is_measure: IsMeasure, of_matrix: str, columns: Mapping[str, str]
) -> None:
    first = text.split("\n")[0] if text else ""
    separator = "\t" if "\t" in first else ";" if ";" in first and "," not in first else ","
    if separator not in first:
        raise DataError(
            Place(table.file, 1),
            "this is no table of scores that is known.",
            "Known are CSV, TSV, JSON and Parquet with a score a row or a topic a row, and trec_eval -q's output.",
        )
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
    try:
        header = [name.strip() for name in next(reader)]
        layout = _Columns(header, table, is_measure, of_matrix, columns)
        layout.read(_lines(reader, table.file, len(header)))
    except csv.Error as error:
        raise DataError(Place(table.file, reader.line_num), f"cannot be read as a table ({error}).") from None


def _lines(reader: Any, file: str, count: int) -> Iterable[tuple[Place, Sequence[str]]]:
    for row in reader:
        place = Place(file, reader.line_num)
        if len(row) > count:
            raise DataError(place, f"there are {len(row)} fields in a table of {count} columns.")
        if any(cell.strip() for cell in row):
            yield place, [without_apostrophe(cell.strip()) for cell in row] + [""] * (count - len(row))


class _Columns:
    """What the columns of a table are: a score a row, or a topic (or run) a row with a column for each score."""

    def __init__(
        self,
        header: Sequence[str],
        table: ScoreTable,
        is_measure: IsMeasure,
        of_matrix: str,
        columns: Mapping[str, str],
    ) -> None:
        self.table, self.of_matrix = table, of_matrix
        unknown = [ours for ours in columns if ours not in ("run", "query_id", "measure", "value")]
        if unknown:
            raise DataError(
                table.file, f'a table of scores has no "{unknown[0]}".', "It has run, query_id, measure and value."
            )
        place = Place(table.file, 1)
        repeated = [name for name in header if name and header.count(name) > 1]
        if repeated:
            raise DataError(place, f'two columns are called "{repeated[0]}".', "Rename one.")

        def at(ours: str, known: tuple[str, ...]) -> int | None:
            if ours in columns:
                if columns[ours] not in header:
                    raise DataError(place, f'there is no column "{columns[ours]}".')
                return header.index(columns[ours])
            found = find_column(header, known)
            return None if found is None else header.index(found)

        self.run, self.query = at("run", RUN_NAMES), at("query_id", QUERY_NAMES)
        self.measure = at("measure", MEASURE_NAMES)
        if self.query is None and self.run is None and header and not header[0]:
            self.query = 0  # what data frames write for their index
        self.value = at("value", VALUE_NAMES) if self.measure is not None or "value" in columns else None
        taken = (self.run, self.query, self.measure, self.value)
        self.wide = [(number, name) for number, name in enumerate(header) if number not in taken]
        self.header = header
        if self.value is not None:
            self.low, self.high = (header.index(end) if end in header else None for end in ("low", "high"))
            self.layout = "tidy"
            if self.query is None:
                raise self._lacking("topics", QUERY_NAMES)
            return
        if self.measure is not None:
            raise self._lacking("scores", VALUE_NAMES)
        named = [name for _, name in self.wide if is_measure(name)]
        if self.query is None:
            if self.run is None:
                raise self._lacking("topics", QUERY_NAMES)
            if named:
                raise DataError(place, MEANS_ALONE)
            self.layout = "topics across"
        elif self.run is not None or named:
            self.layout = "measures across"
            self.wide = [(number, name) for number, name in self.wide if name not in NOT_SCORES]
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

    def read(self, rows: Iterable[tuple[Place, Sequence[Any]]]) -> None:
        """Put every score into the table."""
        table = self.table
        for place, row in rows:
            query = None if self.query is None else _name(row[self.query], "topic", place)
            run = table.name if self.run is None else _name(row[self.run], "run", place)
            if self.layout == "tidy":
                assert query is not None
                assert self.value is not None
                measure = self.of_matrix if self.measure is None else _name(row[self.measure], "measure", place)
                ends = (None if end is None else row[end] for end in (self.low, self.high))
                table.add((run, query, measure), place, row[self.value], *ends)
                continue
            for number, name in self.wide:
                key = {
                    "topics across": (run, name, self.of_matrix),
                    "measures across": (run, query or "", name),
                    "runs across": (name, query or "", self.of_matrix),
                }[self.layout]
                table.add(key, place, row[number])


def _name(value: Any, what: str, place: Place) -> str:
    text = str(value).strip() if value is not None else ""
    if not text:
        raise DataError(place, f"the {what} has no name.")
    return text


# ---- JSON ----


def _read_json(
    text: str, table: ScoreTable, is_measure: IsMeasure, of_matrix: str, columns: Mapping[str, str]
) -> ScoreTable | Mapping[str, Any]:
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and all(line.lstrip().startswith("{") and line.rstrip().endswith("}") for line in lines):
        content = json_text.parse_lines(text.encode("utf-8", "surrogateescape"), table.file)
    else:
        content = json_text.parse(text, table.file)
    if isinstance(content, list):
        return _of_rows(content, table, is_measure, of_matrix, columns)
    if str(content.get("format", "")).startswith("rankbounds scores"):
        return dict(content)
    _refuse_means(content, table.file)
    layers = _layers(content)
    place = Place(table.file)
    for key, inner in _nested(content, layers, is_measure, table, of_matrix):
        table.add(key, place, inner)
    return table.checked()


def _of_rows(
    rows: list[Any], table: ScoreTable, is_measure: IsMeasure, of_matrix: str, columns: Mapping[str, str]
) -> ScoreTable:
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise DataError(table.file, "a table of scores in JSON is a list of objects, or an object.")
    header = list(dict.fromkeys(name for row in rows for name in row))
    layout = _Columns(header, table, is_measure, of_matrix, columns)
    layout.read(
        (Place(table.file, row=number), [row.get(name) for name in header]) for number, row in enumerate(rows, 1)
    )
    return table.checked()


def _refuse_means(content: Mapping[str, Any], file: str) -> None:
    if "scores" in content and ("task_name" in content or "mteb_version" in content):
        raise DataError(
            file,
            f"these are MTEB's results: {MEANS_ALONE}",
            "Let MTEB save its predictions (prediction_folder=...), and compare these with the judgments.",
        )
    if "model_names" in content and "metrics" in content:
        raise DataError(
            file,
            f"this is ranx' report: {MEANS_ALONE}",
            "Save run.scores instead, which holds {measure: {query: score}} after ranx' evaluate.",
        )


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
        if _mostly(content, is_measure):
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
        if _mostly(outer, is_measure):
            if _mostly(names, is_measure):
                raise DataError(
                    table.file, MEANS_ALONE, "BEIR's evaluate gives no more: compare the rankings with the judgments."
                )
            cells = [(query, measure, value) for measure, inner in outer.items() for query, value in inner.items()]
        else:
            cells = [(query, measure, value) for query, inner in outer.items() for measure, value in inner.items()]
        yield from (((run, query, measure), value) for query, measure, value in cells)


def _mostly(names: Iterable[str], is_measure: IsMeasure) -> bool:
    known = [is_measure(name) for name in names]
    return 2 * sum(known) > len(known)
