"""Work shared by threads: results in order, errors told, and nothing lost where few threads start or none."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.threads import in_threads

pytestmark = pytest.mark.usefixtures("both_ways")


@pytest.fixture
def processors(monkeypatch):
    """As on a machine of four processors."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)


@pytest.fixture(params=[0, 1, 2], ids=["none", "one", "two"])
def startable(request, monkeypatch):
    """No more threads than these can be started at a time, as a browser's Python or a limit of the system has it."""
    start, alive = threading.Thread.start, threading.active_count()

    def limited(thread):
        if threading.active_count() >= alive + request.param:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    return request.param


def test_no_more_threads_work_than_there_are_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    for threads in (1, 2, 64):
        seen = set(in_threads(lambda _: threading.get_ident(), range(200), threads))
        assert len(seen) <= 2
        assert list(in_threads(abs, [-3, 1, -2], threads)) == [3, 1, 2]


def test_several_threads_work_at_once(processors):
    together = threading.Barrier(3, timeout=600)
    assert sorted(in_threads(lambda _: together.wait(), range(3), 3)) == [0, 1, 2]


def test_results_come_in_order_and_as_soon_as_they_are_ready(processors):
    last = threading.Event()

    def work(number):
        if number == 3:
            assert last.wait(600)
        time.sleep(0.002 * (number % 3))
        return number

    results = in_threads(work, range(4), 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    last.set()
    assert list(results) == [3]


@pytest.mark.parametrize("end", ["an error", "nobody asks for more"])
def test_what_nobody_waits_for_is_not_begun_and_no_thread_is_left(processors, end):
    before, begun = threading.active_count(), []

    def work(number):
        begun.append(number)
        if number == 1 and end == "an error":
            raise ValueError("the second")
        time.sleep(0.005)
        return number

    results = in_threads(work, range(20_000), 2)
    assert next(results) == 0
    if end == "an error":
        with pytest.raises(ValueError, match="the second"):
            list(results)
    results.close()
    assert threading.active_count() == before
    assert len(begun) < 20_000


def test_every_item_is_worked_on_once_however_many_threads_start(processors, startable):
    begun = []

    def work(number):
        begun.append(number)
        return -number

    assert list(in_threads(work, range(100), 4)) == [-number for number in range(100)]
    assert sorted(begun) == list(range(100))


@pytest.fixture
def files(tmp_path):
    draw = np.random.default_rng(5)
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"{topic} 0 d{doc} {doc % 3}\n" for topic in range(20) for doc in range(40)))
    runs = [tmp_path / f"run{number}" for number in range(3)]
    for run in runs:
        run.write_text(
            "".join(
                f"{topic} Q0 d{doc} 0 {score:.4f} {run.name}\n"
                for topic in range(20)
                for doc, score in enumerate(draw.random(60))
            )
        )
    return [str(path) for path in (qrels, *runs)]


def test_files_are_evaluated_however_many_threads_start(processors, startable, files):
    qrels, *runs = files
    for given in (runs, runs[:1]):
        alone = rb.evaluate(qrels, given, threads=1)
        np.testing.assert_array_equal(rb.evaluate(qrels, given, threads=4).value, alone.value)
    assert len(rb.compare(rb.evaluate(qrels, runs, "AP", threads=4)).pairs.rows()) == 3


@pytest.mark.usefixtures("processors", "startable")
@pytest.mark.parametrize("terminal", [False, True])
def test_commands_work_however_many_threads_start(files, tmp_path, monkeypatch, terminal):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    target = tmp_path / "report.html"
    assert main(["evaluate", *files]) == 0
    assert main(["report", *files, "-o", str(target)]) == 0
    assert "run2" in target.read_text("utf-8")
