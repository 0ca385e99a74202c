"""Tables of scores per topic from many tools: rows, matrices, ``trec_eval -q``, nested JSON, data frames.

The format is recognised from the contents. Names are kept as written; the caller's ``is_measure`` says which of them
are measures. The topic ``all`` is a mean, kept separately. A file with only means is refused, since it allows no test
and no interval over topics.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankbounds.errors import DataError, Place, warn
from rankbounds.files.json_formats import is_mteb_scores
from rankbounds.files.named_columns import QUERY_NAMES, find_column
from rankbounds.files.objects import frame_columns, listed_values
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
"""The name of a measure that a table does not name."""
COLUMNS = {
    "run": ("run", "run_id", "runid", "system", "model", "name", "system_id", "run_name", "model_name", "agent"),
    "query_id": (
        *QUERY_NAMES,
        "item",
        "item_id",
        "sample_id",
        "question_id",
        "task_id",
        "example_id",
        "instance_id",
        "id",
    ),
    "measure": ("measure", "metric"),
    "value": ("value", "score"),
    "seed": ("seed", "trial", "epoch", "repeat", "replicate", "attempt", "random_seed"),
    "cluster": ("cluster", "cluster_id", "conversation", "conversation_id", "session", "session_id"),
}
"""The names of columns, and the names that tables use for them."""
GROUPS = ("group", "group_id")
"""Columns that may be of clusters, or of something else."""
NOT_SCORES = (
    "low",
    "high",
    "ci_low",
    "ci_high",
    "judged_at_10",
    "certain",
    "residual_unjudged",
    "residual_tail",
    "residual_ties",
)
"""Columns of our own tables beside the value."""
MISSING = frozenset(("", "nan", "na", "n/a", "null", "none", "-"))
"""A cell without a score, in any case."""
TRUTH = {"true": 1.0, "false": 0.0}
ENDINGS = (".trec_eval", ".eval", ".scores")
"""Of files of scores, beside those of any table; no part of a run's name."""
TEXT_ROWS = ("runid", "relstring")
"""What trec_eval prints as text, not as a number."""
MEANS_ALONE = "the file has only means over topics, but tests and intervals need the scores of each topic."

IsMeasure = Callable[[str], bool]
Key = tuple[str, str, str]
"""Run, query and measure."""


@dataclass
class ScoreTable:
    """The scores of one file by run, topic and measure, and the means in it."""

    file: str
    name: str
    """What to call a run that the file does not name."""
    cells: dict[Key, tuple[float, float, float]] = field(default_factory=dict)
    """Value, low and high."""
    means: dict[tuple[str, str], float] = field(default_factory=dict)
    """(run, measure): the mean that the file states."""
    clusters: dict[str, str] = field(default_factory=dict)
    """The cluster of each query, if the file has a column of clusters."""
    by_seed: dict[Key, dict[str, float]] = field(default_factory=dict)
    """The scores of an item by seed, where the file has several: their mean is one observation."""

    def add(
        self, key: Key, place: Place, value: Any, low: Any = None, high: Any = None, seed: str | None = None
    ) -> None:
        """Add a score; empty cells are skipped, and several seeds are averaged at the end."""
        run, query, measure = key
        number = _number(value, place)
        if math.isnan(number):
            return
        if seed is not None:
            of_item = self.by_seed.setdefault(key, {})
            if seed in of_item:
                problem = f"a second score of {measure} for item {query}, run {run} and seed {seed}."
                raise DataError(place, problem, "Keep one score of each.")
            of_item[seed] = number
            return
        if query == ALL:
            self.means[run, measure] = number
            return
        if key in self.cells:
            problem = f"a second score of {measure} for topic {query} and run {run}."
            raise DataError(place, problem, "Keep one score of each.")
        self.cells[key] = number, _number(low, place), _number(high, place)

    def checked(self) -> ScoreTable:
        """Return the table with seeds averaged; raise if no topic has a score."""
        if self.by_seed:
            for key, scores in self.by_seed.items():
                self.cells[key] = sum(scores.values()) / len(scores), math.nan, math.nan
            most, least = (extreme(map(len, self.by_seed.values())) for extreme in (max, min))
            if most > 1:
                seeds = str(most) if most == least else f"{least} to {most}"
                warn(
                    f"{self.file}: {seeds} seeds per item are averaged before testing, because repeated items are not "
                    "independent."
                )
        if not self.cells:
            raise DataError(
                self.file,
                MEANS_ALONE if self.means else "the file holds no score.",
                "Write the scores of topics too (-q in trec_eval and rankbounds)." if self.means else "",
            )
        return self


def read_score_table(
    path: str, is_measure: IsMeasure, *, name: str | None = None, columns: Mapping[str, str] | None = None
) -> ScoreTable | Mapping[str, Any]:
    """Read one file of scores; scores saved by rankbounds are returned as their JSON.

    ``name`` is that of the file's only run or, for a matrix, of its measure; ``columns`` are the table's names for
    ``run``, ``query_id``, ``measure`` and ``value``.
    """
    content = read_content(path)
    own = plain_name(path)
    own = next((own.removesuffix(ending) for ending in ENDINGS if own.endswith(ending) and own != ending), own)
    table = ScoreTable(content.name, name or own)
    of_matrix = name or (table.name if is_measure(table.name) else SCORE)

    def read(header: Sequence[str], rows: Iterable[tuple[Place, Mapping[str, Any]]]) -> None:
        _Layout(header, columns or {}, is_measure, table.file).read(rows, table, of_matrix)

    if content.starts_with(PARQUET_MAGIC):
        read(*_rows_of_frame(read_frame(path, content.tobytes() if path == STANDARD_INPUT else None), table.file))
        return table.checked()
    text = decoded(content.text())
    if text.lstrip()[:1] in ("{", "["):
        held = json_records(text, table.file)
        if isinstance(held, Mapping):
            if str(held.get("format", "")).startswith("rankbounds scores"):
                return held
            for key, value in _nested_cells(held, is_measure, table, of_matrix):
                table.add(key, Place(table.file), value)
        else:
            if not held or not all(isinstance(row, Mapping) for _, row in held):
                raise DataError(table.file, "a table of scores in JSON is a list of objects, or an object.")
            read(list(dict.fromkeys(name for _, row in held for name in row)), held)
    elif _is_leaderboard(text):
        _read_leaderboard(text, table, is_measure)
    elif _is_trec_eval(text):
        _read_trec_eval(text, table, is_measure, named=name is not None)
    else:
        if separator_in(first_line_of(text), "\t,;") is None:
            raise DataError(
                Place(table.file, 1),
                "this is not a table of scores in a known format.",
                "Known formats are CSV, TSV, JSON and Parquet with one score or topic per row, the output of "
                "trec_eval -q, and lines of run, measure, topic and value.",
            )
        rows = table_rows(text, table.file, "\t,;")
        _, header = next(rows, (None, []))
        plain = ((place, list(map(without_apostrophe, row))) for place, row in rows)
        if header:  # otherwise no cell holds anything
            read(header, records(plain, header))
    return table.checked()


def read_score_frame(given: Any, is_measure: IsMeasure, columns: Mapping[str, str] | None = None) -> ScoreTable:
    """Read a pandas, polars or pyarrow frame of scores like a file."""
    table = ScoreTable("the data frame", "run")
    header, rows = _rows_of_frame(given.collect() if type(given).__name__ == "LazyFrame" else given, table.file)
    _Layout(header, columns or {}, is_measure, table.file).read(rows, table, SCORE)
    return table.checked()


def _rows_of_frame(frame: Any, file: str) -> tuple[list[str], Iterable[tuple[Place, Mapping[str, Any]]]]:
    named = {str(name): listed_values(frame[name]) for name in frame_columns(frame) or ()}
    rows = enumerate(zip(*named.values(), strict=True), 1)
    return list(named), ((Place(file, row=number), dict(zip(named, row, strict=True))) for number, row in rows)


def _number(value: Any, place: Place) -> float:
    if value is None:
        return math.nan
    if isinstance(value, int | float | np.number | np.bool_):
        with contextlib.suppress(OverflowError):
            return float(value)
        raise DataError(place, "the score is too large for a number.")
    text = str(value).strip()
    if isinstance(value, str):
        if text.lower() in MISSING:
            return math.nan
        if text.lower() in TRUTH:
            return TRUTH[text.lower()]
        if "_" not in text and is_number(text):
            number = float(text)
            if math.isfinite(number) or not text[-1].isdigit():
                return number
            raise DataError(place, "the score is too large for a number.")
    raise DataError(place, f'the score "{text}" is not a number.', "Leave the cell empty where there is no score.")


# ---- trec_eval -q, ir_measures -q ----


def _fields(line: str) -> list[str]:
    parts = [part.strip() for part in line.split("\t")]
    return parts if len(parts) == 3 else line.split(None, 2)


def _is_trec_eval(text: str) -> bool:
    parts = _fields(first_line_of(text))
    return len(parts) == 3 and (parts[0] in TEXT_ROWS or is_number(parts[2])) and "," not in parts[0]


def _read_trec_eval(text: str, table: ScoreTable, is_measure: IsMeasure, *, named: bool) -> None:
    """Read lines ``measure, topic, value``, or ``topic, measure, value`` as ir_measures prints them.

    A run ends where topics, or another run's name, follow means. trec_eval prints a run's name (``runid``) among the
    means, after the topics; a table of several runs before them.
    """
    lines = [(place, _fields(line)) for place, line in filled_lines(text, table.file)]
    for place, parts in lines:
        if len(parts) != 3:
            raise no_line_of_trec_eval(place, len(parts))
    # ir_measures prints the topic before the measure: the place of the means shows it, or the names of measures.
    first, second = (set(names) for names in zip(*((parts[0], parts[1]) for _, parts in lines), strict=True))
    topic_first = mostly(second, is_measure) and not mostly(first, is_measure)
    if (ALL in first) != (ALL in second):
        topic_first = ALL in first
    sections: list[list[tuple[Place, list[str]]]] = [[]]
    names: list[str | None] = [None]
    means_began = False
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


def _is_leaderboard(text: str) -> bool:
    parts = first_line_of(text).split()
    return len(parts) == 4 and is_number(parts[3]) and not any("," in part for part in parts)


def _read_leaderboard(text: str, table: ScoreTable, is_measure: IsMeasure) -> None:
    """Read lines ``run measure topic value`` or ``run topic measure value`` of shared tasks."""
    lines = [(place, line.split()) for place, line in filled_lines(text, table.file)]
    for place, parts in lines:
        if len(parts) != 4:
            raise DataError(
                place, f"a line is a run, a measure, a topic and a value; this one has {len(parts)} fields."
            )
    second, third = ({parts[number] for _, parts in lines} for number in (1, 2))
    topic_second = ALL in second
    if (ALL in second) == (ALL in third):  # the place of the means does not show it: do the names of measures?
        topic_second = mostly(third, is_measure)
        if topic_second == mostly(second, is_measure):
            raise DataError(
                table.file,
                "the second or the third field may be the topic.",
                "Add a first line that names the columns: run,measure,query_id,value with commas or tabs.",
            )
    for place, (run, one, other, value) in lines:
        query, measure = (one, other) if topic_second else (other, one)
        table.add((run, query, measure), place, value)


def no_line_of_trec_eval(place: Place, fields: int) -> DataError:
    """The error for a line of so many fields."""
    problem = f"a line of trec_eval's output is a measure, a topic and a value; this one has {fields} fields."
    return DataError(place, problem)


# ---- tables with named columns ----


class _Layout:
    """The layout of a table: a score per row, or a topic (or run) per row with a column per score."""

    def __init__(self, header: Sequence[str], columns: Mapping[str, str], is_measure: IsMeasure, file: str) -> None:
        self.header, self.place = header, Place(file, 1)
        unknown = [ours for ours in columns if ours not in COLUMNS]
        if unknown:
            problem = f'a table of scores has no "{unknown[0]}".'
            raise DataError(file, problem, "It has run, query_id, measure, value, seed and cluster.")
        repeated = [name for name in header if name and header.count(name) > 1]
        if repeated:
            raise DataError(self.place, f'two columns are called "{repeated[0]}".', "Rename one.")
        missing = [theirs for theirs in columns.values() if theirs not in header]
        if missing:
            raise DataError(self.place, f'there is no column "{missing[0]}".')
        self.found = {ours: columns.get(ours) or find_column(header, known) for ours, known in COLUMNS.items()}
        if self.found["measure"] is None and "value" not in columns:
            self.found["value"] = None
        if self.found["query_id"] is None and self.found["run"] is None and header and not header[0]:
            self.found["query_id"] = ""  # what data frames write for their index
        group = find_column(header, GROUPS)
        if group is not None and self.found["cluster"] is None:
            warn(
                f'{file}: the column "{group}" is not used, and items count as independent. '
                f"If the items of a group are related, use --columns cluster={group}."
            )
        wide = [name for name in header if name not in self.found.values() and name.lower() not in GROUPS]
        self.wide, self.across = self._wide_columns(wide, any(map(is_measure, wide)))

    def _wide_columns(self, wide: list[str], measures: bool) -> tuple[list[str], str]:
        """Return the columns that hold scores, and what they name; none if one column holds all scores."""
        run, query, measure, value = (self.found[name] for name in ("run", "query_id", "measure", "value"))
        if query is None and (run is None or value is not None):
            raise self._lacking("topics", "query_id")
        if value is not None:
            return [], ""
        if measure is not None:
            raise self._lacking("scores", "value")
        if query is None and measures:
            raise DataError(self.place, MEANS_ALONE)
        across = "query_id" if query is None else "measure" if run is not None or measures else "run"
        if across == "measure":
            wide = [name for name in wide if name not in NOT_SCORES]
        if not wide:
            raise DataError(self.place, "no column holds scores.")
        return wide, across

    def _lacking(self, what: str, ours: str) -> DataError:
        return DataError(
            self.place,
            f"no column holds {what}: none of {', '.join(self.header[:12])} is one of {', '.join(COLUMNS[ours])}.",
            "Say what it is called: --columns query_id=...,run=...,measure=...,value=... (columns= in Python).",
        )

    def read(self, rows: Iterable[tuple[Place, Mapping[str, Any]]], table: ScoreTable, of_matrix: str) -> None:
        value, seed_name = self.found["value"], self.found["seed"]
        for place, row in rows:
            seed = None if seed_name is None else str(row.get(seed_name))
            key = {"run": table.name, "query_id": "", "measure": of_matrix}
            for ours, what in (("query_id", "topic"), ("run", "run"), ("measure", "measure")):
                theirs = self.found[ours]
                if theirs is not None:
                    key[ours] = "" if row.get(theirs) is None else str(row[theirs]).strip()
                    if not key[ours]:
                        raise DataError(place, f"the {what} has no name.")
            self._note_cluster(row, key["query_id"], table, place)
            if value is not None:
                run, query, measure = key.values()
                table.add((run, query, measure), place, row.get(value), row.get("low"), row.get("high"), seed)
            for name in self.wide:
                run, query, measure = (key | {self.across: name}).values()
                table.add((run, query, measure), place, row.get(name), seed=seed)

    def _note_cluster(self, row: Mapping[str, Any], query: str, table: ScoreTable, place: Place) -> None:
        """Add the cluster of a row's query; without one it is a cluster of its own."""
        column = self.found["cluster"]
        if column is None or query in ("", ALL):
            return
        cluster = str(row.get(column)).strip()
        cluster = f"{query} alone" if cluster.lower() in MISSING else cluster
        known = table.clusters.setdefault(query, cluster)
        if known != cluster:
            raise DataError(place, f'item {query} is in cluster "{cluster}" here, and in "{known}" above.')


# ---- JSON ----


def is_ranx_report(content: Mapping[str, Any]) -> bool:
    """Is this ranx' report on several runs?"""
    return "model_names" in content and "metrics" in content


def _nested_cells(
    content: Mapping[str, Any], is_measure: IsMeasure, table: ScoreTable, of_matrix: str
) -> Iterator[tuple[Key, Any]]:
    if is_mteb_scores(content):
        raise DataError(
            table.file,
            f"these are MTEB's results: {MEANS_ALONE}",
            "Have MTEB save its predictions (prediction_folder=...), and compare those with the judgments.",
        )
    if is_ranx_report(content):
        raise DataError(
            table.file,
            f"this is ranx' report: {MEANS_ALONE}",
            "Save run.scores instead, which holds {measure: {query: score}} after ranx' evaluate.",
        )
    layers, inside = 0, content
    while isinstance(inside, Mapping) and inside:
        inside, layers = next(iter(inside.values())), layers + 1
    if layers == 1:
        if mostly(content, is_measure):
            raise DataError(table.file, MEANS_ALONE, "Save a score for each query.")
        yield from (((table.name, query, of_matrix), value) for query, value in content.items())
        return
    if layers not in (2, 3):
        raise DataError(
            table.file,
            "this is not a table of scores in a known format.",
            "In JSON: rows, {query: {measure: score}}, {measure: {query: score}}, or these by run.",
        )
    by_run: Mapping[str, Any] = {table.name: content} if layers == 2 else content
    for run, outer in by_run.items():
        if not isinstance(outer, Mapping) or not all(isinstance(inner, Mapping) for inner in outer.values()):
            raise DataError(table.file, f'the entry "{run}" is nested less deeply than the others.')
        by_measure = mostly(outer, is_measure)
        if by_measure and mostly(dict.fromkeys(name for inner in outer.values() for name in inner), is_measure):
            remedy = "BEIR's evaluate returns only means: compare the rankings with the judgments instead."
            raise DataError(table.file, MEANS_ALONE, remedy)
        for first, inner in outer.items():
            for second, value in inner.items():
                yield ((run, second, first) if by_measure else (run, first, second)), value


def mostly(names: Iterable[str], is_measure: IsMeasure) -> bool:
    """Are most of these names of measures?"""
    known = [is_measure(name) for name in names]
    return 2 * sum(known) > len(known)
