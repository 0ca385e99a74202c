"""Messages on standard error, and a line that shows progress on a terminal.

The line shows the current step, its progress and its time. A thread draws it, so that it moves during long steps. It
appears once a command has taken a while, is removed before anything else is printed, and needs a terminal.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time

TYPE_CHECKING = False  # the module typing takes long to load
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

PATIENCE, PAUSE = 1.0, 0.25
"""Seconds before the line appears, and until it is drawn again."""
SOON = 5
"""Seconds below which nobody needs to be told how many are left."""
WORKING = "working"
_quiet = False
_line: _Line | None = None

# ---- messages ----


def keep_quiet(quiet: bool) -> None:
    global _quiet
    _quiet = quiet


def say(message: str) -> None:
    if not _quiet:
        complain(message)


def say_all(messages: Iterable[str]) -> None:
    for message in messages:
        say(message)


def complain(message: str) -> None:
    from rankbounds.errors import readable  # late: the sooner this module is there, the sooner Ctrl-C is one line

    text = f"rankbounds: {readable(message.strip())}"
    if sys.stderr.isatty():
        from rankbounds.terminal import fit_lines

        text = fit_lines(text, screen_width())
    with cleared():
        print(text, file=sys.stderr, flush=True)


def screen_width() -> int:
    from shutil import get_terminal_size

    return get_terminal_size().columns


def expect_interruption() -> None:
    def report(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            complain("interrupted")
        else:
            sys.__excepthook__(kind, error, traceback)

    name = os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else ""
    as_module = ("-m", "rankbounds") in zip(sys.orig_argv, sys.orig_argv[1:], strict=False)
    if as_module or name.removesuffix(".exe") == "rankbounds":
        sys.excepthook = report


# ---- progress ----


class _Line:
    def __init__(self) -> None:
        self._what = WORKING
        self._done = self._total = self._done_before = 0
        self._begun = self._stage_begun = time.monotonic()
        self._drawn = False
        self._lock = threading.Lock()

    def tell(self, what: str, done: int = 0, total: int = 0) -> None:
        if what != self._what:
            self._stage_begun, self._done_before = time.monotonic(), done
        self._what, self._done, self._total = what, done, total

    def text(self) -> str:
        now = time.monotonic()
        parts = [f"{self._done} of {self._total} {self._what}" if self._total > 1 else self._what]
        parts.append(duration(now - self._begun))
        done_since = self._done - self._done_before
        if self._total > 1 and done_since > 0:
            left = (now - self._stage_begun) * (self._total - self._done) / done_since
            parts += [f"about {duration(left)} left"] if left >= SOON else []
        return ", ".join(parts)

    def draw(self) -> None:
        from rankbounds.terminal import beginning

        with self._lock:
            if self._what:
                print(f"\r{beginning(self.text(), screen_width() - 1)}\x1b[K", end="", file=sys.stderr, flush=True)
                self._drawn = True

    @contextlib.contextmanager
    def cleared(self) -> Iterator[None]:
        with self._lock:
            if self._drawn:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._drawn = False
            yield


def duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@contextlib.contextmanager
def progress_shown() -> Iterator[None]:
    global _line
    if _quiet or not sys.stderr.isatty():
        yield
        return
    from rankbounds.threads import start_thread

    line, ended = _Line(), threading.Event()

    def draw() -> None:
        pause = PATIENCE
        while not ended.wait(pause):
            line.draw()
            pause = PAUSE

    _line = line
    drawing = start_thread(draw)
    try:
        yield
    finally:
        _line = None
        ended.set()
        if drawing is not None:
            drawing.join()
        with line.cleared():
            pass


def cleared() -> contextlib.AbstractContextManager[None]:
    return _line.cleared() if _line is not None else contextlib.nullcontext()


def doing(what: str) -> None:
    if _line is not None:
        _line.tell(what)
        if not what:
            with cleared():
                pass


def progress_on_terminal(what: str, then: str = WORKING) -> Callable[[int, int], None] | None:
    line = _line
    if line is None:
        return None
    return lambda done, total: line.tell(what, done, total) if done < total else line.tell(then)
