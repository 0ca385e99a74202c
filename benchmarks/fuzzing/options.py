"""What must hold of the command line: whatever the options are, an exit code and one sentence for each mistake."""

from __future__ import annotations

import argparse
import csv
import io
import re
import shlex
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from fuzzing.case import Case, ViolationError, command
from fuzzing.collection import JUDGMENTS, RUNS, WILD_IDS, Collection, random_collection
from rankbounds.cli import build_parser
from rankbounds.commands.console.options import Parser

SKIPPED = ("serve", "study")
"""One waits for visitors, the other takes minutes."""
FIXED = {"time_limit": "0.1"}
"""Options whose large values mean what they say to compiled code that nothing interrupts."""
WRITTEN = ("output", "save", "figure", "write", "bibtex", "page")
"""Options that name what is written."""
GATES = {"compare": "--fail-if", "check": "check"}
WHOLE = (
    "0",
    "1",
    "2",
    "3",
    "5",
    "10",
    "-1",
    "-0",
    "100",
    "1000",
    "2147483648",
    "9223372036854775808",
    "9" * 20,
    "9" * 400,
)
REAL = (
    "0", "1", "0.5", "0.95", "0.999999", "-1", "1e-300", "1e300", "1e400", "nan", "inf", "-inf", "0.1", "2", "1e-320",
    "9" * 20, "1_0", "0x1", "1e5", "100",
)  # fmt: skip
TEXT = (
    "", " ", "-", ".", "..", "/", "x", "0", "-1", "nan", "inf", "infG", "1e400", "9" * 20, "9" * 400, "64K",
    "1M", "nanM",
    "a\nb", "\x1b[31m", "\udce9", "é", "*", "[", "{rate}", "%s", "{0}", ",", "1,", "1=", "1=2,1=3", "=",
    "1=nan",
    "a" * 5000, "trec", "csv", "parquet", "json", "all", "none",
)  # fmt: skip
MEASURE = (
    "RBP(p=0.8)", "P@5", "nDCG@10", "AP", "ERR", "RR", "bpref", "Rprec", "map", "ndcg_cut_10", "Judged@10", "infAP",
    "INST(T=2)",
    "P@99999999999999999999", "P@0", "P@-1", "P", "RBP(p=1)", "RBP(p=0)", "RBP(p=nan)", "RBP(p=1e-320)", "RBP",
    "nDCG(gain=exp)",
    "RBP(p=0.999999999)", "RBP(p=", "RBP()", "nDCG(base=1)", "nDCG(base=nan)", "F(beta=inf)", "IPrec@0.5",
    "ERR(max_grade=2000)",
    "infNDCG", "xinfAP", "infP@10", "Compatibility(p=0.9)", "alpha_nDCG@10", "GMAP", "all_trec",
    "P(rel=nan)@5", "x@y", "RBP(p=0.8,p=0.9)", "RBP(q=1)", "AP(rel=1e400)", "Success@1", "SetF(beta=0)", "nERR@20",
)  # fmt: skip
GATE = (
    "P@5 worse",
    "AP different",
    "P@5 < 0.5",
    "judged@10 >= 80%",
    "AP worse by 0.1",
    "P@5",
    "worse",
    "x worse",
    "P@99999999999999999999 worse",
    "",
)
INPUTS = (
    "q", "r1", "r2", "q.json", "groups", "counts.csv", "key", "eval.out", "odd", "nested.json", "labels", "sample.csv",
    "strata", "again1", "scores.csv", "slices.csv", "web",
)  # fmt: skip
COLLECTIONS = ("web", "news")
"""Folders, each with judgments and a folder of runs."""
JUDGMENTS_OF = {
    "sample": ("labels", "q"),
    "audit": ("labels", "labels", "q"),
}
"""What commands read as judgments that is not what others read."""
RUNS_OF = {"replicates": ("again1", "again2")}


@cache
def _parsers() -> dict[str, Parser]:
    return {name: parser for name, parser in build_parser().commands.items() if name not in SKIPPED}


def commands(rng: Random, spark: Any = None) -> Case:
    """Any command with any options: a known exit code, no traceback, and no input changed; ``spark``: there too."""
    name, parser = rng.choice(list(_parsers().items()))
    collection = random_collection(rng, topics=4, docs=8)
    given, written = _words(rng, name, parser, slow=spark is not None)
    words = [*name.split(), *given, *written]
    files = _inputs(rng, collection)
    read = _read_by(name, given, files)

    def check(folder: Path) -> str:
        (folder / "sub").mkdir()
        (folder / "empty").mkdir()
        (folder / "link").symlink_to("q")
        (folder / "loop").symlink_to("loop")
        ended = command(folder, words)
        if changed := [one for one in read if _content(folder / one) != files[one]]:
            raise ViolationError(f"an input was changed: {', '.join(changed)}")
        if ended.code in (1, 4) and not any(word.startswith(GATES.get(name, "\n")[:6]) for word in words):
            raise ViolationError(f"exit code {ended.code}, which is for gates, without a gate")
        if ended.code in (2, 3, 4) and not ended.err.strip():
            raise ViolationError(f"exit code {ended.code} without a word")
        return f"exit code {ended.code}"

    vast = any(len(digits) > 3 for word in words for digits in re.findall(r"\d+", word)) or "e300" in " ".join(words)
    shown = " ".join(shlex.quote(word) if word.isprintable() else f"$'{ascii(word)[1:-1]}'" for word in words)
    seconds = 60 if "--engine=spark" in words else 3 if vast else 10
    return Case(files, check, f"rankbounds {shown}", seconds=seconds, patient=vast)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _inputs(rng: Random, collection: Collection) -> dict[str, bytes]:
    others = [
        Collection(
            {
                topic: {doc: float(rng.choice((0, 1, 2, 3))) for doc in docs}
                for topic, docs in collection.grades.items()
            },
            {topic: {doc: rng.random() for doc in docs} for topic, docs in collection.scores.items()},
        )
        for _ in range(2)
    ]
    first = RUNS["trec"](collection)
    second, third = (RUNS["trec"](other).replace(b" tag\n", b" other\n") for other in others)
    judged = JUDGMENTS["trec"](collection)
    return {
        "q": judged,
        "r1": first,
        "r2": second,
        "again1": first.replace(b" tag\n", b" tag#1\n"),
        "again2": third.replace(b" other\n", b" tag#2\n"),
        "labels": JUDGMENTS["trec"](others[0]),
        "sample.csv": _sample(rng, others[0]),
        "strata": _lines(
            f"{topic} 0 {doc} {rng.randint(1, 2)} {rng.choice((-1, 0, 1, 1))}" for topic, doc in _pairs(collection)
        ),
        "scores.csv": _lines(
            ["query_id,one,other", *(f"{topic},{rng.random()},{rng.random()}" for topic in collection.grades)]
        ),
        "slices.csv": _lines(f"{topic},{rng.choice('ab')}" for topic in collection.grades),
        "web/qrels.txt": judged,
        "web/runs/r1": first,
        "web/runs/r2": second,
        "news/qrels.txt": JUDGMENTS["trec"](others[0]),
        "news/runs/r1": RUNS["trec"](others[1]),
        "news/runs/r2": third,
        "q.json": JUDGMENTS["beir.json"](collection),
        "groups": b"tag one\nother two\n",
        "counts.csv": b"rank,count\n1,10\n2,5\n3,2\n",
        "key": b"d0 1\nd1 2\nd2 3\n",
        "eval.out": b"runid \tall\ttag\nmap \tall\t0.5\nP_5 \tall\t0.4\nmap \tt0\t0.1\n",
        "odd": bytes(rng.randrange(256) for _ in range(rng.randrange(40))),
        "nested.json": b"[" * rng.choice((1, 200_000)),
    }


def _pairs(collection: Collection) -> list[tuple[str, str]]:
    return [(topic, doc) for topic, docs in collection.grades.items() for doc in docs]


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def _sample(rng: Random, labels: Collection) -> bytes:
    """Some documents of the labels, with the probability of being drawn and what people said; a few are not judged."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("query_id", "doc_id", "label", "probability", "relevance"))
    for topic, doc in _pairs(labels):
        if rng.random() < 0.6:
            grade = labels.grades[topic][doc]
            judged = rng.choice(("", f"{grade:.0f}", "0", "1", "2")) if rng.random() < 0.3 else f"{grade:.0f}"
            writer.writerow((topic, doc, f"{grade:.0f}", rng.choice(("0.5", "1", "0.25", "0.9")), judged))
    return out.getvalue().encode("utf-8", "surrogateescape")


def _read_by(name: str, words: list[str], files: dict[str, bytes]) -> list[str]:
    """The files that these words name as inputs; of a folder of collections, what lies in theirs."""
    named = {word.rpartition("=")[2] for word in words}
    return [
        one
        for one in files
        if one in named
        or ("." in words and (name != "collections" or "/" in one))
        or one.partition("/")[0] in named
        or (one == "q" and "link" in named)
        or (one.startswith("r") and "r*" in named)
    ]


def _words(rng: Random, name: str, parser: Parser, *, slow: bool = False) -> tuple[list[str], list[str]]:
    """What is read and how; then where something is written."""
    given, positional, written = [], [], []
    bold = rng.choice((0.02, 0.06, 0.15))  # of many odd options the first is refused, and nothing else is tried
    often = ("measures", "output", *(["engine"] if slow else []))
    for option, action in parser.actions.items():
        if not action.option_strings:
            positional += _positional(rng, name, action)
        elif action.required or rng.random() < (0.5 if action.dest in often else bold):
            taken = option.words() if callable(option.words) else option.words
            taken = [word for word in taken if slow or word != "spark"]
            (written if action.dest in WRITTEN else given).append(_option(rng, action, taken))
    rng.shuffle(given)
    return [*positional, *(word for words in given for word in words)], [word for words in written for word in words]


def _option(rng: Random, action: argparse.Action, taken: Sequence[str]) -> list[str]:
    flag = rng.choice(action.option_strings)
    if action.nargs == 0:
        return [flag]
    count = action.nargs if isinstance(action.nargs, int) else 1
    values = [rng.choice(taken) if taken and rng.random() < 0.5 else _value(rng, action) for _ in range(count)]
    if count == 1 and flag.startswith("--"):
        return [f"{flag}={values[0]}"]  # so that a value may begin with a dash
    return [flag, *values]


def _value(rng: Random, action: argparse.Action) -> str:
    if action.dest in FIXED:
        return FIXED[action.dest]
    metavar = str(action.metavar)
    if action.dest in ("measures", "measure"):
        return rng.choice(MEASURE)
    if action.dest == "fail_if":
        return rng.choice(GATE)
    if action.dest in WRITTEN:
        return rng.choice(
            ("out", "out", "out", "out.svg", "sub/out", "sub", "none/out", "loop", *INPUTS[:4], "link", "", "./q")
        )
    if action.dest == "runs":  # of judges, which holds labels against each other without them
        return rng.choice(("r1", "r2", "web/runs", "none"))
    if metavar in ("FILE", "QRELS", "FOLDER", "OUTPUT") or action.dest == "compare":
        return rng.choice((*INPUTS, *INPUTS, "sub", "none", "loop", "", "empty", "tag", "other"))
    kind: Any = action.type
    if kind is int:
        return rng.choice(WHOLE) if rng.random() < 0.9 else rng.choice(TEXT)
    if kind is not None:
        return rng.choice(REAL) if rng.random() < 0.9 else rng.choice(TEXT)
    known = re.findall(r"[a-zA-Z][\w-]+", str(action.help))
    return rng.choice(known) if known and rng.random() < 0.5 else rng.choice((*TEXT, *REAL, *WILD_IDS[-5:-2]))


def _positional(rng: Random, name: str, action: argparse.Action) -> list[str]:
    if action.nargs in ("?", "*") and rng.random() < 0.3:
        return []
    odd = rng.random() < 0.1
    unfit = ("none", "odd", "nested.json", "sub", "-", "r1", "loop", "link", ".")
    if action.dest == "qrels":
        return [rng.choice(unfit if odd else JUDGMENTS_OF.get(name, ("q", "q", "q.json")))]
    if action.dest in ("runs", "run_file", "a", "b"):
        known = RUNS_OF.get(name, ("r1", "r2"))
        one = [rng.choice(("none", "odd", "nested.json", "empty", "-", "q", "loop", "r*", ".") if odd else known)]
        return list(known) if action.nargs in ("+", "*") and not odd and rng.random() < 0.7 else one
    if action.dest == "label_files":
        return (
            [rng.choice(unfit)] if odd else rng.choice((["labels"], ["labels", "q.json"], ["model=labels", "again=q"]))
        )
    if action.dest == "collections":
        return [rng.choice(unfit)] if odd else rng.choice((list(COLLECTIONS), ["a=web", "b=news"], ["."], ["web"]))
    if action.dest == "sample":
        return [rng.choice(unfit if odd else ("sample.csv",))]
    if action.dest == "trec_output":
        return [rng.choice(("odd", "q", "none") if odd else ("eval.out",))]
    if action.dest == "folder":
        return [rng.choice(("sub", "new", "q", "loop", "empty", ""))]
    if action.dest == "score":
        return [rng.choice(("0.3", "0.5", "0.327", *REAL))]
    return [rng.choice((*MEASURE, *TEXT))]
