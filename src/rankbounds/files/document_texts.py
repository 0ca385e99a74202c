"""The texts of documents in the files of a collection: JSON lines, tables with tabs or commas, TREC's SGML.

Only the place of each document is kept, so that collections larger than memory can be looked up; a text is read when
it is asked for. Compressed files are unpacked once, into a temporary file that is gone when the process is.
"""

from __future__ import annotations

import codecs
import contextlib
import html
import re
import shutil
import tempfile
import threading
import weakref
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from rankbounds.errors import DataError, Place
from rankbounds.files import compression
from rankbounds.files.named_columns import DOC_NAMES, find_column
from rankbounds.files.opening import expand, stream
from rankbounds.files.records import numbered_cells, parse_json

ID_NAMES = (*DOC_NAMES[:-2], "_id", "id", "passage_id")
"""What a file may call a document's id."""
TITLE_NAMES, TEXT_NAMES = ("title", "headline"), ("text", "contents", "content", "body", "abstract", "passage")
EXPECTED = (
    "Expected are JSON lines or a table with an id and a text for each document, id<TAB>text, or TREC's SGML "
    "(<DOC><DOCNO>)."
)
LONGEST_SHOWN = 200_000
"""How many characters of a document are shown."""
LONGEST_RECORD = 1 << 26
"""A document of more bytes is an error."""
_HEAD = 1 << 16


@dataclass(frozen=True)
class DocumentText:
    """The title and the text of a document."""

    title: str
    text: str
    cut: int = 0
    """How many characters are not shown."""


class DocumentTexts:
    """The documents in files, folders and globs by their ids; of several with one id, the first counts."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._files: list[_File] = []
        self._unpacked: IO[bytes] | None = None
        self._lock = threading.Lock()
        keys, numbers, places = array("q"), array("q"), array("q")
        for path in expand(paths):
            file = self._opened(path)
            for doc_id, offset in file.documents():
                keys.append(hash(doc_id))
                numbers.append(len(self._files))
                places.append(offset)
            self._files.append(file)
        key = np.frombuffer(keys, dtype=np.int64)
        order = np.argsort(key, kind="stable")
        self._key = key[order]
        self._file, self._place = (np.frombuffer(held, dtype=np.int64)[order] for held in (numbers, places))

    def __len__(self) -> int:
        return int(self._key.size)

    def text(self, doc_id: str) -> DocumentText | None:
        """The text of a document; None where no file has it."""
        begin, end = (int(np.searchsorted(self._key, hash(doc_id), side)) for side in ("left", "right"))
        for file, place in zip(self._file[begin:end].tolist(), self._place[begin:end].tolist(), strict=True):
            with self._lock:
                found, document = self._files[file].document(place)
            if found == doc_id:
                return document
        return None

    def _opened(self, path: str) -> _File:
        """The file in its format; behind what was unpacked before, where it is compressed."""
        with stream(path) as file:
            head = file.read(_HEAD)
            held, begin, end = None, 0, None
            if compression.is_compressed(path):
                if self._unpacked is None:
                    self._unpacked = tempfile.TemporaryFile()  # noqa: SIM115
                    weakref.finalize(self, self._unpacked.close)
                held = self._unpacked
                begin = held.seek(0, 2)
                held.write(head)
                shutil.copyfileobj(file, held, 1 << 20)
                end = held.tell()
        begin += len(codecs.BOM_UTF8) * head.startswith(codecs.BOM_UTF8)
        head = head.removeprefix(codecs.BOM_UTF8)
        start = head.lstrip()
        if not start:
            raise DataError(path, "the file is empty.")
        if b"\0" in head:
            raise DataError(path, "this is not a text file (it holds NUL bytes).", EXPECTED)
        first = start.split(b"\n", 1)[0]
        kind: type[_File]
        if start[:1] == b"{":
            kind = _JsonLines
        elif start[:1] == b"<" and re.search(rb"<DOC\b", head, re.I):
            kind = _Sgml
        elif start[:1] not in (b"<", b"[") and (b"\t" in first or b"," in first):
            kind = _Table
        else:
            raise DataError(path, "no documents that can be read stand here.", EXPECTED)
        return kind(path, head, held, begin, end)


class _File(ABC):
    """One file in its format: ``path``, or a stretch of a file with its unpacked contents."""

    def __init__(self, path: str, head: bytes, held: IO[bytes] | None, begin: int, end: int | None) -> None:
        self.path, self.head, self._held, self._begin, self._end = path, head, held, begin, end

    @abstractmethod
    def documents(self) -> Iterator[tuple[str, int]]:
        """Every document's id, and its place."""

    @abstractmethod
    def _read(self, file: IO[bytes]) -> tuple[str, DocumentText]:
        """The document that begins here."""

    def document(self, place: int) -> tuple[str, DocumentText]:
        """The document at this place, and its id."""
        try:
            if self._held is not None:
                self._held.seek(place)
                return self._read(self._held)
            with open(self.path, "rb") as file:
                file.seek(place)
                return self._read(file)
        except (OSError, ValueError) as error:
            problem = error.problem if isinstance(error, DataError) else "the document is not where it was."
            raise DataError(self.path, problem, "If the file was changed meanwhile, start again.") from None

    def _lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Line by line, with its number and its place."""
        # (what was unpacked stays open, to be read again)
        with open(self.path, "rb") if self._held is None else contextlib.nullcontext(self._held) as file:
            offset, number = file.seek(self._begin), 0
            while self._end is None or offset < self._end:
                line = _line(file)
                number += 1
                if not line:
                    break
                if len(line) > LONGEST_RECORD:
                    raise DataError(Place(self.path, number), "this line is longer than 64 MB.", EXPECTED)
                yield number, offset, line
                offset += len(line)


def _line(file: IO[bytes]) -> bytes:
    return file.readline(LONGEST_RECORD + 1)


def _decoded(content: bytes) -> str:
    """Text in UTF-8, else in Latin-1, which older collections are in."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _shown(title: str, text: str) -> DocumentText:
    return DocumentText(title.strip(), text[:LONGEST_SHOWN], max(0, len(text) - LONGEST_SHOWN))


def _of_fields(fields: Mapping[str, Any], id_name: str) -> DocumentText:
    """Title and text under any of their names; several texts one after the other, each once."""
    by_name = {str(name).lower(): value for name, value in fields.items() if value and name != id_name}
    texts = dict.fromkeys(str(by_name[name]) for name in TEXT_NAMES if name in by_name)
    title = next((str(by_name[name]) for name in TITLE_NAMES if name in by_name), "")
    return _shown(title, "\n\n".join(texts))


class _JsonLines(_File):
    """An object per line, as BEIR, Anserini and others write them. The id is the first key that may be one."""

    _ID_IN_FRONT = re.compile(
        rb'\s*\{\s*"(?:%s)"\s*:\s*"([^"\\]*)"\s*[,}]' % "|".join(map(re.escape, ID_NAMES)).encode()
    )

    def documents(self) -> Iterator[tuple[str, int]]:
        for number, offset, line in self._lines():
            if in_front := self._ID_IN_FRONT.match(line):  # the rest is looked at when it is shown
                yield _decoded(in_front[1]), offset
            elif line.strip():
                fields, id_name = self._fields(line, Place(self.path, number))
                yield str(fields[id_name]), offset

    def _read(self, file: IO[bytes]) -> tuple[str, DocumentText]:
        fields, id_name = self._fields(_line(file), self.path)
        return str(fields[id_name]), _of_fields(fields, id_name)

    def _fields(self, line: bytes, place: Place | str) -> tuple[Mapping[str, Any], str]:
        fields = parse_json(_decoded(line), place, "a line of JSON")
        names = fields if isinstance(fields, dict) else ()
        id_name = next((name for name in names if name.lower() in ID_NAMES), None)
        if id_name is None:
            raise DataError(place, f"this should be a JSON object with one of {', '.join(ID_NAMES)}.")
        return fields, id_name


class _Table(_File):
    """Rows with tabs or commas between the cells: with a header, or id and text, or id, title and text (last)."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        first = _decoded(self.head.lstrip().split(b"\n", 1)[0]).rstrip("\r")
        self._separator = "\t" if "\t" in first else ","
        header = [cell.strip() for cell in self._cells(first)]
        has_text = find_column(header, (*TEXT_NAMES, *TITLE_NAMES)) is not None
        self._id, self._header = find_column(header, ID_NAMES) if has_text else None, header
        if self._separator == "," and self._id is None:
            raise DataError(Place(self.path, 1), "no id and text are named by a header.", EXPECTED)

    def documents(self) -> Iterator[tuple[str, int]]:
        is_header = self._id is not None
        held, start, first = b"", 0, 0
        for number, offset, line in self._lines():
            if not held:
                start, first = offset, number
            held += line
            if self._goes_on(held) and len(held) <= LONGEST_RECORD:
                continue
            if self._goes_on(held):
                break
            if held.strip() and not is_header:
                yield self._row(held, Place(self.path, first))[0], start
            is_header = is_header and not held.strip()
            held = b""
        if held:
            raise DataError(Place(self.path, first), "a quotation mark opens here and is never closed.")

    def _goes_on(self, record: bytes) -> bool:
        """Is the row open at its end? A quoted cell of a CSV may hold lines."""
        return self._separator == "," and record.count(b'"') % 2 == 1

    def _read(self, file: IO[bytes]) -> tuple[str, DocumentText]:
        record = _line(file)
        while self._goes_on(record) and len(record) <= LONGEST_RECORD and (line := _line(file)):
            record += line
        return self._row(record, Place(self.path))

    def _cells(self, row: str, before: int = 0) -> list[str]:
        if self._separator == "\t":  # quotation marks are text, except around a whole cell
            return [
                cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell
                for cell in row.split("\t")
            ]
        return next((cells for _, cells in numbered_cells(row, self.path, ",", before=before, strict=False)), [])

    def _row(self, record: bytes, place: Place) -> tuple[str, DocumentText]:
        cells = self._cells(_decoded(record).rstrip("\r\n"), (place.line or 1) - 1)
        if self._id is not None:
            fields = dict(zip(self._header, cells, strict=False))
            if self._id not in fields:
                raise DataError(place, f"this row has no {self._id}.", EXPECTED)
            return fields[self._id].strip(), _of_fields(fields, self._id)
        if len(cells) < 2:
            raise DataError(place, "this line has an id, but no text.", EXPECTED)
        return cells[0].strip(), _shown(cells[-2] if len(cells) > 2 else "", cells[-1])


class _Sgml(_File):
    """TREC's collections: ``<DOC>``, ``<DOCNO>`` with the id, and fields that are closed or not."""

    _MARKS = re.compile(rb"<DOC\b[^>]*>|<DOCNO>\s*([^<]*?)\s*</DOCNO>", re.I)
    _UNFINISHED = re.compile(rb"<DOCNO>[^<]*\Z", re.I)
    _END = re.compile(rb"</DOC>", re.I)
    _ABOUT = re.compile(r"<(DOCNO|DOCID|DOCTYPE|FILEID|DOCHDR|DOCOLDNO)>.*?</\1>", re.I | re.S)
    _HEADLINES = re.compile(r"<(HEADLINE|TITLE|HL|TI|HEAD|TTL)>(.*?)</\1>", re.I | re.S)
    _BODY = re.compile(r"<TEXT>(.*?)(?=</TEXT>|<TEXT>|\Z)", re.I | re.S)

    def documents(self) -> Iterator[tuple[str, int]]:
        begun: tuple[int, int] | None = None
        before, before_at, lines = b"", 0, 0
        for number, offset, line in self._lines():
            if before:  # a DOCNO that goes over several lines
                line, offset = before + line, before_at
            before, lines = b"", lines + 1 if before else 0
            for mark in self._MARKS.finditer(line):
                if mark[1] is None:
                    if begun is not None:
                        raise DataError(Place(self.path, begun[1]), "this document has no <DOCNO>.")
                    begun = offset + mark.start(), number
                elif begun is not None:
                    yield _decoded(mark[1]), begun[0]
                    begun = None
            unfinished = self._UNFINISHED.search(line)
            if unfinished and begun is not None and lines < 20:
                before, before_at = line[unfinished.start() :], offset + unfinished.start()
        if begun is not None:
            raise DataError(Place(self.path, begun[1]), "this document has no <DOCNO>.")

    def _read(self, file: IO[bytes]) -> tuple[str, DocumentText]:
        record, end = b"", None
        while end is None and len(record) < LONGEST_RECORD and (piece := file.read(_HEAD)):
            searched = max(0, len(record) - len("</DOC>"))
            record += piece
            end = self._END.search(record, searched)
        content = record[: end.start()] if end else record
        id_mark = next((mark for mark in self._MARKS.finditer(content) if mark[1] is not None), None)
        if id_mark is None:
            raise ValueError("no document begins here")
        text = _decoded(content)
        headline = self._HEADLINES.search(text)
        bodies = self._BODY.findall(text) or [self._HEADLINES.sub("", self._ABOUT.sub("", text))]
        plain = "\n\n".join(map(_without_tags, bodies))
        return _decoded(id_mark[1]), _shown(" ".join(_without_tags(headline[2]).split()) if headline else "", plain)


def _without_tags(text: str) -> str:
    """The text without tags; paragraphs stay separate."""
    text = re.sub(r"<!--.*?-->", " ", text, flags=re.S)
    text = re.sub(r"</?(?:P|DIV|BR|H[1-6])\b[^>]*>", "\n\n", text, flags=re.I)
    return html.unescape(re.sub(r"<[^>]*>", " ", text)).strip()
