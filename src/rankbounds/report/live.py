"""The report as a page that follows its files, and takes judgments."""

from __future__ import annotations

import contextlib
import html
import json
import math
import os
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rankbounds.errors import DataError, RankboundsError, UsageError
from rankbounds.files import json_text
from rankbounds.files.columns import QRELS_COLUMNS
from rankbounds.files.formats import is_parquet, recognised
from rankbounds.files.opening import expand, read_text
from rankbounds.judgments import POOLED_NOT_JUDGED, read_qrels
from rankbounds.report.content import Choices, gather
from rankbounds.report.page import page

LOCAL = ("localhost", "127.0.0.1", "::1")
LARGEST_REQUEST = 1 << 16
PATIENCE = 10.0
"""Seconds to wait for another judgment to be written."""
ID_KEYS, TEXT_KEYS = ("doc_id", "docno", "id", "_id", "docid"), ("title", "text", "contents", "body", "abstract")


BROKEN = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3"><title>rankbounds</title>
<h1>The files cannot be read</h1><p>{{error}}</p><p>This page looks again by itself.</p></html>
"""


class JudgmentFile:
    """A TREC file of judgments that several writers may add to.

    A judgment is written to a copy that then takes the file's place, under a lock: readers see the old file or the new
    one, a crash leaves one of them whole, and of two writers the second sees what the first wrote.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def check(self) -> None:
        """Reject files that a line cannot be added to."""
        compressed = self.path.suffix in (".gz", ".bz2", ".xz", ".zst")
        name = str(self.path)
        if compressed or is_parquet(name, QRELS_COLUMNS) or recognised(read_text(name), name) != "trec":
            raise UsageError(
                f"{self.path}: judgments can be added to a plain TREC file only. Use --read-only to look at the report."
            )
        try:
            read_qrels(self.path)  # as it is read before each judgment
        except DataError as error:
            raise UsageError(
                f"{error} Judgments given in the browser are numbers, and are added to a file of numbers only. Use "
                "--read-only to look at the report."
            ) from None

    def add(self, query_id: str, doc_id: str, grade: float) -> None:
        """Judge a document. One that has another grade already keeps it, and an error tells."""
        for name in (query_id, doc_id):
            if not name or len(name.split()) != 1 or name != name.strip() or "\0" in name:
                raise UsageError("Ids in a TREC file hold no blanks.")
        if not math.isfinite(grade) or grade < 0:
            raise UsageError("A grade is a number from 0 on.")
        with self._locked():
            known = read_qrels(self.path).to_dict().get(query_id, {}).get(doc_id)
            if known == grade:
                return
            if known is not None and known != POOLED_NOT_JUDGED:
                raise DataError(f"{doc_id} has grade {known:g} for topic {query_id} already; it was not changed.")
            self._replace(query_id, doc_id, f"{query_id} 0 {doc_id} {grade:g}\n", pooled=known is not None)

    def _replace(self, query_id: str, doc_id: str, line: str, *, pooled: bool) -> None:
        encoded = [one.encode("utf-8", "surrogateescape") for one in (query_id, doc_id, line)]
        lines = self.path.read_bytes().splitlines(keepends=True)
        if pooled:
            lines = [one for one in lines if one.split()[0:1] + one.split()[2:3] != encoded[:2]]
        if lines and not lines[-1].endswith((b"\n", b"\r")):
            lines[-1] += b"\n"
        copy = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        try:
            with open(copy, "wb") as out:
                out.writelines([*lines, encoded[2]])
                out.flush()
                os.fsync(out.fileno())
            copy.chmod(self.path.stat().st_mode & 0o7777)
            os.replace(copy, self.path)
        except OSError as error:
            copy.unlink(missing_ok=True)
            raise DataError(f"{self.path}: the judgment could not be written ({error.strerror or error}).") from None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Only one writer at a time, in this process and in others."""
        lock = self.path.with_name(f".{self.path.name}.lock")
        with open(lock, "ab") as held:
            _wait_for(held, lock)
            yield  # closing the file lets go of the lock, and so does the end of the process


def _wait_for(held: Any, lock: Path) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if os.name == "nt":
                import msvcrt

                held.seek(0)
                msvcrt.locking(held.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
            else:
                import fcntl

                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            if time.monotonic() > end:
                raise DataError(f"{lock}: another program holds the judgments.") from None
            time.sleep(0.01)


class Documents:
    """Texts of documents in a file of JSON lines, found by their place in the file."""

    def __init__(self, path: str) -> None:
        self.path, self.offset = path, dict[str, int]()
        at = 0
        try:
            with open(path, "rb") as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        self.offset[self._id(line, number)] = at
                    at += len(line)
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror or error}).") from None

    def _id(self, line: bytes, number: int) -> str:
        try:
            held = json_text.parse(line, self.path)
            return str(next(held[key] for key in ID_KEYS if key in held))
        except (ValueError, TypeError, StopIteration):
            raise DataError(
                f"{self.path}, line {number}: this should be a JSON object with one of {', '.join(ID_KEYS)}."
            ) from None

    def text(self, doc_id: str) -> str:
        """What the file says of a document."""
        if doc_id not in self.offset:
            return "There is no text of this document."
        with open(self.path, "rb") as file:
            file.seek(self.offset[doc_id])
            held = json.loads(file.readline())
        return "\n".join(str(held[key]) for key in TEXT_KEYS if held.get(key)) or "This document has no text."


class Live:
    """The report of files as they are now."""

    def __init__(
        self,
        qrels: str,
        runs: Sequence[str],
        choices: Choices,
        documents: Documents | None = None,
        *,
        judging: bool = True,
    ) -> None:
        self.qrels, self.runs, self.choices, self.documents = qrels, runs, choices, documents
        self.judgments = JudgmentFile(qrels)
        self.judging = judging
        self.token = secrets.token_urlsafe(24)
        self._lock = threading.Lock()
        self._made: tuple[str, str] = ("", "")

    def state(self) -> str:
        """Changes whenever a file does."""
        parts = []
        for path in [self.qrels, *expand(self.runs)]:
            try:
                status = Path(path).stat()
                parts.append(f"{path}:{status.st_mtime_ns}:{status.st_size}")
            except OSError:
                parts.append(f"{path}:-")
        return str(hash(tuple(parts)))

    def page(self) -> str:
        """The page for the files as they are; what is wrong with them, where they cannot be read."""
        with self._lock:
            try:
                state = self.state()
                if self._made[0] != state:
                    content = gather(self.qrels, self.runs, self.choices)
                    # Grades that are known, and 1 where nothing relevant is known yet.
                    content["live"] = {
                        "state": state,
                        "token": self.token,
                        "judging": self.judging,
                        "grades": ["0", *(content["grades"] or ["1"])],
                        "documents": self.documents is not None,
                    }
                    self._made = (state, page(content, live=True))
            except RankboundsError as error:
                return BROKEN.replace("{{error}}", html.escape(str(error)))
            return self._made[1]

    def answer(self, what: str, message: dict[str, Any]) -> dict[str, Any]:
        """Answer a message from the page."""
        if what == "state":
            return {"state": self.state()}
        if what == "document" and self.documents:
            return {"text": self.documents.text(str(message.get("doc_id")))}
        if what == "judge" and self.judging:
            try:
                query_id, doc_id, grade = str(message["query_id"]), str(message["doc_id"]), float(message["grade"])
            except (KeyError, TypeError, ValueError):
                raise UsageError("A judgment has a query_id, a doc_id and a grade.") from None
            self.judgments.add(query_id, doc_id, grade)
            return {"judged": doc_id}
        raise UsageError(f'There is no "{what}" here.')


def server(live: Live, host: str, port: int) -> ThreadingHTTPServer:
    """A server of the page. On this machine's own address, only requests that name it are answered."""
    local = host in LOCAL

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self._welcome():
                if self.path == "/":
                    self._reply(200, "text/html; charset=utf-8", live.page().encode("utf-8", "replace"))
                else:
                    self._reply(404, "text/plain", b"There is nothing here.\n")

        def do_POST(self) -> None:
            if not self._welcome():
                return
            if not secrets.compare_digest(self.headers.get("X-Token", "").encode(), live.token.encode()):
                self._say(403, {"error": "This page is of another server: load it again."})
                return
            try:
                size = int(self.headers.get("Content-Length", "0"))
                if not 0 <= size <= LARGEST_REQUEST:
                    raise UsageError("The request is too long.")
                message = json.loads(self.rfile.read(size))
                if not isinstance(message, dict):
                    raise ValueError
                self._say(200, live.answer(self.path.strip("/"), message))
            except ValueError:
                self._say(400, {"error": "The request is not JSON."})
            except RankboundsError as error:
                self._say(409, {"error": str(error)})

        def _welcome(self) -> bool:
            """A page elsewhere may point a name of its own at this address: such requests name another host."""
            if local and urlsplit(f"//{self.headers.get('Host', '')}").hostname not in LOCAL:
                self._reply(403, "text/plain", b"Only requests from this machine are answered.\n")
                return False
            return True

        def _say(self, code: int, message: dict[str, Any]) -> None:
            self._reply(code, "application/json", json.dumps(message).encode("ascii"))

        def _reply(self, code: int, kind: str, body: bytes) -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("X-Frame-Options", "DENY")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 (named by the library)
            """Say nothing of single requests."""

    try:
        return ThreadingHTTPServer((host, port), Handler)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"Port {port} of {host} cannot be used ({why}). Name another --port.") from None
