"""Spark on this machine, first and second call of a session, against evaluation in memory of the same Parquet files."""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import sys
from pathlib import Path

import polars

from peers.timing import Ratio
from workload import write_collection

SCRIPT = """
import json, os, sys, time, warnings
warnings.simplefilter("ignore")
os.environ["PYSPARK_PYTHON"] = sys.executable
import rankbounds
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
session = builder.config("spark.driver.memory", "2g").config("spark.ui.showConsoleProgress", "false").getOrCreate()
session.sparkContext.setLogLevel("OFF")
{door}
def seconds(evaluate):
    began = time.perf_counter()
    evaluate(*sys.argv[1:])
    return time.perf_counter() - began
print(json.dumps([seconds(by_spark), *(pair for _ in range({rounds}) for pair in (seconds(by_spark), seconds(local)))]))
"""
DOOR = """
def by_spark(qrels, run):
    return rankbounds.evaluate(qrels, run, engine="spark")  # the session that is there
def local(qrels, run):
    return rankbounds.evaluate(qrels, run)
"""


def as_parquet(folder: Path, lines: int, depth: int = 1000) -> tuple[Path, Path]:
    """Judgments and a run of so many lines as Parquet; a thousand topics, repeated under other numbers."""
    topics = max(1, lines // depth)
    paths = folder / f"{lines}.qrels.parquet", folder / f"{lines}.run.parquet"
    if all(path.exists() for path in paths):
        return paths
    base = min(1000, topics)
    qrels, (run,) = write_collection(folder / f"base{base}", runs=1, topics=base, depth=depth, judged=100)
    for source, path, value, column in ((qrels, paths[0], "relevance", 3), (run, paths[1], "score", 4)):
        frame = polars.read_csv(source, separator=" ", has_header=False, infer_schema_length=1)
        names = frame.columns
        frame = frame.select(
            query_id=polars.col(names[0]).cast(int), doc_id=polars.col(names[2]), **{value: polars.col(names[column])}
        )
        copies = [
            frame.with_columns(query_id=polars.col("query_id") + 1000 * copy) for copy in range(-(-topics // base))
        ]
        whole = polars.concat(copies).with_columns(polars.col("query_id").cast(str))
        whole.write_parquet(path, row_group_size=1 << 19)
    return paths


def ratios(folder: Path, lines: int, rounds: int) -> list[Ratio]:
    """None where PySpark is not installed or does not start."""
    if not importlib.util.find_spec("pyspark"):
        return []
    script = SCRIPT.format(door=DOOR, rounds=rounds)
    files = map(str, as_parquet(folder, lines))
    done = subprocess.run([sys.executable, "-c", script, *files], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"Spark did not take part: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")
        return []
    first, *others = json.loads(done.stdout.strip().splitlines()[-1])
    pairs = list(zip(others[::2], others[1::2], strict=True))
    later = statistics.median(spark / local for spark, local in pairs)
    local = statistics.median(seconds for _, seconds in pairs)
    return [
        Ratio("spark", what, None, "local", ratio, float("nan"), None)
        for what, ratio in (("Spark, first call", first / local), ("Spark, second call", later))
    ]
