"""A folder for temporary files that is removed even after a failure, a signal or a kill."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

from rankbounds.errors import DataError

try:
    import fcntl
except ImportError:  # Windows has no such locks: what a killed process left there is not told from what is in use
    fcntl = None  # type: ignore[assignment]

PREFIX = "rankbounds-"
LOCK = "lock"
"""A file in the folder that is locked as long as the folder is used. The system lets go of it when a process dies."""
SIGNALS = ("SIGTERM", "SIGHUP")


@contextlib.contextmanager
def scratch_folder(below: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """Create a folder in this one (default: the system's temporary one), removed at the end."""
    parent = Path(below or tempfile.gettempdir())
    remove_abandoned(parent)
    try:
        made = tempfile.TemporaryDirectory(prefix=PREFIX, dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise DataError(parent, f"no temporary files can be written here ({error.strerror or error}).") from None
    with _ended_by_signals(), made as name, _locked(Path(name)):
        yield Path(name)


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of processes that were killed: their locks are free."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for folder in parent.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError), open(folder / LOCK, "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which is named only once locked, so that nobody finds it unlocked."""
    lock: IO[bytes]
    with open(folder / f"{LOCK}.new", "wb") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / f"{LOCK}.new").rename(folder / LOCK)
        yield


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Meanwhile, signals that end a process do so by an exception, on whose way out everything is cleaned up.

    Whoever has handlers of their own keeps them; other threads than the main one cannot have any.
    """
    before: dict[int, Any] = {}

    def leave(number: int, _frame: Any) -> NoReturn:
        raise SystemExit(128 + number)

    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in SIGNALS if hasattr(signal, name)):
            if signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
