"""A case: files, and a check that answers in one word or finds a property violated."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.rankings import join

LONGEST_MESSAGE = 1000
SECONDS = 5.0
"""How much of the processor's time any small file may take."""
WAITING = 3
"""How many times that the clock may show, on a machine that has other work too."""
EXIT_CODES = (0, 1, 2, 3, 4)


class ViolationError(Exception):
    """A property does not hold."""


class TimeUpError(BaseException):
    """The time is over; no ``except Exception`` may hide that."""


@dataclass(frozen=True)
class Case:
    """One trial: ``check`` gets the folder that holds ``files`` and returns an outcome in a word."""

    files: dict[str, bytes]
    check: Callable[[Path], str]
    command: str
    """What a person can type in the folder to see the same, as near as that is possible."""
    cut: str | None = None
    """The file that may be shortened as long as the violation stays."""
    seconds: float = SECONDS
    patient: bool = False
    """Was something asked for that may well take long? Then it is stopped and that is no fault."""
    batch_cells: int = join.BATCH_CELLS
    """How many cells a batch of rankings may have: few of them make short lists long ones."""


def run(case: Case, folder: Path) -> str:
    """Write the files, check, and say how it went; raise ViolationError where a property is broken."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    usual, join.BATCH_CELLS = join.BATCH_CELLS, case.batch_cells
    try:
        with time_limit(case.seconds):
            return case.check(folder)
    except TimeUpError:
        if case.patient:
            return "stopped"
        limits = f"{case.seconds:g} s of work or {WAITING * case.seconds:g} s of waiting"
        raise ViolationError(f"took longer than {limits}") from None
    finally:
        join.BATCH_CELLS = usual


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeUpError in this block when it lasts too long, by the processor's time or by the clock."""

    def stop(*_: Any) -> None:
        raise TimeUpError

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, WAITING * seconds))
    before = [signal.signal(number, stop) for _, number, _ in timers]
    for timer, _, limit in timers:
        signal.setitimer(timer, limit, 1.0)  # again and again, where the first was swallowed
    try:
        yield
    finally:
        for (timer, number, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def check_message(text: str, names: Sequence[str] = ()) -> None:
    """One line, not long, without control characters, that names one of the files."""
    shown = ascii(text[:300])
    if "\n" in text:
        raise ViolationError(f"a message of several lines: {shown}")
    if len(text) > LONGEST_MESSAGE:
        raise ViolationError(f"a message of {len(text):,} characters: {shown}")
    if any(unicodedata.category(one) in ("Cc", "Zl", "Zp") for one in text):
        raise ViolationError(f"a message with a control character: {shown}")
    if names and not any(name in text for name in names):
        raise ViolationError(f"a message that names no file: {shown}")


def answer(call: Callable[[], Any], names: Sequence[str] = ()) -> Any:
    """What a call gives, or the package's own error after a look at its message; anything else is a violation."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = call()
        except rb.RankboundsError as error:
            check_message(str(error), names if isinstance(error, rb.DataError) else ())
            return error
        except TimeUpError:
            raise
        except BaseException as error:  # a panic of compiled code is no Exception
            if isinstance(error, ViolationError | KeyboardInterrupt):
                raise
            raise ViolationError(f"{type(error).__name__}: {str(error)[:200]!a}") from error
        finally:
            messages = [str(one.message) for one in told if issubclass(one.category, rb.RankboundsWarning)]
    for message in messages:
        check_message(message)
    return found


def numbers_or_refusal(found: Any) -> str:
    if isinstance(found, rb.RankboundsError):
        return "refused"
    if not np.isfinite(found.value).all():
        raise ViolationError(f"a judged topic has no number: {found.to_dict()!r:.300}")
    if len(set(found.query_ids)) < len(found.query_ids):
        raise ViolationError(f"two topics have one name: {found.query_ids!r:.300}")
    return "numbers"


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: bytes
    err: str = field(repr=False)


def command(folder: Path, arguments: Sequence[str]) -> Ended:
    """Run a command in this process and this folder; an exception that gets out would be a traceback."""
    before = sys.stdout, sys.stderr, os.getcwd()
    out = open(folder / ".out", "w", encoding="utf-8")  # noqa: SIM115
    err = open(folder / ".err", "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    try:
        sys.stdout, sys.stderr = out, err
        os.chdir(folder)
        try:
            code = main(list(arguments))
        except SystemExit as ended:
            code = int(ended.code or 0)
        except TimeUpError:
            raise
        except BaseException as error:
            raise ViolationError(f"traceback: {type(error).__name__}: {str(error)[:200]!a}") from error
        out.flush()
        err.flush()
        ended_with = Ended(code, (folder / ".out").read_bytes(), (folder / ".err").read_text("utf-8", "replace"))
    finally:
        sys.stdout, sys.stderr = before[:2]
        os.chdir(before[2])
        out.close()
        err.close()
        for name in (".out", ".err"):
            (folder / name).unlink(missing_ok=True)
    if code not in EXIT_CODES:
        raise ViolationError(f"exit code {code}: {ended_with.err[-300:]!a}")
    if "Traceback" in ended_with.err:
        raise ViolationError(f"a traceback on standard error: {ended_with.err[-300:]!a}")
    for line in ended_with.err.splitlines():
        check_message(line)
    return ended_with


def shortened(case: Case, folder: Path, why: str, seconds: float = 10.0) -> Case:
    """The same violation with as little of the file that may be cut as is found in that time."""
    if case.cut is None:
        return case
    best, end = case, time.monotonic() + seconds

    def still(content: bytes) -> bool:
        nonlocal best
        tried = Case({**best.files, str(case.cut): content}, case.check, case.command, case.cut, case.seconds)
        try:
            run(tried, folder)
        except ViolationError as error:
            if str(error)[:25] == why[:25]:
                best = tried
                return True
        return False

    size = len(case.files[case.cut]) // 2
    while size and time.monotonic() < end:
        at = 0
        while at < len(content := best.files[case.cut]) and time.monotonic() < end:
            if not still(content[:at] + content[at + size :]):
                at += size
        size //= 2
    return best
