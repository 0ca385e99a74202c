"""What `import rankbounds as rb` offers: loaded late, typed, documented with examples that run, and never shadowed."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import os
import pkgutil
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import rankbounds as rb
from rankbounds.measures import REGISTRY

SOURCE = Path(rb.__file__).parents[1]
NAMES = [name for name in rb.__all__ if name != "__version__"]
NAMESPACES = [name for name in NAMES if name in rb.NAMESPACES]
FIGURES = rb.plots.__all__
NOT_CALLED = {"measures.REGISTRY", "measures.MeasureLike", "measures.MeasuresLike"}
"""A dict and types."""
EVERY_NAME = [*NAMES, *(f"{space}.{name}" for space in NAMESPACES for name in getattr(rb, space).__all__)]
POOLS = [f"judging.pools.{name}" for name in rb.judging.pools.__all__ if callable(getattr(rb.judging.pools, name))]
SAME = {f"measures.{name}" for name in NAMES if name in rb.measures.__all__}
"""Measures that have two names."""
DOCUMENTED = [name for name in (*EVERY_NAME, *POOLS) if name not in NOT_CALLED | SAME]


def public(name: str) -> object:
    """What stands behind `rb.name`."""
    value: object = rb
    for part in name.split("."):
        value = getattr(value, part)
    return value


def python(code: str, *arguments: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run(
        [sys.executable, *arguments, "-c", code],
        env=os.environ | {"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


# Loaded when first used


def test_importing_loads_next_to_nothing():
    loaded = python("import sys; import rankbounds; print(*sys.modules)").split()
    assert {name for name in loaded if name.startswith("rankbounds.")} == {
        "rankbounds.loading", "rankbounds.version",
    }  # fmt: skip
    assert not {"numpy", "polars", "scipy", "typing", "ast", "re"} & set(loaded)


@pytest.mark.parametrize(
    ("command", "unneeded"),
    [
        ("--version", {"numpy", "rankbounds.tables"}),
        ("--help", {"numpy", "rankbounds.tables"}),
        ("transfer 0.4321 --p 0.95 --to 0.8", {"polars", "rankbounds.evaluation"}),  # which is "rbp transfer"
        ("rbp transfer 0.4321 --p 0.95 --to 0.8", {"polars"}),
    ],
)
def test_a_command_loads_only_what_it_needs(command, unneeded):
    tell = "import atexit, sys; atexit.register(lambda: print(*sys.modules))"
    loaded = python(f"{tell}\nfrom rankbounds.cli import main\nmain({command.split()!r})").splitlines()[-1].split()
    assert "rankbounds.cli" in loaded
    assert not unneeded & set(loaded)


def test_scoring_in_memory_loads_only_what_it_needs():
    loaded = python(
        "import sys, rankbounds as rb\n"
        "rb.evaluate({'q': {'a': 1}, 'r': {'b': 1}}, {'q': {'a': 2.5}}, ['AP', 'nDCG@10', 'P_5', 'RBP(p=0.8)'])\n"
        "print(*sys.modules)",
        "-W", "ignore",
    ).split()  # fmt: skip
    assert "rankbounds.evaluation.evaluate" in loaded
    assert not {"polars", "scipy", "numpy.ma", "secrets", "html", "difflib", "concurrent.futures"} & set(loaded)


def test_no_module_shadows_a_public_name():
    rooms = {module.name for module in pkgutil.iter_modules(rb.__path__)}
    assert rooms & set(NAMES) == {*NAMESPACES, "report"}
    for name in NAMESPACES:
        space = getattr(rb, name)
        modules = {module.name for module in pkgutil.iter_modules(space.__path__)}
        assert {name for name in modules & set(space.__all__) if not inspect.ismodule(getattr(space, name))} == set()
    told = python(
        "import importlib, pkgutil, rankbounds as rb\n"
        "left_out = {'rankbounds.__main__'}\n"
        "try: import ir_measures\n"
        "except ImportError: left_out.add('rankbounds.interop.ir_measures')\n"
        "try: import triton\n"
        "except ImportError: left_out.add('rankbounds.evaluation.counting_kernel')\n"
        "for module in pkgutil.walk_packages(rb.__path__, 'rankbounds.'):\n"
        "    if module.name not in left_out: importlib.import_module(module.name)\n"
        "for name in rb.__all__: print(name, type(getattr(rb, name)).__name__)\n"
        "for space in rb.NAMESPACES:\n"
        "    for name in getattr(rb, space).__all__:\n"
        "        print(f'{space}.{name}', type(getattr(getattr(rb, space), name)).__name__)"
    )
    after_all = dict(line.split() for line in told.splitlines())
    assert after_all == {name: type(public(name)).__name__ for name in (*EVERY_NAME, "__version__")}
    assert {name for name, kind in after_all.items() if kind == "module"} == {*NAMESPACES, "judging.pools"}


def test_the_top_has_about_forty_names_and_says_where_others_are():
    assert len(NAMES) - len(NAMESPACES) <= 48
    with pytest.raises(AttributeError, match=r"it is rankbounds\.measures\.GMAP$"):
        _ = rb.GMAP
    of_three = "plots.bounds_by_depth or rankbounds.rbp.bounds_by_depth or rankbounds.studies.bounds_by_depth"
    with pytest.raises(AttributeError, match=f"it is rankbounds.{of_three}$"):
        _ = rb.bounds_by_depth


def test_names_are_listed_and_nothing_else_is_found():
    assert set(rb.__all__) == {*NAMES, "__version__"}
    assert {name for name in dir(rb) if not name.startswith("__")} == set(NAMES)  # what editors complete
    for name in NAMESPACES:
        space = getattr(rb, name)
        assert set(space.__all__) <= set(dir(space))
        with pytest.raises(AttributeError, match="no attribute 'evalute'"):
            _ = space.evalute
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        _ = rb.evalute
    names: dict[str, object] = {}
    exec("from rankbounds import *", names)
    assert set(rb.__all__) <= set(names)


def test_every_measure_is_a_public_name():
    """With a line in the stub, or (as a measure that was just added) without one, which editors then do not know."""
    ours = {kind.__name__: kind for kind in REGISTRY.values() if kind.__module__.startswith("rankbounds.")}
    assert {"AP", "nDCG", "RBP"} <= set(ours) & set(NAMES)
    assert all(getattr(rb.measures, name) is kind for name, kind in ours.items())
    assert all(inspect.unwrap(public(name)) is inspect.unwrap(public(name.partition(".")[2])) for name in SAME)


def test_every_figure_is_a_public_name():
    modules = [f"rankbounds.plots.{module.name}" for module in pkgutil.iter_modules(rb.plots.__path__)]
    drawing = {
        name
        for module in modules
        for name, value in vars(importlib.import_module(module)).items()
        if inspect.isfunction(value) and value.__module__ == module and not name.startswith("_")
    }
    shared = {"figure", "fresh_axes", "fresh_panels", "colour_of", "marker_of", "styled", "pyplot", "ending_of"}
    shared |= {"draw_band", "draw_legend", "draw_lines", "in_legend"}
    assert drawing - shared == set(FIGURES)


def test_namespaces_are_found_without_a_warning():
    told = python(f"from rankbounds import {', '.join(NAMESPACES)}; print(stats.__name__)", "-Werror")
    assert told.split() == ["rankbounds.stats"]


# Types, as a user's checker sees them

EXPECTED = {
    'rb.evaluate("qrels", "run")': "Scores",
    'rb.compare(rb.evaluate("qrels", "run"))': "Comparison",
    'rb.read_qrels("qrels")': "Qrels",
    'rb.read_run("run")': "Run",
    'rb.read_runs("runs/*")[0]': "Run",
    "rb.RBP(p=0.8)": "RBP",
    "rb.nDCG(cutoff=10)": "nDCG",
    "rb.Assumptions()": "Assumptions",
    'rb.Run({"q": {"a": 1.5}}, name="bm25").banded(1.4)': "Run",
    'rb.Qrels({"q": {"a": 1}})': "Qrels",
    'rb.evaluate({"q": {"a": 1}}, {"bm25": {"q": ["b", "a"]}}, rb.AP)': "Scores",
    'rb.evaluate({"q": {"a", "b"}}, [rb.Run([("q", "a", 1.5)])], ["AP", rb.nDCG @ 10])': "Scores",
    "rb.nDCG @ 10": "nDCG",
    "rb.measures.GMAP()": "GMAP",
    "rb.rbp.transfer(0.4321, 0.95, 0.8)": "Transferred",
    'rb.report("qrels", "run")': "Report",
}
MISTAKES = (
    "rb.RBP(q=3)", "rb.evalute", "rb.plots.leaderbord", 'rb.AP(cutoff="ten")', 'rb.evaluate(3, "run")',
    'rb.evaluate("qrels", 3)', 'rb.evaluate("qrels", "run", 10)',
)  # fmt: skip
REVEALED = [*EXPECTED, *(f"rb.{name}" for name in EVERY_NAME if not inspect.ismodule(public(name)))]


@pytest.fixture
def user_script(tmp_path):
    """One expression a line, behind the import."""
    lines = ["import rankbounds as rb", *(f"reveal_type({expression})" for expression in REVEALED), *MISTAKES]
    path = tmp_path / "user_script.py"
    path.write_text("\n".join(lines) + "\n")
    return path


def check_what_a_checker_says(types: dict[int, str], errors: set[int]) -> None:
    """Types and errors by line: nothing is Any, types are those expected, and mistakes (only they) are errors."""
    assert errors == set(range(len(REVEALED) + 2, len(REVEALED) + len(MISTAKES) + 2))
    told = {expression: types[line] for line, expression in enumerate(REVEALED, 2)}
    assert {expression: told[expression].rpartition(".")[2] for expression in EXPECTED} == EXPECTED
    assert not [expression for expression, kind in told.items() if kind in ("Any", "Unknown")]


def test_mypy_knows_every_public_name(user_script):
    pytest.importorskip("mypy", reason="types are checked by mypy: pip install mypy")
    known = SOURCE.parent / ".mypy_cache" / "strict"  # what it knows of other packages takes most of its time
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", known, user_script.name],
        cwd=user_script.parent, env=os.environ | {"MYPYPATH": str(SOURCE)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = re.findall(r'^user_script\.py:(\d+): (note|error): (?:Revealed type is "(.*)"|.*)$', done.stdout, re.M)
    types = {int(line): kind for line, what, kind in told if what == "note" and kind}
    check_what_a_checker_says(types, {int(line) for line, what, _ in told if what == "error"})


def test_pyright_knows_every_public_name(user_script):
    pytest.importorskip("pyright", reason="types are checked by pyright too: pip install pyright")
    settings = {"extraPaths": [str(SOURCE)], "include": [user_script.name], "typeCheckingMode": "standard"}
    (user_script.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable],
        cwd=user_script.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not done.stdout.startswith("{"):
        pytest.skip("pyright cannot be started: it needs Node.js, which it fetches when it is first run")
    remarks = json.loads(done.stdout)["generalDiagnostics"]
    told = [(remark["range"]["start"]["line"] + 1, remark["severity"], remark["message"]) for remark in remarks]
    types = {
        line: re.fullmatch(r'Type of ".*" is "(.*)"', message, re.S)[1].replace("type[", "").rstrip("]")
        for line, severity, message in told
        if severity == "information"
    }
    check_what_a_checker_says(types, {line for line, severity, _ in told if severity == "error"})


# Documentation: numpydoc, and examples that run


def sections(text: str) -> dict[str, str]:
    """The parts of a numpydoc docstring by heading; what stands before the first one has the heading ''."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(text), flags=re.M)
    return {"": parts[0].strip()} | dict(zip(parts[1::2], parts[2::2], strict=True))


def documented_parameters(section: str) -> list[str]:
    """The names that a section of parameters explains, without stars."""
    lines = [line for line in section.splitlines() if line and not line.startswith(" ")]
    return [name.strip().lstrip("*") for line in lines for name in line.partition(" :")[0].split(",")]


def problems(public_name: str) -> list[str]:
    """What is missing of a public name's documentation."""
    value = public(public_name)
    text = sections((vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__) or "")
    summary = text[""].partition("\n\n")[0]
    missing = [] if summary.endswith((".", "?", ":")) else ["a summary that is a sentence"]
    if inspect.ismodule(value):
        return missing
    parameters = inspect.signature(value).parameters
    told = documented_parameters(text.get("Parameters", ""))
    if not inspect.isclass(value) or "Attributes" not in text:  # what functions return is known by its attributes
        kinds = {name: parameter.kind for name, parameter in parameters.items()}
        by_position = [name for name, kind in kinds.items() if kind <= inspect.Parameter.VAR_POSITIONAL]
        more_allowed = not kinds or inspect.Parameter.VAR_KEYWORD in kinds.values()
        wrong = set(kinds) - set(told) or (set(told) - set(kinds) and not more_allowed)
        if wrong or [name for name in told if name in by_position] != by_position:
            missing.append(f"Parameters: {', '.join(kinds)} (documented: {', '.join(told)})")
    if not inspect.isclass(value) and not {"Returns", "Yields"} & set(text):
        missing.append("Returns")
    if ">>> " not in text.get("Examples", ""):
        missing.append("Examples")
    if broken := re.search(r"[A-Z]\w+ -{3,} ", "".join(text.values())):
        missing.append(f"a line break in {broken[0]}")
    return missing


def test_headings_of_docstrings_have_a_line_of_their_own():
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for path in (SOURCE / "rankbounds").rglob("*.py"):
        nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, documented)]
        for line in "\n".join(ast.get_docstring(node) or "" for node in nodes).splitlines():
            assert "----" not in line or set(line.strip()) == {"-"}, f"{path}: {line}"


class Examples(doctest.DocTestFinder):
    """Finds those of methods that are decorated, too."""

    def _from_module(self, module, value):
        return super()._from_module(module, inspect.unwrap(value) if callable(value) else value)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_public_name_is_documented(name):
    assert not problems(name)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_examples_of_a_public_name_run(name, tmp_path, monkeypatch):
    value = public(name)
    examples = [test for test in Examples().find(value, name, globs={}) if test.examples]
    if inspect.ismodule(value) and not examples:
        return
    if name.startswith("plots"):
        pytest.importorskip("matplotlib", reason="figures are drawn by matplotlib: pip install 'rankbounds[report]'")
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for test in examples:
            runner.run(test, out=told.append)
    assert not runner.failures, "".join(told)
    assert runner.tries, "there is no example"
