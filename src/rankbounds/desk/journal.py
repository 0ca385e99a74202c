"""The journal: every judgment, skip and undo as one line that is on the disk before anybody is told that it is saved.

Lines are JSON objects and are only ever added. What holds now follows from reading them from the first to the last:
whose opinion is what, what was skipped, and what each judge can take back. A process that is killed half way through a
line leaves a torn one: nobody was told that it is saved, and whoever reads the journal next passes over it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

from rankbounds.desk.judgment_file import Pair
from rankbounds.errors import DataError, UsageError

ENDING = ".journal.jsonl"
MARK = re.compile(rb'\{"written": (\d{1,15})\}')


@dataclass(frozen=True)
class Entry:
    """One line of the journal: a judgment, a skip (no grade), or an undo of an earlier line."""

    number: int
    time: str
    judge: str
    query_id: str
    doc_id: str
    key: str = ""
    """By which the page knows the line; sent twice, it is written once."""
    grade: float | None = None
    undoes: int | None = None
    before: str | None = None
    """The record of the file that the judgment was written into; None where it got one of its own."""
    beside: bool = False
    """The file had a grade of somebody else's already, and keeps it."""
    why: str = ""
    """What the judge says of the judgment."""

    @property
    def pair(self) -> Pair:
        return self.query_id, self.doc_id

    def shown(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("number", "query_id", "doc_id", "grade")}

    @classmethod
    def of(cls, line: bytes) -> Entry:
        try:
            entry = cls(**json.loads(line))
            grade = None if entry.grade is None else float(entry.grade)
            return replace(entry, number=int(entry.number), grade=grade)
        except (TypeError, RecursionError) as error:
            raise ValueError("this is not a line of a journal") from error


class Journal:
    """The journal of a file of judgments, which stands next to it, by whichever link it is known.

    The journal's file is this process's alone as long as it is open.
    """

    def __init__(self, judgments: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.realpath(judgments) + ENDING)
        self.entries: list[Entry] = []
        self.unreadable = 0
        """How many lines could not be read: torn ones."""
        self.written = 0
        """Up to which entry everything went into the file of judgments, by the last mark that says so."""
        self.by_key: dict[str, Entry] = {}
        self.by_pair: dict[Pair, list[Entry]] = {}
        """Judgments and skips by document, in the order in which they came."""
        self._last_number: dict[Pair, int] = {}
        self._by_judge: dict[str, list[Entry]] = {}
        self._undone: set[int] = set()
        self._judged: list[Entry] | None = None
        self._turn = threading.Lock()
        try:
            self._file: IO[bytes] = open(self.path, "a+b", buffering=0)  # noqa: SIM115 (held until the end)
        except OSError as error:
            why = f"the journal of judgments cannot be written ({error.strerror or error})"
            raise UsageError(f"{self.path}: {why}. Use --read-only to look at the report.") from None
        if not _lock(self._file):
            self._file.close()
            raise UsageError(
                f"{self.path}: another server saves judgments for this file. Open its page, or use --read-only."
            )
        self._read()
        with contextlib.suppress(OSError):  # that the file is there at all is safe too, where the system can say so
            handle = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    # ---- lines ----

    def append(self, judge: str, pair: Pair, **fields: Any) -> Entry:
        with self._turn:
            number = self.entries[-1].number + 1 if self.entries else 1
            entry = Entry(number, datetime.now(timezone.utc).isoformat(timespec="seconds"), judge, *pair, **fields)
            self._write(json.dumps(asdict(entry)).encode("ascii") + b"\n")
            self._take_in(entry)
            return entry

    def mark_written(self, number: int) -> None:
        with self._turn, contextlib.suppress(DataError):
            if number > self.written:
                self._write(b'{"written": %d}\n' % number, safely=False)
                self.written = number

    def close(self) -> None:
        self._file.close()

    def _read(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        for line in filter(None, map(bytes.strip, content.splitlines())):
            try:
                if mark := MARK.fullmatch(line):
                    self.written = int(mark[1])
                else:
                    self._take_in(Entry.of(line))
            except ValueError:
                self.unreadable += 1
        if content and not content.endswith(b"\n"):
            self._write(b"\n")  # what is added later does not belong to the torn line

    def _write(self, line: bytes, *, safely: bool = True) -> None:
        try:
            if os.fstat(self._file.fileno()).st_ino != self.path.stat().st_ino:
                raise FileNotFoundError(2, "it was moved or deleted")
            end = self._file.seek(0, os.SEEK_END)
            try:
                left = memoryview(line)
                while left:
                    left = left[self._file.write(left) :]
                if safely:
                    os.fsync(self._file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    self._file.truncate(end)
                raise
        except OSError as error:
            raise DataError(self.path, f"the judgment could not be saved ({error.strerror or error}).") from None

    def _take_in(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._last_number[entry.pair] = entry.number
        self._judged = None
        if entry.key:
            self.by_key[entry.key] = entry
        if entry.undoes is not None:
            self._undone.add(entry.undoes)
        else:
            self.by_pair.setdefault(entry.pair, []).append(entry)
            self._by_judge.setdefault(entry.judge, []).append(entry)

    # ---- what holds now ----

    def last_of(self, judge: str) -> Entry | None:
        entries = self._by_judge.get(judge, [])
        while entries and entries[-1].number in self._undone:
            entries.pop()
        return entries[-1] if entries else None

    def _standing(self, pair: Pair) -> list[Entry]:
        return [entry for entry in self.by_pair.get(pair, ()) if entry.number not in self._undone]

    def opinions(self, pair: Pair) -> dict[str, Entry]:
        return {entry.judge: entry for entry in self._standing(pair) if entry.grade is not None}

    def has_skipped(self, judge: str, pair: Pair) -> bool:
        return any(entry.judge == judge and entry.grade is None for entry in self._standing(pair))

    def judged(self) -> list[Entry]:
        if self._judged is None:
            standing = (entry for pair in self.by_pair for entry in self.opinions(pair).values())
            self._judged = sorted(standing, key=lambda entry: entry.number)
        return self._judged

    # ---- what the file is to hold ----

    def for_the_file(self, pair: Pair) -> Entry | None:
        return next((entry for entry in self.opinions(pair).values() if not entry.beside), None)

    def given_to_file(self, pair: Pair) -> list[Entry]:
        return [entry for entry in self.by_pair.get(pair, ()) if entry.grade is not None and not entry.beside]

    def is_pending(self, pair: Pair) -> bool:
        return self._last_number[pair] > self.written


def _lock(file: IO[bytes]) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(1 << 40)  # far behind the lines, which stay readable
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return os.name != "nt"  # elsewhere, a file system without locks
    return True
