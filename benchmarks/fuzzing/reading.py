"""What must hold of reading files, whatever is in them, however they come in, and whichever engine reads."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import rankbounds as rb
from fuzzing.case import SECONDS, Case, ViolationError, answer, numbers_or_refusal
from fuzzing.collection import (
    COMPRESSIONS,
    IN_TREC,
    JUDGMENTS,
    MEASURES,
    PLAIN_IDS,
    RUNS,
    Collection,
    frame,
    random_collection,
)
from fuzzing.damage import damaged

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
        return numbers_or_refusal(found)

    words = f"rankbounds evaluate {qrels} {run} {' '.join(f'-m {one!r}' for one in measures)}"
    return Case(files, check, f"{words}  # {options}", cut=given)


def cutting(rng: Random) -> Case:
    """A compressed file that lacks its end is refused, whoever reads it."""
    collection = random_collection(rng)
    ending, compress = rng.choice(list(COMPRESSIONS.items()))
    whole = compress(RUNS["trec"](collection))
    files = {"q": JUDGMENTS["trec"](collection), f"r.{ending}": whole[: rng.randrange(len(whole))]}

    def check(folder: Path) -> str:
        paths = str(folder / "q"), str(folder / f"r.{ending}")
        for name, engine in (("local", rb.evaluate), ("stream", partial(rb.evaluate, engine="stream"))):
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
            "stream": lambda: rb.evaluate(*paths, MEASURES, engine="stream", lenient=lenient, memory=SMALLEST_MEMORY)
        }
        if spark is not None:
            others["spark"] = lambda: spark(*paths, MEASURES, lenient=lenient)
        for name, call in others.items():
            found = answer(call, paths)
            if _only_in_memory(found, local) or (name == "spark" and not text and _one_refuses(found, local)):
                return "refused"
            _compare(local, found, name)
        return "refused" if isinstance(local, rb.RankboundsError) else "numbers"

    words = f"rankbounds evaluate q r --engine stream --memory 64K  # lenient: {lenient}"
    return Case(files, check, words, cut=cut, seconds=SECONDS if spark is None else 60)


def _only_in_memory(found: Any, local: Any) -> bool:
    """Is it a file, or a way to read it, that the engine says it is not for?"""
    told = str(found) if isinstance(found, rb.UsageError) and not isinstance(local, rb.UsageError) else ""
    return "in pieces" in told or told.startswith("On Spark, ") or "do not stand together" in str(found)


def _one_refuses(found: Any, local: Any) -> bool:
    """Did one of two readers refuse? Spark's own reader of Parquet does not look at all that pyarrow looks at."""
    return isinstance(found, rb.RankboundsError) != isinstance(local, rb.RankboundsError)


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
