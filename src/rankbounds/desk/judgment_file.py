"""A file of judgments in its own format: single judgments are written and taken back, and every other byte stays.

A file is a list of records, lines or rows of a table, each with the line ending that it has. A judgment goes into the
row that its document has (a pooled document, a row without a rating), where only the grade is replaced; else it gets a
row of its own at the end. What was in its place is kept by whoever asked, so that a judgment taken back leaves the file
as it was, byte for byte.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankbounds.collection.qrels import POOLED_NOT_JUDGED
from rankbounds.columns.ids import BLANKS
from rankbounds.errors import DataError, Place, UsageError
from rankbounds.files import delimited, trec
from rankbounds.files.formats import pair_of_names, recognise
from rankbounds.files.named_columns import QRELS_COLUMNS, find_column, found_columns
from rankbounds.files.opening import text_of
from rankbounds.files.pair_files import decimal, shown, unheld_by_table, unheld_by_trec
from rankbounds.files.records import fields_of
from rankbounds.files.writing import check_writable, writing

Pair = tuple[str, str]
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NO_TEXT = (b"PAR1", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")
JUDGE_NAMES = ("judge", "judged_by", "assessor", "rater")
READ_ONLY = (
    "Judgments given in the browser are written to a plain TREC file or a CSV or TSV table with numbers for grades; "
    "use --read-only to look at the report."
)


def _text(field: bytes) -> str:
    return field.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@dataclass
class Records:
    """How a file writes judgments: as TREC lines of four fields, or as rows of CSV or TSV under a header."""

    kind: str = "trec"
    columns: Sequence[str] = ("query", "iteration", "document", "relevance")
    query: str = "query"
    doc: str = "document"
    value: str = "relevance"
    header: bytes = b""
    separator: str = ""
    source: str | None = None
    """The column of who made a label, in tables that hold several sources."""
    wanted_source: str | None = None
    """Of such tables: which are the judgments that are given here."""

    def __post_init__(self) -> None:
        self.is_trec = self.kind == "trec"
        self.name = "a TREC file" if self.is_trec else "a table"
        other = b"[^%b]*" % re.escape(self.separator.encode())
        quoted = rb' *"(?:[^"]|"")*"'
        table = rb"(?:^|%b)(%b%b|%b)" % (re.escape(self.separator.encode()), quoted, other, other)
        self._field = re.compile(rb"([^\x00-\x20]+)" if self.is_trec else table)
        self._judge = find_column(self.columns, JUDGE_NAMES)

    def fields(self, body: bytes) -> tuple[str, str, str] | None:
        if self.is_trec:
            cells = fields_of(body)
            if not cells or cells[0].startswith(b"#"):
                return None
            if len(cells) != 4:
                raise DataError(f"a line has {len(cells)} fields, not the four of plain judgments.")
            return _text(cells[0]), _text(cells[2]), _text(cells[3])
        if not body.strip() or body == self.header:
            return None
        cells = self._field.findall(body)
        if len(cells) > len(self.columns):
            raise DataError(f"there are {len(cells)} fields in a table of {len(self.columns)} columns.")
        row = dict(zip(self.columns, cells, strict=False))
        if self.source and self.wanted_source and _unquoted(row.get(self.source, b"")) != self.wanted_source:
            return None
        query, doc, value = (_unquoted(row.get(name, b"")) for name in (self.query, self.doc, self.value))
        return query, doc, value

    def with_grade(self, body: bytes, grade: str) -> bytes:
        fields, place = list(self._field.finditer(body)), self.columns.index(self.value)
        if place >= len(fields):
            return body + _bytes(self.separator * (place + 1 - len(fields)) + grade)
        begin, end = fields[place].span(1)
        quoted = not self.is_trec and body[begin:end].strip().startswith(b'"')
        return body[:begin] + _bytes(f'"{grade}"' if quoted else grade) + body[end:]

    def new(self, pair: Pair, grade: str, judge: str, before: bytes) -> bytes:
        if self.is_trec:
            return _bytes(("\t" if b"\t" in before else " ").join((pair[0], "0", pair[1], grade)))
        known = {self.query: pair[0], self.doc: pair[1], self.value: grade}
        if self.source:
            known[self.source] = self.wanted_source or judge
        if self._judge:
            known[self._judge] = judge
        out = io.StringIO()
        row = [known.get(name, "") for name in self.columns]
        csv.writer(out, delimiter=self.separator, lineterminator="").writerow(row)
        return _bytes(out.getvalue())

    def why_unheld(self, name: str, *, of_topic: bool) -> str | None:
        if self.is_trec:
            return unheld_by_trec(name, begins_line=of_topic)
        return unheld_by_table(name) if name else "is empty"

    def read(self, body: bytes, name: str) -> tuple[str, str, float]:
        if self.is_trec:
            read = trec.read_lines(text_of(name, body), trec.qrels_layout)
        else:
            text = text_of(name, self.header + b"\n" + body + b"\n")
            own = {"query_id": self.query, "doc_id": self.doc, "relevance": self.value}
            read = delimited.read_delimited(text, QRELS_COLUMNS.renamed(own))
        return read.pairs.topics[0], read.pairs.docs[0], float(read.numbers[0])


def _grade_of(value: str) -> float | None:
    try:
        grade = float(value) if value else float(POOLED_NOT_JUDGED)
    except ValueError:
        grade = math.nan
    if not math.isfinite(grade):
        raise DataError(f"the grade {shown(value)} is not a number.")
    return None if grade == POOLED_NOT_JUDGED else grade


def _unquoted(field: bytes) -> str:
    text = _text(field).strip(BLANKS)
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        text = text[1:-1].replace('""', '"').strip(BLANKS)
    return text


class JudgmentFile:
    """The judgments in a file, changed here in memory and written by ``write``."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        formats: str | tuple[str | None, str | None] | None = None,
        columns: Mapping[str, str] | None = None,
        source: str | None = None,
    ) -> None:
        self.path = Path(path)
        self._formats, self._columns, self._source = formats, columns, source
        self.load()
        check_writable(self.path, "Use --read-only to look at the report.")

    # ---- reading ----

    def load(self) -> None:
        status, content = self._status(), self._content()
        mark = BYTE_ORDER_MARK if content.startswith(BYTE_ORDER_MARK) else b""
        content = content.removeprefix(mark)
        records = self._records_of(content)
        bodies, ends = _split_records(content, in_quotes=not records.is_trec)
        place: dict[Pair, int] = {}
        grades: dict[Pair, float | None] = {}
        for number, body in enumerate(bodies):
            try:
                fields = records.fields(body)
                if fields is None:
                    continue
                query, doc, value = fields
                if (query, doc) in place:
                    remedy = " Say whose with --source." if records.source else ""
                    raise DataError(f"document {shown(doc)} of topic {shown(query)} is listed twice.{remedy}")
                place[query, doc], grades[query, doc] = number, _grade_of(value)
            except DataError as error:
                raise UsageError(f"{Place(str(self.path), number + 1)}: {error} {READ_ONLY}") from None
        self.records, self._mark, self._bodies, self._ends = records, mark, bodies, ends
        self._place, self._grade, self._known, self.dirty = place, grades, status, False

    def changed_outside(self) -> bool:
        return self._status() != self._known

    def grade(self, pair: Pair) -> float | None:
        return self._grade.get(pair)

    def grades(self) -> list[float]:
        return sorted({grade for grade in self._grade.values() if grade is not None and grade >= 0})

    def line(self, pair: Pair) -> str | None:
        place = self._place.get(pair)
        return None if place is None else _text(self._bodies[place])

    def content(self) -> bytes:
        return self._mark + b"".join(part for record in zip(self._bodies, self._ends, strict=True) for part in record)

    def _content(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise DataError(self.path, f"cannot be read ({error.strerror or error}).") from None

    def _status(self) -> tuple[int, ...] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _records_of(self, content: bytes) -> Records:
        name = str(self.path)
        if content.startswith(NO_TEXT):
            raise UsageError(f"{name}: this is not plain text. {READ_ONLY}")
        names = QRELS_COLUMNS.renamed(self._columns)
        kind = pair_of_names(self._formats)[0]
        if not content.strip():
            return Records()
        text = text_of(name, content)
        kind = kind or recognise(text, name, names)
        if kind == "trec":
            return Records()
        if kind not in ("csv", "tsv"):
            raise UsageError(f"{name}: the format is {kind}. {READ_ONLY}")
        columns, separator = delimited.header(text), delimited.header_separator(text) or ","
        header = next(text.lines(), b"").removesuffix(b"\r")
        query, doc, value, _, source, *_ = found_columns(columns, names, name)
        return Records(kind, columns, query, doc, value, header, separator, source, self._source)

    # ---- changing ----

    def reject_unheld(self, pair: Pair, grade: float, judge: str) -> None:
        for what, name in zip(("topic", "document"), pair, strict=True):
            if reason := self.records.why_unheld(name, of_topic=what == "topic"):
                raise UsageError(f"The {what} id {shown(name)} {reason}, and {self.records.name} cannot hold it.")
        body = self._body(pair, grade, judge)
        try:
            back = self.records.read(body, str(self.path))
            first = bool(self._place) or recognise(text_of(str(self.path), body), str(self.path)) == self.records.kind
        except DataError:
            back, first = None, False
        if back != (*pair, grade) or not (first or self.records.header):
            raise DataError(self.path, "the judgment could not be read back from this file, and was not written.")

    def put(self, pair: Pair, grade: float, judge: str) -> None:
        body = self._body(pair, grade, judge)
        place = self._place.get(pair)
        if place is not None:
            self._bodies[place] = body
        else:
            last, end = self._last(), next((end for end in reversed(self._ends) if end), b"\n")
            if last is not None and not self._ends[last]:  # a file without a line ending at its end stays one
                self._ends[last], end = end, b""
            self._place[pair] = len(self._bodies)
            self._bodies.append(body)
            self._ends.append(end)
        self._grade[pair] = grade
        self.dirty = True

    def take_back(self, pair: Pair, before: str | None) -> None:
        place = self._place.get(pair)
        if place is None:
            return
        if before is not None:
            self._bodies[place] = _bytes(before)
            fields = self.records.fields(self._bodies[place])
            self._grade[pair] = _grade_of(fields[2]) if fields else None
        else:
            was_last, end = place == self._last(), self._ends[place]
            self._bodies[place] = self._ends[place] = b""
            del self._place[pair], self._grade[pair]
            last = self._last()
            if was_last and last is not None:
                self._ends[last] = end
        self.dirty = True

    def _body(self, pair: Pair, grade: float, judge: str) -> bytes:
        place = self._place.get(pair)
        if place is not None:
            return self.records.with_grade(self._bodies[place], decimal(grade))
        last = self._last()
        return self.records.new(pair, decimal(grade), judge, self._bodies[last] if last is not None else b"")

    def _last(self) -> int | None:
        numbers = range(len(self._bodies) - 1, -1, -1)
        return next((number for number in numbers if self._bodies[number] or self._ends[number]), None)

    # ---- writing ----

    def write(self, content: bytes) -> None:
        with writing(self.path, "wb", durable=True) as out:
            out.write(content)
        if self._content() != content:
            raise DataError(self.path, "another program changed the file meanwhile.")
        self._known = self._status()


def _split_records(content: bytes, *, in_quotes: bool) -> tuple[list[bytes], list[bytes]]:
    records: list[list[bytes]] = []
    inside = False
    for line in re.findall(rb"[^\n]*\n|[^\n]+", content):
        if inside:
            records[-1].append(line)
        else:
            records.append([line])
        inside ^= in_quotes and line.count(b'"') % 2 == 1
    joined = [b"".join(lines) for lines in records]
    bodies = [record.removesuffix(b"\n").removesuffix(b"\r") if record.endswith(b"\n") else record for record in joined]
    return bodies, [record[len(body) :] for record, body in zip(joined, bodies, strict=True)]
