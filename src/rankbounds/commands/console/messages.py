"""Messages on standard error, from the first moment on."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # the module typing takes long to load
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

_quiet = False


def keep_quiet(quiet: bool) -> None:
    """Print errors alone from now on, or everything again."""
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    """Are errors alone printed?"""
    return _quiet


def say(message: str) -> None:
    """Print one line, unless quiet was asked for."""
    if not _quiet:
        complain(message)


def say_all(messages: Iterable[str]) -> None:
    """Print a line for each message, unless quiet was asked for."""
    for message in messages:
        say(message)


def complain(message: str) -> None:
    """Print one line in any case, shortened and without characters that would steer a terminal."""
    from rankbounds.errors import readable  # late: the sooner this module is there, the sooner Ctrl-C is one line

    text = f"rankbounds: {readable(message.strip())}"
    if not sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)
        return
    from rankbounds.commands.console.progress import cleared
    from rankbounds.terminal import lines_that_fit

    with cleared():
        print(lines_that_fit(text, screen_width()), file=sys.stderr, flush=True)


def screen_width() -> int:
    """How many cells a line of the terminal has."""
    from shutil import get_terminal_size

    return get_terminal_size().columns


def expect_interruption() -> None:
    """Ctrl-C while the program is still being loaded is one line, as later, where the command is being run."""
    name = os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else ""
    as_module = ("-m", "rankbounds") in zip(sys.orig_argv, sys.orig_argv[1:], strict=False)
    if as_module or name.removesuffix(".exe") == "rankbounds":
        sys.excepthook = _tell


def _tell(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        complain("interrupted")
    else:
        sys.__excepthook__(kind, error, traceback)
