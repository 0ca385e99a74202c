"""The report as a page that follows its files, and takes judgments."""

from __future__ import annotations

import contextlib
import html
import ipaddress
import json
import math
import os
import re
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from rankbounds.collection.inputs import RunToRead
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.errors import DataError, RankboundsError, UsageError
from rankbounds.files import json_text, trec
from rankbounds.files.formats import recognised
from rankbounds.files.named_columns import QRELS_COLUMNS
from rankbounds.files.opening import text_of
from rankbounds.files.pair_files import decimal, shown, unheld_by_trec
from rankbounds.files.parquet import is_parquet
from rankbounds.files.writing import clear_copies, writing
from rankbounds.report.content import Choices, files_of, gather
from rankbounds.report.page import page

LARGEST_REQUEST = 1 << 16
PATIENCE = 10.0
"""Seconds to wait for another program to write its judgment, and for a browser to go on with its request."""
QUEUE_PATIENCE = 120.0
"""Seconds to wait for the judgments that came before, which are written one by one."""
WAITING_CONNECTIONS = 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NO_TEXT = (b"PAR1", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")
"""How Parquet and compressed files begin."""
ID_KEYS, TEXT_KEYS = ("doc_id", "docno", "id", "_id", "docid"), ("title", "text", "contents", "body", "abstract")


BROKEN = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3"><title>rankbounds</title>
<h1>The files cannot be read</h1><p>{{error}}</p><p>This page looks again by itself.</p></html>
"""


class JudgmentFile:
    """A TREC file of judgments that several writers may add to.

    A judgment is written to a copy that then takes the file's place, under a lock: readers see the old file or the new
    one, a crash leaves one of them whole, and of two writers the second sees what the first wrote. What is to be
    written is read as anybody would read it before it is, and nobody is told of a judgment that cannot be read back.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self._turn = threading.Lock()

    def check(self) -> None:
        """Reject files that a line cannot be added to, and clear what writers that were killed left behind."""
        try:
            self._read(b"PAR1" if is_parquet(str(self.path), QRELS_COLUMNS) else self._content())
        except DataError as error:
            raise UsageError(
                f"{error} Judgments given in the browser are added to a plain TREC file with numbers for grades; use "
                "--read-only to look at the report."
            ) from None
        with self._locked():
            clear_copies(self.path)

    def add(self, query_id: str, doc_id: str, grade: float) -> None:
        """Judge a document. One that has another grade already keeps it, and an error tells."""
        for what, name in (("topic", query_id), ("document", doc_id)):
            reason = unheld_by_trec(name, begins_line=what == "topic")
            if reason:
                raise UsageError(f"The {what} id {shown(name)} {reason}, and a TREC file cannot hold it.")
        if not math.isfinite(grade) or grade < 0:
            raise UsageError("A grade is a number from 0 on.")
        with self._locked():
            content = self._content()
            held = self._read(content)
            row = _row(held, query_id, doc_id)
            if row is not None and held.grade[row] == grade:
                return
            if row is not None and held.grade[row] != POOLED_NOT_JUDGED:
                raise DataError(
                    f"{doc_id} has grade {decimal(held.grade[row])} for topic {query_id} already; it was not changed."
                )
            line = f"{query_id} 0 {doc_id} {decimal(grade)}".encode("utf-8", "surrogateescape")
            changed = _with_line(content, line)
            self._reject_if_unreadable(changed, held, row, (query_id, doc_id, grade))
            with writing(self.path, "wb", durable=True) as out:
                out.write(changed)
            if self._content() != changed:
                raise DataError(f"{self.path}: another program changed the file meanwhile. Judge the document again.")

    def _content(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read ({error.strerror or error}).") from None

    def _read(self, content: bytes) -> Qrels:
        """The judgments in these bytes of the file."""
        name = str(self.path)
        if not content.startswith(NO_TEXT):
            text = text_of(name, content)
            if recognised(text, name) == "trec":
                lines = trec.read_lines(text, trec.qrels_layout)
                return Qrels(lines.pairs, lines.value)
        raise DataError(f"{name}: this is no plain TREC file.")

    def _reject_if_unreadable(
        self, content: bytes, before: Qrels, row: int | None, judgment: tuple[str, str, float]
    ) -> None:
        """An error unless these bytes hold what was there before, and the judgment."""
        try:
            after = self._read(content)
            grade = before.grade if row is not None else np.append(before.grade, 0.0)
            at = len(before) if row is None else row
            grade = np.where(np.arange(grade.size) == at, judgment[2], grade)
            whole = np.array_equal(after.grade, grade) and _row(after, *judgment[:2]) == at
        except DataError:
            whole = False
        if not whole:
            raise DataError(f"{self.path}: the judgment could not be read back from this file, and was not written.")

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Only one writer at a time, in this process and in others, by whichever link they know the file."""
        if not self._turn.acquire(timeout=QUEUE_PATIENCE):
            raise DataError(f"{self.path}: too many judgments wait to be written. Judge the document again.")
        try:
            real = Path(os.path.realpath(self.path))
            lock = real.with_name(f".{real.name}.lock")
            try:
                held = open(lock, "ab")  # noqa: SIM115 (closing the file lets go of the lock, as the process's end does)
            except OSError as error:
                raise DataError(
                    f"{self.path}: judgments cannot be written in this folder ({error.strerror or error})."
                ) from None
            with held:
                _wait_for(held, lock)
                yield
        finally:
            self._turn.release()


def _row(qrels: Qrels, query_id: str, doc_id: str) -> int | None:
    """The row of a judgment, if there is one."""
    pairs = qrels.pairs
    if query_id not in pairs.topics:
        return None
    rows = np.flatnonzero(pairs.topic == pairs.topics.index(query_id))
    wanted = doc_id.encode("utf-8", "surrogateescape")
    return next((row for row in rows.tolist() if pairs.docs.raw(row) == wanted), None)


def _with_line(content: bytes, line: bytes) -> bytes:
    """A file with one more line, or with this one in place of what it said of the document before."""
    lines = content.split(b"\n")
    if not lines[-1].strip():
        lines.pop()
    wanted = _fields(line)
    for number, old in enumerate(lines):
        mark = BYTE_ORDER_MARK if number == 0 and old.startswith(BYTE_ORDER_MARK) else b""
        fields = _fields(old.removeprefix(mark))
        if fields[:1] + fields[2:3] == [wanted[0], wanted[2]]:
            lines[number] = mark + line
            return b"\n".join([*lines, b""])
    return b"\n".join([*lines, line, b""])


def _fields(line: bytes) -> list[bytes]:
    return [one for one in re.split(rb"[\x00-\x20]+", line) if one]


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
        except (ValueError, TypeError, StopIteration, RecursionError):
            raise DataError(
                f"{self.path}, line {number}: this should be a JSON object with one of {', '.join(ID_KEYS)}."
            ) from None

    def text(self, doc_id: str) -> str:
        """What the file says of a document."""
        if doc_id not in self.offset:
            return "There is no text of this document."
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset[doc_id])
                held = json.loads(file.readline())
            return "\n".join(str(held[key]) for key in TEXT_KEYS if held.get(key)) or "This document has no text."
        except (OSError, ValueError, AttributeError, RecursionError):
            raise DataError(f"{self.path}: the file changed since this server began. Start it again.") from None


class Live:
    """The report of files as they are now."""

    def __init__(
        self,
        qrels: str,
        runs: Sequence[str] | Callable[[], Sequence[RunToRead]],
        choices: Choices,
        documents: Documents | None = None,
        *,
        judging: bool = True,
    ) -> None:
        self.qrels, self.choices, self.documents = qrels, choices, documents
        self.runs = runs if callable(runs) else partial(choices.reading().runs_to_read, runs)
        """The runs as the files are now: a folder may get another one."""
        self.judgments = JudgmentFile(qrels)
        self.judging = judging
        self.token, self.key = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self._lock = threading.Lock()
        self._made: tuple[str, str] = ("", "")

    def state(self) -> str:
        """Changes whenever a file does."""
        parts = []
        for path in [self.qrels, *files_of(self.runs())]:
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
                    content = gather(self.qrels, self.runs(), self.choices)
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
            except (KeyError, TypeError, ValueError, OverflowError):
                raise UsageError("A judgment has a query_id, a doc_id and a grade.") from None
            self.judgments.add(query_id, doc_id, grade)
            return {"judged": doc_id}
        raise UsageError(f'There is no "{what}" here.')


def is_local(host: str) -> bool:
    """Does this address reach no further than this machine?"""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def address(live: Live, host: str, port: int) -> str:
    """What to open. Where others could reach the page, the address holds a key without which nothing is shown."""
    name = socket.gethostname() if host in ("0.0.0.0", "::", "") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + ("" if is_local(host) else f"?key={live.key}")


def server(live: Live, host: str, port: int) -> ThreadingHTTPServer:
    """A server of the page. Only requests that name an address or this machine are answered.

    A page elsewhere may point a name of its own at this address: its requests name another host.
    """
    local = is_local(host)
    names = {"localhost", host.lower(), *(() if local else (socket.gethostname().lower(),))}

    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE

        def do_GET(self) -> None:
            self._answer(self._get)

        def do_POST(self) -> None:
            self._answer(self._post)

        def _answer(self, method: Callable[[], None]) -> None:
            """Every error is an answer; what nobody foresaw is told here too."""
            try:
                if not self._welcome():
                    self._reply(403, "text/plain", b"Only requests to this machine by its own name are answered.\n")
                else:
                    method()
            except ConnectionError:
                self.close_connection = True  # the browser went away
            except TimeoutError:
                self._say(408, {"error": "The request stopped half way."})
            except UsageError as error:
                self._say(400, {"error": str(error)})
            except RankboundsError as error:
                self._say(409, {"error": str(error)})
            except Exception as error:
                print(f"rankbounds: {type(error).__name__}: {error}", file=sys.stderr)
                self._say(500, {"error": f"The server failed ({type(error).__name__}: {error})."})

        def _get(self) -> None:
            asked = urlsplit(self.path)
            if asked.path != "/":
                self._reply(404, "text/plain", b"There is nothing here.\n")
            elif not local and not _equal(parse_qs(asked.query).get("key", [""])[0], live.key):
                self._reply(403, "text/plain", b"Open the address that the server printed, key and all.\n")
            else:
                self._reply(200, "text/html; charset=utf-8", live.page().encode("utf-8", "replace"))

        def _post(self) -> None:
            if not _equal(self.headers.get("X-Token", ""), live.token):
                self._say(403, {"error": "This page is of another server: load it again."})
                return
            length = self.headers.get("Content-Length", "0")
            if not length.isdecimal() or int(length[:20]) > LARGEST_REQUEST:
                raise UsageError("The request is too long.")
            try:
                message = json.loads(self.rfile.read(int(length)))
            except (ValueError, RecursionError):
                raise UsageError("The request is not JSON.") from None
            if not isinstance(message, dict):
                raise UsageError("The request is no JSON object.")
            self._say(200, live.answer(self.path.strip("/"), message))

        def _welcome(self) -> bool:
            try:
                named = urlsplit(f"//{self.headers.get('Host', '')}").hostname or ""
            except ValueError:
                return False
            with contextlib.suppress(ValueError):
                return ipaddress.ip_address(named).is_loopback or not local
            return named in names

        def _say(self, code: int, message: dict[str, Any]) -> None:
            self._reply(code, "application/json", json.dumps(message).encode("ascii"))

        def _reply(self, code: int, kind: str, body: bytes) -> None:
            with contextlib.suppress(ConnectionError, TimeoutError):  # a browser that went away needs no answer
                self.send_response(code)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "no-store")
                self.send_header("Referrer-Policy", "no-referrer")
                self.send_header("X-Content-Type-Options", "nosniff")
                self.send_header("X-Frame-Options", "DENY")
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 (named by the library)
            """Say nothing of single requests."""

    class Server(ThreadingHTTPServer):
        request_queue_size = WAITING_CONNECTIONS
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A connection that broke is no concern of anybody here."""

    try:
        return Server((host, port), Handler)
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"Port {port} of {host} cannot be used ({why}). Name another --port.") from None


def _equal(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), secret.encode())
