"""The commands: each module with ``OPTIONS`` and ``run`` is one.

Its docstring is the command's help, and ``QUESTION`` says under which question the program's help lists it, and at
which place there. Both are read from the text of the module: help need not wait for what a command imports.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any, NamedTuple

KEEPS_ITS_NAME = ("trec_eval",)
"""Commands that are called as another program is, underscore and all."""
OTHER = "Other"
_QUESTION = re.compile(r'^QUESTION = "(.+)", (\d+)$', re.M)


class Command(NamedTuple):
    """What the program's help says of a command."""

    name: str
    explanation: str
    question: str = OTHER
    place: int = 0

    def load(self) -> Any:
        """The module, with ``OPTIONS`` and ``run``."""
        return importlib.import_module(f"{__name__}.{self.name.replace('-', '_')}")


def known_commands() -> dict[str, Command]:
    """All commands by their names."""
    paths = (path for folder in __path__ for path in Path(folder).glob("*.py"))
    found = map(_command, sorted(paths, key=lambda path: path.stem))
    return {command.name: command for command in found if command is not None}


def command_named(name: str) -> Command | None:
    """The command with this name, if there is one."""
    if not re.fullmatch(r"[a-z][a-z_-]*", name):
        return None
    paths = (Path(folder) / f"{name.replace('-', '_')}.py" for folder in __path__)
    command = next((_command(path) for path in paths if path.is_file()), None)
    return command if command is not None and command.name == name else None


def _command(path: Path) -> Command | None:
    text = path.read_text("utf-8")
    if "\ndef run(" not in text:
        return None
    name = path.stem if path.stem in KEEPS_ITS_NAME else path.stem.replace("_", "-")
    question = _QUESTION.search(text)
    listed = (question[1], int(question[2])) if question else ()
    return Command(name, text.split('"""', 2)[1].strip(), *listed)
