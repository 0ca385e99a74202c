"""The page that leads from papers to commands: complete, and everything on it runs."""

from __future__ import annotations

import ast
import inspect
import json
import re
import shlex
import shutil
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from test_study import AS_THEY_ARE

import rankbounds
from rankbounds.cli import main
from rankbounds.commands.demo import DATA
from rankbounds.studies.papers import PAPERS, items_in, rows_called
from rankbounds.studies.study import STUDIES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "papers.md").read_text("utf-8")
ROWS = {f"{paper.key} {row.item}": row for paper in PAPERS.values() for row in paper.rows}
COMMANDS = [row.command for row in ROWS.values() if row.command]
RUN_AMONG_STUDIES = {
    f"rankbounds study {name}{' qrels.txt runs' * ('qrels' in STUDIES[name].needs)}" for name in AS_THEY_ARE
}
"""Studies without options: ``test_study`` runs them on the same files, and looks at what they write."""


def test_the_page_is_written_from_the_rows_of_the_package():
    writer = spec_from_file_location("papers_page", DOCS / "papers.py")
    module = module_from_spec(writer)
    writer.loader.exec_module(module)
    assert module.page(PAGE) == PAGE, "python docs/papers.py"
    assert PAGE.count("<br>") > 40


@pytest.fixture
def in_demo(tmp_path, monkeypatch):
    shutil.copytree(DATA, tmp_path / "demo")
    monkeypatch.chdir(tmp_path / "demo")
    names = [path.stem for path in sorted((tmp_path / "demo" / "runs").iterdir())]
    Path("groups.txt").write_text("".join(f"{name} group{at % 2}\n" for at, name in enumerate(names)))


def numbers_in(text: str) -> list[str]:
    """Numbers that are said to come out: links and code are something else."""
    return re.findall(r"(?<![\w.])\d+\.?\d*(?![\w])", re.sub(r"\[[^]]*\]\([^)]*\)|`[^`]*`", "", text))


def looked_at(row) -> bool:
    return bool(row.command and (row.command not in RUN_AMONG_STUDIES or numbers_in(row.shows)))


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if looked_at(row)])
@pytest.mark.usefixtures("in_demo")
def test_every_command_runs_on_the_demo_and_prints_what_comes_out(name, capsys):
    row = ROWS[name]
    assert main(shlex.split(row.command)[1:]) == 0
    out, err = capsys.readouterr()
    assert out or "wrote" in err
    out += "".join(page.read_text("utf-8") for page in Path("studies").rglob("README.md"))
    lacking = [one for one in numbers_in(row.shows) if one not in re.findall(r"\d+\.?\d*", out)]
    assert not lacking, out


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if "rb.studies." not in row.python])
@pytest.mark.usefixtures("in_demo")
def test_python_beside_each_command_runs(name):
    row = ROWS[name]
    assert row.python
    found = eval(row.python, {"rb": rankbounds, "help": inspect.getdoc})
    if "swapped" in row.shows:
        assert all(0 <= one["swapped"] <= 10 for one in found.rows())
    if not row.command:
        said = numbers_in(row.shows)
        assert [one for one in said if not str(found).startswith(one)] == []


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if "rb.studies." in row.python])
def test_python_of_a_study_has_the_settings_of_the_command(name):
    row = ROWS[name]
    words = shlex.split(row.command)
    study = STUDIES[words[2]]
    asked = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "--set")
    asked = {key: study.setting(key, text) for key, text in asked.items()}
    if "-m" in words:
        asked["measures"] = words[words.index("-m") + 1]
    call = ast.parse(row.python, mode="eval").body
    assert ast.unparse(call.func) == f"rb.studies.{study.compute.__name__}"
    assert {one.arg: ast.literal_eval(one.value) for one in call.keywords} == asked
    assert len(call.args) == len(study.needs)


def test_every_study_is_on_the_page():
    assert [name for name in STUDIES if not any(f"study {name}" in command for command in COMMANDS)] == []


def test_the_page_has_a_section_for_each_of_the_five_papers():
    headings = [line.removeprefix("## ") for line in PAGE.splitlines() if line.startswith("## ")]
    for key in ("moffat-zobel", "sakai", "yang", "zhang", "park"):
        assert any(PAPERS[key].title in heading for heading in headings)


@pytest.mark.parametrize(
    ("key", "tables", "figures"),
    [
        ("moffat-zobel", range(1, 5), (2, 4, 5, 6)),
        ("sakai", range(1, 4), range(1, 4)),
        ("yang", range(1, 4), (2, 3, 4)),
        ("zhang", (1,), range(1, 5)),
        ("park", (), range(1, 4)),
    ],
)
def test_every_table_and_figure_with_numbers_is_a_study(key, tables, figures):
    """All but drawings of ideas: Figures 1 and 3 of Moffat and Zobel, and Figure 1 of Yang, Moffat and Turpin."""
    made = {source.item for study in STUDIES.values() for source in study.sources if source.paper == PAPERS[key].label}
    wanted = {f"Table {number}" for number in tables} | {f"Figure {number}" for number in figures}
    assert wanted <= made
    section = PAGE.split(f"{PAPERS[key].title} (")[1].split("\n## ")[0]
    assert wanted <= set(items_in(section))


@pytest.mark.parametrize(
    ("asked", "items"),
    [
        ("Moffat and Zobel section 4.4", 5),
        ("Zhang section 7", 2),
        ("sakai equation 14", 1),
        ("park section 3.2", 1),
        ("Park Wallenius", 1),
        ("Sakai Induced AP", 1),
        ("Sakai MTC", 1),
        ("Sakai swap", 1),
        ("recommendation", 3),
        ("Yang figure 1", 1),
        ("Yang table 3", 2),
    ],
)
def test_what_has_no_study_or_no_files_is_answered_with_its_rows(asked, items, capsys):
    assert main(["study", asked, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == items
    assert main(["study", asked]) == 0
    told = capsys.readouterr().out
    for row in rows:
        assert f"{row['paper']}, {row['item']}\n" in told
        assert row["python"] in told
        assert asked.split()[0].lower() in row["paper"].lower() or asked == "recommendation"


@pytest.mark.parametrize("name", ROWS)
def test_every_item_of_the_page_is_found_by_its_name(name):
    key, row = name.split(" ")[0], ROWS[name]
    for item in items_in(row.item):
        assert (PAPERS[key], row) in rows_called(f"{key.replace('-', ' and ')} {item}")
