"""The LaTeX of every command fits a paper: no line runs over a column or the page, and captions are short."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

import rankbounds
from latex import ONE_COLUMN, compiled

COMMANDS = {
    "evaluate": "evaluate qrels.txt runs",
    "evaluate by topic": "evaluate qrels.txt runs/bm25.txt -q -m nDCG@10 -m RBP",
    "compare": "compare qrels.txt runs",
    "compare by class": "compare qrels.txt runs/bm25.txt runs/dense.txt --by classes.csv",
    "compare with a gate": "compare qrels.txt runs/bm25.txt runs/dense.txt --fail-if 'nDCG@10 worse'",
    "uncertainty": "uncertainty qrels.txt runs",
    "uncertainty of differences": "uncertainty qrels.txt runs --difference",
    "audit": "audit labels.txt sample.csv runs -m RBP(p=0.8) -m P@10",
    "audit of differences": "audit labels.txt sample.csv runs --difference",
    "judges": "judges qrels.txt labels.txt --runs runs -m nDCG@10",
    "collections": "collections first=. second=.",
    "similarity": "similarity runs",
    "check": "check runs --qrels qrels.txt",
    "judge-next": "judge-next qrels.txt runs --budget 5",
    "topics": "topics --deviation 0.2 --difference 0.05 --systems 10",
}


@pytest.fixture
def in_demo(tmp_path, monkeypatch):
    """A copy of the demo collection, with judgments filled into its sample."""
    folder = tmp_path / "demo"
    shutil.copytree(Path(rankbounds.__file__).parent / "demo", folder)
    monkeypatch.chdir(folder)
    return folder


def test_latex_of_every_command_fits_a_column_or_the_page(in_demo, command, tmp_path):
    tables = []
    for name, call in COMMANDS.items():
        code, latex, err = command(*shlex.split(call), "--format", "latex")
        assert code in (0, 1, 4), (name, err)
        assert r"\toprule" in latex, name
        for caption in re.findall(r"\\caption\{(.*)\}", latex):
            assert len(caption) < 230, (name, caption)
        tables.append(f"\\typeout{{table of {name}}}\n{latex}")
    for width in ("column", "page"):
        for name in ("compare", "evaluate", "uncertainty", "judges", "collections", "similarity", "check", "audit"):
            code, latex, err = command(*shlex.split(COMMANDS[name]), "--format", "latex", "--width", width)
            assert code == 0, (name, err)
            assert r"\begin{table*}" in latex if width == "page" else r"\begin{table*}" not in latex, name
            tables.append(f"\\typeout{{{width} of {name}}}\n{latex}")
    named = {name: call for name, call in COMMANDS.items() if "differences" not in name}
    texts = [command(*shlex.split(call), "--format", "latex", "--width", "text")[1] for call in named.values()]
    assert not any(r"\begin{table*}" in latex for latex in texts)
    alone = [latex for latex in tables if "{page of" not in latex]
    assert "Overfull" not in compiled([*texts, *alone], tmp_path, ONE_COLUMN), "a paper of one column"
    log = compiled(tables, tmp_path)
    assert "Overfull" not in log, log[max(0, log.index("Overfull") - 800) :][:1200]
