"""One HTML page from what was gathered: as a file, in a notebook, or live, following its files.

Ids, tags and file names are text from strangers: none becomes markup.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from rankbounds.collection.inputs import RunToRead
from rankbounds.collection.run import Run
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import RankboundsError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.files.writing import writing
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.notebook import escape_html, frame_page, shown
from rankbounds.report.content import Choices, gather
from rankbounds.report.summary import DOUBTS

HERE = Path(__file__).parent
SCRIPTS = (
    "elements", "figures", "tables", "marking", "scores", "persistence", "leaderboard", "changes", "two_runs",
    "one_topic", "live", "begin",
)  # fmt: skip
"""The report's script is made of these, in this order: a name is known to all that come after it."""
LARGEST_INLINE = 3_000_000
"""A larger page, in bytes, would make the notebook slow to save and to open: it is shown when that is asked for."""
BROKEN = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3"><title>rankbounds</title>
<h1>The files cannot be read</h1><p>{{error}}</p><p>This page retries automatically.</p>{{link}}</html>
"""
LINK = '<p class="to-judging"><a href="/">Judge documents</a></p>'


def join_scripts() -> str:
    """The script of a report: where polynomials change their sign, which stands alone, and the rest."""
    return f"{script('crossing')}(() => {{\n{''.join(map(script, SCRIPTS))}}})();\n"


def script(name: str) -> str:
    return _text(f"scripts/{name}.js")


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def page(content: dict[str, Any], *, live: bool = False) -> str:
    script = join_scripts()
    # Only the script that belongs here may run, whatever else found its way into the file. It must be ASCII: its
    # checksum is taken from the bytes of the page.
    digest = base64.b64encode(hashlib.sha256(script.encode("ascii")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    policy += "; connect-src 'self'" if live else ""
    parts = {
        "{{policy}}": escape_html(policy),
        "{{title}}": escape_html(content["title"]),
        "{{style}}": _text("page.css"),
        "{{summary}}": _opening(content),
        "{{body}}": _text("page.html"),
        "{{data}}": embed_json(content),
        "{{script}}": script,
    }
    pieces = [_text("frame.html")]
    for mark, text in parts.items():  # filled in from left to right: what is filled in is never read again
        before, after = pieces.pop().split(mark, 1)
        pieces += [before, text, after]
    return "".join(pieces).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _opening(content: dict[str, Any]) -> str:
    first, *more = map(escape_html, content["summary"])
    more = [each for each in more if not (len(content["runs"]) == 2 and content["words"] and each.startswith(DOUBTS))]
    listed = "\n".join(f"<li>{sentence}</li>" for sentence in more)
    return f"<p>{first}</p>" + (f"\n<details><summary>More</summary><ul>\n{listed}\n</ul></details>" if more else "")


def embed_json(content: Any) -> str:
    """JSON that cannot end the script element it stands in, and holds no character that needs an encoding."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@dataclass(frozen=True)
class Report:
    """A page that tells what scores of runs say; a notebook shows it in a frame of its own.

    Attributes
    ----------
    title : str
        Its heading.
    summary : list of str
        What it says first, in sentences.
    page : str
        The whole page, as HTML.
    """

    title: str
    summary: list[str]
    page: str = field(repr=False)
    height: int = 640
    is_large_welcome: bool = False

    def save(self, path: str | os.PathLike[str]) -> None:
        with writing(os.fspath(path)) as out:
            out.write(self.page)

    def show(self, height: int | None = None) -> Report:
        return replace(self, height=height or self.height, is_large_welcome=True)

    def __repr__(self) -> str:
        return "\n".join([self.title, *(f"- {sentence}" for sentence in self.summary), self._where()])

    def _where(self) -> str:
        return f"A page of {len(self.page) / 1e6:.1f} MB: save(path) writes it."

    def _repr_html_(self) -> str:
        if len(self.page) <= LARGEST_INLINE or self.is_large_welcome:
            return frame_page(self.page, self.height)
        return shown(self.title, "\n".join(self.summary), f"{self._where()} show() puts it into the notebook.")


def report(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike = DEFAULT_MEASURES,
    *,
    title: str = "",
    **choices: Any,
) -> Report:
    """One page on the runs: leaderboard, any two compared, any persistence, rankings side by side, what to judge.

    Parameters
    ----------
    qrels, runs
        In any form that ``evaluate`` takes: files, dicts, frames, ``Qrels`` and ``Run``.
    measures : str, Measure, or several of these
        What to score by.
    title : str
        The page's heading; without one, it names the runs.
    **choices
        Everything else that the command ``report`` takes, by the same names: ``ties``, ``unjudged``, ``bounds``,
        ``gain``, ``topics``, ``test``, ``correction``, ``alpha``, ``seed``, ``queries``, ``documents``, ``by`` and so
        on.

    Returns
    -------
    Report
        As the last expression of a cell it is shown; ``save`` writes it. A page of more than 3 MB is shown by ``show``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(topic): {"r": 1, "n": 0} for topic in range(4)}
    >>> runs = {"good": {q: {"r": 2, "n": 1} for q in qrels}, "bad": {q: {"n": 2, "r": 1} for q in qrels}}
    >>> made = rb.report(qrels, runs, ["RR", "P@1"], title="Two runs")
    >>> made.title, made.page.count("</html>")
    ('Two runs', 1)
    """
    content = gather(qrels, runs, Choices.of(measures, title=title, **choices))
    return Report(content["title"], list(content["summary"]), page(content))


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
        self.runs = runs if callable(runs) else partial(choices.reading.runs_to_read, runs)
        """The runs as the files are now: a folder may get another one."""
        self._making, self._reading = threading.Lock(), threading.Lock()
        self._made: tuple[str, str] = ("", "")
        self._read: tuple[str, list[Run]] = ("", [])

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Live, judging=self.judging), (self.qrels, self.runs, self.choices, self.token)

    def state(self, *, runs_alone: bool = False) -> str:
        parts = []
        for path in [*([] if runs_alone else [self.qrels]), *filter(None, (job.path for job in self.runs()))]:
            try:
                status = Path(path).stat()
                parts.append(f"{path}:{status.st_mtime_ns}:{status.st_size}")
            except OSError:
                parts.append(f"{path}:-")
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()

    def read_runs(self) -> list[Run]:
        with self._reading:
            state = self.state(runs_alone=True)
            if self._read[0] != state:
                self._read = state, self.choices.reading.runs(self.runs())
            return self._read[1]

    def retrieves(self, query_id: str, doc_id: str) -> bool:
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
