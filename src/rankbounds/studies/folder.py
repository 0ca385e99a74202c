"""A study's folder: its table, its figure, and the answer in words. What is complete need not be computed again."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankbounds.files.opening import checksum
from rankbounds.files.writing import make_folder, writing
from rankbounds.studies.study import Study, StudyResult
from rankbounds.threads import in_threads, processors
from rankbounds.version import __version__

FIGURE_FORMATS = ("svg", "png", "pdf")


def fingerprints(files: Sequence[str]) -> dict[str, str]:
    """The checksum of every file, by its name."""
    return dict(zip(map(os.path.basename, files), in_threads(checksum, files, processors()), strict=True))


def is_complete(folder: Path, made_from: Mapping[str, Any]) -> bool:
    """Does the folder hold this study's outcome for the same files, options and version?"""
    try:
        return bool(json.loads((folder / "settings.json").read_text("utf-8"))["made_from"] == dict(made_from))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write(study: Study, result: StudyResult, folder: Path, made_from: Mapping[str, Any], command: str) -> None:
    """Table, figure and answer. The settings come last: a folder that has them is complete."""
    make_folder(folder)
    (folder / "settings.json").unlink(missing_ok=True)
    with writing(folder / "table.csv") as out:
        out.write(result.render("csv"))
    axes = study.draw(result)
    for kind in FIGURE_FORMATS:
        with writing(folder / f"figure.{kind}", "wb") as out:
            axes.get_figure().savefig(out, format=kind, dpi=200)  # type: ignore[union-attr]
    with writing(folder / "README.md") as out:
        out.write(_readme(study, result, made_from, command))
    with writing(folder / "settings.json") as out:
        json.dump({"made_from": dict(made_from), "settings": result.settings}, out, indent=1, default=str)


def _readme(study: Study, result: StudyResult, made_from: Mapping[str, Any], command: str) -> str:
    question, _, more = (inspect.getdoc(study.compute) or "").partition("\n")
    settings = "\n".join(f"- {key}: {value}" for key, value in result.settings.items())
    files = made_from.get("files", {})
    return (
        f"# {question}\n{more}\n\n## Answer\n\n{result.answer}\n\n![{study.name}](figure.svg)\n\n"
        f"The numbers are in `table.csv` ({len(result.rows()):,} rows).\n\n## Settings\n\n{settings}\n\n"
        f"Made by rankbounds {__version__} with `{command}`"
        + (f" from {len(files):,} files; their checksums are in `settings.json`.\n" if files else ".\n")
    )
