"""What is told on standard error, from the first moment on."""

from __future__ import annotations

import os
import sys
from types import TracebackType


def say(message: str) -> None:
    """One line, with nothing in it that steers a terminal, and not too long."""
    from rankbounds.errors import readable  # late: the sooner this module is there, the sooner Ctrl-C is one line

    print(f"rankbounds: {readable(message.strip())}", file=sys.stderr, flush=True)


def expect_interruption() -> None:
    """Ctrl-C while the program is still being loaded is one line, as later, where the command is being run."""
    name = os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else ""
    as_module = ("-m", "rankbounds") in zip(sys.orig_argv, sys.orig_argv[1:], strict=False)
    if as_module or name.removesuffix(".exe") == "rankbounds":
        sys.excepthook = _tell


def _tell(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        say("interrupted")
    else:
        sys.__excepthook__(kind, error, traceback)
