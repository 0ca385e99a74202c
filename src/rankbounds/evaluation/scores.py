"""Scores: a tidy table of run, topic, measure, value, low and high."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.run import unique_names
from rankbounds.errors import DataError
from rankbounds.files import json_text
from rankbounds.files.opening import read_text
from rankbounds.files.writing import writing
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.parser import trec_name
from rankbounds.tables import Table, json_of, number, plain, render_rows

FIELDS = ("run", "query_id", "measure", "value", "low", "high")
SAVED = "rankbounds scores 1"
PARTS = ("residual_unjudged", "residual_tail", "residual_ties")
"""What a residual is made of: unjudged documents retrieved, what lies beyond the list, the range over orders of ties.

The first two make up ``high - low`` when bounds cover unjudged documents, the last when they cover ties, and all three
when they cover both.
"""
ALL = "all"
"""What the mean over topics has for a query id."""


@dataclass(frozen=True)
class RunNotes:
    """What a reader of one run's scores must know."""

    missing: Sequence[str] = ()
    """Judged topics that the run lacks."""
    unknown: Sequence[str] = ()
    """Topics of the run that nobody judged."""
    tied_topics: int = 0
    tie_range: float | None = None
    """How far the mean of the first measure moves between the worst and the best order of ties."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Values with axes run, topic, measure; NaN where a topic was left out, and in bounds where none are known.

    ``low`` and ``high`` are bounds: what missing judgments (or ties) leave open. Nothing is random in them.
    """

    runs: list[str]
    query_ids: list[str]
    measures: list[Measure]
    value: Floats
    low: Floats
    high: Floats
    judged: Floats
    """The share of the first 10 documents that are judged, by run and topic."""
    notes: list[RunNotes] = field(default_factory=list)
    bounds: str = "unjudged"
    without_relevant: list[str] = field(default_factory=list)
    outer: list[Measure] = field(default_factory=list)
    """Measures whose bounds hold, but may be wider than what can happen; those of all others are exact."""
    topics: str = "judged"
    parts: Floats | None = None
    """An axis of ``PARTS`` before the others; NaN for measures that have no residual. None: no measure has."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns of the tidy table."""
        return FIELDS if self.parts is None else (*FIELDS, *PARTS)

    def mean(self) -> Scores:
        """The mean over topics (the sum, for counts): one topic called ``"all"``."""
        counted = ~np.isnan(self.value)
        number_of_topics = counted.sum(axis=1, keepdims=True)
        sums = np.array([measure.total == "sum" for measure in self.measures])
        divisor = np.where(sums, 1, np.maximum(number_of_topics, 1))

        def total(array: Floats) -> Floats:
            summed: Floats = np.where(counted, array, 0.0).sum(axis=-2, keepdims=True)
            return np.where(number_of_topics > 0, summed / divisor, np.nan)

        seen = ~np.isnan(self.judged)
        judged = np.where(seen, self.judged, 0.0).sum(axis=1, keepdims=True) / np.maximum(
            seen.sum(axis=1, keepdims=True), 1
        )
        return replace(
            self,
            query_ids=[ALL],
            value=total(self.value),
            low=total(self.low),
            high=total(self.high),
            judged=judged,
            parts=None if self.parts is None else total(self.parts),
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """A dict for each run, measure and topic, in that order; topics left out have no row.

        Rows of measures with a residual name its parts too.
        """
        for at_run, run in enumerate(self.runs):
            for at, measure in enumerate(self.measures):
                arrays = [self.value, self.low, self.high]
                if self.parts is not None and measure.has_residual:
                    arrays += list(self.parts)
                names = (*FIELDS, *PARTS)[: 3 + len(arrays)]
                columns = [array[at_run, :, at].tolist() for array in arrays]
                label = str(measure)
                for query, *numbers in zip(self.query_ids, *columns, strict=True):
                    if numbers[0] == numbers[0]:
                        yield dict(zip(names, (run, query, label, *map(plain, numbers)), strict=True))

    def __len__(self) -> int:
        return int(np.count_nonzero(~np.isnan(self.value)))

    def columns(self) -> dict[str, list[Any]]:
        """The tidy table as columns."""
        rows = list(self.rows())
        return {name: [row.get(name) for row in rows] for name in self.fields}

    def to_polars(self) -> Any:
        """A polars data frame."""
        import polars

        schema = {name: polars.String if at < 3 else polars.Float64 for at, name in enumerate(self.fields)}
        return polars.DataFrame(self.columns(), schema=schema)

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        import pandas

        frame = pandas.DataFrame(self.columns())
        return frame.astype(dict.fromkeys(self.fields[3:], "float64"))

    def to_arrow(self) -> Any:
        """A pyarrow table."""
        import pyarrow

        types = [(name, pyarrow.string() if at < 3 else pyarrow.float64()) for at, name in enumerate(self.fields)]
        return pyarrow.table(self.columns(), schema=pyarrow.schema(types))

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """``{run: {measure: {query_id: value}}}``."""
        nested: dict[str, dict[str, dict[str, float]]] = {run: {} for run in self.runs}
        for row in self.rows():
            nested[row["run"]].setdefault(row["measure"], {})[row["query_id"]] = row["value"]
        return nested

    def to_latex(self) -> str:
        """The table of means for a paper."""
        return self.mean().table().latex()

    def render(self, kind: str, *, per_topic: bool = False, raw: bool = False) -> str:
        """The scores in any text format of the command line: means, behind the topics' values if asked for."""
        mean = self.mean()
        if kind == "trec":
            return "".join(_trec_lines(self, mean, per_topic))
        if kind in ("json", "jsonl", "csv", "tsv"):
            rows = [*self.rows(), *mean.rows()] if per_topic else mean.rows()
            return render_rows(rows, kind, self.fields, raw=raw)
        if per_topic:
            topics, means = self.table(), mean.table()
            lines = [*topics.rows, *([row[0], ALL, *row[1:]] for row in means.rows)]
            header = [means.header[0], "topic", *means.header[1:]]  # only means have notes
            filled = [[*row, *[""] * (len(header) - len(row))] for row in lines]
            return Table(header, filled, topics.left | {at + 1 for at in means.left if at}).render(kind)
        return mean.table().render(kind)

    def write_parquet(self, path: str, *, per_topic: bool = False) -> None:
        """The tidy table as a Parquet file."""
        import polars

        try:
            mean = self.mean().to_polars()
            frame = polars.concat([self.to_polars(), mean]) if per_topic else mean
        except UnicodeEncodeError as error:
            raise DataError(
                f"{path}: Parquet holds text in UTF-8 only, which {ascii(error.object)[:80]} is not. Choose csv or "
                "trec, which keep bytes."
            ) from None
        content = io.BytesIO()
        frame.write_parquet(content)
        with writing(path, "wb") as out:
            out.write(content.getbuffer())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything that ``load`` needs, as JSON."""
        arrays = {name: getattr(self, name).tolist() for name in ("value", "low", "high", "judged")}
        content = {
            "format": SAVED,
            "runs": self.runs,
            "query_ids": self.query_ids,
            "measures": [str(measure) for measure in self.measures],
            "bounds": self.bounds,
            "topics": self.topics,
            **arrays,
        }
        with writing(path) as out:
            out.write(json_of(content))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scores:
        """Read what ``save`` wrote."""
        try:
            content = json_text.parse(read_text(os.fspath(path)).tobytes(), os.fspath(path))
            if content["format"] != SAVED:
                raise KeyError
            arrays: dict[str, Any] = {
                name: np.array(content[name], dtype=float) for name in ("value", "low", "high", "judged")
            }
            measures = [parse_measure(label) for label in content["measures"]]
        except DataError:
            raise
        except (ValueError, KeyError, TypeError, OverflowError):
            raise DataError(f"{os.fspath(path)}: these are not scores that rankbounds saved.") from None
        return cls(
            content["runs"],
            content["query_ids"],
            measures,
            **arrays,
            notes=[RunNotes() for _ in content["runs"]],
            bounds=content["bounds"],
            topics=content["topics"],
        )

    def table(self) -> Table:
        """The table for people: a row for each run (and topic), a column for each measure."""
        topics = self.query_ids != [ALL]
        noted = [_note(notes, self.measures[0]) if not topics else "" for notes in self.notes] or [""] * len(self.runs)
        header = ["run", *(["topic"] if topics else []), *map(str, self.measures), "judged@10"]
        cells = [
            _cells(self.value[..., at], self.low[..., at], self.high[..., at], measure.total == "sum")
            for at, measure in enumerate(self.measures)
        ]
        rows = []
        for at_run, run in enumerate(self.runs):
            for at_topic, query in enumerate(self.query_ids):
                if np.isnan(self.value[at_run, at_topic]).all():
                    continue
                numbers = [column[at_run][at_topic] for column in cells]
                rows.append([run, *([query] if topics else []), *numbers, f"{self.judged[at_run, at_topic]:.0%}"])
                if any(noted):
                    rows[-1].append(noted[at_run])
        left = {0, 1} if topics else {0}
        if any(noted):
            header.append("notes")
            left.add(len(header) - 1)
        return Table(header, rows, frozenset(left))

    def warnings(self) -> list[str]:
        """What concerns several numbers, in sentences."""
        told = topic_warnings(self.runs, self.notes, self.topics)
        if self.without_relevant:
            one = len(self.without_relevant) == 1
            told.append(
                f"{len(self.without_relevant)} {'topic has' if one else 'topics have'} no relevant document "
                f"({_some(self.without_relevant)}): AP, nDCG, recall and the like are 0 there."
            )
        return told

    def __repr__(self) -> str:
        return self.mean().table().text()

    def _repr_html_(self) -> str:
        return self.mean().table().html()


def joined(first: Scores, second: Scores) -> Scores:
    """Two sets of scores as one; they must have the same topics and measures."""
    if set(first.query_ids) != set(second.query_ids):
        raise DataError("The two sets of scores are on different topics; they cannot be compared.")
    lacking = [str(measure) for measure in second.measures if measure not in first.measures]
    if lacking:
        raise DataError(f"The saved scores lack {lacking[0]}. Save them again with this measure.")
    topics = [first.query_ids.index(query) for query in second.query_ids]
    measures = [first.measures.index(measure) for measure in second.measures]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(first, name)[:, topics][:, :, measures], getattr(second, name)])
        for name in ("value", "low", "high")
    }
    names = unique_names([*first.runs, *second.runs], ["saved"] * len(first.runs) + ["new"] * len(second.runs))
    judged = np.concatenate([first.judged[:, topics], second.judged])
    return replace(second, runs=names, judged=judged, notes=[*first.notes, *second.notes], **arrays)


def topic_warnings(runs: Sequence[str], notes: Sequence[RunNotes], topics: str) -> list[str]:
    """Which runs lack judged topics, and which have topics that nobody judged, in sentences."""
    told = []
    lacking = [(run, one.missing) for run, one in zip(runs, notes, strict=True) if one.missing]
    if lacking:
        what = "are scored as empty lists" if topics == "judged" else "are left out of its means"
        told.append(
            f"{_runs(len(lacking), len(runs))} judged topics, which {what} "
            f"({lacking[0][0]}: {_some(lacking[0][1])}{'; ...' if len(lacking) > 1 else ''})."
        )
    extra = [(run, one.unknown) for run, one in zip(runs, notes, strict=True) if one.unknown]
    if extra:
        told.append(
            f"{_runs(len(extra), len(runs), 'has', 'have')} topics without judgments, which are left out "
            f"({extra[0][0]}: {_some(extra[0][1])}{'; ...' if len(extra) > 1 else ''})."
        )
    return told


def _runs(some: int, number_of_runs: int, one: str = "lacks", many: str = "lack") -> str:
    if number_of_runs == 1:
        return f"The run {one}"
    return f"{some} of {number_of_runs} runs {one if some == 1 else many}"


def _some(names: Sequence[str], at_most: int = 5) -> str:
    return ", ".join(names[:at_most]) + (f" and {len(names) - at_most} more" if len(names) > at_most else "")


def _note(notes: RunNotes, measure: Measure) -> str:
    parts = []
    if notes.missing:
        parts.append(f"{len(notes.missing)} topic{'s' * (len(notes.missing) > 1)} missing")
    if notes.tie_range is not None and notes.tie_range >= 0.00005:
        parts.append(f"ties move {measure} by {notes.tie_range:.4f}")
    return ", ".join(parts)


def _cells(value: Floats, low: Floats, high: Floats, counts: bool) -> list[list[str]]:
    """A measure's column: ``0.3280 +0.5120`` where the value is the least possible, else ``0.3280 [low, high]``."""
    digits = 0 if counts else 4
    known = ~np.isnan(low)
    with np.errstate(invalid="ignore"):  # a search that never ends has no finite bounds
        above_low, width = (np.where(one == low, 0.0, one - low) for one in (value, high))
    open_above_only = bool((np.abs(above_low)[known] < 1e-9).all())
    nothing_open = open_above_only and bool((np.abs(width)[known] < 1e-12).all())

    def cell(one: float, least: float, most: float) -> str:
        text = number(one, digits)
        if least != least or nothing_open:
            return text
        if open_above_only:
            return f"{text} +{number(most - one, digits)}"
        return f"{text} [{number(least, digits)}, {number(most, digits)}]"

    return [
        [cell(*numbers) for numbers in zip(*row, strict=True)]
        for row in zip(value.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def _trec_lines(scores: Scores, mean: Scores, per_topic: bool) -> Iterator[str]:
    """Lines as trec_eval prints them: for each topic its measures, then the means."""
    names = [trec_name(measure) for measure in scores.measures]
    whole = [measure.total == "sum" for measure in scores.measures]
    for at_run, run in enumerate(scores.runs):
        if len(scores.runs) > 1:
            yield f"{'runid':<22}\t{ALL}\t{run}\n"
        for part in (scores, mean) if per_topic else (mean,):
            # trec_eval goes through topics in the order of their ids as text.
            for query, values in sorted(zip(part.query_ids, part.value[at_run].tolist(), strict=True)):
                for name, value, count in zip(names, values, whole, strict=True):
                    if value == value:
                        yield f"{name:<22}\t{query}\t{value:.0f}\n" if count else f"{name:<22}\t{query}\t{value:6.4f}\n"
