"""Score on a real cluster of Spark's, a master and two workers on 127.0.0.1, and kill one worker half way.

    python benchmarks/spark_cluster.py

Starts Spark's own master and workers (``spark-class`` of the PySpark package), scores files and frames there with
``engine="spark"``, and compares every number with evaluation in memory. Then it scores again while one of the workers,
by its process id, is killed: the numbers must be the same. Takes some minutes; prints what was done and how long it
took; exits with 1 if a number differs. Nothing listens on any address but the loopback.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from workload import write_collection

HERE = Path(__file__).resolve().parent
HOST = "127.0.0.1"
PARTITIONS = 8
MEASURES = ["RBP(p=0.8)", "AP", "nDCG@10", "P@10", "RR"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The URL of a master with some workers of one core each, and the workers."""
    import pyspark

    home = Path(pyspark.__file__).parent
    command = [str(home / "bin" / "spark-class")]
    source = str(HERE.parent / "src")
    environment = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": HOST,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")])),
        "SPARK_WORKER_DIR": str(folder / "work"),
    }
    port = free_port()
    url = f"spark://{HOST}:{port}"
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        log = (folder / f"{name}.log").open("wb")
        process = subprocess.Popen(
            [*command, *arguments], env=environment, stdout=log, stderr=log, start_new_session=True
        )
        started.append(process)
        return process

    try:
        ui = str(free_port())
        start(
            "master", "org.apache.spark.deploy.master.Master", "--host", HOST, "--port", str(port), "--webui-port", ui
        )
        _wait_for(lambda: b"Starting Spark master" in (folder / "master.log").read_bytes(), "the master")
        several = [
            start(
                f"worker{number}", "org.apache.spark.deploy.worker.Worker", "--host", HOST, "--cores", "1", "--memory",
                "1g", "--webui-port", str(free_port()), url,
            )
            for number in range(workers)
        ]  # fmt: skip
        for number in range(workers):
            log = folder / f"worker{number}.log"
            _wait_for(lambda log=log: b"Successfully registered" in log.read_bytes(), log.stem)  # type: ignore[misc]
        yield url, several
    finally:
        for process in started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def _wait_for(ready: Callable[[], bool], what: str, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise SystemExit(f"{what} did not start")
        time.sleep(0.2)


def same(scores: Any, local: Any) -> bool:
    """Every number, topic by topic."""
    if scores.runs != local.runs:
        return False
    order = [scores.query_ids.index(query) for query in local.query_ids]
    return all(
        np.allclose(getattr(scores, name)[:, order], getattr(local, name), rtol=1e-12, atol=1e-14, equal_nan=True)
        for name in ("value", "low", "high", "judged")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=200)
    parser.add_argument("--runs", type=int, default=6)
    options = parser.parse_args()
    import rankbounds as rb

    wrong = 0

    def check(what: str, work: Callable[[], Any], local: Any) -> None:
        nonlocal wrong
        started = time.monotonic()
        alike = same(work(), local)
        wrong += not alike
        print(
            f"{what}: {'the same numbers' if alike else 'OTHER NUMBERS'}, {time.monotonic() - started:.1f} s",
            flush=True,
        )

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        qrels, runs = write_collection(
            folder / "data", runs=options.runs, topics=options.topics, depth=1000, judged=100
        )
        local = rb.evaluate(qrels, runs, MEASURES)
        with cluster(folder) as (url, workers):
            from pyspark.sql import SparkSession

            os.environ["SPARK_LOCAL_IP"], os.environ["PYSPARK_PYTHON"] = HOST, sys.executable
            os.environ["PYTHONPATH"] = str(HERE.parent / "src")
            builder = (
                SparkSession.builder.master(url).config("spark.driver.host", HOST).config("spark.ui.enabled", "false")
            )
            builder = builder.config("spark.executor.memory", "600m").config("spark.ui.showConsoleProgress", "false")
            session = builder.config("spark.driver.bindAddress", HOST).getOrCreate()
            session.sparkContext.setLogLevel("OFF")

            def on_cluster(*given: Any) -> Any:
                return rb.evaluate(*given, MEASURES, engine="spark", master=url)

            check("files", lambda: on_cluster(qrels, runs), local)
            frame = _frame(session, runs)
            check("frames of mixed rows", lambda: on_cluster(str(qrels), frame), local)

            def with_a_loss() -> Any:
                begun = folder / "begun"
                begun.mkdir()
                killer = threading.Thread(target=_kill_half_way, args=(workers[0], begun))
                killer.start()
                try:
                    return on_cluster(str(qrels), frame.mapInArrow(_leaving_a_mark(str(begun)), frame.schema))
                finally:
                    killer.join()

            check("frames of mixed rows, one worker of two killed meanwhile", with_a_loss, local)
            assert workers[0].poll() is not None
            check("files, with the worker that is left", lambda: on_cluster(qrels, runs), local)
            session.stop()
    raise SystemExit(1 if wrong else 0)


def _frame(session: Any, runs: list[Path]) -> Any:
    """The runs as one frame, rows mixed by Spark."""
    from pyspark.sql import functions

    parts = []
    for path in runs:
        fields = functions.split("value", r"\s+")
        text = session.read.text(str(path))
        parts.append(
            text.select(
                fields[0].alias("query_id"),
                fields[2].alias("doc_id"),
                fields[4].cast("double").alias("score"),
                fields[5].alias("run"),
            )
        )
    together = parts[0]
    for part in parts[1:]:
        together = together.union(part)
    return together.repartition(PARTITIONS, functions.rand(1))


def _leaving_a_mark(folder: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Tasks that leave a file when they begin, and take some seconds more, so that a worker is lost while they run."""

    def wait(batches: Iterator[Any]) -> Iterator[Any]:
        import tempfile
        import time

        tempfile.mkstemp(dir=folder)
        time.sleep(2)
        yield from batches

    return wait


def _kill_half_way(worker: subprocess.Popen[bytes], begun: Path) -> None:
    """End a worker and all that it started at once, as when a machine is lost, when half of the tasks have begun."""
    _wait_for(lambda: len(list(begun.iterdir())) >= PARTITIONS // 2, "the tasks")
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()


if __name__ == "__main__":
    main()
