"""Ctrl-C while the program is still being loaded: one line, as later, and no traceback."""

from __future__ import annotations

import os
import sys
from types import TracebackType


def expect_interruption() -> None:
    """Take care of it where the command is being run; a program that imports the package does so itself."""
    name = os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else ""
    as_module = ("-m", "rankbounds") in zip(sys.orig_argv, sys.orig_argv[1:], strict=False)
    if as_module or name.removesuffix(".exe") == "rankbounds":
        sys.excepthook = _tell


def _tell(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("rankbounds: interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, traceback)
