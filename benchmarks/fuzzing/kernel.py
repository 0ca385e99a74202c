"""The compiled kernel and NumPy: every array and every message is the same for the same bytes."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import rankbounds as rb
from fuzzing.case import Case, ViolationError
from fuzzing.collection import JUDGMENTS, RUNS, random_collection
from fuzzing.damage import damaged
from rankbounds.collection.inputs import Reading
from rankbounds.columns import native
from rankbounds.columns.pairs import Pairs
from rankbounds.files import trec
from rankbounds.rankings.join import join
from rankbounds.rankings.topic_facts import TopicFacts

NUMBERS = (
    b"0", b"-0.0", b".5", b"5.", b"+7.25", b"1e5", b"1.5E-05", b"12.345678901234567", b"0.00012345678901234567",
    b"9007199254740993", b"123456789012345678", b"1e23", b"1e-23", b"4.9e-324", b"00000000000000000000001.5",
    b"0.30000000000000004", b"1.7976931348623157e308", b"2.2250738585072011e-308", b"8.41e21", b"9214843084008499.5",
)  # fmt: skip
"""Scores that are hard to read exactly, or that the kernel leaves to Python."""
ORDERS = ("trec", "trec", "docid", "line", "run", "rank")


def kernel(rng: Random) -> Case:
    """Both read the same bytes, look the documents up and rank them."""
    large = rng.random() < 0.2
    collection = random_collection(rng, topics=60 if large else 5, docs=40 if large else 12)
    files = {"q": JUDGMENTS["trec"](collection), "r": RUNS[rng.choice(("trec", "trec", "scores.trec"))](collection)}
    files["r"] = _with_hard_numbers(rng, files["r"])
    for name in files:
        if rng.random() < 0.3:
            lines = files[name].splitlines(keepends=True)
            rng.shuffle(lines)
            files[name] = b"".join(lines)
    cut = rng.choice(("q", "r"))
    if rng.random() < 0.6:
        files[cut] = damaged(rng, files[cut], text=True)
    options = {
        "lenient": rng.random() < 0.4,
        "order": rng.choice(ORDERS),
        "precision": rng.choice(("double", "double", "single")),
        "keep": rng.random() < 0.5,
        "threads": rng.choice((1, 1, 3)),
        "block": rng.choice((1 << 20, 200, 40)),
    }

    def check(folder: Path) -> str:
        paths = str(folder / "q"), str(folder / "r")
        found = {}
        for way in ("kernel", "NumPy"):
            with native.switched(way):
                found[way] = list(_noticed(*paths, **options))
        _compare(found["kernel"], found["NumPy"])
        return "refused" if found["NumPy"][-1][0] == "error" else "equal"

    return Case(files, check, f"rankbounds evaluate q r  # both ways, {options}", cut=cut)


def _with_hard_numbers(rng: Random, run: bytes) -> bytes:
    lines = run.splitlines(keepends=True)
    for number in range(len(lines)):
        if rng.random() < 0.15:
            fields = lines[number].split()
            at = 4 if len(fields) == 6 else -1
            if fields:
                fields[at] = rng.choice(NUMBERS)
            lines[number] = b" ".join(fields) + b"\n"
    return b"".join(lines)


def _noticed(
    qrels: str, run: str, lenient: bool, order: Any, precision: Any, keep: bool, threads: int, block: int
) -> Iterator[tuple[str, Any]]:
    """Everything that a reader of these files can notice, by name; an error is the last of it."""
    before, trec.BLOCK_BYTES = trec.BLOCK_BYTES, block
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            reading = Reading("trec", lenient=lenient, threads=threads)
            judged = reading.judgments(qrels)
            yield from _columns("qrels", judged.pairs, judged.grade)
            ranked = reading.run(run)
            yield "name", ranked.name
            yield from _columns("run", ranked.pairs, ranked.score)
            facts = TopicFacts(judged)
            joined = join(ranked, facts, order=order, precision=precision, keep_rows=keep, keep_judgments=keep)
            yield "topics", (joined.missing, joined.unknown)
            for number, lists in enumerate(joined.batches):
                for field in dataclasses.fields(lists):
                    if field.name not in ("facts", "_memory"):
                        yield f"{field.name} of batch {number}", getattr(lists, field.name)
        yield "warnings", [str(warning.message) for warning in told]
    except rb.RankboundsError as error:
        yield "error", (type(error), str(error))
    finally:
        trec.BLOCK_BYTES = before


def _columns(what: str, pairs: Pairs, value: Any) -> Iterator[tuple[str, Any]]:
    yield f"topics of the {what}", pairs.topics
    for name, column in (("topic", pairs.topic), ("start", pairs.docs.start), ("length", pairs.docs.length)):
        yield f"{name} of the {what}", column
    yield f"keys of the {what}", pairs.keys
    yield f"value of the {what}", value.view(np.uint64)


def _compare(ours: list[tuple[str, Any]], theirs: list[tuple[str, Any]]) -> None:
    for (name, own), (other_name, other) in zip(ours, theirs, strict=False):
        if name != other_name:
            raise ViolationError(f"{name} by the kernel, {other_name} by NumPy: {own!a:.300} and {other!a:.300}")
        if isinstance(own, np.ndarray) and isinstance(other, np.ndarray):
            same = own.dtype == other.dtype and np.array_equal(own, other, equal_nan=own.dtype.kind == "f")
        else:
            same = type(own) is type(other) and own == other
        if not same:
            raise ViolationError(f"{name} is {own!a:.300} by the kernel and {other!a:.300} by NumPy")
    if len(ours) != len(theirs):
        raise ViolationError(f"{len(ours)} things are noticed by the kernel and {len(theirs)} by NumPy")
