"""The page that leads from papers to commands: complete, and everything on it runs."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from test_study import AS_THEY_ARE

from rankbounds.cli import main
from rankbounds.commands.demo import DATA
from rankbounds.studies.papers import PAPERS, items_in
from rankbounds.studies.study import STUDIES

PAGE = (Path(__file__).parents[2] / "docs" / "papers.md").read_text("utf-8")
CELLS = [cell.strip() for line in PAGE.splitlines() if line.startswith("| ") for cell in line.strip("| ").split(" | ")]
COMMANDS = [cell.strip("`") for cell in CELLS if re.fullmatch(r"`rankbounds [^`]+`", cell)]
RUN_AMONG_STUDIES = {
    f"rankbounds study {name}{' qrels.txt runs' * ('qrels' in STUDIES[name].needs)}" for name in AS_THEY_ARE
}
"""Studies without options: ``test_study`` runs them on the same files, and looks at what they write."""


@pytest.fixture
def in_demo(tmp_path, monkeypatch):
    shutil.copytree(DATA, tmp_path / "demo")
    monkeypatch.chdir(tmp_path / "demo")
    names = [path.stem for path in sorted((tmp_path / "demo" / "runs").iterdir())]
    Path("groups.txt").write_text("".join(f"{name} group{at % 2}\n" for at, name in enumerate(names)))


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("text", [command for command in COMMANDS if command not in RUN_AMONG_STUDIES])
@pytest.mark.usefixtures("in_demo")
def test_every_command_runs_on_the_demo(text, capsys):
    assert main(shlex.split(text)[1:]) == 0
    out, err = capsys.readouterr()
    assert out or "wrote" in err


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
