"""A study's folder: its table, its figure, and the answer in words. What is complete need not be computed again."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from rankbounds import studies
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.files.opening import checksum
from rankbounds.files.writing import make_folder, writing
from rankbounds.studies import Result
from rankbounds.tables import render_rows
from rankbounds.threads import in_threads, processors
from rankbounds.version import __version__

FIGURE_FORMATS = ("svg", "png", "pdf")
OTHER_NAMES = {"measures": ("measure",), "seed": ("first_seed",)}
"""What the parameter for an option is called where a study takes one measure, or several seeds from one on."""


@dataclass(frozen=True)
class Study:
    """One experiment: a module whose docstring opens with the question, with a ``run`` and a figure."""

    name: str
    module: ModuleType

    @property
    def question(self) -> str:
        """What the study asks."""
        return (inspect.getdoc(self.module) or "").splitlines()[0]

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """What ``run`` takes."""
        return inspect.signature(self.module.run).parameters

    @property
    def needs(self) -> list[str]:
        """What must be given: judgments, runs, and whatever else has no default."""
        named = [one for one in self.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        return [parameter.name for parameter in named if parameter.default is inspect.Parameter.empty]

    def parameter(self, option: str) -> str | None:
        """The parameter of ``run`` that an option of the command is for; None: the study does not take it."""
        names = (option, *OTHER_NAMES.get(option, ()))
        return next((name for name in names if name in self.parameters), None)

    def takes(self, option: str, value: Any) -> bool:
        """Does the study take what the option was given?"""
        name = self.parameter(option)
        return name is not None and not (name == "measure" and len(value) > 1)

    def taken(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What ``run`` is called with, of what was given."""
        return {
            str(self.parameter(option)): value[0] if self.parameter(option) == "measure" else value
            for option, value in given.items()
            if value is not None and self.takes(option, value)
        }

    def figure(self, result: Result) -> Any:
        """The Axes of the module's own figure, or of that of the same name among the plots."""
        drawn = getattr(self.module, "figure", None)
        if drawn is None:
            from rankbounds import plots

            drawn = getattr(plots, self.module.__name__.rsplit(".", 1)[-1])
        return drawn(result)


def known_studies() -> dict[str, Study]:
    """Every study by its name."""
    known = {}
    for module in pkgutil.iter_modules(studies.__path__):
        if "_by_" in module.name:
            name = module.name.replace("_", "-")
            known[name] = Study(name, importlib.import_module(f"{studies.__name__}.{module.name}"))
    return known


def study_called(name: str) -> Study:
    """The study of this name."""
    known = known_studies()
    if name not in known:
        raise UsageError(
            f'There is no study "{name}".{did_you_mean(name, list(known))} "rankbounds study list" shows all.'
        )
    return known[name]


def fingerprints(files: Sequence[str]) -> dict[str, str]:
    """The checksum of every file, by its name."""
    return dict(zip(map(os.path.basename, files), in_threads(checksum, files, processors()), strict=True))


def is_complete(folder: Path, made_from: Mapping[str, Any]) -> bool:
    """Does the folder hold this study's outcome for the same files, options and version?"""
    try:
        return bool(json.loads((folder / "settings.json").read_text("utf-8"))["made_from"] == dict(made_from))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def compute(study: Study, given: Mapping[str, Any], progress: Callable[[int, int], None] | None) -> Result:
    """Run the study with whatever of the given things it takes."""
    taken = study.taken(given)
    if progress and "progress" in study.parameters:
        taken["progress"] = progress
    result: Result = study.module.run(**taken)
    return result


def write(study: Study, result: Result, folder: Path, made_from: Mapping[str, Any], command: str) -> None:
    """Table, figure and answer. The settings come last: a folder that has them is complete."""
    make_folder(folder)
    (folder / "settings.json").unlink(missing_ok=True)
    fields = list(dict.fromkeys(key for row in result.rows for key in row))
    rows = [{field: row.get(field) for field in fields} for row in result.rows]
    with writing(folder / "table.csv") as out:
        out.write(render_rows(rows, "csv", fields))
    axes = study.figure(result)
    for kind in FIGURE_FORMATS:
        with writing(folder / f"figure.{kind}", "wb") as out:
            axes.get_figure().savefig(out, format=kind, dpi=200)
    with writing(folder / "README.md") as out:
        out.write(_readme(study, result, made_from, command))
    with writing(folder / "settings.json") as out:
        json.dump({"made_from": dict(made_from), "settings": result.settings}, out, indent=1, default=str)


def _readme(study: Study, result: Result, made_from: Mapping[str, Any], command: str) -> str:
    question, _, more = (inspect.getdoc(study.module) or "").partition("\n")
    settings = "\n".join(f"- {key}: {value}" for key, value in result.settings.items())
    files = made_from.get("files", {})
    return (
        f"# {question}\n{more}\n\n## Answer\n\n{result.answer}\n\n![{study.name}](figure.svg)\n\n"
        f"The numbers are in `table.csv` ({len(result.rows):,} rows).\n\n## Settings\n\n{settings}\n\n"
        f"Made by rankbounds {__version__} with `{command}`"
        + (f" from {len(files):,} files; their checksums are in `settings.json`.\n" if files else ".\n")
    )
