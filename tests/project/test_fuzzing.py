"""Properties that the fuzzer drives hold for fixed seeds, and the fuzzer sees what breaks them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("the fuzzer is in benchmarks/, which a source archive does not hold", allow_module_level=True)
sys.path.append(str(BENCHMARKS))

import fuzz  # noqa: E402
from fuzzing.case import Case, ViolationError, answer, check_message, command, run, shortened  # noqa: E402
from fuzzing.collection import Collection  # noqa: E402

SEED = 1
CASES = {"reading": 150, "agreeing": 60, "repeating": 60, "engines": 60, "writing": 80, "commands": 60, "hostile": 6}
CASES["combinations"] = 10  # which has a test of its own


@pytest.mark.parametrize("name", fuzz.PROPERTIES)
def test_a_property_holds_for_a_fixed_seed(name, tmp_path):
    for number in range(CASES.get(name, 50)):
        _, case = fuzz.case_of(SEED, number, [name])
        try:
            run(case, tmp_path / "case")
        except ViolationError as error:
            pytest.fail(f"seed {SEED}, case {number} of {name}: {error}\n{case.command}")


@pytest.mark.parametrize(
    "message",
    ["two\nlines", "x" * 1001, "a \x1b[31mred file", "a separator \u2028 of lines", "says not which file"],
)
def test_messages_that_are_no_good_are_seen(message):
    check_message("the/file: this is fine.", ["the/file"])
    with pytest.raises(ViolationError):
        check_message(message, ["the/file"])


def test_an_exception_that_is_not_ours_is_a_violation():
    def fail():
        raise KeyError("topic")

    with pytest.raises(ViolationError, match="KeyError"):
        answer(fail)


def test_a_traceback_of_a_command_is_a_violation(tmp_path, monkeypatch):
    monkeypatch.setattr("rankbounds.commands.measures.describe", lambda _options: 1 / 0)
    with pytest.raises(ViolationError, match="ZeroDivisionError"):
        command(tmp_path, ["measures"])


def test_a_case_that_does_not_end_is_a_violation_unless_much_was_asked_for(tmp_path):
    def wait(_folder):
        time.sleep(20)

    with pytest.raises(ViolationError, match="took longer"):
        run(Case({}, wait, "wait", seconds=0.02), tmp_path / "case")
    assert run(Case({}, wait, "wait", seconds=0.02, patient=True), tmp_path / "case") == "stopped"


def test_wrong_numbers_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(Collection, "ranking", lambda self, topic: sorted(self.scores.get(topic, {})))

    def twenty():
        for number in range(20):
            run(fuzz.case_of(SEED, number, ["agreeing"])[1], tmp_path / "case")

    with pytest.raises(ViolationError, match="expected"):
        twenty()


def test_the_file_of_a_violation_is_cut_to_what_matters(tmp_path):
    def check(folder):
        if b"!" in (folder / "given").read_bytes():
            raise ViolationError("there is a mark of exclamation")
        return "fine"

    case = Case({"given": b"a" * 300 + b"!" + b"b" * 300}, check, "look", cut="given")
    assert shortened(case, tmp_path / "case", "there is a mark of exclamation").files == {"given": b"!"}


@pytest.mark.parametrize("name", fuzz.PROPERTIES)
def test_a_case_depends_on_seed_and_number_alone(name):
    first, again = (fuzz.case_of(SEED, 3, [name])[1] for _ in range(2))
    assert (first.files, first.command) == (again.files, again.command)


def test_options_reach_the_tool_server_the_demo_and_spark_where_it_is_asked_for():
    def drawn(spark):
        return [fuzz.case_of(3, number, ["commands"], spark)[1].command for number in range(2400)]

    plain = drawn(None)
    assert {"rankbounds mcp", "rankbounds demo"} <= {" ".join(words.split()[:2]) for words in plain}
    assert not any("--engine=spark" in words for words in plain)
    assert any("--engine=spark" in words for words in drawn("spark"))


def fuzzed(tmp_path, *arguments):
    source = Path(fuzz.__file__).parents[1] / "src"
    paths = os.pathsep.join([str(tmp_path), str(source), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, str(BENCHMARKS / "fuzz.py"), "--reports", str(tmp_path / "reports"), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )


def test_the_script_counts_by_property(tmp_path):
    done = fuzzed(tmp_path, "--seed", "1", "--case", "0", "--properties", "repeating")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seed 1\n" in done.stdout
    assert "1 cases" in done.stdout
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize(("how", "told"), [("os.abort()", "went down"), ("raise KeyError(7)", "KeyError")])
def test_the_script_reports_what_takes_the_process_down(tmp_path, how, told):
    """Python imports sitecustomize from the path first: there the package is broken on purpose."""
    breaking = f"import os\nimport rankbounds\ndef broken(*_, **__):\n    {how}\nrankbounds.evaluate = broken\n"
    (tmp_path / "sitecustomize.py").write_text(breaking)
    done = fuzzed(tmp_path, "--seed", "5", "--seconds", "20", "--properties", "reading")
    assert done.returncode == 1, done.stdout + done.stderr
    assert told in done.stdout
    assert "again:    python benchmarks/fuzz.py --seed 5 --case 0 --properties reading" in done.stdout
    assert {"q", "r", "report.txt"} <= {path.name for path in (tmp_path / "reports" / "5-0").iterdir()}
