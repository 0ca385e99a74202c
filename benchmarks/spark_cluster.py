"""Score on a real cluster of Spark's, a master and two workers on 127.0.0.1: how fast, and is every bit the same?

    python benchmarks/spark_cluster.py

Starts Spark's own master and workers (``spark-class`` of the PySpark package) and scores files and frames there with
``engine="spark"`` on 1, 2 and 4 cores, with speculation on. Every number is compared with evaluation in memory, to the
last bit, and processor time of all of Spark's processes with that of evaluation in memory and that on one core. Then
one of the workers is killed, by its process id, at a moment at which it has a task: the numbers must be the same. Takes
some minutes; exits with 1 if a number differs. Nothing listens on any address but the loopback.
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
from contextlib import contextmanager, suppress
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
    """The URL of a master with some workers of two cores each, and the workers."""
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
                f"worker{number}", "org.apache.spark.deploy.worker.Worker", "--host", HOST, "--cores", "2", "--memory",
                "1500m", "--webui-port", str(free_port()), url,
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
    """Every bit of every number, topic by topic."""
    if scores.runs != local.runs:
        return False
    order = [scores.query_ids.index(query) for query in local.query_ids]
    return all(
        np.ascontiguousarray(getattr(scores, name)[:, order]).tobytes() == getattr(local, name).tobytes()
        for name in ("value", "low", "high", "judged")
    )


def processor_seconds() -> float:
    """Processor time of this process, and of all that runs in the sessions of those that it started."""
    mine, total = {os.getpid()}, 0
    fields = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # it has ended
            fields[int(name)] = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
    mine |= {process for process, of_process in fields.items() if int(of_process[1]) == os.getpid()}
    for process, of_process in fields.items():
        if process == os.getpid() or {int(of_process[1]), int(of_process[3])} & mine:
            total += sum(map(int, of_process[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=200)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2, 4])
    options = parser.parse_args()
    import rankbounds as rb

    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        qrels, runs = write_collection(
            folder / "data", runs=options.runs, topics=options.topics, depth=1000, judged=100
        )
        started = time.process_time()
        local = rb.evaluate(qrels, runs, MEASURES)
        in_memory = time.process_time() - started
        with cluster(folder) as (url, workers):
            one_core: dict[str, float] = {}

            def on_cluster(*given: Any) -> Any:
                return rb.evaluate(*given, MEASURES, engine="spark", master=url)

            def check(what: str, cores: int, work: Callable[[], Any]) -> None:
                nonlocal wrong
                before = processor_seconds()
                alike = same(work(), local)
                wrong += not alike
                used = processor_seconds() - before
                first = one_core.setdefault(what, used)
                bits = "0 bits" if alike else "OTHER NUMBERS"
                ratios = f"{used / in_memory:.1f} | {used / first:.2f}"
                print(f"| {what} | {cores} | {ratios} | {bits} |", flush=True)

            print("| input | cores | processor time to memory's | to that of fewest cores | difference |")
            print("|---|---:|---:|---:|---|")
            for cores in options.cores:
                session = _session(url, cores)
                for call in ("first call", "second call"):
                    check(f"files, {call}", cores, lambda: on_cluster(qrels, runs))
                frame = _frame(session, runs)
                check("frame of mixed rows", cores, lambda frame=frame: on_cluster(str(qrels), frame))  # type: ignore[misc]
                if cores < options.cores[-1]:
                    session.stop()

            def with_a_loss() -> Any:
                marks = folder / "marks"
                marks.mkdir()
                killer = threading.Thread(target=_kill_at_work, args=(workers[0], marks))
                killer.start()
                try:
                    return on_cluster(str(qrels), frame.mapInArrow(_marking(str(marks)), frame.schema))
                finally:
                    killer.join()

            check("frame of mixed rows, a worker killed at its task", cores, with_a_loss)
            assert workers[0].poll() is not None
            check("files, with the worker that is left", cores, lambda: on_cluster(qrels, runs))
            session.stop()
    raise SystemExit(1 if wrong else 0)


def _session(url: str, cores: int) -> Any:
    """A session of so many cores on the cluster."""
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"], os.environ["PYSPARK_PYTHON"] = HOST, sys.executable
    os.environ["PYTHONPATH"] = str(HERE.parent / "src")
    builder = SparkSession.builder.master(url)
    for name, value in {
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.memory": "600m",
        "spark.cores.max": str(cores),
        "spark.speculation": "true",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


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


def _marking(folder: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Tasks that hold a file named by their worker while they run, which takes them some seconds more."""

    def wait(batches: Iterator[Any]) -> Iterator[Any]:
        import os
        import tempfile
        import time

        with tempfile.NamedTemporaryFile(dir=folder, prefix=f"{os.getsid(0)}-"):
            time.sleep(5)
            yield from batches

    return wait


def _kill_at_work(worker: subprocess.Popen[bytes], marks: Path) -> None:
    """End a worker and all that it started at once, as when a machine is lost, while one of its tasks runs."""
    _wait_for(lambda: any(marks.glob(f"{worker.pid}-*")), "a task of the worker")
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()


if __name__ == "__main__":
    main()
