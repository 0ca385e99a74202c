"""The rooms of the house: a room imports only from rooms above it, and rooms that analyse leave each other alone."""

from __future__ import annotations

import ast
import re
import types
from pathlib import Path

import pytest

import rankbounds

HOUSE = Path(rankbounds.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
GROUND = ""
"""What belongs to no room: errors, arrays, threads, tables, the version."""
ROOMS = (
    GROUND, "columns", "files", "collection", "rankings", "measures", "evaluation", "stats",
    "rbp", "probability", "judging", "checking",
    "comparison", "interop", "plots", "studies", "report", "desk", "commands",
)  # fmt: skip
"""From the ground up: whoever stands here may import what stands before."""
ANALYSING = {"rbp", "probability", "judging", "checking"}
MAY_USE = {("judging", "probability")}
"""The one exception: what to judge next depends on how probable relevance is."""
ENTRANCES = {"rankbounds", "rankbounds.cli", "rankbounds.__main__"}
"""These stand outside and may import everything."""
WITHOUT_CODE = {"demo"}
FRAMEWORK = "rankbounds.studies.study"
"""What studies share, which is no study."""


def module_name(path: Path) -> str:
    """The dotted name of a file of the package."""
    return ".".join(path.relative_to(HOUSE.parent).with_suffix("").parts).removesuffix(".__init__")


FILES = {module_name(path): path for path in sorted(HOUSE.rglob("*.py"))}


def room_of(module: str) -> str:
    """The room that a module stands in."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and (HOUSE / parts[1]).is_dir() else GROUND


def imports_of(path: Path) -> set[str]:
    """Every module of the package that a file imports, inside functions and for types too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide which room is meant"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names]
            found.update(name if name in FILES else module for name in names)
    return {name for name in found if name.split(".")[0] == "rankbounds"}


def test_every_folder_with_code_is_a_room():
    folders = {path.name for path in HOUSE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders - WITHOUT_CODE == set(ROOMS) - {GROUND}


PAPERS = ("moffat_zobel", "park", "sakai", "yang", "zhang", "zobel")
FRAMEWORKS = ("haystack", "inspect_ai", "llama_index", "mlflow", "paired_lists", "pyterrier", "sentence_transformers")
WITH_PUBLIC_NAMES = [f"rankbounds.studies.{paper}" for paper in PAPERS]
WITH_PUBLIC_NAMES += [f"rankbounds.interop.{framework}" for framework in FRAMEWORKS]
"""Studies, as a reader of the paper would write them, and adapters: examples, and the proof that the public names
suffice."""


@pytest.mark.parametrize("module", WITH_PUBLIC_NAMES)
def test_studies_and_adapters_are_written_with_public_names(module):
    others = imports_of(FILES[module]) - {FRAMEWORK, *WITH_PUBLIC_NAMES}
    assert others == {"rankbounds"}
    for node in ast.walk(ast.parse(FILES[module].read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "rb":
            assert node.attr in rankbounds.__all__, f"rb.{node.attr}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            name, space = node.value.value, getattr(rankbounds, node.value.attr, None)
            if isinstance(name, ast.Name) and name.id == "rb" and isinstance(space, types.ModuleType):
                assert node.attr in space.__all__, f"rb.{node.value.attr}.{node.attr}"


@pytest.mark.parametrize("module", sorted(set(FILES) - ENTRANCES - set(WITH_PUBLIC_NAMES)))
def test_a_room_imports_only_from_rooms_above_it(module):
    room = room_of(module)
    for imported in sorted(imports_of(FILES[module])):
        if imported == "rankbounds" and room == "interop":
            continue  # written with public names, as a user of both packages would
        assert imported not in ENTRANCES, f"{module} imports {imported}: import the module that holds the name"
        other = room_of(imported)
        assert ROOMS.index(other) <= ROOMS.index(room), f"{module} imports {imported}, which stands further up"
        apart = {room, other} <= ANALYSING and (room, other) not in MAY_USE
        assert other == room or not apart, f"{module} imports {imported}: these rooms stay apart"


def test_tests_stand_in_folders_that_mirror_the_rooms():
    tests = ROOT / "tests"
    folders = {path.name for path in tests.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {*ROOMS, "ground", "project", "golden"} - {GROUND}
    assert [path.name for path in tests.glob("test_*.py")] == ["test_laws.py"], "laws of all measures stand at the top"


def test_the_fast_part_needs_numpy_alone():
    allowed = {"numpy", "rankbounds", "__future__"}
    import sys

    for name, path in FILES.items():
        if room_of(name) != "columns":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                for imported in names:
                    top = imported.split(".")[0]
                    assert top in allowed or top in sys.stdlib_module_names, f"{name} imports {imported}"


def test_names_say_what_a_module_holds():
    nothing = {"utils", "util", "common", "helpers", "helper", "base", "manager", "misc"}
    assert not [name for name in FILES if set(name.split(".")) & nothing]


def test_the_source_layout_names_every_subpackage_in_order():
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = page.partition("## Source layout")[2].partition("| subpackage |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| (?:`(\w+)`|\(top level\)) \| .+ \|$", table, re.M) == list(ROOMS)


def test_files_that_the_documentation_names_are_there():
    documents = [ROOT / "docs" / "concepts.md", ROOT / "CONTRIBUTING.md"]
    for document in documents:
        for name in re.findall(r"`(?:src/rankbounds/)?((?:\w+/)+[\w.]*)`", document.read_text("utf-8")):
            assert (HOUSE / name).exists() or (ROOT / name).exists(), f"{document.name}: {name}"
