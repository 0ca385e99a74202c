"""Time the engines on one run of many lines: in memory, as a stream, on Spark (two local workers).

    python benchmarks/scale.py --lines 1000000 10000000 --engines local stream spark
    python benchmarks/scale.py --lines 5000000 --engines local spark --parquet

Each engine is a process of its own. Spark has a row for each of three calls, the first in a session that has just
started; of Parquet (which is written with the runs' topics together) paths are timed, frames as they were read, frames
with a filter, and frames of mixed rows. Prints seconds, processor seconds (of all processes; for Spark those of the
call alone) a million lines, peak memory (not for Spark) and the ratio of seconds to the local engine, which is timed
before and after, and that of processor seconds. Data go below benchmarks/data; delete them when done.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from workload import write_collection

HERE = Path(__file__).resolve().parent
DEPTH, JUDGED, TOPICS = 1000, 100, 1000

SPARK = """
import os, sys, time, warnings
warnings.simplefilter("ignore")
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
import rankbounds as rb
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
session = builder.config("spark.driver.memory", "2g").config("spark.ui.showConsoleProgress", "false").getOrCreate()
session.sparkContext.setLogLevel("OFF")

def processor_seconds():
    parents, seconds = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(name)] = int(fields[1])
        seconds[int(name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    mine = {os.getpid()}
    while more := {one for one, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(seconds[one] for one in mine)

ways = [("", sys.argv[1:])]
if sys.argv[1].endswith(".parquet"):
    frames = [session.read.parquet(path) for path in sys.argv[1:]]
    changed = [frame.filter("doc_id != ''") for frame in frames]
    mixed = [frames[0], frames[1].repartition(4)]
    ways += [("frames, ", frames), ("frames with a filter, ", changed), ("frames of mixed rows, ", mixed)]
for way, given in ways:
    for call in ("first call", "second call", "third call"):
        started, before = time.perf_counter(), processor_seconds()
        rb.evaluate(*given, engine="spark")
        print(f"spark, {way}{call}", time.perf_counter() - started, processor_seconds() - before, sep="\t", flush=True)
"""


def write_lines(folder: Path, lines: int) -> tuple[Path, Path]:
    """A run and judgments of so many lines: a thousand topics, repeated under other numbers."""
    topics = max(1, lines // DEPTH)
    base_qrels, (base_run,) = write_collection(
        folder / "base", runs=1, topics=min(TOPICS, topics), depth=DEPTH, judged=JUDGED
    )
    paths = folder / f"{lines}.qrels", folder / f"{lines}.run"
    for base, path in zip((base_qrels, base_run), paths, strict=True):
        if path.exists():
            continue
        rest: dict[bytes, list[bytes]] = {}
        for line in base.read_bytes().splitlines():
            topic, _, others = line.partition(b" ")
            rest.setdefault(topic, []).append(others)
        several = list(rest.values())
        with path.open("wb") as out:
            for number in range(topics):
                topic = b"%d " % (number + 1)
                out.write(topic + (b"\n" + topic).join(several[number % len(several)]) + b"\n")
    return paths


def as_parquet(paths: tuple[Path, Path]) -> tuple[Path, Path]:
    """The same judgments and run as Parquet."""
    import polars

    import rankbounds as rb

    for path, read in zip(paths, (rb.read_qrels, rb.read_run), strict=True):
        target = path.with_suffix(f"{path.suffix}.parquet")
        if not target.exists():
            table = read(path)
            value = getattr(table, table.value_name if table.value_name == "score" else "grade")
            topics = [table.query_ids[number] for number in table.pairs.topic.tolist()]
            columns = {"query_id": topics, "doc_id": table.pairs.docs.to_list(), table.value_name: value}
            polars.DataFrame(columns).write_parquet(target)
    qrels, run = (path.with_suffix(f"{path.suffix}.parquet") for path in paths)
    return qrels, run


def measure(engine: str, qrels: Path, run: Path) -> list[tuple[str, float, float, float | None]]:
    """Rows of: name, seconds, processor seconds, peak megabytes."""
    files = [str(qrels), str(run)]
    if engine == "spark":
        done = subprocess.run(
            [sys.executable, "-c", SPARK, *files], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
        )
        rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
        return [(name, float(seconds), float(processor), None) for name, seconds, processor in rows]
    command = [sys.executable, "-m", "rankbounds", "evaluate", *files, "--engine", engine]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{engine} failed")
    seconds = time.perf_counter() - started
    return [(engine, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--engines", nargs="+", default=["local", "stream"], choices=["local", "stream", "spark"])
    parser.add_argument("--parquet", action="store_true", help="Parquet in the place of text")
    parser.add_argument("--data", type=Path, default=HERE / "data")
    options = parser.parse_args()
    print("| lines | engine | seconds | processor s a million | peak MB | to local | processor s to local |")
    print("|---:|---|---:|---:|---:|---:|---:|")
    for lines in options.lines:
        qrels, run = write_lines(options.data, lines)
        if options.parquet:
            qrels, run = as_parquet((qrels, run))
        wanted = [*options.engines, "local"] if "local" in options.engines else options.engines
        rows = [row for engine in wanted for row in measure(engine, qrels, run)]
        local = [row[1:3] for row in rows if row[0] == "local"]
        for name, seconds, processor, peak in rows:
            told = f"{processor / lines * 1e6:.2f} | {'-' if peak is None else f'{peak:.0f}'}"
            ratios = [
                f"{value * len(local) / sum(pair[place] for pair in local):.2f}" if local else "-"
                for place, value in enumerate((seconds, processor))
            ]
            print(f"| {lines:,} | {name} | {seconds:.1f} | {told} | {ratios[0]} | {ratios[1]} |", flush=True)


if __name__ == "__main__":
    main()
