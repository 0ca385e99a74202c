"""The server of the judging page and of the live report: who may ask what, and the answers."""

from __future__ import annotations

import contextlib
import hashlib
import html
import ipaddress
import json
import os
import secrets
import socket
import sys
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from rankbounds.choices import whole_number
from rankbounds.desk.desk import Desk
from rankbounds.desk.judgment_file import Pair
from rankbounds.desk.planning import Planning, Worker
from rankbounds.errors import RankboundsError, UsageError
from rankbounds.report.page import Live, script

LARGEST_REQUEST = 1 << 16
PATIENCE = 10.0
WAITING_CONNECTIONS = 1024
SHORTEST_TOKEN = 16
HERE = Path(__file__).parent
HTML = "text/html; charset=utf-8"
FILES = {"/judging.css": "text/css; charset=utf-8", "/judging.js": "text/javascript; charset=utf-8"}
MESSAGES = ("start", "next", "judge", "skip", "undo", "document", "past", "results", "export")
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
"""Only the page's own script may run, whatever texts hold."""
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Office:
    """What pages can ask for: the report and, where judgments are taken, a desk and its plan."""

    def __init__(self, live: Live, desk: Desk | None = None, planning: Planning | None = None) -> None:
        self.live, self.desk, self.planning = live, desk, planning
        self.page_token = live.token = live.token or secrets.token_urlsafe(24)
        """Only a page that came from here knows it: pages elsewhere cannot send requests that hold it."""
        self._worker = Worker(live.page) if desk else None
        self.report: Callable[[], str] = self._worker or live.page

    def judging_page(self) -> str:
        text = (HERE / "page.html").read_text(encoding="utf-8")
        for mark, value in (
            ("{{token}}", self.page_token),
            ("{{title}}", self.live.choices.title or os.path.basename(self.live.qrels)),
        ):
            text = text.replace(mark, html.escape(value), 1)
        return text

    def close(self) -> None:
        for part in (self._worker, self.planning, self.desk):
            if part:
                part.close()

    def answer(self, what: str, message: dict[str, Any]) -> dict[str, Any]:
        if what == "state":
            return {"state": self.live.state()}
        desk = self.desk
        if desk is None or what not in MESSAGES:
            raise UsageError(f'There is no "{what}" here.')
        if what == "start":
            return {
                "desk": desk.name,
                "judges": list(desk.settings.judges),
                "user": desk.settings.user,
                "grades": [{"grade": grade, "name": name} for grade, name in desk.grades.items()],
                "texts": desk.settings.documents is not None,
                "runs": self.planning is not None,
                "file": desk.file.path.name,
                "journal": desk.journal.path.name,
            }
        if what == "export":
            return {"csv": desk.export()}
        if what == "results":
            runs, named = self.live.read_runs(), desk.settings.beside
            shown = [run for run in runs if run.name in named] if named else runs[:2]
            return {"results": desk.results(shown, _text(message, "judge"), _text(message, "query_id"))}
        if what == "document":
            return desk.document(_pair(message))
        if what == "past":
            grade = None if message.get("grade") in (None, "") else _grade(message)
            return desk.past(judge=_text(message, "of"), grade=grade, words=_text(message, "words"))
        judge, key, done = _text(message, "judge").strip(), _text(message, "key"), {}
        if what == "judge":
            entry, note = desk.judge(judge, _pair(message), _grade(message), key, _text(message, "why").strip())
            done = {"saved": entry.shown(), "note": note}
        elif what == "skip":
            done = {"saved": desk.skip(judge, _pair(message), key).shown(), "note": ""}
        elif what == "undo":
            done = {"undone": desk.undo(judge, key).shown(), "note": ""}
        holding = message.get("holding")
        held_pair = (str(holding[0]), str(holding[1])) if isinstance(holding, list) and len(holding) == 2 else None
        handed = desk.next_for(judge, _text(message, "page"), held_pair)
        goal = self.planning and self.planning.goal()
        return done | {"next": handed, "progress": desk.progress(judge), "goal": goal}


def _file(path: str) -> bytes:
    text = (HERE / path[1:].replace("judging", "page")).read_bytes()
    return b'"use strict";\n' + script("marking").encode("ascii") + text if path.endswith(".js") else text


def _text(message: dict[str, Any], name: str) -> str:
    text = message.get(name, "")
    if not isinstance(text, str):
        raise UsageError(f'"{name}" should be text.')
    return text


def _pair(message: dict[str, Any]) -> Pair:
    pair = _text(message, "query_id"), _text(message, "doc_id")
    if not all(pair):
        raise UsageError("A judgment has a query_id and a doc_id.")
    return pair


def _grade(message: dict[str, Any]) -> float:
    try:
        return float(message["grade"])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise UsageError("A judgment has a grade, which is a number.") from None


# ---- who may ask ----


def is_local(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def check_token(host: str, token: str | None) -> str | None:
    """The token that everybody has to know; an error where others could reach the page, and there is none."""
    if token == "new":
        return secrets.token_urlsafe(24)
    if token is None and not is_local(host):
        raise UsageError(
            f"Others can reach {host}, and nothing would keep them from judging: give a --token of {SHORTEST_TOKEN} "
            "letters or more, or --token new to have one made."
        )
    if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
        raise UsageError(f"A --token has {SHORTEST_TOKEN} letters or more, all of them ASCII, or is the word new.")
    return token


def address(host: str, port: int, token: str | None) -> str:
    """What to open. Where there is a token, the address holds it once; then the browser keeps it."""
    name = socket.gethostname() if host in ("0.0.0.0", "::", "") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?{urlencode({'token': token})}" if token else "")


def server(office: Office, host: str, port: int, token: str | None = None) -> ThreadingHTTPServer:
    """A server of the pages. Only requests that name an address or this machine are answered.

    A page elsewhere may point a name of its own at this address: its requests name another host. And a page elsewhere
    may send requests here: they name its origin, and lack the token that only pages from here hold.
    """
    local = is_local(host)
    secret = hashlib.sha256((token or "").encode()).hexdigest()  # a cookie cannot hold every letter
    names = {"localhost", host.lower(), *(() if local else (socket.gethostname().lower(),))}

    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE

        def do_GET(self) -> None:
            self._answer(self._get)

        def do_POST(self) -> None:
            self._answer(self._post)

        def _answer(self, method: Callable[[], None]) -> None:
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
            given = parse_qs(asked.query)
            if token and _equal(given.pop("token", [""])[0], token):
                kept = f"{self._cookie}={secret}; HttpOnly; SameSite=Strict; Path=/"
                place = urlunsplit(("", "", asked.path, urlencode(given, doseq=True), ""))
                self._reply(303, "text/plain", b"", {"Set-Cookie": kept, "Location": place})
            elif token and not self._has_token():
                self._reply(403, "text/plain", b"Open the address that the server printed, including the token.\n")
            elif asked.path in FILES and office.desk:
                self._reply(200, FILES[asked.path], _file(asked.path))
            elif asked.path == "/" and office.desk:
                self._reply(
                    200, HTML, office.judging_page().encode("utf-8", "replace"), {"Content-Security-Policy": POLICY}
                )
            elif asked.path in ("/", "/report"):
                self._reply(200, HTML, office.report().encode("utf-8", "replace"))
            else:
                self._reply(404, "text/plain", b"There is nothing here.\n")

        def _post(self) -> None:
            if token and not self._has_token():
                self._say(403, {"error": "Open the address that the server printed, including the token."})
                return
            if not self._of_this_origin() or not _equal(self.headers.get("X-Token", ""), office.page_token):
                self._say(403, {"error": "This page comes from another server: reload it."})
                return
            length = whole_number(self.headers.get("Content-Length", "0"), LARGEST_REQUEST)
            if length is None:
                raise UsageError("The request is too long.")
            try:
                message = json.loads(self.rfile.read(length))
            except (ValueError, RecursionError):
                raise UsageError("The request is not JSON.") from None
            if not isinstance(message, dict):
                raise UsageError("The request is not a JSON object.")
            self._say(200, office.answer(self.path.strip("/"), message))

        @property
        def _cookie(self) -> str:
            return f"rankbounds-{self.connection.getsockname()[1]}"  # cookies do not know of ports

        def _has_token(self) -> bool:
            cookies = (part.strip().partition("=") for part in self.headers.get("Cookie", "").split(";"))
            return any(name == self._cookie and _equal(value, secret) for name, _, value in cookies)

        def _welcome(self) -> bool:
            try:
                named = urlsplit(f"//{self.headers.get('Host', '')}").hostname or ""
            except ValueError:
                return False
            with contextlib.suppress(ValueError):
                return ipaddress.ip_address(named).is_loopback or not local
            return named in names

        def _of_this_origin(self) -> bool:
            origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site")
            if site not in (None, "same-origin", "none"):
                return False
            return origin is None or urlsplit(origin).netloc.lower() == self.headers.get("Host", "").lower()

        def _say(self, code: int, message: dict[str, Any]) -> None:
            self._reply(code, "application/json", json.dumps(message).encode("ascii"))

        def _reply(self, code: int, kind: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
            with contextlib.suppress(ConnectionError, TimeoutError):  # a browser that went away needs no answer
                self.send_response(code)
                own = {"Content-Type": kind, "Content-Length": str(len(body))}
                for name, value in (HEADERS | own | dict(headers or {})).items():
                    self.send_header(name, value)
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
