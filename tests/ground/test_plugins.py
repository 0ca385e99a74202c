"""Measures, formats and commands of another package: found where it is installed, looked up only where it matters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
MEASURES = """
print("measures were looked up")
import rankbounds as rb

class FirstTwo(rb.Measure):
    \"\"\"How many of the first two documents are relevant.\"\"\"
    examples = ("FirstTwo",)
    trec_names = ("first_two_{cutoff}",)
    takes = ("cutoff",)
    monotone = True
    def value(self, rankings):
        return rankings.relevant(1)[:, :2].sum(axis=-1)
"""
FORMATS = """
from rankbounds.files.json_formats import Format
from rankbounds.files.named_columns import RUN_COLUMNS
from rankbounds.files.objects import columns_of

def run(content, name):
    found = {hit["query"]: {each["id"]: each["relevance"] for each in hit["children"]} for hit in content["root"]}
    return columns_of(found, RUN_COLUMNS, source=name)

vespa = Format("results of Vespa", lambda content: isinstance(content, dict) and "root" in content, run=run)
def signs(text):
    return columns_of({"q": {"b": 1.0}}, RUN_COLUMNS, source=text.name)

lines = Format("lines of = signs", lambda text: False, run=signs, parsed=False)
"""
COMMANDS = """
from rankbounds.commands import command
from rankbounds.commands.console.options import Option

@command("greet", Option("NAME", "whom"))
def run_greet(options):
    \"\"\"Greet somebody. It is polite.

      rankbounds greet Ada
    \"\"\"
    print("Hello", options.name)
"""
ENTRIES = """
[rankbounds.measures]
two = theirs.measures
[rankbounds.formats]
vespa = theirs.formats:vespa
equals = theirs.formats:lines
[rankbounds.commands]
greet = theirs.commands
"""


@pytest.fixture
def installed(tmp_path):
    """A function that runs Python where a package is installed that adds one of each."""
    site, package, info = (tmp_path / name for name in ("site", "site/theirs", "site/theirs-1.0.dist-info"))
    for folder in (site, package, info):
        folder.mkdir()
    for name, text in {"__init__": "", "measures": MEASURES, "formats": FORMATS, "commands": COMMANDS}.items():
        (package / f"{name}.py").write_text(text)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 2 t\nq Q0 x 2 1 t\n")
    (tmp_path / "hits.json").write_text('{"root": [{"query": "q", "children": [{"id": "b", "relevance": 0.5}]}]}')
    (tmp_path / "equals").write_text("====\n")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        paths = os.pathsep.join(map(str, (SOURCE, site)))
        known = os.environ | {"PYTHONPATH": paths, "COLUMNS": "100"}
        return subprocess.run(
            [sys.executable, *arguments], env=known, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return run


@pytest.fixture
def rankbounds(installed):
    """A function that runs a command there."""
    return lambda *words: installed("-m", "rankbounds", *words)


@pytest.mark.parametrize(("name", "shown"), [("FirstTwo@5", "FirstTwo@5"), ("first_two_5", "FirstTwo@5")])
def test_a_measure_is_known_by_all_of_its_names(rankbounds, name, shown):
    done = rankbounds("evaluate", "qrels", "run", "-m", name, "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert f",{shown},1.0," in done.stdout
    assert done.stdout.startswith("measures were looked up")


def test_known_names_look_nothing_up(rankbounds):
    for name in ("AP", "map_cut_10", "hit_rate@5", "MRR"):
        assert "looked up" not in rankbounds("evaluate", "qrels", "run", "-m", name).stdout


def test_lists_have_it(rankbounds, installed):
    assert "FirstTwo" in rankbounds("measures").stdout
    assert installed("-c", "import rankbounds as rb; print(rb.measures.FirstTwo())").stdout.endswith("FirstTwo\n")
    assert 'Did you mean "FirstTwo"?' in rankbounds("evaluate", "qrels", "run", "-m", "FirstTow").stderr


@pytest.mark.parametrize(
    ("file", "options"),
    [("hits.json", ()), ("hits.json", ("--formats", ",vespa")), ("equals", ("--formats", ",equals"))],
)
def test_a_format_is_read(rankbounds, file, options):
    done = rankbounds("evaluate", "qrels", file, "-m", "P@1", "--format", "csv", *options)
    assert done.returncode == 0, done.stderr
    assert ",P@1,1.0," in done.stdout


def test_a_command_is_run_and_listed(rankbounds):
    assert rankbounds("greet", "Ada").stdout == "Hello Ada\n"
    shown = rankbounds("--help").stdout
    assert shown.index("What else is installed?\n  greet ") > shown.index("rbp depth")
    asked = rankbounds("greet", "--help").stdout
    assert asked.startswith("Greet somebody. It is polite.\n\nusage: rankbounds greet NAME")
    assert 'Did you mean "greet"?' in rankbounds("gret").stderr


def test_what_cannot_be_loaded_is_named(rankbounds, tmp_path):
    (tmp_path / "site" / "theirs" / "measures.py").write_text("import missing_module")
    done = rankbounds("evaluate", "qrels", "run", "-m", "FirstTwo@5")
    assert done.returncode == 2
    told = "theirs: its entry \"two\" of rankbounds.measures cannot be loaded (No module named 'missing_module')."
    assert told in done.stderr
    assert "Traceback" not in done.stderr
