"""Time the engines on one run of many lines: in memory, as a stream, on Spark (two local workers).

    python benchmarks/scale.py --lines 1000000 10000000 --engines local stream spark

Each engine is a process of its own; Spark's time is taken inside a session that has scored something before. Prints
seconds, processor seconds (not for Spark), peak memory and the ratio to the local engine. Data go below
benchmarks/data; delete them when done.
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
DEPTH, JUDGED = 1000, 100

SPARK = """
import os, sys, time, warnings
warnings.simplefilter("ignore")
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
from rankbounds import spark
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
session = builder.config("spark.driver.memory", "2g").config("spark.ui.showConsoleProgress", "false").getOrCreate()
session.sparkContext.setLogLevel("OFF")
spark.evaluate_files(*sys.argv[1:], spark=session)
started = time.perf_counter()
spark.evaluate_files(*sys.argv[1:], spark=session)
print(time.perf_counter() - started)
"""


def measure(engine: str, qrels: Path, run: Path) -> tuple[float, float | None, float | None]:
    files = [str(qrels), str(run)]
    if engine == "spark":
        done = subprocess.run([sys.executable, "-c", SPARK, *files], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return float(done.stdout.split()[-1]), None, None
    command = [sys.executable, "-m", "rankbounds", "evaluate", *files, "--engine", engine]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{engine} failed")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--engines", nargs="+", default=["local", "stream"], choices=["local", "stream", "spark"])
    parser.add_argument("--data", type=Path, default=HERE / "data")
    options = parser.parse_args()
    print("| lines | engine | seconds | processor s | peak MB | to local |\n|---:|---|---:|---:|---:|---:|")
    for lines in options.lines:
        topics = max(1, lines // DEPTH)
        qrels, runs = write_collection(
            options.data / f"scale{lines}", runs=1, topics=topics, depth=DEPTH, judged=JUDGED
        )
        local = None
        for engine in options.engines:
            seconds, processor, peak = measure(engine, qrels, runs[0])
            local = seconds if engine == "local" else local
            ratio = f"{seconds / local:.2f}" if local else "-"
            told = [f"{one:.1f}" if one is not None else "-" for one in (processor, peak)]
            print(f"| {topics * DEPTH:,} | {engine} | {seconds:.1f} | {told[0]} | {told[1]} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
