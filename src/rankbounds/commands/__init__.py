"""The commands, in modules by subject. A command is a function with its options; its docstring is the help::

    @command("preferences", "What should be judged next?", 4, Option("FILE", "lines of ..."), JUDGMENTS_FILE)
    def run_preferences(options):
        ...

The program's help lists the command under the question, at that place. It reads names, questions and docstrings from
the text of the modules, so that help need not wait for what they import.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DECLARATION = re.compile(r'^@command\(\s*"([\w-]+)",\s*"([^"]+)",\s*(\d+).*?^def .*?"""(.*?)"""', re.M | re.S)
_declared: dict[str, tuple[tuple[Any, ...], Callable[[Any], Any]]] = {}


class Command(NamedTuple):
    """What the program's help says of a command, and the module that declares it."""

    name: str
    question: str
    place: int
    explanation: str
    module: str

    @property
    def summary(self) -> str:
        """The first sentence of the explanation, without its point."""
        return self.explanation.splitlines()[0].rstrip(".")

    def load(self) -> tuple[tuple[Any, ...], Callable[[Any], Any]]:
        """The options, and the function that runs the command."""
        importlib.import_module(self.module)
        return _declared[self.name]


def command(name: str, _question: str, _place: int, *options: Any) -> Callable[[Any], Any]:
    """Declare a function as a command with these options.

    It returns a ``Result``, which is then written in the format asked for, or an exit code, or nothing.
    """

    def declare(function: Any) -> Any:
        _declared[name] = options, function
        return function

    return declare


def known_commands() -> dict[str, Command]:
    """All commands by their names, in alphabetical order."""
    found = []
    for path in (path for folder in __path__ for path in Path(folder).glob("*.py")):
        for name, question, place, text in _DECLARATION.findall(path.read_text("utf-8")):
            explanation = text.replace("\n    ", "\n").strip()
            found.append(Command(name, question, int(place), explanation, f"{__name__}.{path.stem}"))
    return {each.name: each for each in sorted(found)}
