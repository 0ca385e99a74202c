"""The files of a study: a folder with its table, figures and answer; and a page for each paper.

A folder that is complete for the same files, options and version is not computed again.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankbounds.files.opening import checksum
from rankbounds.files.writing import make_folder, writing
from rankbounds.plots.style import ENDINGS, pyplot, save
from rankbounds.results import Column, build_table
from rankbounds.studies.papers import Paper
from rankbounds.studies.study import Rows, Study, StudyResult
from rankbounds.tables import number
from rankbounds.threads import in_threads, processors
from rankbounds.version import __version__

MOST_ROWS = 30


def fingerprints(files: Sequence[str]) -> dict[str, str]:
    return dict(zip(map(os.path.basename, files), in_threads(checksum, files, processors()), strict=True))


def is_complete(folder: Path, made_from: Mapping[str, Any]) -> bool:
    try:
        return bool(json.loads((folder / "settings.json").read_text("utf-8"))["made_from"] == dict(made_from))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write_folder(study: Study, result: StudyResult, folder: Path, made_from: Mapping[str, Any], command: str) -> None:
    make_folder(folder)
    (folder / "settings.json").unlink(missing_ok=True)
    with writing(folder / "table.csv") as out:
        out.write(result.render("csv"))
    for name, draw in study.figures.items():
        axes = draw(result)
        for kind in ENDINGS:
            save(axes, folder / f"{name}.{kind}")
        pyplot().close((axes.flat[0] if hasattr(axes, "flat") else axes).get_figure())
    with writing(folder / "README.md") as out:
        out.write(_readme(study, result, made_from, command))
    with writing(folder / "settings.json") as out:
        json.dump({"made_from": dict(made_from), "settings": result.settings}, out, indent=1, default=str)


def _readme(study: Study, result: StudyResult, made_from: Mapping[str, Any], command: str) -> str:
    tables = result.tables or ({"": result.rows()} if len(result.rows()) <= MOST_ROWS else {})
    settings = "\n".join(f"- {key}: {value}" for key, value in result.settings.items())
    files = made_from.get("files", {})
    parts = [
        f"# {study.question}",
        f"Source: {study.source}.",
        "\n\n".join((inspect.getdoc(study.compute) or "").split("\n\n")[1:]),
        "## Answer",
        result.answer,
        f"**The paper:** {result.agreement}" if result.agreement else "",
        *(part for caption, rows in tables.items() for part in (f"**{caption}**" * bool(caption), _markdown(rows))),
        *(
            f"![{name}]({name}.svg)\n\n*{' '.join((draw.__doc__ or '').split())}*"
            for name, draw in study.figures.items()
        ),
        f"All numbers are in [table.csv](table.csv) ({len(result.rows()):,} rows).",
        "## Settings",
        settings,
        f"Made by rankbounds {__version__} with `{command}`"
        + (f" from {len(files):,} files; their checksums are in `settings.json`." if files else "."),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _markdown(rows: Rows) -> str:
    names = dict.fromkeys(name for row in rows for name in row)
    numbers = {name: [row[name] for row in rows if isinstance(row.get(name), float)] for name in names}
    plain = {name for name, values in numbers.items() if values == [round(value, 2) for value in values]}
    written = [{name: _cell(row.get(name), plain=name in plain) for name in names} for row in rows]
    return build_table(written, [Column(name, name) for name in names]).render("markdown")


def _cell(value: Any, *, plain: bool) -> str:
    if not isinstance(value, float):
        return "" if value is None else str(value)
    if plain:
        return f"{value:,.10g}"
    return number(value) if value == 0 or 1e-3 <= abs(value) < 1e4 else f"{value:.3g}"


def write_paper(paper: Paper, studies: Iterable[Study], folder: Path) -> Path | None:
    """Write one page with all finished studies of a paper; None without any."""
    parts = []
    for study in studies:
        readme = folder / study.name / "README.md"
        if not (folder / study.name / "settings.json").exists():
            continue
        text = readme.read_text("utf-8").replace("\n## ", "\n### ").replace("](", f"]({study.name}/")
        parts.append(f"#{text}")
    if not parts:
        return None
    page = folder / f"{paper.key}.md"
    with writing(page) as out:
        head = f"# {paper.title}\n\n{paper.label}, {paper.venue}: its experiments on these files.\n"
        out.write("\n".join([head, *parts]))
    return page
