"""One table of what commands cost: processor time and peak memory of fresh processes, on real and synthetic data.

    python benchmarks/all.py --collection FOLDER            # with qrels.txt and runs/, such as TREC-8; about 15 minutes
    python benchmarks/all.py --only compare report          # rows whose names hold one of these words
    python benchmarks/all.py --peers --spark                # other tools and a cluster of two workers, too
    python benchmarks/all.py --write                        # and the tables of docs/speed.md are written anew

Without --collection, 129 runs of 50 topics and 1,000 documents are simulated. ``wanted`` is what a row may take on two
cores that do nothing else. Processor time is that of the process and of its threads; other work on the machine makes it
grow, so that states are compared by turns, and the page has its ratio to that of ``evaluate``. Data go below
benchmarks/data; delete them when done.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "speed.md"
RANKBOUNDS = [sys.executable, "-m", "rankbounds"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""What is installed has its bytecode: a checkout writes it too, or every start would compile."""
COMMANDS = (
    "evaluate", "uncertainty", "trec_eval", "compare", "collections", "replicates", "topics", "similarity", "check",
    "explain", "mcp", "judge-next", "pool", "serve", "judges", "sample", "audit", "measures", "report", "study", "demo",
)  # fmt: skip
MATRIX = """
import numpy as np, rankbounds as rb
rng, names = np.random.default_rng(0), [f"d{number}" for number in range(100_000)]
scores = rng.standard_normal((1000, len(names)), dtype=np.float32)
queries = [f"q{number}" for number in range(len(scores))]
qrels = {query: {names[at]: 1 for at in rng.integers(0, len(names), 5)} for query in queries}
rb.evaluate(qrels, scores, ["nDCG@10", "Recall@100", "AP"], query_ids=queries, doc_ids=names).mean()
"""
BOUNDS = """
import sys, rankbounds as rb
from rankbounds.comparison import Evidence
Evidence.read(sys.argv[1], sys.argv[2:]).bounds(rb.measures.parse_measures("nDCG@10,AP,P@10,RR"))
"""
LARGE = """
import sys, pathlib, workload
workload.write_collection(pathlib.Path(sys.argv[1]), runs=1, topics=10_000, depth=1000, judged=100)
"""


@dataclass(frozen=True)
class Row:
    """A command to be measured, and the seconds and megabytes that it may take."""

    name: str
    command: list[str]
    seconds: float | None = None
    megabytes: float | None = None


def command(name: str, *arguments: object) -> list[str]:
    return [*RANKBOUNDS, name, *map(str, arguments)]


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


def collection(given: Path | None, data: Path) -> Path:
    """The folder of the collection: the one that was named, real data where they are known, else a simulated one."""
    known = Path(os.environ.get("RANKBOUNDS_DATA", "nowhere"), "trec8-adhoc")
    if given or known.exists():
        return given or known
    return simulated(data / "simulated", runs=129, documents=5000, depth=1000, pool_depth=100)


def simulated(folder: Path, **options: int) -> Path:
    if not folder.exists():
        import rankbounds as rb

        rb.studies.simulate(**options).write(folder)
        shutil.copy(folder / "qrels-pooled.txt", folder / "qrels.txt")
    return folder


def rows(folder: Path, data: Path, wanted: list[str]) -> Iterator[Row]:
    """Every row; data of rows that are not wanted are not written."""

    def is_wanted(name: str) -> bool:
        return not wanted or any(word in name for word in wanted)

    qrels, runs = folder / "qrels.txt", folder / "runs"
    several = sorted(map(str, runs.iterdir()))
    few, two = several[:5], several[len(several) // 3 : len(several) // 3 + 2]
    both = ("-m", "AP,nDCG@10")
    page = data / "report.html"
    yield Row("evaluate, all runs", command("evaluate", qrels, runs, *both))
    yield Row("evaluate official, 25 runs", command("evaluate", qrels, *several[:25], "-m", "official"))
    yield Row("compare, all runs", command("compare", qrels, runs, *both), 3, 300)
    yield Row("compare, all runs, as JSON", command("compare", qrels, runs, *both, "--format", "json"), 5, 400)
    yield Row("compare, 2 runs", command("compare", qrels, *two))
    yield Row("bounds of differences, 25 runs", python(BOUNDS, qrels, *several[:25]))
    yield Row("report, 5 runs", command("report", qrels, *few, "-o", page), 1.5)
    yield Row("report, all runs", command("report", qrels, runs, "-o", page), 3)
    yield Row("judge-next, all runs", command("judge-next", qrels, runs), 3)
    settled = ("--compare", "all", "--until", "settled", "--format", "json")
    yield Row("judge-next --until settled, 2 runs", command("judge-next", qrels, *two, *settled), 2)
    yield Row("check, all runs", command("check", runs), 2)
    yield Row("uncertainty, all runs", command("uncertainty", qrels, runs))
    yield Row("score matrix, 1,000 x 100,000", python(MATRIX))
    if is_wanted("compare, 500 runs x 250 topics"):
        many = simulated(data / "many-runs", runs=500, topics=250, documents=5000)
        arguments = command("compare", many / "qrels.txt", many / "runs", *both)
        yield Row("compare, 500 runs x 250 topics", arguments, 20, 1000)
    if is_wanted("evaluate, one run of 10 million lines .gz by stream"):
        large, run = data / "large" / "qrels.txt", data / "large" / "run000.txt"
        subprocess.run(python(LARGE, large.parent.resolve()), check=True, cwd=HERE)
        packed = run.with_suffix(".gz")
        if not packed.exists():
            with run.open("rb") as source, gzip.open(packed, "wb", 6) as target:
                shutil.copyfileobj(source, target, 1 << 20)
        size = run.stat().st_size / 1e6
        yield Row("evaluate, one run of 10 million lines", command("evaluate", large, run), None, size + 600)
        stream = ("--engine", "stream", "--memory", "512M")
        yield Row("evaluate, one run of 10 million lines by stream", command("evaluate", large, run, *stream))
        yield Row("zcat of 10 million lines .gz", ["gzip", "-dc", str(packed)])
        yield Row("evaluate, one run of 10 million lines .gz", command("evaluate", large, packed))
    yield Row("import numpy", python("import numpy"))
    yield Row("import rankbounds", python("import rankbounds"))
    yield Row("--version", [*RANKBOUNDS, "--version"])
    yield from (Row(f"{name} --help", command(name, "--help")) for name in COMMANDS)


def measured(arguments: list[str]) -> tuple[float, float, float]:
    """Processor seconds, seconds and peak megabytes of a process that ends well.

    A process begins with the memory of the one that starts it: nothing large is imported here.
    """
    started = time.perf_counter()
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT)
    assert process.stderr is not None
    said: list[bytes] = []
    reader = threading.Thread(target=lambda: said.append(process.stderr.read()))
    reader.start()
    _, status, used = os.wait4(process.pid, 0)
    taken = time.perf_counter() - started
    reader.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 and (process.returncode, "check") != (1, arguments[3]):  # 1: it found something
        raise SystemExit(f"{' '.join(arguments[:8])} ended with {process.returncode}: {said[0].decode()[-500:]}")
    return used.ru_utime + used.ru_stime, taken, used.ru_maxrss / 1000


def first_document(folder: Path, data: Path) -> float:
    """Seconds until the desk, once its page is there, hands out a document."""
    judged = data / "judged.txt"
    shutil.copy(folder / "qrels.txt", judged)
    arguments = command("serve", judged, folder / "runs", "--port", 0)
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as desk:
        assert desk.stderr is not None
        try:
            place = next(found[0] for line in desk.stderr if (found := re.search(r"http://\S+/", line)))
            with urllib.request.urlopen(place) as page:
                token = re.search(r'name="token" content="([^"]+)"|token[^\w]+([\w-]{20,})', page.read().decode())
            assert token is not None
            started = time.perf_counter()
            message = json.dumps({"judge": "somebody", "key": "page"}).encode()
            while True:
                headers = {"X-Token": token[1] or token[2]}
                with urllib.request.urlopen(urllib.request.Request(f"{place}next", message, headers)) as answer:
                    if json.load(answer)["next"]:
                        return time.perf_counter() - started
                time.sleep(0.02)
        finally:
            desk.terminate()


def write_row(name: str, *cells: str) -> None:
    """Put new numbers into the row of this name on the page, if it has one."""
    new = f"| {' | '.join([name, *cells])} |"
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(rf"^\| {re.escape(name)} \|.*$", lambda _: new, page, flags=re.MULTILINE), encoding="utf-8")


def run_script(script: str, *options: str, write: bool) -> None:
    """Show what a script prints; the last table of it can go to its place on the page."""
    arguments = [sys.executable, str(HERE / script), *options]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    assert process.stdout is not None
    table: list[str] = []
    last = ""
    for line in process.stdout:
        print(line, end="", flush=True)
        if line.startswith("|"):
            table = [*table, line] if last.startswith("|") else [line]
        last = line
    if process.wait() == 0 and write and table:
        page = PAGE.read_text(encoding="utf-8")
        place = re.compile(rf"(<!-- benchmarks/{re.escape(script)} -->\n).*?(<!-- end -->)", re.DOTALL)
        PAGE.write_text(place.sub(lambda found: f"{found[1]}{''.join(table)}{found[2]}", page), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collection", type=Path, help="a folder with qrels.txt and runs/")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="rows whose names hold one of these")
    parser.add_argument("--rounds", type=int, default=1, help="the least of so many counts")
    parser.add_argument("--peers", nargs="*", help="run compare_peers.py, too, with these options")
    parser.add_argument("--spark", nargs="*", help="run spark_cluster.py, too, with these options")
    parser.add_argument("--write", action="store_true", help="write the numbers into docs/speed.md")
    parser.add_argument("--data", type=Path, default=HERE / "data")
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    folder = collection(options.collection, options.data)
    print("| command | processor time | wanted | clock | peak memory | wanted |\n|---|---:|---:|---:|---:|---:|")
    unit = 0.0
    for row in rows(folder, options.data, options.only):
        if unit and options.only and not any(word in row.name for word in options.only):
            continue
        taken, clock, peak = map(min, zip(*(measured(row.command) for _ in range(options.rounds)), strict=True))
        unit = unit or taken
        seconds, megabytes = (f"{limit:g}" if limit else "" for limit in (row.seconds, row.megabytes))
        print(f"| {row.name} | {taken:.2f} s | {seconds} | {clock:.2f} s | {peak:.0f} MB | {megabytes} |", flush=True)
        if options.write:
            write_row(row.name, f"{taken / unit:.1f}", f"{peak:,.0f} MB")
    if not options.only or "serve" in options.only:
        print(
            f"| serve, first document on the page | | | {first_document(folder, options.data):.2f} s | | |", flush=True
        )
    for script, given in {"compare_peers.py": options.peers, "spark_cluster.py": options.spark}.items():
        if given is not None:
            print(f"\n{script}\n", flush=True)
            run_script(script, *given, write=options.write)


if __name__ == "__main__":
    main()
