"""The report from Python: shown in a notebook, or saved as the file that the command writes."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from rankbounds.collection.inputs import Reading, RunToRead
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.files.writing import writing
from rankbounds.measures import Measure, parse_measures
from rankbounds.notebook import framed, shown
from rankbounds.report.content import Choices, gather
from rankbounds.report.page import page

LARGEST_INLINE = 3_000_000
"""A larger page, in bytes, would make the notebook slow to save and to open: it is shown when that is asked for."""


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
            return framed(self.page, self.height)
        return shown(self.title, "\n".join(self.summary), f"{self._where()} show() puts it into the notebook.")


def report(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    title: str = "Evaluation report",
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
        The page's heading.
    **choices
        Everything else that the command ``report`` takes, by the same names: ``ties``, ``unjudged``, ``bounds``,
        ``gain``, ``topics``, ``test``, ``correction``, ``alpha``, ``seed`` and so on.

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
    known = {choice.name for choice in fields(Choices)} - {"measures", "title"}
    for name in choices:
        if name not in known:
            raise UsageError(f"A report has no choice {name}=.{did_you_mean(name, sorted(known))}")
    chosen = Choices(measures=[str(measure) for measure in parse_measures(measures)], title=title, **choices)
    reading = chosen.reading()
    with tempfile.TemporaryDirectory() as folder:
        jobs = [_in_file(job, Path(folder)) for job in reading.runs_to_read(runs)]
        content = gather(_judgments_file(reading, qrels, Path(folder)), jobs, chosen)
    return Report(title, list(content["summary"]), page(content))


def _judgments_file(reading: Reading, given: Any, folder: Path) -> str | os.PathLike[str]:
    """The file that judgments are in; those in memory are written to one, for a page names what it was made from."""
    if isinstance(given, str | os.PathLike):
        return given
    path = folder / "judgments.csv"
    reading.judgments(given).write(path)
    return path


def _in_file(job: RunToRead, folder: Path) -> RunToRead:
    if job.path is not None:
        return job
    run = job.read()
    name = re.sub(r"[^\w.-]+", "_", run.name)[:80] or "run"
    taken = len(list(folder.glob(f"{name}*.csv")))
    path = folder / (f"{name}-{taken + 1}.csv" if taken else f"{name}.csv")
    run.write(path)
    return RunToRead(str(path), lambda: run, str(path), run.name)
