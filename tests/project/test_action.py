"""The action for GitHub: what it runs, and what it writes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from test_gate import BM25, DENSE, QRELS, RERANKED

import rankbounds as rb

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def action():
    yaml = pytest.importorskip("yaml", reason="comes with mkdocs")
    return yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


class TestAction:
    """The action runs as a pipeline runs it: its script, its inputs as variables, files for what it tells."""

    @pytest.fixture
    def run(self, action, tmp_path):
        place = tmp_path / "bin"
        place.mkdir()
        for name, module in (("rankbounds", "-m rankbounds"), ("python", "")):
            program = place / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
            program.chmod(program.stat().st_mode | stat.S_IEXEC)
        (step,) = (step for step in action["runs"]["steps"] if step.get("id") == "gate")

        def run(**inputs):
            given = {name: str(told.get("default", "")) for name, told in action["inputs"].items()}
            given |= {name.replace("_", "-"): str(value) for name, value in inputs.items()}
            variables = {
                name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
                for name, value in step["env"].items()
            }
            told = {name: tmp_path / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
            for file in told.values():
                file.write_text("")
            path = {"PATH": f"{place}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(Path(rb.__file__).parents[1])}
            ended = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                env=os.environ | path | variables | {name: str(file) for name, file in told.items()}
                | {"RUNNER_TEMP": str(tmp_path)},
                capture_output=True, text=True, cwd=tmp_path,
            )  # fmt: skip
            outputs = dict(line.split("=", 1) for line in told["GITHUB_OUTPUT"].read_text().splitlines())
            return ended, told["GITHUB_STEP_SUMMARY"].read_text(), outputs

        return run

    def test_the_checkout_is_not_imported_while_packages_install(self, action, tmp_path):
        """The current folder is whatever a pull request brings: venv.py and pip there do not run."""
        checkout, place = tmp_path / "checkout", tmp_path / "place"
        checkout.mkdir()
        for name in ("venv.py", "pip.py", "ensurepip.py"):
            (checkout / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
        place.mkdir()
        wheel = place / "stub-1-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as file:
            file.writestr("stub.py", "")
            file.writestr("stub-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: stub\nVersion: 1\n")
            file.writestr("stub-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            file.writestr("stub-1.dist-info/RECORD", "")
        (step,) = (step for step in action["runs"]["steps"] if step.get("id") != "gate")
        variables = {"PYTHON": sys.executable, "RUNNER_TEMP": str(place), "GITHUB_PATH": str(tmp_path / "path")}
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            env=os.environ | variables | {"PACKAGE": str(wheel)}, capture_output=True, text=True, cwd=checkout,
        )  # fmt: skip
        assert (ended.returncode, (tmp_path / "ran").exists()) == (0, False), ended.stderr
        assert list((place / "rankbounds").rglob("stub.py"))
        assert (tmp_path / "path").read_text().strip().startswith(str(place / "rankbounds"))

    def test_inputs_are_never_options(self, run, tmp_path):
        """Files whose names begin with - are files, and other values that do are refused as values."""
        for name, file in (("--quiet", QRELS), ("-q", RERANKED), ("--verbose=1", DENSE)):
            (tmp_path / name).write_bytes(file.read_bytes())
        files = {"qrels": "--quiet", "baseline": "-q", "candidate": "--verbose=1"}
        ended, _, outputs = run(**files, junit="--junit.xml")
        assert (outputs["answer"], "UNDECIDED: " in ended.stderr) == ("undecided", True)
        assert (tmp_path / "--junit.xml").exists()
        for name in ("baseline_scores", "fail_if", "margin", "undecided"):
            ended, _, outputs = run(qrels=QRELS, candidate=DENSE, **{name: "--help"})
            assert (ended.returncode, ended.stdout, outputs["answer"]) in ((2, "", "error"), (3, "", "error"))

    def test_inputs_reach_no_script_but_as_variables(self, action):
        """Whatever an input holds, the shell does not read it as a program."""
        assert action["runs"]["using"] == "composite"
        for step in action["runs"]["steps"]:
            assert "${{" not in step["run"]
            assert step["shell"] == "bash"
        used = {value for step in action["runs"]["steps"] for value in step["env"].values()}
        assert used == {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
        assert all(told["description"] for told in (*action["inputs"].values(), *action["outputs"].values()))

    def test_gate_table_and_junit(self, run, tmp_path):
        ended, summary, outputs = run(
            qrels=QRELS,
            baseline=RERANKED,
            candidate=DENSE,
            fail_if="nDCG@10 worse\n\n  judged@10 < 40%\n",
            junit=tmp_path / "gate.xml",
            arguments="--alpha 0.05",
        )
        assert (ended.returncode, outputs["answer"], outputs["exit-code"]) == (4, "undecided", "4")
        assert summary.startswith("### Gate: undecided\n")
        assert Path(outputs["table"]).read_text() == summary
        assert len(ElementTree.parse(tmp_path / "gate.xml").findall(".//testcase")) == 2
        assert "UNDECIDED: " in ended.stderr

    def test_passes_with_a_margin_or_as_told(self, run):
        files = {"qrels": QRELS, "baseline": RERANKED, "candidate": DENSE}
        assert run(**files, margin="0.3")[2]["answer"] == "pass"
        assert run(**files, undecided="pass")[0].returncode == 0
        ended, summary, outputs = run(**files, fail_if="nDCG@10 < 0.9")
        assert (ended.returncode, outputs["answer"], summary != "") == (1, "fail", True)

    def test_saved_scores_and_mistakes(self, run, command, tmp_path):
        saved = tmp_path / "saved.json"
        command("compare", QRELS, RERANKED, "-m", "nDCG@10", "--save", saved)
        _, _, outputs = run(qrels=QRELS, baseline_scores=saved, candidate=DENSE)
        assert outputs["answer"] == "undecided"
        ended, summary, outputs = run(qrels=QRELS, candidate=tmp_path / "none", baseline=BM25)
        assert (ended.returncode, summary, outputs["answer"]) == (3, "", "error")
        ended, _, outputs = run(qrels=QRELS, candidate=DENSE, baseline=BM25, fail_if="nDCG@10 $(touch hacked) worse")
        assert (ended.returncode, (tmp_path / "hacked").exists()) == (2, False)

    @pytest.mark.parametrize(
        ("fail_if", "arguments", "said"),
        [
            ("", "", "A gate needs a condition"),
            (" \n\t\n", "--bounds none", "A gate needs a condition"),
            ("judged@10 < 1%", str(DENSE), f"no option takes: {DENSE}."),
            ("judged@10 < 1%", f"--wide {DENSE}", f"no option takes: {DENSE}."),
            ("judged@10 < 1%", "--wide\n--help", "No condition was tested"),
            ("judged@10 < 1%", "--unknown", "--unknown"),
        ],
    )
    def test_nothing_passes_that_was_not_tested(self, run, fail_if, arguments, said):
        """A variable that is not set, or words that are no options, are errors."""
        ended, _, outputs = run(qrels=QRELS, baseline=RERANKED, candidate=DENSE, fail_if=fail_if, arguments=arguments)
        assert (ended.returncode, outputs["answer"], outputs["exit-code"]) == (2, "error", "2")
        assert said in ended.stderr

    def test_all_lines_of_the_arguments_count(self, run):
        files = {"qrels": QRELS, "baseline": RERANKED, "candidate": DENSE, "fail_if": "judged@10 < 1%"}
        assert run(**files, arguments="--alpha 0.01\n")[2]["answer"] == "pass"
        assert run(**files, arguments="--alpha 0.01\r\n--fail-if=nDCG@10<0.9\n")[2]["answer"] == "fail"
