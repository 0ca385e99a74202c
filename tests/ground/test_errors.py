"""A warning points at the caller's line, whichever function notices something, in whichever thread."""

from __future__ import annotations

import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

import rankbounds as rb
from rankbounds.errors import did_you_mean
from rankbounds.probability.probable_differences import differences

QRELS = {str(topic): {"a": 1, "b": 0} for topic in range(6)}
WHOLE = {topic: {"a": 2, "b": 1} for topic in QRELS}
LACKING = {topic: {"b": 2, "a": 1} for topic in list(QRELS)[:4]}
RUNS = {"whole": WHOLE, "lacking": LACKING}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Judgments and runs on disk; of each run a line is repeated."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "qrels.txt").write_text("".join(f"{topic} 0 a 1\n{topic} 0 b 0\n" for topic in QRELS))
    for name in ("one", "two", "three"):
        lines = [
            f"{topic} Q0 {document} 1 {score} {name}\n" for topic in WHOLE for document, score in WHOLE[topic].items()
        ]
        (folder / f"{name}.run").write_text("".join([*lines, lines[0]]))
    (folder / "scores.csv").write_text(
        "run,query_id,measure,seed,value\n" + "".join(f"r,{q},AP,{seed},0.5\n" for q in "12" for seed in "12")
    )
    return folder


WARNING = {
    "evaluate": lambda files: rb.evaluate(QRELS, RUNS, "AP"),
    "evaluate, of files": lambda files: rb.evaluate(files / "qrels.txt", f"{files}/*.run", "AP", lenient=True),
    "read_runs": lambda files: rb.read_runs(sorted(files.glob("*.run")), lenient=True),
    "read_run": lambda files: rb.read_run(files / "one.run", lenient=True),
    "read_scores": lambda files: rb.read_scores(files / "scores.csv"),
    "streaming": lambda files: rb.evaluate(files / "qrels.txt", f"{files}/*.run", "AP", lenient=True, engine="stream"),
    "compare": lambda files: rb.compare(rb.evaluate(QRELS, RUNS, "AP", topics="shared")),
    "compare, of files": lambda files: rb.compare(files / "qrels.txt", f"{files}/*.run", "AP", lenient=True),
    "slices": lambda files: rb.compare(QRELS, [WHOLE, WHOLE], "AP").slices({"kind": dict.fromkeys("0123", "x")}),
    "similarity": lambda files: rb.similarity(RUNS),
    "differences": lambda files: differences(QRELS, RUNS, "RBP(p=0.8)"),
    "judges": lambda files: rb.judging.compare_judges(QRELS, {"model": {topic: QRELS[topic] for topic in LACKING}}),
    "uncertainty": lambda files: rb.uncertainty(QRELS, RUNS, "RBP(p=0.8)", q=0.5),
    "compare_collections": lambda files: rb.compare_collections({"x": (QRELS, RUNS), "y": (QRELS, RUNS)}, "AP"),
    "report": lambda files: rb.report(QRELS, RUNS, "P@1", resamples=100),
    "judge_next": lambda files: rb.judge_next(QRELS, RUNS, budget=2),
    "a family of measures": lambda files: rb.evaluate(QRELS, {"whole": WHOLE}, "all_trec"),
}  # fmt: skip


@pytest.mark.parametrize("case", WARNING)
def test_the_callers_line_is_named(files, case):
    call = WARNING[case]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(files)
    assert caught, "nothing was warned of"
    assert {warning.filename for warning in caught} == {__file__}
    lines = {line for _, _, line in call.__code__.co_lines()}
    assert {warning.lineno for warning in caught} <= lines


def test_the_caller_may_stand_in_a_thread_of_its_own(files):
    places = []

    def read():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rb.evaluate(QRELS, RUNS, "AP")
        places.extend(warning.filename for warning in caught)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert set(places) == {__file__}


def test_a_repeated_warning_of_one_line_is_shown_once():
    call = "rb.evaluate({'1': {'a': 1}, '2': {'a': 1}}, {'1': {'a': 1}}, 'AP')"
    code = f"import rankbounds as rb\nfor _ in range(3):\n    {call}\n"
    source = str(Path(rb.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": source}, capture_output=True, text=True, check=True
    )
    assert done.stderr.count("RankboundsWarning") == 1
    assert done.stderr.startswith("<string>:3: ")


def test_names_that_are_close_are_meant():
    studies = ["change-by-leaving-a-group-out", "power-by-measure"]
    assert did_you_mean("leave-out", studies) == ' Did you mean "change-by-leaving-a-group-out"?'
    assert did_you_mean("AP", ["nDCG", "ap"]) == ' Did you mean "ap"?'
    assert did_you_mean("metrics", ["measure", "memory"], {"metric": "measure"}) == ' Did you mean "measure"?'
    assert did_you_mean("wibble", studies) == ""
