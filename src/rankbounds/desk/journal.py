"""The journal: every judgment, skip and undo as one line that is on the disk before anybody is told that it is saved.

Lines are JSON objects and are only ever added. What holds now follows from reading them from the first to the last. A
process that is killed half way through a line leaves a torn one: nobody was told that it is saved, and whoever reads
the journal next passes over it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
from dataclasses import dataclass
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
    pair: Pair
    grade: float | None = None
    undoes: int | None = None
    key: str = ""
    """By which the page knows the line; sent twice, it is written once."""
    before: str | None = None
    """The record of the file that the judgment was written into; None where it got one of its own."""
    beside: bool = False
    """The file had a grade of somebody else's already, and keeps it."""

    def line(self) -> bytes:
        """The entry as it is written."""
        fields: dict[str, Any] = {"n": self.number, "time": self.time, "judge": self.judge}
        fields |= {"query_id": self.pair[0], "doc_id": self.pair[1], "key": self.key}
        if self.undoes is not None:
            fields["undo"] = self.undoes
        elif self.grade is None:
            fields["skip"] = True
        else:
            fields["grade"] = self.grade
            fields |= {"beside": True} if self.beside else {"before": self.before}
        return json.dumps(fields).encode("ascii") + b"\n"

    @classmethod
    def of(cls, line: bytes) -> Entry:
        """An entry from its line; ValueError where it is none."""
        try:
            held = json.loads(line)
            return cls(
                int(held["n"]),
                str(held["time"]),
                str(held["judge"]),
                (str(held["query_id"]), str(held["doc_id"])),
                None if held.get("grade") is None else float(held["grade"]),
                None if held.get("undo") is None else int(held["undo"]),
                str(held.get("key", "")),
                held.get("before"),
                bool(held.get("beside", False)),
            )
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError("this is no line of a journal") from error


class Journal:
    """The lines of a journal, and the file that they stand in, which is this process's alone."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.entries: list[Entry] = []
        self.unreadable = 0
        """How many lines could not be read: torn ones."""
        self.written = 0
        """Up to which entry everything went into the file of judgments, by the last mark that says so."""
        self._turn = threading.Lock()
        try:
            self._file: IO[bytes] = open(self.path, "a+b", buffering=0)  # noqa: SIM115 (held until the end)
        except OSError as error:
            raise UsageError(
                f"{self.path}: the journal of judgments cannot be written ({error.strerror or error}). Use --read-only "
                "to look at the report."
            ) from None
        if not _lock(self._file):
            self._file.close()
            raise UsageError(
                f"{self.path}: another server takes judgments for this file. Open its page, or use --read-only."
            )
        self._read()
        _sync_folder(self.path.parent)

    @classmethod
    def beside(cls, path: str | os.PathLike[str]) -> Journal:
        """The journal of a file of judgments, which stands next to it, by whichever link it is known."""
        return cls(os.path.realpath(path) + ENDING)

    def append(
        self,
        judge: str,
        pair: Pair,
        *,
        grade: float | None = None,
        undoes: int | None = None,
        key: str = "",
        before: str | None = None,
        beside: bool = False,
    ) -> Entry:
        """Write a line; when this returns, it is on the disk."""
        with self._turn:
            number = self.entries[-1].number + 1 if self.entries else 1
            now = datetime.now(timezone.utc).isoformat(timespec="seconds")
            entry = Entry(number, now, judge, pair, grade, undoes, key, before, beside)
            self._write(entry.line())
            self.entries.append(entry)
            return entry

    def mark_written(self, number: int) -> None:
        """Note that the file of judgments has everything up to this entry; nothing is lost if the note is."""
        with self._turn, contextlib.suppress(DataError):
            if number > self.written:
                self._write(json.dumps({"written": number}).encode("ascii") + b"\n", safely=False)
                self.written = number

    def close(self) -> None:
        """Let another process have the journal."""
        self._file.close()

    def _read(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        for line in content.splitlines(keepends=True):
            if line.strip():
                try:
                    if mark := MARK.fullmatch(line.strip()):
                        self.written = int(mark[1])
                    else:
                        self.entries.append(Entry.of(line))
                except ValueError:
                    self.unreadable += 1
        if content and not content.endswith(b"\n"):
            self._write(b"\n")  # what is added later does not belong to the torn line

    def _write(self, line: bytes, *, safely: bool = True) -> None:
        """All of a line or nothing of it."""
        try:
            if os.fstat(self._file.fileno()).st_ino != self.path.stat().st_ino:
                raise FileNotFoundError(2, "it is not where it was")
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


def _sync_folder(folder: Path) -> None:
    """That the file is there at all is safe on the disk too, where the system can say so."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _lock(file: IO[bytes]) -> bool:
    """Have a file alone as long as this process lives; False if another one does."""
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
