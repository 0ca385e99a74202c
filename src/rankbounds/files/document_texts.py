"""Texts of documents in the files of a collection: JSON lines, TSV, TREC's SGML.

Only the position of each document is kept, so collections may exceed memory; texts are read on demand. Compressed files
are unpacked once, into a temporary file that is removed when the process ends.
"""

from __future__ import annotations

import codecs
import contextlib
import html
import itertools
import re
import shutil
import tempfile
import threading
import weakref
from abc import ABC, abstractmethod
from array import array
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from rankbounds.errors import DataError, Place
from rankbounds.files import compression
from rankbounds.files.named_columns import DOC_NAMES, find_column
from rankbounds.files.opening import expand, stream
from rankbounds.files.records import parse_json

ID_NAMES = (*DOC_NAMES[:-2], "_id", "id", "passage_id")
TITLE_NAMES, TEXT_NAMES = ("title", "headline"), ("text", "contents", "content", "body", "abstract", "passage")
EXPECTED = "Expected: JSON lines or TSV with an id and a text for each document, or TREC's SGML (<DOC><DOCNO>)."
LONGEST_SHOWN = 200_000
LONGEST_READ = 5 * LONGEST_SHOWN
"""How many characters of a document in SGML are looked at, with its tags."""
LONGEST_RECORD = 1 << 26
_HEAD = 1 << 16
Lines = Iterator[tuple[int, int, bytes]]
"""Lines or records, each with the number of its first line and its place."""


@dataclass(frozen=True)
class DocumentText:
    """The title and the text of a document."""

    title: str
    text: str
    cut: int = 0


class DocumentTexts:
    """The documents in files, folders and globs by id; the first of several with one id counts."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._files: list[_File] = []
        self._unpacked: IO[bytes] | None = None
        self._lock = threading.Lock()
        keys, numbers, places = array("q"), array("q"), array("q")
        for path in expand(paths):
            file = self._open(path)
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
        begin, end = (int(np.searchsorted(self._key, hash(doc_id), side)) for side in ("left", "right"))
        for file, place in zip(self._file[begin:end].tolist(), self._place[begin:end].tolist(), strict=True):
            found, document = self._files[file].document(place, self._lock)
            if found == doc_id:
                return document
        return None

    def _open(self, path: str) -> _File:
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
        elif start[:1] not in (b"<", b"[") and b"\t" in first:
            kind = _Tsv
        else:
            raise DataError(path, "the file has no documents that can be read.", EXPECTED)
        return kind(path, head, held, begin, end)


class _File(ABC):
    """One file in its format: ``path``, or a stretch of a file with its unpacked contents."""

    header_rows = 0

    def __init__(self, path: str, head: bytes, held: IO[bytes] | None, begin: int, end: int | None) -> None:
        self.path, self.head, self._held, self._begin, self._end = path, head, held, begin, end

    def split(self, lines: Lines) -> Lines:
        return (line for line in lines if line[2].strip())

    @abstractmethod
    def parse(self, record: bytes, place: Place) -> tuple[str, DocumentText]:
        """The document in a record, and its id."""

    def id_of(self, record: bytes, place: Place) -> str:
        return self.parse(record, place)[0]

    def documents(self) -> Iterator[tuple[str, int]]:
        for number, offset, record in itertools.islice(self._records(self._begin), self.header_rows, None):
            yield self.id_of(record, Place(self.path, number)), offset

    def document(self, place: int, lock: threading.Lock) -> tuple[str, DocumentText]:
        """The document that begins here; others wait for its bytes alone, not until it is understood."""
        try:
            with lock, contextlib.closing(self._records(place)) as records:
                record = next((found for _, _, found in records), None)
            if record is None:
                raise ValueError("no document begins here")
            return self.parse(record, Place(self.path))
        except (OSError, ValueError) as error:
            problem = error.problem if isinstance(error, DataError) else "the document is no longer where it was read."
            raise DataError(self.path, problem, "If the file was changed meanwhile, start again.") from None

    def _records(self, begin: int) -> Generator[tuple[int, int, bytes], None, None]:
        # (what was unpacked stays open, to be read again)
        with open(self.path, "rb") if self._held is None else contextlib.nullcontext(self._held) as file:
            yield from self.split(self._lines(file, begin))

    def _lines(self, file: IO[bytes], begin: int) -> Lines:
        offset, number = file.seek(begin), 0
        while (self._end is None or offset < self._end) and (line := file.readline(LONGEST_RECORD + 1)):
            number += 1
            if len(line) > LONGEST_RECORD:
                raise DataError(Place(self.path, number), "this line is longer than 64 MB.", EXPECTED)
            yield number, offset, line
            offset += len(line)


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _shown(title: str, text: str, unread: int = 0) -> DocumentText:
    return DocumentText(title.strip(), text[:LONGEST_SHOWN], max(0, len(text) - LONGEST_SHOWN) + unread)


def _of_fields(fields: Mapping[str, Any], id_name: str) -> DocumentText:
    by_name = {str(name).lower(): value for name, value in fields.items() if value and name != id_name}
    texts = dict.fromkeys(str(by_name[name]) for name in TEXT_NAMES if name in by_name)
    title = next((str(by_name[name]) for name in TITLE_NAMES if name in by_name), "")
    return _shown(title, "\n\n".join(texts))


class _JsonLines(_File):
    """An object per line, as from BEIR and Anserini. The id is the first possible key."""

    _ID_IN_FRONT = re.compile(
        rb'\s*\{\s*"(?:%s)"\s*:\s*"([^"\\]*)"\s*[,}]' % "|".join(map(re.escape, ID_NAMES)).encode()
    )

    def id_of(self, record: bytes, place: Place) -> str:
        in_front = self._ID_IN_FRONT.match(record)  # the rest is looked at when it is shown
        return _decoded(in_front[1]) if in_front else super().id_of(record, place)

    def parse(self, record: bytes, place: Place) -> tuple[str, DocumentText]:
        fields = parse_json(_decoded(record), place, "a line of JSON")
        names = fields if isinstance(fields, dict) else ()
        id_name = next((name for name in names if name.lower() in ID_NAMES), None)
        if id_name is None:
            raise DataError(place, f"this should be a JSON object with one of {', '.join(ID_NAMES)}.")
        return str(fields[id_name]), _of_fields(fields, id_name)


class _Tsv(_File):
    """Rows with tabs: with a header, or id and text, or id, title and text (last)."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        header = self._cells(_decoded(self.head.lstrip().split(b"\n", 1)[0]))
        has_text = find_column(header, (*TEXT_NAMES, *TITLE_NAMES)) is not None
        self._id, self._header = find_column(header, ID_NAMES) if has_text else None, header
        self.header_rows = int(self._id is not None)

    @staticmethod
    def _cells(row: str) -> list[str]:
        return [
            cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell
            for cell in row.rstrip("\r\n").split("\t")
        ]

    def parse(self, record: bytes, place: Place) -> tuple[str, DocumentText]:
        cells = self._cells(_decoded(record))
        if self._id is not None:
            fields = dict(zip(self._header, cells, strict=False))
            if self._id not in fields:
                raise DataError(place, f"this row has no {self._id}.", EXPECTED)
            return fields[self._id].strip(), _of_fields(fields, self._id)
        if len(cells) < 2:
            raise DataError(place, "this line has an id, but no text.", EXPECTED)
        return cells[0].strip(), _shown(cells[-2] if len(cells) > 2 else "", cells[-1])


class _Sgml(_File):
    """TREC's collections: ``<DOC>``, ``<DOCNO>`` with the id, and fields that are closed or not.

    Whatever a document holds, the time to read it grows with its length alone: no pattern looks past the next tag for
    what may not be there.
    """

    _EDGE = re.compile(rb"<(/?)DOC\b[^<>]*>", re.I)
    _ID = re.compile(rb"<DOCNO>([^<]*)</DOCNO>", re.I)
    _FIELD = re.compile(r"<(/?)(?:(DOCNO|DOCID|DOCTYPE|FILEID|DOCHDR|DOCOLDNO)|(HEADLINE|TITLE|HL|TI|HEAD|TTL))>", re.I)
    """What is about a document, and its headlines."""
    _BODY = re.compile(r"<TEXT>(.*?)(?=</TEXT>|<TEXT>|\Z)", re.I | re.S)

    def split(self, lines: Lines) -> Lines:
        held: list[bytes] = []  # of the document that is open; it ends where the next begins, if nowhere else
        start = first = size = 0
        for number, offset, line in lines:
            at = 0
            for edge in self._EDGE.finditer(line):
                if held:
                    yield first, start, b"".join([*held, line[at : edge.start()]])
                    held = []
                if not edge[1]:
                    held, start, first, size, at = [edge[0]], offset + edge.start(), number, 0, edge.end()
            if held and size < LONGEST_RECORD:
                held.append(line[at:])
                size += len(line) - at
        if held:
            yield first, start, b"".join(held)

    def id_of(self, record: bytes, place: Place) -> str:
        found = self._ID.search(record)
        if found is None:
            raise DataError(place, "this document has no <DOCNO>.")
        return _decoded(found[1].strip())

    def parse(self, record: bytes, place: Place) -> tuple[str, DocumentText]:
        whole = _decoded(record)
        text, title, rest, at = whole[:LONGEST_READ], "", [], 0
        for opening, closing in self._fields(text):
            rest.append(text[at : opening.start()])
            at = closing.end()
            if opening[3] and not title:
                title = " ".join(_without_tags(text[opening.end() : closing.start()]).split())
        bodies = self._BODY.findall(text) or ["".join([*rest, text[at:]])]
        plain = "\n\n".join(map(_without_tags, bodies))
        return self.id_of(record, place), _shown(title, plain, len(whole) - len(text))

    def _fields(self, text: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
        closed: dict[str, re.Match[str]] = {}
        found: list[tuple[re.Match[str], re.Match[str]]] = []
        for tag in reversed(list(self._FIELD.finditer(text))):
            name = (tag[2] or tag[3]).upper()
            if tag[1]:
                closed[name] = tag
            elif name in closed:
                found.append((tag, closed[name]))
        at = 0
        for opening, closing in reversed(found):
            if opening.start() >= at:  # what is inside a field belongs to it
                yield opening, closing
                at = closing.end()


def _without_tags(text: str) -> str:
    closed = text.rfind("-->") + 3
    text = re.sub(r"<!--.*?-->", " ", text[:closed], flags=re.S) + text[closed:]
    text = re.sub(r"</?(?:P|DIV|BR|H[1-6])\b[^<>]*>", "\n\n", text, flags=re.I)
    text = re.sub(
        r"&#x?[0-9a-f]{9,};?", " ", re.sub(r"<[^<>]*>", " ", text), flags=re.I
    )  # no character has such numbers
    return html.unescape(text).strip()
