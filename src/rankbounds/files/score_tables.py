"""Scores that other tools wrote: lines of trec_eval and ir_measures, JSON of dicts, tables with named columns.

The format is recognised from the contents. Names are kept as written; the caller's ``is_measure`` says which of them
are measures. The topic ``all`` is a mean, kept separately.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from rankbounds.errors import DataError, Place, warn
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
ANY_MEASURE = ""
"""The name of a measure that is not named."""
MEANS_ALONE = "the file has only means over topics, but tests and intervals need the scores of each topic."

NOT_SCORES_IN_DICTS = (
    "this is not a table of scores in a known format. In JSON: rows, {measure: mean}, {query: {measure: score}}, "
    "{measure: {query: score}}, or these by run."
)

IsMeasure = Callable[[str], bool]
Key = tuple[str, str, str]
"""Run, query and measure."""
Printed = dict[tuple[str, str], str]
"""The scores of one run as text, by the tool's name of the measure and by topic; ``all`` is the mean."""
_NUMBER = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?|\.\d+)(?P<percent>%?)")


@dataclass
class ScoreTable:
    """The scores of one file by run, topic and measure, and the means in it."""

    file: str
    name: str
    """What to call a run that the file does not name."""
    cells: dict[Key, tuple[float, float, float]] = field(default_factory=dict)
    has_means: bool = False
    clusters: dict[str, str] = field(default_factory=dict)
    """The cluster of each query, if the file has a column of clusters."""
    by_seed: dict[Key, dict[str, float]] = field(default_factory=dict)
    """The scores of an item by seed, where the file has several: their mean is one observation."""
    written: dict[Key, Any] = field(default_factory=dict)
    """The scores and means as the file has them: text with its digits, or numbers."""
    saved: Mapping[str, Any] | None = None
    """What the file holds where rankbounds saved it."""

    def add(
        self, key: Key, place: Place, value: Any, low: Any = None, high: Any = None, seed: str | None = None
    ) -> None:
        run, query, measure = key
        number = _number(value, place)
        if math.isnan(number):
            return
        of_item = self.by_seed.setdefault(key, {}) if seed is not None else {}
        if (key in self.written and seed is None) or seed in of_item:
            which = f"topic {query} and run {run}" if seed is None else f"item {query}, run {run} and seed {seed}"
            raise DataError(place, f"a second score of {measure} for {which}.", "Keep one score of each.")
        self.written[key] = value
        if seed is not None:
            of_item[seed] = number
        elif query == ALL:
            self.has_means = True
        else:
            self.cells[key] = number, _number(low, place), _number(high, place)

    def checked(self) -> ScoreTable:
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
                MEANS_ALONE if self.has_means else "the file holds no score.",
                "Write the scores of topics too (-q in trec_eval and rankbounds)." if self.has_means else "",
            )
        return self

    def printed(self) -> Printed:
        """Return the scores of the only run as text; numbers, which lose zeros, get the digits of the longest."""
        runs = list(dict.fromkeys(run for run, _, _ in self.written))
        if len(runs) > 1:
            raise DataError(self.file, f"these are scores of {len(runs)} runs.", "Give those of one.")
        if self.saved is not None or not runs:
            problem = "the file holds no score." if self.saved is None else "these are scores that rankbounds saved."
            raise DataError(self.file, problem, "Give what another tool reported.")
        scores = {(measure, query): value for (_, query, measure), value in self.written.items()}
        exact = {key: Decimal(repr(float(value))) for key, value in scores.items() if not isinstance(value, str)}
        digits = max((-int(number.as_tuple().exponent) for number in exact.values()), default=0)
        return {key: f"{exact[key]:.{max(0, digits)}f}" if key in exact else scores[key] for key in scores}


def stated(text: str) -> Printed | None:
    """Return the score in ``nDCG@10=0.534``, ``nDCG@10=53.4%`` or ``0.534``; None without one."""
    measure, equals, written = text.strip().rpartition("=")
    match = _NUMBER.fullmatch(written)
    if match is None or bool(equals) != bool(measure) or os.path.exists(text):
        return None
    number = Decimal(match["number"])
    if match["percent"]:
        number = number.scaleb(-2)
    return {((measure or ANY_MEASURE).strip(), ALL): format(number, "f")}


def read_printed(given: Any, is_measure: IsMeasure) -> Printed:
    """Read what another tool reported for one run: a number, a file, or dicts, perhaps by (measure, topic)."""
    if isinstance(given, str | os.PathLike):
        path = os.fspath(given)
        return stated(path) or read_score_table(path, is_measure).printed()
    if isinstance(given, Mapping) and given and all(isinstance(key, tuple) for key in given):
        return {(str(name), str(topic)): str(value) for (name, topic), value in given.items()}
    table = ScoreTable("the scores", "run")
    if not isinstance(given, Mapping):
        raise DataError(table.file, NOT_SCORES_IN_DICTS)
    _add_nested(given, is_measure, table, SCORE)
    return table.printed()


def read_score_table(
    path: str, is_measure: IsMeasure, *, name: str | None = None, columns: Mapping[str, str] | None = None
) -> ScoreTable:
    """Read one file of scores; of scores saved by rankbounds, the table has their JSON alone.

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
        return table
    text = decoded(content.text())
    if text.lstrip()[:1] in ("{", "["):
        held = json_records(text, table.file)
        if not isinstance(held, Mapping):
            if not held or not all(isinstance(row, Mapping) for _, row in held):
                raise DataError(table.file, "a table of scores in JSON is a list of objects, or an object.")
            read(list(dict.fromkeys(name for _, row in held for name in row)), held)
        elif str(held.get("format", "")).startswith("rankbounds scores"):
            table.saved = held
        else:
            _add_nested(held, is_measure, table, of_matrix)
    elif _has_lines_of_scores(text):
        _read_lines(text, table, is_measure, named=name is not None)
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
    return table


def read_score_frame(given: Any, is_measure: IsMeasure, columns: Mapping[str, str] | None = None) -> ScoreTable:
    table = ScoreTable("the data frame", "run")
    header, rows = _rows_of_frame(given.collect() if type(given).__name__ == "LazyFrame" else given, table.file)
    _Layout(header, columns or {}, is_measure, table.file).read(rows, table, SCORE)
    return table


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


# ---- lines of trec_eval and ir_measures ----


def _fields(line: str) -> list[str]:
    parts = [part.strip() for part in line.split("\t")]
    return parts if len(parts) == 3 else line.split()


def _has_lines_of_scores(text: str) -> bool:
    parts = _fields(first_line_of(text))
    is_line = len(parts) in (2, 3, 4) and not any("," in part for part in parts)
    return is_line and (parts[0].startswith(TEXT_ROWS) or is_number(parts[-1])) and parts[0].lower() not in QUERY_NAMES


def _read_lines(text: str, table: ScoreTable, is_measure: IsMeasure, *, named: bool) -> None:
    """Read lines ``measure, topic, value``, ``topic, measure, value``, these after a run, or ``measure, value``.

    Without a column for it, a run ends where topics, or another run's name, follow means. trec_eval prints a run's name
    (``runid``) among the means, after the topics; a table of several runs before them.
    """
    lines = [(place, _fields(line)) for place, line in filled_lines(text, table.file)]
    count = len(lines[0][1])
    for place, parts in lines:
        if len(parts) != count:
            problem = (
                f"a line is a measure, a topic and a value, as in the first line; this one has {len(parts)} fields."
            )
            raise DataError(place, problem)
    if count == 2:
        lines, count = [(place, [name, ALL, value]) for place, (name, value) in lines], 3
    topic_first = _is_topic_first([parts[-3:] for _, parts in lines], is_measure)
    if topic_first is None and count == 4:
        raise DataError(
            table.file,
            "the second or the third field may be the topic.",
            "Add a first line that names the columns: run,measure,query_id,value with commas or tabs.",
        )
    sections: list[list[tuple[Place, str, str, str]]] = [[]]
    names: list[str | None] = [None]
    means_began = False
    for place, parts in lines:
        measure, query = (parts[-2], parts[-3]) if topic_first else (parts[-3], parts[-2])
        if count == 4:
            table.add((parts[0], query, measure), place, parts[-1])
            continue
        names_run = measure == "runid"
        if means_began and (query != ALL or names_run) and not (names_run and names[-1] is None):
            sections.append([])
            names.append(None)
            means_began = False
        if names_run:
            names[-1] = parts[-1]
            means_began = bool(sections[-1])
            continue
        means_began = means_began or query == ALL
        if not measure.startswith(TEXT_ROWS):
            sections[-1].append((place, measure, query, parts[-1]))
    alone = len(sections) == 1
    for number, (section, given) in enumerate(zip(sections, names, strict=True), 1):
        run = table.name if given is None or (named and alone) else given
        if given is None and not alone:
            run = f"{run} #{number}"
        for place, measure, query, value in section:
            table.add((run, query, measure), place, value)


def _is_topic_first(lines: Sequence[Sequence[str]], is_measure: IsMeasure) -> bool | None:
    first, second = (set(names) for names in zip(*((one, other) for one, other, _ in lines), strict=True))
    if (ALL in first) != (ALL in second):
        return ALL in first
    before, behind = _mostly(second, is_measure), _mostly(first, is_measure)
    return None if before == behind else before


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
        column = self.found["cluster"]
        if column is None or query in ("", ALL):
            return
        cluster = str(row.get(column)).strip()
        cluster = f"{query} alone" if cluster.lower() in MISSING else cluster
        known = table.clusters.setdefault(query, cluster)
        if known != cluster:
            raise DataError(place, f'item {query} is in cluster "{cluster}" here, and in "{known}" above.')


# ---- JSON ----


def _add_nested(content: Mapping[str, Any], is_measure: IsMeasure, table: ScoreTable, of_matrix: str) -> None:
    for key, value in _nested_cells(content, is_measure, table, of_matrix):
        table.add(key, Place(table.file), value)


def _nested_cells(
    content: Mapping[str, Any], is_measure: IsMeasure, table: ScoreTable, of_matrix: str
) -> Iterator[tuple[Key, Any]]:
    layers, inside = 0, content
    while isinstance(inside, Mapping) and inside:
        inside, layers = next(iter(inside.values())), layers + 1
    if layers == 1:
        are_means = _mostly(content, is_measure)
        for name, value in content.items():
            yield (table.name, *((ALL, str(name)) if are_means else (str(name), of_matrix))), value
        return
    if layers not in (2, 3):
        raise DataError(table.file, NOT_SCORES_IN_DICTS)
    by_run: Mapping[str, Any] = {table.name: content} if layers == 2 else content
    for run, outer in by_run.items():
        if not isinstance(outer, Mapping) or not all(isinstance(inner, Mapping) for inner in outer.values()):
            raise DataError(table.file, f'the entry "{run}" is nested less deeply than the others.')
        by_measure = _mostly(outer, is_measure)
        are_means = by_measure and _mostly(
            dict.fromkeys(name for inner in outer.values() for name in inner), is_measure
        )
        for first, inner in outer.items():
            for second, value in inner.items():
                query, measure = (ALL, second) if are_means else (second, first) if by_measure else (first, second)
                yield (str(run), str(query), str(measure)), value


def _mostly(names: Iterable[str], is_measure: IsMeasure) -> bool:
    known = [is_measure(str(name)) for name in names]
    return 2 * sum(known) > len(known)
