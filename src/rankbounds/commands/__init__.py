"""The commands, in modules by subject. A command is a function with its options; its docstring is the help::

    @command("rbp depth", "RBP: which persistence, and what does it change?", 2, Option("--digits N", "..."), ...)
    def run_depth(options):
        ...

A docstring begins with what the command answers, in one or two sentences, then two examples that run on the files of
the demo (``  rankbounds rbp depth qrels.txt runs``); the rest is shown by ``--help-all``. The program's help lists the
command under the question, at that place. Names, questions and docstrings are read from the text of the modules, so
that help does not wait for imports. Two words are a command of a group.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DECLARATION = re.compile(r'^@command\(\s*"([\w -]+)",\s*"([^"]+)",\s*(\d+).*?^def .*?"""(.*?)"""', re.M | re.S)
_declared: dict[str, tuple[tuple[Any, ...], Callable[[Any], Any]]] = {}


class Command(NamedTuple):
    """A command's entry in the program's help, and the module that declares it."""

    name: str
    question: str
    place: int
    explanation: str
    module: str

    @property
    def summary(self) -> str:
        """The first sentence of the explanation, without its point."""
        return self.explanation.splitlines()[0].rstrip(".")

    @property
    def parts(self) -> tuple[str, list[str], str]:
        """Split the docstring: what the command answers, examples, and further explanations."""
        paragraphs = self.explanation.split("\n\n")
        at = next((at for at, text in enumerate(paragraphs) if text.startswith("  rankbounds ")), len(paragraphs))
        examples = [line.strip() for text in paragraphs[at : at + 1] for line in text.splitlines()]
        return "\n\n".join(paragraphs[:at]), examples, "\n\n".join(paragraphs[at + 1 :])

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
