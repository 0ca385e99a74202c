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
from rankbounds.collection.run import Run
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
        self._making, self._reading = threading.Lock(), threading.Lock()
        self._made: tuple[str, str] = ("", "")
        self._read: tuple[str, list[Run]] = ("", [])

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Live, judging=self.judging), (self.qrels, self.runs, self.choices, self.token)

    def state(self, *, runs_alone: bool = False) -> str:
        """Changes whenever a file does, or only when the file of a run does."""
        parts = []
        for path in [*([] if runs_alone else [self.qrels]), *files_of(self.runs())]:
            try:
                status = Path(path).stat()
                parts.append(f"{path}:{status.st_mtime_ns}:{status.st_size}")
            except OSError:
                parts.append(f"{path}:-")
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()

    def read_runs(self) -> list[Run]:
        """The runs as they are now, read again only when a file changed."""
        with self._reading:
            state = self.state(runs_alone=True)
            if self._read[0] != state:
                self._read = state, self.choices.reading().runs(self.runs())
            return self._read[1]

    def retrieves(self, query_id: str, doc_id: str) -> bool:
        """Is this document in the list of a run for this query?"""
        lists = (run[query_id] for run in self.read_runs() if query_id in run.query_ids)
        return any(doc == doc_id for documents in lists for doc, _ in documents)

    def page(self) -> str:
        """The page for the files as they are; what is wrong with them, where they cannot be read."""
        link = LINK if self.judging else ""
        with self._making:
            try:
                state = self.state()
                if self._made[0] != state:
                    content = gather(self.qrels, self.runs(), self.choices)
                    content["live"] = {"state": state, "token": self.token}
                    self._made = state, re.sub("<body[^>]*>", rf"\g<0>{link}", page(content, live=True), count=1)
            except RankboundsError as error:
                return BROKEN.replace("{{link}}", link).replace("{{error}}", html.escape(str(error)))
            return self._made[1]
