"""What scores were made from: checksums of each topic's judgments and of runs, and the settings.

They are saved with scores, which hold neither lists nor judgments, and show whether anything changed since then, and on
which topics.
"""

from __future__ import annotations

import hashlib
import stat
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.collection.preparation import Preparation
from rankbounds.collection.run import Run
from rankbounds.evaluation.scores import Origin
from rankbounds.phrases import some

if TYPE_CHECKING:
    from rankbounds.collection.inputs import RunToRead
    from rankbounds.collection.qrels import Qrels
    from rankbounds.evaluation.assumptions import Assumptions


def origin_of(
    qrels: Qrels, assumptions: Assumptions, preparation: Preparation | None, runs: Iterable[Run] = ()
) -> Origin:
    """Return the origin of scores: judgments, runs and settings; None if preparation is unknown."""
    unjudged = assumptions.unjudged
    settings: dict[str, Any] = {
        "ties": assumptions.ties,
        "score-precision": assumptions.score_precision,
        "unjudged": unjudged.name if unjudged.q is None else f"{unjudged.name} with q = {unjudged.q:.12g}",
        "gain": str(assumptions.gain),
        "topics": assumptions.topics,
    }
    if preparation is not None:
        settings |= {
            "drop-self": preparation.drop_self,
            "documents-of": preparation.documents_of,
            "depth": preparation.depth,
        }
    return {"judgments": _sums(qrels), "settings": settings, "runs": {run.name: _run_digest(run) for run in runs}}


def origin_later(
    runs: Sequence[str],
    qrels: Qrels,
    assumptions: Assumptions,
    preparation: Preparation | None,
    jobs: Sequence[RunToRead],
    before: Sequence[Any],
) -> Callable[[], Origin]:
    """Return what computes the origin of scores when they are saved, from files read again, unchanged since ``before``.

    The checksums of all runs take time, wasted on scores that nobody saves.
    """

    def make() -> Origin:
        read = []
        for name, job, seen, now in zip(runs, jobs, before, file_states(jobs), strict=True):
            if seen is not None and seen == now:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the first reading told
                    run = job.read()
                    read.append((run if preparation is None else preparation(run)).renamed(name))
        return origin_of(qrels, assumptions, preparation or Preparation(), read)

    return make


def file_states(jobs: Sequence[RunToRead]) -> list[Any]:
    """Return of each file its size and when it was written; None of what cannot be read again."""
    states: list[Any] = []
    for job in jobs:
        if job.path is None:
            states.append(None if isinstance(job.given, Iterator) else ())
            continue
        try:
            state = Path(job.path).stat()
            states.append((state.st_size, state.st_mtime_ns) if stat.S_ISREG(state.st_mode) else None)
        except (OSError, ValueError):  # ValueError: no system has a path of such characters
            states.append(None)
    return states


def _sums(qrels: Qrels) -> dict[str, str]:
    """A fingerprint of each topic's judgments, whatever their order: ``count:documents:documents and grades``."""
    rows: dict[str, list[str]] = {}
    strata = qrels.strata.labels if qrels.strata is not None else [""] * len(qrels)
    documents = []
    for (query, document, grade), stratum in zip(qrels, strata, strict=True):
        rows.setdefault(query, []).append(f"{document}\0{grade!r}\0{stratum}")
        documents.append((query, document))
    if (parts := qrels.subtopics) is not None:
        judged = zip(parts.row.tolist(), parts.labels, parts.grade.tolist(), parts.okay.tolist(), strict=True)
        for row, subtopic, grade, okay in judged:
            query, document = documents[row]
            rows[query].append(f"{document}\0{grade!r}\0\0{subtopic}\0{okay}")
    return {
        query: f"{len(several)}:{_digest({row.partition(chr(0))[0] for row in several})}:{_digest(several)}"
        for query, several in rows.items()
    }


def fingerprint(origin: Origin) -> dict[str, Any]:
    """Return a result's fingerprint: checksums of judgments and runs, and the settings."""
    judgments = _digest(f"{query}\0{own}" for query, own in origin["judgments"].items())
    return {"judgments": judgments, "runs": dict(origin["runs"]), "settings": dict(origin["settings"])}


def origin_changes(before: Origin, now: Origin) -> list[str]:
    """Say what changed between two origins: options, topics, documents, grades."""
    settings = {name: (before["settings"].get(name), value) for name, value in now["settings"].items()}
    changes = [
        f"--{name} was {_words(was)} and is {_words(value)}" for name, (was, value) in settings.items() if was != value
    ]
    return changes + judgment_changes(before["judgments"], now["judgments"])


def _run_digest(run: Run) -> str:
    """A sum of a run's queries, documents and scores, whatever their order."""
    keys = run.pairs.keys
    order = np.argsort(keys)  # a third of the time of sorting by score too, which only equal keys need
    if (keys[order[1:]] == keys[order[:-1]]).any():
        order = np.lexsort((run.score, keys))
    content = keys[order].astype("<u8").tobytes() + run.score[order].astype("<f8").tobytes()
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _digest(rows: Iterable[str]) -> str:
    text = "\n".join(sorted(rows)).encode("utf-8", "surrogateescape")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def judgment_changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Say what changed between two fingerprints of judgments: topics, documents, grades."""
    groups: dict[str, list[str]] = {}
    for topic in {**now, **before}:
        if topic not in before or topic not in now:
            groups.setdefault("judgments began" if topic in now else "judgments ended", []).append(topic)
        elif before[topic] != now[topic]:
            (was, documents_before, _), (count, documents, _) = (one[topic].split(":") for one in (before, now))
            more = int(count) - int(was)
            what = "removed" if more < 0 else "added" if more else "replaced"
            what = "grades changed" if documents == documents_before else f"judged documents were {what}"
            groups.setdefault(what, []).append(topic)
    total = len({*before, *now})
    return [f"{what} on {len(topics)} of {total} topics ({some(topics)})" for what, topics in groups.items()]


def _words(value: Any) -> str:
    return "not given" if value is None or value is False else "given" if value is True else str(value)
