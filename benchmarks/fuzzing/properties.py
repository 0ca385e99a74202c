"""What must hold of files: of reading them, of the engines, of writing them, and of hostile ids."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars

import rankbounds as rb
from fuzzing.case import Case, Ended, ViolationError, answer, check_message, command
from fuzzing.collection import (
    COMPRESSIONS,
    IN_TREC,
    JUDGMENTS,
    MEASURES,
    PLAIN_IDS,
    RUNS,
    WILD_IDS,
    Collection,
    frame,
    random_collection,
)
from fuzzing.damage import damaged
from rankbounds import streaming

OTHER_MEASURES = ("nDCG@5", "nDCG(gain=exp)", "AP", "ERR", "RR", "RBP(p=0.9,graded=true)", "DCG@3", "bpref")
SMALLEST_MEMORY = 1 << 16


def reading(rng: Random) -> Case:
    """Damaged files give numbers, or one sentence that names the file."""
    collection = random_collection(rng)
    files = {"q": JUDGMENTS["trec"](collection), "r": RUNS["trec"](collection)}
    of_run = rng.random() < 0.5
    kind, write = rng.choice(list((RUNS if of_run else JUDGMENTS).items()))
    content = damaged(rng, write(collection), text=kind != "parquet")
    if kind != "parquet" and rng.random() < 0.3:
        content = rng.choice(list(COMPRESSIONS.values()))(content)
        if rng.random() < 0.7:
            content = damaged(rng, content, text=False)
    given = f"{'run' if of_run else 'judgments'}.{kind}" if rng.random() < 0.5 else "given"
    files[given] = content
    qrels, run = ("q", given) if of_run else (given, "r")
    options: dict[str, Any] = {"lenient": rng.random() < 0.2, "ties": rng.choice(("trec", "trec", "rank"))}
    if rng.random() < 0.3:
        named = kind.split(".")[0 if kind != "scores.trec" else 1]
        if named != "json":
            options["formats"] = ("trec", named) if of_run else (named, "trec")
    measures = [*MEASURES, *rng.sample(OTHER_MEASURES, rng.choice((0, 0, 1)))]

    def check(folder: Path) -> str:
        paths = str(folder / qrels), str(folder / run)
        found = answer(lambda: rb.evaluate(*paths, measures, **options), paths)
        return _numbers_or_refusal(found)

    words = f"rankbounds evaluate {qrels} {run} {' '.join(f'-m {one!r}' for one in measures)}"
    return Case(files, check, f"{words}  # {options}", cut=given)


def _numbers_or_refusal(found: Any) -> str:
    if isinstance(found, rb.RankboundsError):
        return "refused"
    if not np.isfinite(found.value).all():
        raise ViolationError(f"a judged topic has no number: {found.to_dict()!r:.300}")
    if len(set(found.query_ids)) < len(found.query_ids):
        raise ViolationError(f"two topics have one name: {found.query_ids!r:.300}")
    return "numbers"


def cutting(rng: Random) -> Case:
    """A compressed file that lacks its end is refused, whoever reads it."""
    collection = random_collection(rng)
    ending, compress = rng.choice(list(COMPRESSIONS.items()))
    whole = compress(RUNS["trec"](collection))
    files = {"q": JUDGMENTS["trec"](collection), f"r.{ending}": whole[: rng.randrange(len(whole))]}

    def check(folder: Path) -> str:
        paths = str(folder / "q"), str(folder / f"r.{ending}")
        for name, engine in (("local", rb.evaluate), ("stream", streaming.evaluate)):
            if not isinstance(answer(lambda engine=engine: engine(*paths, MEASURES), paths), rb.DataError):
                raise ViolationError(f"a truncated .{ending} file is accepted by the engine {name}")
        return "refused"

    return Case(files, check, f"rankbounds evaluate q r.{ending}")


def agreeing(rng: Random) -> Case:
    """Whatever the format, the compression and the way in, scores are those of the definition."""
    kind_of_qrels, write_qrels = rng.choice(list(JUDGMENTS.items()))
    kind_of_run, write_run = rng.choice(list(RUNS.items()))
    blanks = kind_of_qrels not in IN_TREC and kind_of_run not in IN_TREC
    collection = random_collection(rng, ids=(*PLAIN_IDS, "red shoes", "a b c") if blanks else PLAIN_IDS)
    names, files = [], {}
    for what, kind, content in (
        ("judgments", kind_of_qrels, write_qrels(collection)),
        ("run", kind_of_run, write_run(collection)),
    ):
        name = f"{what}.{kind}"
        if kind != "parquet" and rng.random() < 0.4:
            ending, compress = rng.choice(list(COMPRESSIONS.items()))
            name, content = f"{name}.{ending}", compress(content)
        names.append(name)
        files[name] = content
    ways = [rng.choice(("path", "pipe", "fifo")) if ".parquet" not in name else "path" for name in names]
    if rng.random() < 0.3:
        at = rng.randrange(2)
        ways[at] = "stdin" if ".parquet" not in names[at] else "path"
    held = rng.random() < 0.25
    given = "dicts, frames and rows" if held else f"{names[0]} by {ways[0]}, {names[1]} by {ways[1]}"
    way_of_qrels, way_of_run = (rng.choice(list(HELD)) for _ in range(2))

    def check(folder: Path) -> str:
        if held:
            qrels: Any = HELD[way_of_qrels](collection.grades, "relevance")
            run: Any = HELD[way_of_run](collection.scores, "score")
            found = answer(lambda: rb.evaluate(qrels, run, MEASURES))
        else:
            with contextlib.ExitStack() as opened:
                paths = [
                    opened.enter_context(WAYS[way](folder / name, folder))
                    for way, name in zip(ways, names, strict=True)
                ]
                found = answer(lambda: rb.evaluate(*paths, MEASURES))
        return _as_expected(found, collection, f"{way_of_qrels} and {way_of_run}" if held else given)

    return Case(files, check, f"rankbounds evaluate {' '.join(names)}  # {given}", seconds=2)


def _as_expected(found: Any, collection: Collection, given: str) -> str:
    if isinstance(found, rb.RankboundsError):
        raise ViolationError(f"valid input refused ({given}): {found}")
    (scores,) = found.to_dict().values()
    for measure, expected in collection.expected().items():
        got = scores.get(measure, {})
        if got.keys() != expected.keys() or any(abs(got[topic] - expected[topic]) > 1e-9 for topic in expected):
            raise ViolationError(f"{measure} is {got}, expected {expected} ({given})")
    return "equal"


@contextlib.contextmanager
def _as_path(path: Path, _folder: Path) -> Iterator[str]:
    yield str(path)


@contextlib.contextmanager
def _as_pipe(path: Path, _folder: Path) -> Iterator[str]:
    """As ``<(cat path)`` gives it."""
    out, into = os.pipe()
    writer = threading.Thread(target=_feed, args=(into, path.read_bytes()), daemon=True)
    writer.start()
    try:
        yield f"/dev/fd/{out}"
    finally:
        os.close(out)
        writer.join(1)


def _feed(into: int, content: bytes) -> None:
    with contextlib.suppress(OSError), os.fdopen(into, "wb") as file:
        file.write(content)


@contextlib.contextmanager
def _as_fifo(path: Path, folder: Path) -> Iterator[str]:
    fifo = folder / f"fifo-{path.name}"
    os.mkfifo(fifo)

    def feed() -> None:
        with contextlib.suppress(OSError), fifo.open("wb") as file:
            file.write(path.read_bytes())

    writer = threading.Thread(target=feed, daemon=True)
    writer.start()
    try:
        yield str(fifo)
    finally:
        if writer.is_alive():  # nobody opened it
            os.close(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK))
        writer.join(1)


@contextlib.contextmanager
def _as_stdin(path: Path, _folder: Path) -> Iterator[str]:
    kept, before = os.dup(0), sys.stdin
    out, into = os.pipe()
    os.dup2(out, 0)
    os.close(out)
    writer = threading.Thread(target=_feed, args=(into, path.read_bytes()), daemon=True)
    writer.start()
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8")
    try:
        yield "-"
    finally:
        sys.stdin = before
        os.dup2(kept, 0)
        os.close(kept)
        writer.join(1)


WAYS = {"path": _as_path, "pipe": _as_pipe, "fifo": _as_fifo, "stdin": _as_stdin}
HELD: dict[str, Callable[[Any, str], Any]] = {
    "dict": lambda nested, _value: nested,
    "polars": frame,
    "pandas": lambda nested, value: frame(nested, value).to_pandas(),
    "arrow": lambda nested, value: frame(nested, value).to_arrow(),
    "rows": lambda nested, value: list(frame(nested, value).iter_rows()),
}


def repeating(rng: Random) -> Case:
    """A document that stands twice for a topic is an error in every format, as it is in TREC files."""
    collection = random_collection(rng)
    of_run = rng.random() < 0.5
    kind, write = rng.choice(
        [(kind, write) for kind, write in (RUNS if of_run else JUDGMENTS).items() if kind != "parquet"]
    )
    nested = collection.scores if of_run else collection.grades
    topic = next(iter(nested))
    doc = next(iter(nested[topic]))
    twin = f"{doc}-twin-of-it"
    nested[topic][twin] = nested[topic][doc] + 1
    name = f"given.{kind}"
    files = {
        name: write(collection).replace(b"-twin-of-it", b""),
        "q": JUDGMENTS["trec"](collection),
        "r": RUNS["trec"](collection),
    }
    paths = ("q", name) if of_run else (name, "r")

    def check(folder: Path) -> str:
        given = [str(folder / one) for one in paths]
        if not isinstance(answer(lambda: rb.evaluate(*given, MEASURES), given), rb.DataError):
            raise ViolationError(f"a document that stands twice is taken without a word ({kind})")
        return "refused"

    return Case(files, check, f"rankbounds evaluate {' '.join(paths)}")


def engines(rng: Random, spark: Any = None) -> Case:
    """In memory and as a stream (and on Spark): equal numbers or equal kinds of errors for the same bytes."""
    large = rng.random() < 0.4
    collection = random_collection(rng, topics=40 if large else 4, docs=25 if large else 8)
    kinds = rng.choice((("trec", "trec"), ("trec", "trec"), ("trec", "scores.trec"), ("parquet", "parquet")))
    files = {"q": JUDGMENTS[kinds[0]](collection), "r": RUNS[kinds[1]](collection)}
    text = kinds[0] == "trec"
    if text and rng.random() < 0.5:
        lines = files["r"].splitlines(keepends=True)
        rng.shuffle(lines)
        files["r"] = b"".join(lines)
    cut = rng.choice(("q", "r"))
    if rng.random() < 0.85:
        files[cut] = damaged(rng, files[cut], text=text)
    if text and rng.random() < 0.2:
        files[cut] = rng.choice(list(COMPRESSIONS.values()))(files[cut])
        if rng.random() < 0.5:
            files[cut] = damaged(rng, files[cut], text=False)
    lenient = rng.random() < 0.2

    def check(folder: Path) -> str:
        paths = str(folder / "q"), str(folder / "r")
        local = answer(lambda: rb.evaluate(*paths, MEASURES, lenient=lenient), paths)
        others = {
            "stream": lambda: streaming.evaluate(
                *paths, MEASURES, lenient=lenient, memory=SMALLEST_MEMORY, scratch=folder
            )
        }
        if spark is not None:
            others["spark"] = lambda: spark(*paths, MEASURES, lenient=lenient)
        for name, call in others.items():
            found = answer(call, paths)
            if _only_in_memory(found, local):
                return "refused"
            _compare(local, found, name)
        if left := [one.name for one in folder.iterdir() if one.name not in files]:
            raise ViolationError(f"scratch is left: {left}")
        return "refused" if isinstance(local, rb.RankboundsError) else "numbers"

    return Case(files, check, f"rankbounds evaluate q r --engine stream --memory 64K  # lenient: {lenient}", cut=cut)


def _only_in_memory(found: Any, local: Any) -> bool:
    """Did damage make the file one of a format that is never read in pieces?"""
    return isinstance(found, rb.UsageError) and "in pieces" in str(found) and not isinstance(local, rb.UsageError)


def _compare(local: Any, found: Any, engine: str) -> None:
    if isinstance(local, rb.RankboundsError) or isinstance(found, rb.RankboundsError):
        if getattr(local, "exit_code", 0) != getattr(found, "exit_code", 0):
            told = [f"{one}" if isinstance(one, rb.RankboundsError) else "numbers" for one in (local, found)]
            raise ViolationError(f"local says {told[0]!a:.250} but {engine} {told[1]!a:.250}")
        return
    ours, theirs = ({"runs": one.runs, "topics": sorted(one.query_ids)} for one in (local, found))
    if ours != theirs:
        raise ViolationError(f"local has {ours!a:.250} but {engine} {theirs!a:.250}")
    for (run, measures), other in zip(local.to_dict().items(), found.to_dict().values(), strict=True):
        for measure, topics in measures.items():
            for topic, value in topics.items():
                if abs(value - other[measure][topic]) > 1e-9:
                    raise ViolationError(
                        f"{measure} of {run!a}, topic {topic!a}: {value} but {engine} {other[measure][topic]}"
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
        words = ["evaluate", "q.json", "r.json", "--per-topic", "--format", kind, "-o", out.name]
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
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter="," if kind == "csv" else "\t"))
    except ValueError as error:
        raise ViolationError(f"what is written is no {kind}: {error}") from None


WRITERS: dict[str, Callable[[Path, Path], str]] = {
    "Qrels.write": _written_by_hand("qrels"),
    "Run.write": _written_by_hand("run"),
    "bands": _written_by_command(rb.read_run, "bands", "r.json", "--rho", "1.4", source="r.json"),
    "pool": _written_by_command(rb.read_qrels, "pool", "r.json", "--depth", "100", source="r.json"),
    "reduce": _written_by_command(rb.read_qrels, "reduce", "q.json", "--rate", "100", source="q.json"),
    **{f"evaluate as {kind}": _scores_written(kind) for kind in ("csv", "tsv", "json", "jsonl", "parquet")},
}


def objects(rng: Random) -> Case:
    """Odd Python objects give numbers or the package's own error."""
    good = {"1": {"a": 1.0, "b": 0.0}, "2": {"a": 1.0}}
    number = rng.randrange(len(ODD_OBJECTS))
    of_run = rng.random() < 0.5
    value, seed = "score" if of_run else "relevance", rng.random()

    def check(_folder: Path) -> str:
        given = ODD_OBJECTS[number](value, Random(seed))
        found = answer(lambda: rb.evaluate(good, given, MEASURES) if of_run else rb.evaluate(given, good, MEASURES))
        return _numbers_or_refusal(found)

    return Case({}, check, f"# object {number} of ODD_OBJECTS as {'run' if of_run else 'judgments'}")


ODD_VALUES: tuple[Any, ...] = (
    None, 1, 1.5, True, b"a", "", "1", "\ud800", "a\nb", float("nan"), float("inf"), 10**400, -(10**20), [], [1], {},
    {"a": 1},
    (), object(), np.int64(1), np.float32(1), np.str_("1"), "9" * 400, complex(1, 1),
)  # fmt: skip


def _hashable(rng: Random) -> Any:
    return rng.choice([one for one in ODD_VALUES if not isinstance(one, list | dict)])


def _odd_nested(_value: str, rng: Random) -> Any:
    return {
        _hashable(rng): {_hashable(rng): rng.choice(ODD_VALUES) for _ in range(2)} for _ in range(rng.randint(1, 3))
    }


def _odd_rows(_value: str, rng: Random) -> Any:
    return [(_hashable(rng), _hashable(rng), rng.choice(ODD_VALUES)) for _ in range(rng.randint(1, 3))]


def _odd_pandas(value: str, rng: Random) -> Any:
    import pandas

    odd = [*ODD_VALUES, pandas.NA, pandas.NaT]
    return pandas.DataFrame({name: [rng.choice(odd), "1"] for name in ("query_id", "doc_id", value)}, dtype=object)


def _odd_polars(value: str, rng: Random) -> Any:
    columns = (
        ["1", None],
        [1, 2],
        [1.5, None],
        [b"1", b"a"],
        [["a"], ["b"]],
        [{"x": 1}, {"x": 2}],
        [True, False],
        ["a", "b"],
    )
    made = polars.DataFrame({name: rng.choice(columns) for name in ("query_id", "doc_id", value)}, strict=False)
    return rng.choice((made, made.lazy(), made.to_arrow(), made.to_arrow().to_reader()))


ODD_OBJECTS: tuple[Callable[[str, Random], Any], ...] = (
    _odd_nested, _odd_nested, _odd_rows, _odd_rows, _odd_pandas, _odd_polars, _odd_polars,
    lambda _value, rng: rng.choice(ODD_VALUES), lambda _value, rng: {"1": rng.choice(ODD_VALUES)},
    lambda _value, rng: iter([("1", "a", 1), rng.choice(ODD_VALUES)]),
)  # fmt: skip


def hostile(rng: Random) -> Case:
    """Ids made to share their hashes, and one very long id, cost what others of as many bytes cost."""
    kind, make = rng.choice(list(HOSTILE_IDS.items()))
    ids = make(rng)
    width = max(8, sum(map(len, ids)) // len(ids))
    ordinary = [b"%0*d" % (width, number) for number in range(len(ids))]
    files = {
        "q": b"".join(b"1 0 %s 1\n" % one for one in ids),
        "r": b"".join(b"1 Q0 %s 0 %d t\n" % (one, number) for number, one in enumerate(ids)),
        "ordinary.q": b"".join(b"1 0 %s 1\n" % one for one in ordinary),
        "ordinary.r": b"".join(b"1 Q0 %s 0 %d t\n" % (one, number) for number, one in enumerate(ordinary)),
    }

    def check(folder: Path) -> str:
        seconds = []
        for qrels, run in (("ordinary.q", "ordinary.r"), ("q", "r")):
            began = time.perf_counter()
            found = answer(lambda qrels=qrels, run=run: rb.evaluate(folder / qrels, folder / run, MEASURES))
            seconds.append(time.perf_counter() - began)
            if isinstance(found, rb.RankboundsError):
                check_message(str(found))
                return "refused"
        if seconds[1] > 1 + 20 * seconds[0]:
            raise ViolationError(f"{kind}: {len(ids):,} ids take {seconds[1]:.1f} s, others {seconds[0]:.2f} s")
        return "as fast"

    return Case(
        files, check, "time rankbounds evaluate q r; time rankbounds evaluate ordinary.q ordinary.r", seconds=15
    )


WORD = (1 << 64) - 1
MULTIPLIER = 0x9E3779B97F4A7C15
"""Of the golden ratio, as most multiplicative hashes have it: known to whoever wants ids to collide."""


def _mixed(state: int, word: int) -> int:
    product = ((state ^ word) * MULTIPLIER) & WORD
    return product ^ (product >> 32)


def _unmixed(mixed: int, state: int) -> int:
    """The word that turns this state into that one."""
    product = mixed ^ (mixed >> 32)
    return ((product * pow(MULTIPLIER, -1, 1 << 64)) & WORD) ^ state


def _usable(one: bytes) -> bool:
    return min(one) > 32 and one[0] not in b"#{["


def _sharing_low_bits(rng: Random) -> list[bytes]:
    """Eight bytes whose hash without a key ends in the same 20 bits; in topic "1"."""
    topic = _mixed(1, ord("1"))
    found: list[bytes] = []
    for high in range(1, 1 << 20):
        word = _unmixed(_unmixed((high << 40) | (rng.getrandbits(4) << 36) | 0x12345, topic), 8).to_bytes(8, "little")
        if _usable(word):
            found.append(word)
        if len(found) == 10_000:
            break
    return found


def _sharing_all_bits(rng: Random) -> list[bytes]:
    """Sixteen bytes whose whole hash without a key is one."""
    aim = rng.getrandbits(64)
    found: set[bytes] = set()
    while len(found) < 2000:
        first = bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=8))
        second = _unmixed(aim, _mixed(16, int.from_bytes(first, "little"))).to_bytes(8, "little")
        if _usable(second):
            found.add(first + second)
    return list(found)


def _colliding_under_any_key(rng: Random) -> list[bytes]:
    """A word's top bit goes through a multiplication alone, and the next word can undo it: no key prevents that."""
    pairs = 11
    found = []
    words = [bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=16)) for _ in range(pairs)]
    for number in range(1 << pairs):
        one = bytearray(b"".join(words))
        for pair in range(pairs):
            if number >> pair & 1:
                for at in (7, 8 + 3, 8 + 7):
                    one[16 * pair + at] ^= 0x80
        found.append(bytes(one))
    return found


def _one_long(rng: Random) -> list[bytes]:
    return [b"x" * rng.choice((100_000, 1_000_000)), *(b"d%d" % number for number in range(20_000))]


HOSTILE_IDS: dict[str, Callable[[Random], list[bytes]]] = {
    "ids that share their low bits": _sharing_low_bits,
    "ids that share their hash": _sharing_all_bits,
    "ids that share their hash under any key": _colliding_under_any_key,
    "one long id": _one_long,
}
