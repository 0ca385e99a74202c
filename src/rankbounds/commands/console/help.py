"""What the program says of itself: a greeting, the commands by question, scripts for shells, and what was meant.

Scripts that complete commands, options, their values and files are made from the options by shtab, once: what a shell
does when Tab is pressed needs no Python.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from rankbounds.choices import check_choice
from rankbounds.commands import Command
from rankbounds.commands.console.options import Option, Parser
from rankbounds.errors import RankboundsError, UsageError, did_you_mean
from rankbounds.terminal import wrap
from rankbounds.version import __version__

DESCRIPTION = "Score ranked retrieval, and say how sure you can be."
QUESTIONS = (
    "How good are my runs?",
    "Is A better than B, or is it noise?",
    "What changed between two versions?",
    "Can I trust these files and numbers?",
    "What should be judged next?",
    "May a model's labels stand in for people?",
    "What would fewer judgments have said?",
    "Which measure, and which persistence?",
    "How do I show it?",
    "How do I try things out?",
)
"""In the order of the help."""
TO_TRY = {
    "rankbounds demo": "a small collection, explained",
    "rankbounds evaluate qrels.txt runs/*": "your runs, and what is still open",
    "rankbounds compare qrels.txt a.txt b.txt": "is A better than B, or is it noise?",
}
NAME_WIDTH = 22
SHELLS = ("bash", "zsh", "fish")


def greeting() -> str:
    """For whoever calls the program without a command."""
    widest = max(map(len, TO_TRY))
    tried = "".join(f"  {command:<{widest}}  {what}\n" for command, what in TO_TRY.items())
    return (
        f"rankbounds {__version__}. {DESCRIPTION}\n\nThree commands to try:\n{tried}\n"
        '"rankbounds --help" lists all commands, by the questions that they answer.\n'
    )


def by_question(commands: Iterable[Command]) -> dict[str, list[Command]]:
    """The commands under the questions that they answer."""
    listed = sorted(commands, key=lambda command: (command.place, command.name))
    asked = dict.fromkeys([*QUESTIONS, *(command.question for command in listed)])
    return {question: [command for command in listed if command.question == question] for question in asked}


def commands_by_question(commands: Iterable[Command], width: int) -> str:
    """The list of commands in the program's help, within this width."""
    parts = []
    for question, several in by_question(commands).items():
        lines = [question]
        for command in several:
            first, *more = wrap(command.summary, max(30, width - NAME_WIDTH - 2))
            lines += [f"  {command.name:<{NAME_WIDTH - 2}}  {first}", *(" " * (NAME_WIDTH + 2) + line for line in more)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


# ---- completion ----


def completion_script(parser: Parser, shell: str) -> str:
    """The script of a shell for the program and its commands."""
    check_choice("--completion", shell, SHELLS)
    try:
        import shtab
    except ImportError:
        raise UsageError(
            "Completion is made by the package shtab, which is not installed: pip install shtab."
        ) from None

    pairs = (pair for each in (parser, *parser.commands.values()) for pair in each.actions.items())
    for option, action in pairs:
        words = option.words() if callable(option.words) else option.words
        if option.file:
            action.complete = shtab.DIRECTORY if option.file == "folder" else shtab.FILE  # type: ignore[attr-defined]
        elif words and option.type is None:
            action.choices = words
    made: str = shtab.complete(parser, shell)
    return made


# ---- what was probably meant ----


def check_options(program: str, options: Sequence[Option], words: Sequence[str]) -> None:
    """Reject the first option that does not exist, naming one that is like it."""
    flags = ["--help", *(flag for option in options for flag in option.flags)]
    known = [flag.removeprefix("--") for flag in flags if flag.startswith("--")]
    for word in words:
        if word == "--":
            return
        option = word.partition("=")[0].removeprefix("--")
        if not word.startswith("--") or " " in option or option in known:
            continue
        longer = [name for name in known if name.startswith(option)]
        hint = f' Did you mean "--{longer[0]}"?' if longer else did_you_mean(option, known).replace('"', '"--', 1)
        raise UsageError(f'There is no option "--{option}".{hint} "{program} --help" lists all of them.')


def check_files(files: Sequence[str], measures: Sequence[str] | None) -> None:
    """Reject measures where files are expected: people separate them by blanks."""
    for file in files:
        if os.path.lexists(file) or os.path.basename(file) != file:
            continue
        from rankbounds.measures.naming.parser import parse_measure

        try:
            parse_measure(file)
        except RankboundsError:
            continue
        asked = ",".join([*(measures or ()), file])
        raise UsageError(f'"{file}" is a measure, not a file: they go behind -m with commas between: -m {asked}.')
