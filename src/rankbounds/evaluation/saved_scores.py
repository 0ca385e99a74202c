"""Save scores to a file, load them, and use them as a baseline for new scores with the same judgments and settings.

Saved scores hold neither lists nor judgments. A checksum of each topic's judgments, and the settings, are saved with
them: they show whether anything changed, and which topics.
"""

from __future__ import annotations

import hashlib
import os
import stat
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.preparation import Preparation
from rankbounds.collection.run import Run
from rankbounds.collection.run_names import unique_names
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.run_notes import RunNotes, some
from rankbounds.evaluation.scores import PARTS, Origin, Scores
from rankbounds.files.records import parse_json, read_decoded
from rankbounds.files.writing import writing
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.measure import Reported, ReportedEffort
from rankbounds.tables import json_of

if TYPE_CHECKING:
    from rankbounds.collection.inputs import RunToRead
    from rankbounds.collection.qrels import Qrels
    from rankbounds.evaluation.assumptions import Assumptions

FORMAT = "rankbounds scores 1"


def save(scores: Scores, path: str | os.PathLike[str]) -> None:
    """Write everything that ``load`` needs, as JSON."""
    if scores.origin is None and "make_origin" in vars(scores):
        object.__setattr__(scores, "origin", vars(scores)["make_origin"]())
    content = {"format": FORMAT} | {one.name: _plain(getattr(scores, one.name)) for one in fields(scores)}
    with writing(path) as out:
        out.write(json_of(content))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, RunNotes):
        return asdict(value)
    return _plain_measure(value) if isinstance(value, Measure) else value


def load(path: str | os.PathLike[str]) -> Scores:
    """Read what ``save`` wrote."""
    name = os.fspath(path)
    content, file = read_decoded(name)
    if not content.lstrip().startswith(("{", "[")):
        raise DataError(
            file,
            "these are not scores that rankbounds saved (compare --save FILE).",
            "A run goes among the runs, and --baseline-run names the one to compare with.",
        )
    return scores_in(parse_json(content, file), name)


def scores_in(content: Any, file: str) -> Scores:
    """The scores in what a file holds."""
    try:
        if content["format"] != FORMAT:
            raise KeyError
        loaded = {name: read(content[name]) for name, read in _READERS.items()}
        loaded["clusters"] = {str(query): str(name) for query, name in content.get("clusters", {}).items()}
        loaded |= {name: [_load_measure(one, file) for one in content[name]] for name in ("measures", "outer")}
        notes = [{name: read(noted[name]) for name, read in _NOTES.items()} for noted in content["notes"]]
        shape = tuple(len(loaded[name]) for name in ("runs", "query_ids", "measures"))
        sizes = {"value": shape, "low": shape, "high": shape, "judged": shape[:2], "parts": (len(PARTS), *shape)}
        for name, size in (sizes | {"interval": (2, *shape)}).items():
            known = name not in ("parts", "interval") or content[name] is not None
            loaded[name] = np.array(content[name], dtype=np.float64).reshape(size) if known else None
        return Scores(**loaded, notes=[RunNotes(**noted) for noted in notes])
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise DataError(f"{file}: these are not scores that rankbounds saved.") from None


def _names(content: Any) -> list[str]:
    if not isinstance(content, list) or not all(isinstance(name, str) for name in content):
        raise TypeError
    return content


def _origin(content: Any) -> dict[str, dict[str, Any]] | None:
    parts = None if content is None else {part: content[part] for part in ("judgments", "settings")}
    if parts is not None:
        parts["runs"] = content.get("runs", {})
    if parts is not None and not all(isinstance(part, dict) for part in parts.values()):
        raise TypeError
    if parts is not None and not all(str(one).count(":") == 2 for one in parts["judgments"].values()):
        raise ValueError
    return parts


_READERS: dict[str, Callable[[Any], Any]] = {
    "runs": _names,
    "query_ids": _names,
    "bounds": str,
    "topics": str,
    "open": str,
    "most_relevant": lambda content: None if content is None else int(content),
    "mean_over": int,
    "confidence": float,
    "without_relevant": _names,
    "origin": _origin,
}
"""How the plain fields of saved scores are read."""
_NOTES: dict[str, Callable[[Any], Any]] = {
    "missing": _names,
    "unknown": _names,
    "tied_topics": int,
    "tie_range": lambda content: None if content is None else float(content),
    "prepared": str,
    "strange_documents": str,
}


def _plain_measure(measure: Measure) -> dict[str, Any]:
    """Return the label with unrounded numbers; for unknown measures, which direction is better."""
    if isinstance(measure, Reported):
        return {"label": str(measure), "exactly": {}, "lower_is_better": measure.lower_is_better}
    parameters = {one.name: getattr(measure.plain, one.name) for one in fields(measure.plain)}
    exactly = {name: value for name, value in parameters.items() if isinstance(value, float)}
    saved = {"label": str(measure), "exactly": exactly}
    try:
        if _load_measure(saved, "") == measure:
            return saved
    except (TypeError, ValueError):
        pass
    raise UsageError(f"The scores of {measure} cannot be saved: its label does not say which measure it is.")


def _load_measure(saved: Mapping[str, Any], file: str) -> Measure:
    label = saved["label"]
    exactly = {name: float(value) for name, value in saved["exactly"].items()}
    if "lower_is_better" in saved:
        return ReportedEffort(label) if saved["lower_is_better"] else Reported(label)
    try:
        measure = parse_measure(label)
    except UsageError as error:
        raise DataError(f"{file}: {error} Import the module that declares it, if it is one of yours.") from None
    return measure.changed(**exactly)


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
    scores: Scores,
    qrels: Qrels,
    assumptions: Assumptions,
    preparation: Preparation | None,
    jobs: Sequence[RunToRead],
    before: Sequence[Any],
) -> Scores:
    """Compute the origin of scores only when they are saved, from files read again, unchanged since ``before``.

    The checksums of all runs take time, wasted on scores that nobody saves.
    """

    def make() -> Origin:
        runs = []
        for name, job, seen, now in zip(scores.runs, jobs, before, file_states(jobs), strict=True):
            if seen is not None and seen == now:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the first reading told
                    run = job.read()
                    runs.append((run if preparation is None else preparation(run)).renamed(name))
        return origin_of(qrels, assumptions, preparation or Preparation(), runs)

    object.__setattr__(scores, "make_origin", make)
    return scores


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


def changes_since(path: str | os.PathLike[str], now: Origin) -> str:
    """Say what changed since scores were saved: topics, documents, grades, options, runs."""
    before, name = load(path).origin, os.path.basename(os.fspath(path))
    if before is None:
        return f"Whether anything changed since {name} was saved is not known: it was saved without its judgments."
    known = [run for run in now["runs"] if run in before["runs"]]
    changes = _origin_changes(before, now)
    changes += [f"run {run} changed" for run in known if before["runs"][run] != now["runs"][run]]
    if changes:
        return f"Since {name} was saved: {'; '.join(changes)}."
    same = f" and run{'s' * (len(known) > 1)} {', '.join(known)}" if known else ""
    return f"Nothing changed since {name} was saved: the same judgments, options{same}."


def _origin_changes(before: Origin, now: Origin) -> list[str]:
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


def join_baseline(saved: Scores, new: Scores) -> Scores:
    """Join saved scores and new ones, with the measures and topics of the new ones, which the saved ones must have.

    Both must come from the same judgments and settings, as far as their origins are known.
    """
    _check_alike(saved, new)
    both = (saved.filter(topic=new.query_ids, measure=new.measures), new)

    def stack(name: str) -> Floats:
        return np.concatenate([getattr(scores, name) for scores in both])

    parts = None
    if any(scores.parts is not None for scores in both):
        unknown = [np.full((len(PARTS), *scores.value.shape), np.nan) for scores in both]
        known = [blank if scores.parts is None else scores.parts for scores, blank in zip(both, unknown, strict=True)]
        parts = np.concatenate(known, axis=1)
    relevant_nowhere = {topic for scores in both for topic in scores.without_relevant}
    return replace(
        new,
        runs=unique_names([*saved.runs, *new.runs], ["saved"] * len(saved.runs) + ["new"] * len(new.runs)),
        value=stack("value"),
        low=stack("low"),
        high=stack("high"),
        judged=stack("judged"),
        notes=[noted for scores in both for noted in scores.notes],
        without_relevant=[name for name in new.query_ids if name in relevant_nowhere],
        outer=[measure for measure in new.measures if any(measure in scores.outer for scores in both)],
        parts=parts,
    )


def _check_alike(saved: Scores, new: Scores) -> None:
    """Refuse to compare what was made otherwise, and say what changed."""
    if set(saved.query_ids) != set(new.query_ids):
        gone, added = (
            [query for query in one.query_ids if query not in set(other.query_ids)]
            for one, other in ((saved, new), (new, saved))
        )
        told = [f"{what} {some(topics)}" for what, topics in (("saved alone:", gone), ("new:", added)) if topics]
        raise DataError(f"The two sets of scores cannot be compared, because their topics differ ({'; '.join(told)}).")
    lacking = [measure for measure in new.measures if measure not in saved.measures]
    if lacking:
        raise DataError(f"The saved scores lack {lacking[0]}. Save them again with this measure.")
    if saved.bounds != new.bounds:
        raise DataError(
            f"The saved scores have other bounds ({saved.bounds}) than these ({new.bounds}). Save them again with "
            f"--bounds {new.bounds}."
        )
    covered = [
        scores.open if scores.most_relevant is None else f"{scores.open}, {scores.most_relevant} relevant at most"
        for scores in (saved, new)
    ]
    if covered[0] != covered[1]:
        raise DataError(
            f"The bounds of the saved scores cover other documents ({covered[0]}) than these ({covered[1]}). Save them "
            "again with the same --open and --most-relevant."
        )
    if saved.origin is None or new.origin is None:
        return
    changes = _origin_changes(saved.origin, new.origin)
    if changes:
        raise DataError(
            f"The saved scores cannot be compared with these scores: {'; '.join(changes)}. Save them again with the "
            "same judgments and options, or use the baseline's run instead of its scores."
        )


def _words(value: Any) -> str:
    return "not given" if value is None or value is False else "given" if value is True else str(value)
