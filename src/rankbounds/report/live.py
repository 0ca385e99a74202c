"""The report as a page that follows its files."""

from __future__ import annotations

import hashlib
import html
import re
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rankbounds.collection.inputs import RunToRead
from rankbounds.errors import RankboundsError
from rankbounds.report.content import Choices, files_of, gather
from rankbounds.report.page import page

BROKEN = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3"><title>rankbounds</title>
<h1>The files cannot be read</h1><p>{{error}}</p><p>This page looks again by itself.</p>{{link}}</html>
"""
LINK = '<p class="to-judging"><a href="/">Judge documents</a></p>'


class Live:
    """The report of files as they are now."""

    def __init__(
        self,
        qrels: str,
        runs: Sequence[str] | Callable[[], Sequence[RunToRead]],
        choices: Choices,
        token: str = "",
        *,
        judging: bool = False,
    ) -> None:
        self.qrels, self.choices, self.token, self.judging = qrels, choices, token, judging
        self.runs = runs if callable(runs) else partial(choices.reading().runs_to_read, runs)
        """The runs as the files are now: a folder may get another one."""
        self._lock = threading.Lock()
        self._made: tuple[str, str] = ("", "")

    def __getstate__(self) -> dict[str, Any]:
        return {name: held for name, held in self.__dict__.items() if name != "_lock"} | {"_made": ("", "")}

    def __setstate__(self, held: dict[str, Any]) -> None:
        self.__dict__.update(held)
        self._lock = threading.Lock()

    def state(self) -> str:
        """Changes whenever a file does."""
        return _state_of([self.qrels, *files_of(self.runs())])

    def state_of_runs(self) -> str:
        """Changes whenever the file of a run does."""
        return _state_of(files_of(self.runs()))

    def page(self) -> str:
        """The page for the files as they are; what is wrong with them, where they cannot be read."""
        link = LINK if self.judging else ""
        with self._lock:
            try:
                state = self.state()
                if self._made[0] != state:
                    content = gather(self.qrels, self.runs(), self.choices)
                    content["live"] = {"state": state, "token": self.token}
                    self._made = state, re.sub("<body[^>]*>", rf"\g<0>{link}", page(content, live=True), count=1)
            except RankboundsError as error:
                return BROKEN.replace("{{link}}", link).replace("{{error}}", html.escape(str(error)))
            return self._made[1]


def _state_of(paths: Sequence[str]) -> str:
    parts = []
    for path in paths:
        try:
            status = Path(path).stat()
            parts.append(f"{path}:{status.st_mtime_ns}:{status.st_size}")
        except OSError:
            parts.append(f"{path}:-")
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
