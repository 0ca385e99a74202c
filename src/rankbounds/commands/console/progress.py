"""What a terminal shows while a command works: what is being done, how far it is, and since when.

One line of standard error, drawn by a thread of its own, so that long steps are seen to go on. It appears once a
command has taken a while, and goes away before anything else is printed. Where standard error is no terminal there is
nothing.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

from rankbounds.commands.console.messages import is_quiet, screen_width
from rankbounds.terminal import beginning
from rankbounds.threads import started

PATIENCE, PAUSE = 1.0, 0.25
"""Seconds before the line appears, and until it is drawn again."""
WORKING = "working"
SOON = 5
"""Seconds below which nobody needs to be told how many are left."""


class _Line:
    """The line, and what it says."""

    def __init__(self) -> None:
        self._what = WORKING
        self._done = self._total = self._done_before = 0
        self._begun = self._stage_begun = time.monotonic()
        self._drawn = False
        self._lock = threading.Lock()

    def tell(self, what: str, done: int = 0, total: int = 0) -> None:
        """Say something else from now on."""
        if what != self._what:
            self._stage_begun, self._done_before = time.monotonic(), done
        self._what, self._done, self._total = what, done, total

    def text(self) -> str:
        """What the line says now."""
        now = time.monotonic()
        parts = [f"{self._done} of {self._total} {self._what}" if self._total > 1 else self._what]
        parts.append(_duration(now - self._begun))
        done_since = self._done - self._done_before
        if self._total > 1 and done_since > 0:
            left = (now - self._stage_begun) * (self._total - self._done) / done_since
            parts += [f"about {_duration(left)} left"] if left >= SOON else []
        return ", ".join(parts)

    def draw(self) -> None:
        """Write the line over the old one."""
        with self._lock:
            if not self._what:
                return
            shown = beginning(self.text(), screen_width() - 1)
            print(f"\r{shown}\x1b[K", end="", file=sys.stderr, flush=True)
            self._drawn = True

    @contextlib.contextmanager
    def cleared(self) -> Iterator[None]:
        """The terminal as if nothing had been drawn, until the end of the block."""
        with self._lock:
            if self._drawn:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._drawn = False
            yield


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


_line: _Line | None = None


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """Show progress while the block runs, on a terminal whose user did not ask for quiet."""
    global _line
    if is_quiet() or not sys.stderr.isatty():
        yield
        return
    line, ended = _Line(), threading.Event()

    def draw() -> None:
        pause = PATIENCE
        while not ended.wait(pause):
            line.draw()
            pause = PAUSE

    _line = line
    drawing = started(draw)
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
    """No line while something else is printed; it comes back as work goes on."""
    return _line.cleared() if _line is not None else contextlib.nullcontext()


def doing(what: str) -> None:
    """Name what takes time from now on."""
    if _line is not None:
        _line.tell(what)


def rest() -> None:
    """Show nothing until something else is being done: now it is others who take their time."""
    doing("")
    with cleared():
        pass


def progress_on_terminal(what: str, then: str = WORKING) -> Callable[[int, int], None] | None:
    """What counts how many of how many are done, and says what is done then; None where nobody would see it."""
    line = _line
    if line is None:
        return None
    return lambda done, total: line.tell(what, done, total) if done < total else line.tell(then)
