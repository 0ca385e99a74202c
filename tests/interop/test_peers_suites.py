"""Other tools' own test suites with us in their place, and the table of tests/golden/README.md that says how they end.

The archives are not a part of this project: RANKBOUNDS_PEERS names the folder that holds them.
``RANKBOUNDS_SNAPSHOTS=write`` writes the table anew.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "golden" / "README.md"
PLACES = [Path(os.environ["RANKBOUNDS_PEERS"])] if os.environ.get("RANKBOUNDS_PEERS") else []
PLACES.append(Path(__file__).resolve().parents[3] / "shared" / "peers")
REASONS = {
    "-q -m all_trec -Z test/zscores_file test/qrels.test test/results.test": "z-scores (`-Z`) are not printed",
    "test_results.test-qrels.rel_level-out.test.aql-relevance_level=2": "an integration test expects `rbp`, which "
    "pytrec_eval does not have (there, too, it fails, by version 9's `11pt_avg`)",
    "test_gdeval.py::TestPytrecEval::test_ERR": "gdeval's five printed digits are expected as the whole number",
    "test_gdeval.py::TestPytrecEval::test_nDCG": "gdeval's number is expected under the name `nDCG@20`, which is "
    "another measure; here it is `nDCG(dcg='exp-log2')@20`",
}
"""What is known of tests that do not pass."""
OF_IR_MEASURES = ("pytrec_eval", "cwl_eval", "gdeval", "pyndeval", "ranx")


@pytest.fixture(scope="module")
def peers(tmp_path_factory) -> Path:
    """Both archives, unpacked beside each other as the suites expect it."""
    place = next((one for one in PLACES if (one / "peers-tests.tar.xz").exists()), None)
    if place is None:
        pytest.skip("the suites are not here: set RANKBOUNDS_PEERS to the folder that holds their archives")
    folder = tmp_path_factory.mktemp("peers")
    for name in ("trec_eval", "peers-tests"):
        with tarfile.open(place / f"{name}.tar.xz") as tar:
            tar.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder


def run(*command: object, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def held_against_the_table(suite: str, passed: int, failed: list[str]) -> None:
    """The row of the table that this run makes is the one that stands there."""
    assert passed
    row = (
        f"| {suite} | {passed} of {passed + len(failed)} | {'; '.join(REASONS[name] for name in failed) or 'nothing'} |"
    )
    page = PAGE.read_text("utf-8")
    standing = next(line for line in page.splitlines() if line.startswith(f"| {suite} |"))
    if os.environ.get("RANKBOUNDS_SNAPSHOTS") == "write":
        PAGE.write_text(page.replace(standing, row), "utf-8")
    else:
        assert standing == row


def test_quicktest_of_trec_eval(peers):
    folder = peers / "trec_eval"
    target = (folder / "Makefile").read_text().partition("\nquicktest:")[2].partition("\n\n")[0]
    steps = re.findall(r"^\t\./trec_eval (.*?) *\| diff - (\S+)$", target, re.MULTILINE)
    failed = []
    for arguments, expected in steps:
        printed = run("-m", "rankbounds", "trec_eval", *shlex.split(arguments), folder=folder).stdout
        if printed != (folder / expected).read_text():
            failed.append(arguments)
    held_against_the_table("trec_eval 10.0-rc2, `make quicktest`", len(steps) - len(failed), failed)


def test_suite_of_pytrec_eval(peers):
    stand_in = peers / "stand-in"
    stand_in.mkdir()
    (stand_in / "pytrec_eval.py").write_text("from rankbounds.interop.pytrec_eval import *\n")
    ended = run("pytrec_eval_tests.py", folder=peers / "pytrec_eval-tests", PYTHONPATH=str(stand_in)).stderr
    failed = re.findall(r"^(?:FAIL|ERROR): (\S+)", ended, re.MULTILINE)
    number = int(re.findall(r"^Ran (\d+) tests", ended, re.MULTILINE)[0])
    held_against_the_table("pytrec_eval 0.5.11, its tests", number - len(failed), failed)


def test_suite_of_ir_measures(peers):
    pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    files = [f"tests/test_{name}.py" for name in OF_IR_MEASURES]
    ended = run("-m", "pytest", "-q", "-p", "no:cacheprovider", *files, folder=peers / "ir_measures-tests").stdout
    failed = re.findall(r"^(?:SUB)?FAILED\S* tests/(\S+)", ended, re.MULTILINE)
    number = int(re.findall(r"(\d+) passed", ended)[0])
    held_against_the_table("ir_measures 0.4.3, tests of its providers", number, list(dict.fromkeys(failed)))
