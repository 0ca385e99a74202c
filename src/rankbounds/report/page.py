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
from itertools import combinations
from pathlib import Path
from typing import Any

from rankbounds.collection.inputs import RunToRead
from rankbounds.collection.run import Run
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.comparison.collections.result import CollectionsComparison
from rankbounds.errors import RankboundsError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.score_differences import equal
from rankbounds.files.writing import writing
from rankbounds.measures import parse_measures
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.notebook import escape_html, frame_page, shown
from rankbounds.phrases import some
from rankbounds.report.content import Choices, gather, place_words
from rankbounds.tables import as_json
from rankbounds.version import __version__

HERE = Path(__file__).parent
DRAWING = ("elements", "figures", "tables")
"""What every page is drawn with."""
SCRIPTS = (
    *DRAWING, "marking", "scores", "persistence", "leaderboard", "changes", "two_runs", "one_topic", "live", "begin",
)  # fmt: skip
"""The report's script is made of these, in this order: a name is known to all that come after it."""
LARGEST_INLINE = 3_000_000
"""A larger page, in bytes, would make the notebook slow to save and to open: it is shown when that is asked for."""
BROKEN = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3"><title>rankbounds</title>
<h1>The files cannot be read</h1><p>{{error}}</p><p>This page retries automatically.</p>{{link}}</html>
"""
LINK = '<p class="to-judging"><a href="/">Judge documents</a></p>'
MANY_PAIRS = 600
"""At most this many pairs are described in words: those of the leading runs."""
SYSTEM_KEYS = (
    "run", "mean", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "collections", "collections_led",
    "lacks",
)  # fmt: skip
CELL_KEYS = ("collection", "run", "mean", "ci_low", "ci_high", "judged_at_10")
PART_KEYS = ("collection", "topics", "difference", "ci_low", "ci_high")
PAIR_KEYS = ("difference", "ci_low", "ci_high", "summary", "summary_low", "summary_high")


def page(content: dict[str, Any], *, live: bool = False) -> str:
    """The page, in ASCII. ``live`` lets it talk to the server that it came from."""
    return _assemble("page.html", join_scripts(), content, "; connect-src 'self'" if live else "")


def collections_page(content: dict[str, Any]) -> str:
    """The page of several collections."""
    return _assemble("collections.html", _in_one_scope(*DRAWING, "collections"), content)


def join_scripts() -> str:
    """The script of a report: where polynomials change their sign, which stands alone, and the rest."""
    return script("crossing") + _in_one_scope(*SCRIPTS)


def _in_one_scope(*names: str) -> str:
    return f"(() => {{\n{''.join(script(name) for name in names)}}})();\n"


def script(name: str) -> str:
    """One of the scripts that pages are made of."""
    return _text(f"scripts/{name}.js")


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _assemble(body: str, script: str, content: dict[str, Any], more_policy: str = "") -> str:
    # Only the script that belongs here may run, whatever else found its way into the file. It must be ASCII: its
    # checksum is taken from the bytes of the page.
    digest = base64.b64encode(hashlib.sha256(script.encode("ascii")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'{more_policy}"
    parts = {
        "{{policy}}": escape_html(policy),
        "{{title}}": escape_html(content["title"]),
        "{{style}}": _text("page.css"),
        "{{summary}}": "\n".join(f"<li>{escape_html(sentence)}</li>" for sentence in content["summary"]),
        "{{body}}": _text(body),
        "{{data}}": embed_json(content),
        "{{script}}": script,
    }
    pieces = [_text("frame.html")]
    for mark, text in parts.items():  # filled in from left to right: what is filled in is never read again
        before, after = pieces.pop().split(mark, 1)
        pieces += [before, text, after]
    return "".join(pieces).encode("ascii", "xmlcharrefreplace").decode("ascii")


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
        """Write the page to a file, which any browser opens without a network."""
        with writing(os.fspath(path)) as out:
            out.write(self.page)

    def show(self, height: int | None = None) -> Report:
        """The same report, shown in a notebook however large it is, and so high, in pixels."""
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
    chosen = Choices.of(measures=[str(measure) for measure in parse_measures(measures)], title=title, **choices)
    content = gather(qrels, runs, chosen)
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
        self.runs = runs if callable(runs) else partial(choices.chosen()[1].runs_to_read, runs)
        """The runs as the files are now: a folder may get another one."""
        self._making, self._reading = threading.Lock(), threading.Lock()
        self._made: tuple[str, str] = ("", "")
        self._read: tuple[str, list[Run]] = ("", [])

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Live, judging=self.judging), (self.qrels, self.runs, self.choices, self.token)

    def state(self, *, runs_alone: bool = False) -> str:
        """Changes whenever a file does, or only when the file of a run does."""
        parts = []
        for path in [*([] if runs_alone else [self.qrels]), *filter(None, (job.path for job in self.runs()))]:
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
                self._read = state, self.choices.chosen()[1].runs(self.runs())
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


# ---- several collections ----


def gather_collections(compared: CollectionsComparison) -> dict[str, Any]:
    """Pack the leaderboard, every cell, and the pairs with their words."""
    measures = [
        {
            "label": str(measure),
            "lower_is_better": measure.lower_is_better,
            "systems": [
                {key: row[key] for key in SYSTEM_KEYS} | {"place": place_words(row)}
                for row in compared.leaderboard(measure)
            ],
            "cells": [{key: row[key] for key in CELL_KEYS} for row in compared.cells if row["measure"] == str(measure)],
            "pairs": _pairs(compared, str(measure)),
        }
        for measure in compared.measures
    ]
    content: dict[str, Any] = as_json(
        {
            "version": __version__,
            "title": f"{len(compared.runs)} runs on {len(compared.collections)} collections",
            "summary": _summary(compared),
            "method": replace(compared, systems=[row | {"group": None} for row in compared.systems]).method(),
            "collections": compared.collections,
            "topics": compared.topics,
            "runs": compared.runs,
            "measures": measures,
            "settings": compared.settings,
        }
    )
    return content


def _pairs(compared: CollectionsComparison, measure: str) -> list[dict[str, Any]]:
    """The pairs, each as a run and the one it is held against; of many runs those of the leading ones."""
    parts: dict[frozenset[str], list[dict[str, Any]]] = {}
    for row in compared.differences:
        if row["measure"] == measure:
            parts.setdefault(frozenset((row["run"], row["against"])), []).append(row)
    leading = [row["run"] for row in compared.leaderboard(measure)]
    while len(leading) * (len(leading) - 1) // 2 > MANY_PAIRS:
        leading = leading[: len(leading) * 3 // 4]
    pairs = []
    for pair in map(frozenset, combinations(leading, 2)):
        if held := parts.get(pair):
            a, b = held[0]["run"], held[0]["against"]
            alone = replace(compared, differences=held)
            row = alone.pair(a, b, measure)
            words = {"words": alone.words(a, b, measure), "turned_words": alone.words(b, a, measure)}
            of_parts = [{key: part[key] for key in PART_KEYS} for part in alone.differences_of(a, b, measure)]
            pairs.append({"a": a, "b": b, **{key: row[key] for key in PAIR_KEYS}, **words, "parts": of_parts})
    return pairs


def _summary(compared: CollectionsComparison) -> list[str]:
    """Who leads by each measure, between which places, and what is known of the first two."""
    sentences = []
    leaders = []
    for measure in compared.measures:
        placed = [row for row in compared.leaderboard(measure) if row["mean"] is not None]
        best = [row for row in placed if equal(row["mean"], placed[0]["mean"])]
        if best:
            leaders.append({row["run"] for row in best})
            over = f"by {measure} with {best[0]['mean']:.4f} over {len(compared.collections)} collections"
            place = f" and ranks {words}" if (words := place_words(best[0])) else ""
            alone = f"{best[0]['run']} leads {over}{place}."
            sentences.append(alone if len(best) == 1 else f"{some([row['run'] for row in best])} lead together {over}.")
    if leaders and not set.intersection(*leaders):
        sentences.append("The measures disagree about the leader.")
    sentences += re.split(r"(?<=[.]) (?=[A-Z])", compared.words())
    if missing := compared.missing:
        named = ", ".join(f"{cell['run']} on {cell['collection']}" for cell in missing[:12])
        sentences.append(f"Missing, and not filled in: {named}{', ...' if len(missing) > 12 else ''}.")
    return sentences
