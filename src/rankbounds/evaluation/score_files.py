"""Files of scores: those that rankbounds saved, and tables that it or another tool wrote.

Saved scores hold everything but lists and judgments. They can be the baseline of new scores with the same judgments and
settings: checksums of each topic's judgments show whether anything changed since, and on which topics.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.preparation import Preparation
from rankbounds.collection.run import Run
from rankbounds.collection.run_names import unique_names
from rankbounds.errors import DataError, RankboundsWarning, UsageError, did_you_mean
from rankbounds.evaluation.run_notes import RunNotes
from rankbounds.evaluation.scores import PARTS, STORED, Origin, Scores
from rankbounds.files.objects import is_table
from rankbounds.files.opening import expand
from rankbounds.files.records import parse_json, read_decoded
from rankbounds.files.score_tables import ScoreTable, read_score_frame, read_score_table
from rankbounds.files.writing import writing
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.measure import Reported, ReportedEffort
from rankbounds.phrases import some
from rankbounds.tables import json_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from rankbounds.collection.qrels import Qrels
    from rankbounds.evaluation.assumptions import Assumptions

Path: TypeAlias = str | os.PathLike[str]
Frame: TypeAlias = "pandas.DataFrame | polars.DataFrame | pyarrow.Table"

FORMAT = "rankbounds scores 1"
ABOUT_BOUNDS = ("bounds", "open", "most_relevant")


def read_scores(
    files: Path | Iterable[Path] | Mapping[str, Path] | Frame,
    *,
    columns: Mapping[str, str] | None = None,
    lower_is_better: str | Sequence[str] = (),
) -> Scores:
    r"""Read tables of scores per topic, written by any tool; no judgments and no rankings are needed.

    Parameters
    ----------
    files : path, iterable of paths, mapping, or data frame
        Files, patterns or folders; or a pandas, polars or pyarrow frame, such as PyTerrier's with one row per query
        (``name, qid, measure, value``, or a column per measure). A mapping names the run of each file (of a matrix, the
        measure). Formats are recognised from the contents: scores that rankbounds wrote (CSV, TSV, JSON, JSON lines,
        Parquet, or saved); other tables with columns for run, topic, measure and value, or a column per measure; a
        matrix of topics and systems; the output of ``trec_eval -q`` or ``ir_measures -q``; lines of run, measure, topic
        and value, or run, topic, measure and value (leaderboards of shared tasks); JSON of pytrec_eval, ``{query:
        {measure: score}}``, of ranx, ``{measure: {query: score}}``, or either of them by run.
    columns : mapping, optional
        The columns for ``run``, ``query_id``, ``measure``, ``value``, ``seed`` and ``cluster`` in tables with other
        names.
    lower_is_better : str or list of str
        Measures where less is better, such as a latency, that rankbounds does not know.

    Returns
    -------
    Scores
        Without bounds, unless the tables have them; comparisons leave out topics that some run lacks.

    Notes
    -----
    Names of measures are read as by ``parse_measure``; whether two tools mean the same by a name is for you to
    check. Unknown names are compared as they are. A file without a run's name is a run with the file's name. Scores may
    be true and false. With several seeds per item (``seed``, ``trial``, ``epoch``, ...), an item's score is their mean:
    as separate items they would make differences look significant that are not. Items of a ``cluster`` (also
    ``conversation`` or ``session``) are compared by cluster. Means in a file (topic ``all``) are left out; files with
    means alone, such as those of BEIR and MTEB, are refused.

    Examples
    --------
    >>> import os, tempfile
    >>> import rankbounds as rb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "AP.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("topic,bm25,dense\n301,0.25,0.5\n302,0.75,0.5\n")
    ...     scores = rb.read_scores(path)
    >>> print(scores, end="")
    run        AP
    bm25   0.5000
    dense  0.5000
    >>> rb.compare(scores).pairs.rows()[0]["won"]
    1
    """
    effort = [lower_is_better] if isinstance(lower_is_better, str) else lower_is_better
    if is_table(files):
        return _scores([read_score_frame(files, is_measure, columns).checked()], [False], effort)
    if isinstance(files, Mapping):
        named: list[tuple[str | None, str]] = [(name, os.fspath(path)) for name, path in files.items()]
    else:
        several = [files] if isinstance(files, str | os.PathLike) else cast("Iterable[Path]", files)
        named = [(None, path) for path in expand(several)]
    return scores_of_files(named, columns=columns, lower_is_better=effort)


def scores_of_files(
    named: Sequence[tuple[str | None, str]],
    *,
    columns: Mapping[str, str] | None = None,
    lower_is_better: Sequence[str] = (),
) -> Scores:
    if not named:
        raise UsageError("No table of scores was given.")
    tables = []
    for name, path in named:
        table = read_score_table(path, is_measure, name=name, columns=columns)
        if table.saved is not None:
            saved = scores_in(table.saved, path)
            if len(named) == 1:
                return saved
            for row in saved.rows():
                ends = (np.nan if row[end] is None else row[end] for end in ("low", "high"))
                table.cells[row["run"], row["query_id"], row["measure"]] = row["value"], *ends
        tables.append(table.checked())
    return _scores(tables, [name is not None for name, _ in named], lower_is_better)


@lru_cache(maxsize=4096)
def is_measure(name: str) -> bool:
    return not isinstance(_measure(name), Reported)


@lru_cache(maxsize=4096)
def _measure(name: str) -> Measure:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankboundsWarning)
            return parse_measure(name)
    except (UsageError, TypeError):
        return Reported(name)


def _scores(tables: Sequence[ScoreTable], named: Sequence[bool], effort: Sequence[str]) -> Scores:
    stated = list(dict.fromkeys(measure for table in tables for _, _, measure in table.cells))
    measure_of = {name: _measure(name) for name in stated}
    for name in effort:
        if name not in measure_of:
            raise UsageError(f'No table holds "{name}".{did_you_mean(name, stated)} There are: {some(stated)}.')
        known = measure_of[name]
        if isinstance(known, Reported):
            measure_of[name] = ReportedEffort(name)
        elif not known.lower_is_better:
            raise UsageError(f'"{name}" is {known}, of which more is better.')
    run_of = _runs(tables, named, measure_of)
    measures = list(dict.fromkeys(measure_of.values()))
    runs = list(dict.fromkeys(run_of.values()))
    queries = list(dict.fromkeys(query for table in tables for _, query, _ in table.cells))
    run_place, query_place = ({name: place for place, name in enumerate(names)} for names in (runs, queries))
    measure_place = {name: measures.index(measure) for name, measure in measure_of.items()}
    arrays = value, low, high = np.full((3, len(runs), len(queries), len(measures)), np.nan)
    for number, table in enumerate(tables):
        for (run, query, name), numbers in table.cells.items():
            cell = run_place[run_of[number, run]], query_place[query], measure_place[name]
            if not np.isnan(value[cell]):
                problem = f'"{name}" is {measure_of[name]}, of which run {run} has another score on topic {query}.'
                raise DataError(table.file, problem)
            arrays[(slice(None), *cell)] = numbers
    without = np.isnan(value).all(axis=-1).tolist()
    lacking = [[query for query, none in zip(queries, row, strict=True) if none] for row in without]
    notes, judged = [RunNotes(missing=missing) for missing in lacking], np.full(value.shape[:2], np.nan)
    bounds = "none" if np.isnan(low).all() else "unjudged"
    clusters = {query: cluster for table in tables for query, cluster in table.clusters.items()}
    if clusters:  # a query that belongs to no other is a cluster of its own
        clusters = {query: clusters.get(query, f"{query} alone") for query in queries}
    return Scores(runs, queries, measures, value, low, high, judged, notes, bounds, topics="shared", clusters=clusters)


def _runs(
    tables: Sequence[ScoreTable], named: Sequence[bool], measure_of: Mapping[str, Measure]
) -> dict[tuple[int, str], str]:
    of_tables: dict[tuple[int, str], set[tuple[str, Measure]]] = {}
    for number, table in enumerate(tables):
        for run, query, name in table.cells:
            of_tables.setdefault((number, run), set()).add((query, measure_of[name]))
    cells: dict[str, set[tuple[str, Measure]]] = {}
    clashing: set[str] = set()
    for (_, run), these in of_tables.items():
        if these & cells.setdefault(run, set()):
            clashing.add(run)
        cells[run] |= these
    apart = [(number, run) for number, run in of_tables if run in clashing]
    unique = unique_names([run for _, run in apart], [tables[n].file for n, _ in apart], [named[n] for n, _ in apart])
    return {(number, run): run for number, run in of_tables} | dict(zip(apart, unique, strict=True))


# ---- saved scores ----


def save(scores: Scores, path: str | os.PathLike[str]) -> None:
    content: dict[str, Any] = {"format": FORMAT} | {name: _plain(getattr(scores, name)) for name in STORED}
    if scores.origin is None and scores.make_origin is not None:
        content["origin"] = scores.make_origin()
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
    try:
        if content["format"] != FORMAT:
            raise KeyError
        loaded = {name: read(content[name]) for name, read in _READERS.items()}
        loaded["clusters"] = {str(query): str(name) for query, name in content.get("clusters", {}).items()}
        loaded |= {name: [_load_measure(one, file) for one in content[name]] for name in ("measures", "outer")}
        notes = [{name: read(noted[name]) for name, read in _NOTES.items()} for noted in content["run_notes"]]
        shape = tuple(len(loaded[name]) for name in ("runs", "query_ids", "measures"))
        sizes = {"value": shape, "low": shape, "high": shape, "judged": shape[:2], "parts": (len(PARTS), *shape)}
        for name, size in (sizes | {"interval": (2, *shape)}).items():
            known = name not in ("parts", "interval") or content[name] is not None
            loaded[name] = np.array(content[name], dtype=np.float64).reshape(size) if known else None
        return Scores(**loaded, run_notes=[RunNotes(**noted) for noted in notes])
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
_NOTES: dict[str, Callable[[Any], Any]] = {
    "missing": _names,
    "unknown": _names,
    "tied_topics": int,
    "tie_range": lambda content: None if content is None else float(content),
    "prepared": str,
    "strange_documents": str,
}


def _plain_measure(measure: Measure) -> dict[str, Any]:
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


# ---- what scores were made from ----


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
        **({"judgments": "complete"} if qrels.complete else {}),
    }
    if preparation is not None:
        settings |= {
            "drop-self": preparation.drop_self,
            "documents-of": preparation.documents_of,
            "depth": preparation.depth,
        }
        settings |= {} if preparation.budget is None else {"budget": preparation.budget}
    return {"judgments": _sums(qrels), "settings": settings, "runs": {run.name: _run_digest(run) for run in runs}}


def _sums(qrels: Qrels) -> dict[str, str]:
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
    judgments = _digest(f"{query}\0{own}" for query, own in origin["judgments"].items())
    return {"judgments": judgments, "runs": dict(origin["runs"]), "settings": dict(origin["settings"])}


def _run_digest(run: Run) -> str:
    keys = run.pairs.keys
    order = np.argsort(keys)  # a third of the time of sorting by score too, which only equal keys need
    if (keys[order[1:]] == keys[order[:-1]]).any():
        order = np.lexsort((run.score, keys))
    content = keys[order].astype("<u8").tobytes() + run.score[order].astype("<f8").tobytes()
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _digest(rows: Iterable[str]) -> str:
    text = "\n".join(sorted(rows)).encode("utf-8", "surrogateescape")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def _changed_options(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    def words(value: Any) -> str:
        return "not given" if value is None or value is False else "given" if value is True else str(value)

    changed = {name.replace("_", "-"): (before.get(name), value) for name, value in now.items()}
    return [
        f"--{name} was {words(was)} and is {words(value)}" for name, (was, value) in changed.items() if was != value
    ]


def _origin_changes(before: Origin, now: Origin) -> list[str]:
    changes = _changed_options(before["settings"], now["settings"])
    groups: dict[str, list[str]] = {}
    for topic in {**now["judgments"], **before["judgments"]}:
        was, now_is = before["judgments"].get(topic), now["judgments"].get(topic)
        if was is None or now_is is None:
            groups.setdefault("judgments ended" if now_is is None else "judgments began", []).append(topic)
        elif was != now_is:
            (count_before, documents_before, _), (count, documents, _) = was.split(":"), now_is.split(":")
            more = int(count) - int(count_before)
            what = "removed" if more < 0 else "added" if more else "replaced"
            what = "grades changed" if documents == documents_before else f"judged documents were {what}"
            groups.setdefault(what, []).append(topic)
    total = len({*before["judgments"], *now["judgments"]})
    return changes + [f"{what} on {len(topics)} of {total} topics ({some(topics)})" for what, topics in groups.items()]


def changes_since(path: str | os.PathLike[str], now: Origin) -> str:
    before, name = load(path).origin, os.path.basename(os.fspath(path))
    if before is None:
        return f"Whether anything changed since {name} was saved is not known: it was saved without its judgments."
    known = [run for run in now["runs"] if run in before["runs"]]
    changes = _origin_changes(before, now)
    changes += [f"run {run} changed" for run in known if before["runs"][run] != now["runs"][run]]
    if changes:
        return f"Since {name} was saved: {'; '.join(changes)}."
    same = f", options and run{'s' * (len(known) > 1)} {', '.join(known)}" if known else " and options"
    return f"Nothing changed since {name} was saved: the same judgments{same}."


def join_baseline(saved: Scores, new: Scores) -> Scores:
    """Join saved scores and new ones of the same origin, with the measures and topics of the new ones."""
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
        run_notes=[noted for scores in both for noted in scores.run_notes],
        without_relevant=[name for name in new.query_ids if name in relevant_nowhere],
        outer=[measure for measure in new.measures if any(measure in scores.outer for scores in both)],
        parts=parts,
    )


def _check_alike(saved: Scores, new: Scores) -> None:
    if set(saved.query_ids) != set(new.query_ids):
        gone, added = (
            [query for query in one.query_ids if query not in set(other.query_ids)]
            for one, other in ((saved, new), (new, saved))
        )
        differing = [f"{what} {some(topics)}" for what, topics in (("saved alone:", gone), ("new:", added)) if topics]
        raise DataError(
            f"The two sets of scores cannot be compared, because their topics differ ({'; '.join(differing)})."
        )
    lacking = [measure for measure in new.measures if measure not in saved.measures]
    if lacking:
        raise DataError(f"The saved scores lack {lacking[0]}. Save them again with this measure.")
    changes = _changed_options(*({name: one.settings[name] for name in ABOUT_BOUNDS} for one in (saved, new)))
    if saved.origin is not None and new.origin is not None:
        changes += _origin_changes(saved.origin, new.origin)
    if changes:
        raise DataError(
            f"The saved scores cannot be compared with these scores: {'; '.join(changes)}. Save them again with the "
            "same judgments and options, or use the baseline's run instead of its scores."
        )
