"""What must hold of writing files."""

from __future__ import annotations

import csv
import io
import json
import stat
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars

import rankbounds as rb
from fuzzing.case import Case, Ended, ViolationError, answer, command
from fuzzing.collection import (
    JUDGMENTS,
    MEASURES,
    PLAIN_IDS,
    RUNS,
    WILD_IDS,
    random_collection,
)


def writing(rng: Random) -> Case:
    """What is written is read back the same, or refused; what is there keeps its mode, its links and its contents."""
    ids = WILD_IDS if rng.random() < 0.7 else PLAIN_IDS
    collection = random_collection(rng, ids=ids, topics=3, docs=4)
    for docs in collection.grades.values():
        # Not -1, which is no judgment and may be left out.
        docs.update({doc: rng.choice((1234567.0, 0.5, 1e15, max(grade, 0.0))) for doc, grade in docs.items()})
    files = {"q.json": JUDGMENTS["beir.json"](collection), "r.json": RUNS["beir.json"](collection)}
    how = rng.choice(list(WRITERS))
    target = rng.choice(("new", "new", "mode", "link", "input", "hard link", "symlink"))

    def check(folder: Path) -> str:
        for name in ("q.json", "r.json"):  # what cannot be read has nothing to write
            read = rb.read_qrels if name == "q.json" else rb.read_run
            if isinstance(answer(lambda name=name, read=read: read(folder / name), [name]), rb.RankboundsError):
                return "refused"
        out, written_to = _target(folder, target)
        outcome = WRITERS[how](folder, out)
        if outcome == "read back" and target == "mode" and stat.S_IMODE(written_to.stat().st_mode) != 0o600:
            raise ViolationError("a file of mode 600 has another mode now")
        if outcome == "read back" and target == "link" and not (out.is_symlink() and written_to.stat().st_size):
            raise ViolationError("a link became a file of its own")
        return outcome

    return Case(files, check, f"# {how}, output: {target}")


def _target(folder: Path, kind: str) -> tuple[Path, Path]:
    out = folder / "out"
    if kind == "mode":
        out.touch(0o600)
    elif kind == "link":
        (folder / "linked").touch()
        out.symlink_to(folder / "linked")
        return out, folder / "linked"
    elif kind == "input":
        return folder / "r.json", folder / "r.json"
    elif kind == "hard link":
        out.hardlink_to(folder / "q.json")
    elif kind == "symlink":
        out.symlink_to(folder / "q.json")
    return out, out


def _same(nested: dict[str, dict[str, float]], other: dict[str, dict[str, float]]) -> bool:
    filled = {topic: docs for topic, docs in nested.items() if docs}
    return filled.keys() == other.keys() and all(
        filled[topic].keys() == other[topic].keys()
        and all(abs(value - other[topic][doc]) <= 1e-9 * abs(value) for doc, value in filled[topic].items())
        for topic in filled
    )


def _command(folder: Path, words: list[str]) -> Ended:
    """Run a command, and see that none of its inputs was changed; what it does not read it may replace."""
    inputs = {name: (folder / name).read_bytes() for name in ("q.json", "r.json") if name in words[:-1]}
    ended = command(folder, words)
    if changed := [name for name, content in inputs.items() if (folder / name).read_bytes() != content]:
        raise ViolationError(f"{words[0]} -o changed an input: {', '.join(changed)}")
    return ended


def _written_by_hand(what: str) -> Callable[[Path, Path], str]:
    def write(folder: Path, out: Path) -> str:
        given = folder / ("q.json" if what == "qrels" else "r.json")
        if out.exists() and any(out.samefile(folder / name) for name in ("q.json", "r.json")):
            return "skipped"  # the caller names the file and is free to replace it
        read: Callable[[Path], Any] = rb.read_qrels if what == "qrels" else rb.read_run
        held = read(given)
        if isinstance(answer(lambda: held.write(out)), rb.RankboundsError):
            return "refused"
        found = answer(lambda: read(out))
        if isinstance(found, rb.RankboundsError) or not _same(held.to_dict(), found.to_dict()):
            raise ViolationError(f"{what} are written but not read back: {found!a:.300}")
        return "read back"

    return write


def _written_by_command(read: Callable[[Path], Any], *words: str, source: str) -> Callable[[Path, Path], str]:
    def write(folder: Path, out: Path) -> str:
        ended = _command(folder, [*words, "-o", out.name])
        if ended.code:
            if ended.code not in (2, 3):
                raise ViolationError(f"{words[0]} ends with exit code {ended.code}")
            return "refused"
        found = answer(lambda: read(out))
        held: Any = rb.read_qrels(folder / "q.json") if source == "q.json" else rb.read_run(folder / "r.json")
        expected = {topic: set(docs) for topic, docs in held.to_dict().items() if docs}
        if (
            isinstance(found, rb.RankboundsError)
            or {topic: set(docs) for topic, docs in found.to_dict().items()} != expected
        ):
            raise ViolationError(f"{words[0]} writes what is not read back: {found!a:.300}")
        return "read back"

    return write


def _scores_written(kind: str) -> Callable[[Path, Path], str]:
    def write(folder: Path, out: Path) -> str:
        words = ["evaluate", "q.json", "r.json", "-q", "--format", kind, "-o", out.name]
        for measure in MEASURES:
            words += ["-m", measure]
        ended = _command(folder, words)
        if ended.code:
            if ended.code not in (2, 3):
                raise ViolationError(f"evaluate ends with exit code {ended.code}")
            return "refused"
        expected = answer(lambda: rb.evaluate(folder / "q.json", folder / "r.json", MEASURES)).to_dict()
        (by_measure,) = expected.values()
        wanted = {(measure, topic): value for measure, topics in by_measure.items() for topic, value in topics.items()}
        rows = _tidy_rows(out, kind)
        found = {(row["measure"], _without_quote(row["query_id"], wanted)): float(row["value"]) for row in rows}
        if found.keys() != wanted.keys() or any(abs(found[key] - wanted[key]) > 1e-4 for key in wanted):
            raise ViolationError(f"scores in {kind} are {found!a:.200}, expected {wanted!a:.200}")
        return "read back"

    return write


def _without_quote(query: str, wanted: dict[tuple[str, str], float]) -> str:
    """A spreadsheet's formula may be kept from being one by a quote before it."""
    return query if any(topic == query for _, topic in wanted) else query.removeprefix("'")


def _tidy_rows(path: Path, kind: str) -> list[dict[str, Any]]:
    """The rows of topics, each with a measure and a value."""
    rows = [row for row in _rows_in(path, kind) if row.get("query_id") != "all"]
    if not all(row.get("query_id") and row.get("measure") and row.get("value") is not None for row in rows):
        raise ViolationError(f"a row in {kind} lacks something: {rows!a:.300}")
    return rows


def _rows_in(path: Path, kind: str) -> list[dict[str, Any]]:
    try:
        if kind == "parquet":
            return polars.read_parquet(path.read_bytes()).to_dicts()
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        if kind == "json":
            return json.loads(text)
        if kind == "jsonl":
            return [json.loads(line) for line in text.split("\n") if line]
        stand_in = "\ud800"  # Python 3.10 reads no NUL; half of a pair is in no id
        whole = io.StringIO(text.replace("\0", stand_in), newline="")
        rows = csv.DictReader(whole, delimiter="," if kind == "csv" else "\t")
        return [{name: value.replace(stand_in, "\0") for name, value in row.items()} for row in rows]
    except ValueError as error:
        raise ViolationError(f"what is written is no {kind}: {error}") from None


WRITERS: dict[str, Callable[[Path, Path], str]] = {
    "Qrels.write": _written_by_hand("qrels"),
    "Run.write": _written_by_hand("run"),
    "pool": _written_by_command(rb.read_qrels, "pool", "r.json", "--depth", "100", source="r.json"),
    "pool --keep": _written_by_command(
        rb.read_qrels, "pool", "--restrict", "q.json", "--keep", "100%", source="q.json"
    ),
    **{f"evaluate as {kind}": _scores_written(kind) for kind in ("csv", "tsv", "json", "jsonl", "parquet")},
}
