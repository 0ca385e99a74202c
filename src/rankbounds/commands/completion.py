"""Scripts that complete commands, options, their values and names of files in a shell.

They are made from the parser itself by shtab, once: what a shell does when Tab is pressed needs no Python, and is there
at once.
"""

from __future__ import annotations

import argparse
import importlib.util

from rankbounds.choices import check_choice
from rankbounds.commands.output import FILES_READ, FILES_WRITTEN
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import BOUNDS, OPEN, PRECISIONS, TOPICS
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.files.formats import NAMES as FILE_FORMATS
from rankbounds.measures import REGISTRY
from rankbounds.rankings.ties import RULES as TIE_RULES
from rankbounds.rankings.unjudged import RULES as UNJUDGED_RULES
from rankbounds.stats.corrections import CORRECTIONS
from rankbounds.stats.rank_intervals import METHODS as WAYS_TO_RANK
from rankbounds.stats.significance import TESTS

SHELLS = ("bash", "zsh", "fish")
_MEASURES = [name for name in dict.fromkeys([*DEFAULT_MEASURES, *REGISTRY]) if name.replace("@", "_").isidentifier()]
"""Those that need no quotes in a shell."""
WORDS = {
    "bounds": BOUNDS, "color": ("auto", "always", "never"), "correction": ("auto", *CORRECTIONS),
    "engine": ("auto", "local", "stream", "spark"), "measure": _MEASURES, "measures": _MEASURES, "open": OPEN,
    "ranks": WAYS_TO_RANK, "read_as": FILE_FORMATS, "score_precision": PRECISIONS, "test": tuple(TESTS),
    "ties": TIE_RULES, "topics": TOPICS, "undecided": ("pass", "fail"), "unjudged": UNJUDGED_RULES,
    "completion": SHELLS, "style": ("beats", "groups", "plain"), "small": ("bounds", "interval", "none"),
}  # fmt: skip
"""What options take, by the names under which their values are kept."""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for this shell."""
    check_choice("--completion", shell, SHELLS)
    if importlib.util.find_spec("shtab") is None:
        raise UsageError("Completion is made by the package shtab, which is not installed: pip install shtab.")
    import shtab

    subparsers = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for each in (parser, *(command for action in subparsers for command in action.choices.values())):
        for action in each._actions:
            formats = each.get_default("formats") or ("table", "json")
            words = formats if action.dest == "format" else WORDS.get(action.dest, ())
            kind = _kind(action)
            if kind:
                action.complete = shtab.DIRECTORY if kind == "folder" else shtab.FILE
            elif words and action.type is None and action.nargs != 0:
                action.choices = words
    made: str = shtab.complete(parser, shell)
    return made


def _kind(action: argparse.Action) -> str | None:
    """Does this argument name a file, or a folder?"""
    if action.metavar == "FOLDER":
        return "folder"
    named = action.dest in (*FILES_READ, *FILES_WRITTEN) and action.type is None
    return "file" if named and action.metavar != "SCORE" else None
