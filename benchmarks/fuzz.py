"""Try to break the package: damaged files, odd options, hostile ids; every answer is a number or one clear sentence.

    python benchmarks/fuzz.py --seconds 60              a fresh seed, which is printed
    python benchmarks/fuzz.py --seed 7 --case 1234      one case again

A case is made from the seed and its number alone. Cases run in a process that is watched, so that a case that takes
the process down, or never ends, is found too. The first violation ends it with exit code 1 and a report: what was
violated, the command, and the files in a folder of their own, as short as the violation allows. --keep-going collects
one report for each kind of violation instead.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import resource
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuzzing import combinations, hostile, kernel, objects, options, reading, writing
from fuzzing.case import Case, ViolationError, run, shortened
from rankbounds.columns import native

HERE = Path(__file__).resolve().parent
PROPERTIES = {
    "reading": (reading.reading, 40),
    "cutting": (reading.cutting, 5),
    "agreeing": (reading.agreeing, 15),
    "repeating": (reading.repeating, 5),
    "engines": (reading.engines, 20),
    "writing": (writing.writing, 15),
    "objects": (objects.objects, 10),
    "commands": (options.commands, 25),
    "combinations": (combinations.combinations, 2),
    "hostile": (hostile.hostile, 0.05),
    **({"kernel": (kernel.kernel, 40)} if native.built is not None else {}),
}
"""Each with how often it is tried, in relation to the others."""
NEVER_ENDS = 60.0
"""Seconds without a word after which a case is taken for one that never ends, whatever alarm it was given."""
MEMORY = 8 << 30
BROKEN = 1
"""How Python ends after an exception: nothing that a case did."""


def case_of(seed: int, number: int, chosen: list[str], spark: Any = None) -> tuple[str, Case]:
    """The case of this number: always the same for the same seed and choice of properties."""
    rng = random.Random(f"{seed}/{number}")
    name = rng.choices(chosen, [PROPERTIES[one][1] for one in chosen])[0]
    make = PROPERTIES[name][0]
    case = make(rng, spark) if name in ("engines", "commands") and spark is not None else make(rng)
    return name, replace(case, batch_cells=rng.choice((1, 4, 16, case.batch_cells)))


def work(asked: argparse.Namespace, first: int, end: float, say: int, folder: Path) -> None:
    """Run cases and tell of each when it begins and when it ends."""
    if not asked.spark:  # whose virtual machine asks for more than it uses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    spark = spark_engine() if asked.spark else None
    number = first
    while time.time() < end:
        name, case = case_of(asked.seed, number, asked.properties, spark)
        told: dict[str, Any] = {
            "number": number,
            "property": name,
            "patient": case.patient,
            "command": case.command,
        }
        tell(say, told)
        try:
            outcome = run(case, folder)
            tell(say, {"outcome": outcome})
        except ViolationError as error:
            again = shortened(case, folder, str(error)) if asked.shorten else case
            kept = keep(asked, number, name, str(error), again, folder)
            tell(say, {"violated": str(error), "folder": str(kept)})
        if asked.case is not None:
            return
        number += 1


def tell(say: int, what: dict[str, Any]) -> None:
    os.write(say, json.dumps(what).encode() + b"\n")


def keep(asked: argparse.Namespace, number: int, name: str, why: str, case: Case, folder: Path | None) -> Path:
    """Put the case's files where a person finds them."""
    kept = asked.reports / f"{asked.seed}-{number}"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    for file, content in case.files.items():
        (kept / file).parent.mkdir(parents=True, exist_ok=True)
        (kept / file).write_bytes(content)
    (kept / "report.txt").write_text(report(asked, number, name, why, case.command), "utf-8", "backslashreplace")
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
    return kept


def report(asked: argparse.Namespace, number: int, name: str, why: str, command: str) -> str:
    """What a person needs to see it again."""
    chosen = "" if asked.properties == list(PROPERTIES) else f" --properties {' '.join(asked.properties)}"
    again = f"python benchmarks/fuzz.py --seed {asked.seed} --case {number}{chosen}"
    return f"property: {name}\nviolated: {why}\ncommand:  {command}\nagain:    {again}\n"


def spark_engine() -> Any:
    """Spark's engine with one session for all cases."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    import rankbounds as rb

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")

    def evaluate(*given: Any, **options: Any) -> Any:
        return rb.evaluate(*given, engine="spark", **options)

    return evaluate


class Watched:
    """A process that works, and what it told last."""

    def __init__(self, asked: argparse.Namespace, first: int, end: float) -> None:
        out, say = os.pipe()
        words = [sys.executable, str(HERE / "fuzz.py"), *sys.argv[1:], "--seed", str(asked.seed)]
        # A process that goes down clears nothing up: its scratch is ours to remove.
        self.scratch = tempfile.TemporaryDirectory(prefix="fuzz-")
        words += ["--worker", str(first), str(end), str(say), self.scratch.name]
        environment = {**os.environ, "POLARS_MAX_THREADS": "1", "RUST_BACKTRACE": "0", "TMPDIR": self.scratch.name}
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (a pipe that nobody empties would stop the worker)
        self.process = subprocess.Popen(
            words, pass_fds=[say], stdin=subprocess.DEVNULL, stderr=self.errors, env=environment
        )
        os.close(say)
        self.out = out

    def told(self) -> Iterator[dict[str, Any]]:
        """Everything that is told until the process ends; TimeoutError where it says nothing for too long."""
        rest = b""
        while True:
            if not select.select([self.out], [], [], NEVER_ENDS)[0]:
                raise TimeoutError
            block = os.read(self.out, 1 << 16)
            if not block:
                return
            *lines, rest = (rest + block).split(b"\n")
            yield from map(json.loads, lines)

    def end(self) -> int:
        """Kill it where it still runs; return how it ended."""
        if self.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)
        self.process.kill()
        os.close(self.out)
        code = self.process.wait()
        self.scratch.cleanup()
        return code

    def last_words(self) -> str:
        """The end of what it wrote to standard error."""
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "replace")[-2000:]


def watch(asked: argparse.Namespace) -> int:
    """Let a process work, another after it where one goes down; print what was found."""
    counts: Counter[tuple[str, str]] = Counter()
    kinds: Counter[str] = Counter()
    began, end = time.time(), time.time() + asked.seconds
    first = asked.case or 0
    print(f"seed {asked.seed}", flush=True)
    while time.time() < end:
        watched, now, why, folder = Watched(asked, first, end), {}, None, None
        try:
            for told in watched.told():
                if "number" in told:
                    now = told
                elif "outcome" in told:
                    counts[now["property"], told["outcome"]] += 1
                    now = {**now, "over": True}
                else:
                    now = {**now, "over": True}
                    counts[now["property"], "VIOLATED"] += 1
                    if new_kind(kinds, now["property"], told["violated"]):
                        show(asked, now, told["violated"], told["folder"])
                    else:
                        shutil.rmtree(told["folder"], ignore_errors=True)
                    if not asked.keep_going:
                        end = 0
                        break
            stuck = False
        except TimeoutError:
            stuck = True
            watched.process.kill()
        code = watched.end()
        if code == BROKEN:
            raise SystemExit(f"the fuzzer itself is broken, at case {now.get('number')}:\n{watched.last_words()}")
        if not now.get("over"):
            if stuck and now["patient"]:
                counts[now["property"], "stopped"] += 1
            else:
                why = "never ends"
                if not stuck:
                    why = f"the process went down with code {code}: {watched.last_words()[-200:]!a}"
                counts[now["property"], "VIOLATED"] += 1
                name, case = case_of(asked.seed, now["number"], asked.properties)
                folder = keep(asked, now["number"], name, why, case, None)
                if new_kind(kinds, now["property"], why):
                    show(asked, now, why, str(folder))
                if not asked.keep_going:
                    break
        elif code == 0 or asked.case is not None:
            break
        first = now["number"] + 1
    total = sum(counts.values())
    print(f"{total:,} cases in {time.time() - began:.0f} s, seed {asked.seed}")
    for (name, outcome), count in sorted(counts.items()):
        print(f"  {name:10} {outcome:12} {count:8,}")
    return int(any(outcome == "VIOLATED" for _, outcome in counts))


def new_kind(kinds: Counter[str], name: str, why: str) -> bool:
    """Is this the first violation of its kind?"""
    kind = name + re.sub(r"/[^ ']*|\d+", "", why)[:30]
    kinds[kind] += 1
    return kinds[kind] == 1


def show(asked: argparse.Namespace, now: dict[str, Any], why: str, folder: str) -> None:
    told = report(asked, now["number"], now["property"], why, now["command"])
    print(f"\nVIOLATED (files are in {folder})\n{told}".encode("utf-8", "backslashreplace").decode(), flush=True)


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, help="default: a fresh one")
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument("--properties", nargs="+", choices=list(PROPERTIES), default=list(PROPERTIES))
    parser.add_argument("--spark", action="store_true", help="the engine of Spark too (slow)")
    parser.add_argument("--keep-going", action="store_true", help="one report for each kind of violation")
    parser.add_argument("--no-shorten", dest="shorten", action="store_false", help="keep files as they are")
    parser.add_argument("--reports", type=Path, default=Path("fuzz-reports"), help="where files of violations go")
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.seed is None:
        asked.seed = secrets.randbelow(1 << 32)
    asked.reports = asked.reports.resolve()
    return asked


def main() -> int:
    asked = parsed()
    if asked.worker:
        first, end, say, scratch = asked.worker
        work(asked, int(first), float(end), int(say), Path(scratch) / "case")
        return 0
    return watch(asked)


if __name__ == "__main__":
    sys.exit(main())
