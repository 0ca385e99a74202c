"""The pages on measures and on the command line, made from the registry and the parser whenever the site is built."""

from __future__ import annotations

import argparse
from typing import Any

from rankbounds.cli import DESCRIPTION, build_parser
from rankbounds.commands.measures import describe, explain
from rankbounds.measures import REGISTRY


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages (called by MkDocs)."""
    from mkdocs.structure.files import File

    for name, text in (("measures.md", measures_page()), ("commands.md", commands_page())):
        files.append(File.generated(config, name, content=text))
    return files


def measures_page() -> str:
    """A table of all measures, and behind it what `rankbounds measures NAME` says of each."""
    kinds = [kind for _, kind in sorted(REGISTRY.items(), key=lambda item: item[0].lower())]
    rows = [describe(kind) for kind in kinds]
    parts = [
        "# Measures\n\nMade from the registry: what `rankbounds measures` prints.\n",
        _table(list(rows[0]), [list(row.values()) for row in rows]),
    ]
    parts += [f"\n## {_text(kind.name)}\n\n{_block(explain(kind))}" for kind in kinds]
    return "\n".join(parts)


def commands_page() -> str:
    """Every command with its arguments and options."""
    parser = build_parser()
    subparsers = next(one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    parts = [f"# Command line\n\n{DESCRIPTION} Made from the program's own help.\n"]
    for name, command in subparsers.choices.items():
        shown = [action for action in command._actions if action.help != argparse.SUPPRESS and action.dest != "help"]
        parts.append(f"\n## rankbounds {name}\n\n{_block((command.description or '').strip())}")
        if shown:
            parts.append(_table(["argument", "meaning"], [[_usage(one), _help(one)] for one in shown]))
    return "\n".join(parts)


def _usage(action: argparse.Action) -> str:
    name = action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar or ()) or action.dest.upper()
    if not action.option_strings:
        return name
    return ", ".join(action.option_strings) + ("" if action.nargs == 0 else f" {name}")


def _help(action: argparse.Action) -> str:
    return (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *([_text(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _text(cell: str) -> str:
    """Text that Markdown leaves as it is."""
    for mark in "\\`*_[]<>|":
        cell = cell.replace(mark, f"&#{ord(mark)};")
    return cell


def _block(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.strip("\n").splitlines()) + "\n"
