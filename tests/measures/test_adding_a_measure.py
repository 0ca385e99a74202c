"""The page on adding a measure, followed word for word: its file, its commands, its sessions and the laws."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

import plain
import rankbounds
import test_laws
from rankbounds import measures
from rankbounds.cli import main
from rankbounds.measures import REGISTRY, parse_measure
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.facts import Facts

PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-measure.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
SESSIONS = [text for text in PYTHON if text.startswith(">>>")]
THE_FILE, THE_DEFINITION = (text for text in PYTHON if not text.startswith(">>>"))
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]
LAWS = [law for name, law in vars(test_laws).items() if name.startswith("test_") and hasattr(law, "hypothesis")]

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


@pytest.fixture
def added(tmp_path, monkeypatch):
    """The page's file as a module of the measures, and its definition among the plain ones; both go after the test."""
    (tmp_path / "half_life.py").write_text(THE_FILE, encoding="utf-8")
    before = dict(REGISTRY)
    monkeypatch.setattr(measures, "__path__", [*measures.__path__, str(tmp_path)])
    monkeypatch.setattr(plain, "DEFINITIONS", dict(plain.DEFINITIONS))
    importlib.import_module("rankbounds.measures.half_life")
    exec(THE_DEFINITION, vars(plain))
    yield "HalfLife"
    REGISTRY.clear()
    REGISTRY.update(before)
    del sys.modules["rankbounds.measures.half_life"], measures.half_life, plain.half_life


def test_the_file_is_all(added, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("t 0 a 1\nt 0 b 0\nu 0 a 1\n")
    for name, scores in (("run", (3, 3, 2)), ("other", (1, 2, 3))):
        Path(f"{name}.txt").write_text(
            "".join(f"{t} Q0 {d} 0 {s} {name}\n" for t in "tu" for d, s in zip("abc", scores, strict=True))
        )
    assert len(COMMANDS) > 2
    for line in COMMANDS:
        program, *arguments = shlex.split(line)
        assert program == "rankbounds"
        assert main(arguments) == 0, line
        assert added in capsys.readouterr().out, line
    assert main(["measures"]) == 0
    assert added in capsys.readouterr().out


@pytest.mark.parametrize("session", range(len(SESSIONS)))
def test_its_sessions_print_what_the_page_says(added, session):
    parsed = doctest.DocTestParser().get_doctest(SESSIONS[session], {"rb": rankbounds}, "page", None, None)
    assert doctest.DocTestRunner().run(parsed).failed == 0


def test_its_docstring_runs(added):
    module = sys.modules["rankbounds.measures.half_life"]
    assert doctest.testmod(module) == (0, 3)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_it_obeys_the_laws(added, monkeypatch, law):
    its_own = [parse_measure(example) for example in REGISTRY[added].examples]
    monkeypatch.setattr(test_laws, "PLAIN", its_own)
    monkeypatch.setattr(test_laws, "MEASURES", [*its_own, *map(Condensed, its_own)])
    law()


def test_a_formula_that_differs_from_the_definition_is_found(added, monkeypatch):
    kind = REGISTRY[added]
    monkeypatch.setattr(test_laws, "MEASURES", [kind(half=2.0)])
    monkeypatch.setattr(kind, "weights", lambda self, n: 3.0 ** -np.arange(n))
    with pytest.raises(AssertionError):
        test_laws.test_value_is_the_plain_definition()


def test_the_page_names_facts_and_every_class():
    table = PAGE.partition("| facts |")[2].partition("\n\n")[0]
    assert len(named := re.findall(r"`([a-z_]+)`(?=[ ,])", table)) > 15
    assert set(named) - {"exact", "outer", "unknown", "mean", "sum", "geometric"} <= set(Facts.__annotations__)
    for kind in (
        "RankWeighted",
        "Continuing",
        "IdealRatio",
        "Normalised",
        "ShareOfRelevant",
        "Share",
        "BestRelevant",
        "Measure",
    ):
        assert f"| `{kind}` |" in PAGE
