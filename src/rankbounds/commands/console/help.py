"""The greeting, the list of commands by question, and scripts for shells.

shtab makes the completion scripts from the options once: Tab then needs no Python.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from rankbounds.choices import check_choice
from rankbounds.commands import COMMANDS, Command
from rankbounds.commands.console.options import GROUPS, Option, Parser
from rankbounds.errors import RankboundsError, UsageError, did_you_mean
from rankbounds.terminal import reflow, wrap
from rankbounds.version import __version__

DESCRIPTION = "Score ranked retrieval, and say how sure you can be."
NOUNS = {"rbp": "Questions about rank-biased precision (RBP) and its persistence p."}
TO_TRY = {
    "rankbounds demo": "a small collection, explained",
    "rankbounds evaluate qrels.txt runs/*": "score your runs, with bounds",
    "rankbounds compare qrels.txt a.txt b.txt": "is A better than B, or is it noise?",
}
NAME_WIDTH = 23
SHELLS = ("bash", "zsh", "fish")


def greeting() -> str:
    widest = max(map(len, TO_TRY))
    tried = "".join(f"  {command:<{widest}}  {what}\n" for command, what in TO_TRY.items())
    return (
        f"rankbounds {__version__}. {DESCRIPTION}\n\nThree commands to try:\n{tried}\n"
        '"rankbounds --help" lists all commands by the questions they answer.\n'
    )


def by_question(commands: Iterable[Command]) -> dict[str, list[Command]]:
    place = {name: place for place, name in enumerate(name for several in COMMANDS.values() for name in several)}
    listed = sorted(commands, key=lambda command: place.get(command.name, len(place)))
    asked = dict.fromkeys([*COMMANDS, *(command.question for command in listed)])
    return {question: [command for command in listed if command.question == question] for question in asked}


def commands_by_question(commands: Iterable[Command], width: int) -> str:
    parts = []
    for question, several in by_question(commands).items():
        lines = [entry(command.name, command.summary, width) for command in several]
        parts += ["\n".join([question, *lines])] if lines else []
    return "\n\n".join(parts) + "\n"


def entry(name: str, text: str, width: int) -> str:
    blanks = " " * (NAME_WIDTH + 2)
    lines = wrap(text, max(30, width - len(blanks)))
    if len(name) < NAME_WIDTH:
        lines[0] = f"  {name:<{NAME_WIDTH}}{lines[0]}"
        return f"\n{blanks}".join(lines)
    return f"\n{blanks}".join([f"  {name}", *lines])


# ---- help ----


def program_help(options: Sequence[Option], commands: Iterable[Command], width: int) -> str:
    return "\n".join(
        [
            f"{DESCRIPTION}\n\nusage: rankbounds COMMAND ...\n",
            commands_by_question(commands, width),
            *_options_in_groups(options, width),
            *wrap('"rankbounds COMMAND --help" explains a command, "rankbounds measures" the measures.', width),
            "",
        ]
    )


def noun_help(noun: str, commands: Iterable[Command], width: int) -> str:
    listed = [command for command in commands if command.name.startswith(f"{noun} ")]
    parts = [f"{NOUNS[noun]}\n\nusage: rankbounds {noun} COMMAND ...\n", commands_by_question(listed, width)]
    return "\n".join([*parts, *wrap(f'"rankbounds {noun} COMMAND --help" explains a command.', width), ""])


def command_help(command: Command, options: Sequence[Option], width: int, *, everything: bool = False) -> str:
    program = f"rankbounds {command.name}"
    arguments = " ".join(option.usage for option in options if not option.flags)
    answer, examples, details = command.parts
    shown = [option for option in options if everything or option.everyday]
    parts = [
        reflow(answer, width),
        f"\nusage: {' '.join(filter(None, (program, arguments)))} [options]\n",
        "\n".join(["examples:", *(f"  {line}" for line in examples), ""]) if examples else "",
        *([reflow(details, width), ""] if everything and details else []),
        *_options_in_groups(shown, width, command.name),
    ]
    hidden = len(options) - len(shown)
    end = f'"{program} --help-all" shows {hidden} more {"option" if hidden == 1 else "options"}.'
    return "\n".join([*parts, *(wrap(end, width) if hidden and not everything else []), ""]).rstrip("\n") + "\n"


def value_help(options: Sequence[Option], words: Sequence[str], width: int) -> str:
    explain = next((option.explain for option in options if option.explain), None)
    value = next((word for word in words if not word.startswith("-")), None)
    return reflow(explain(value), width) if explain and value is not None else ""


def in_groups(options: Iterable[Option]) -> dict[str, list[Option]]:
    first = sorted(options, key=lambda option: (bool(option.flags), not option.everyday))
    grouped = {group: [option for option in first if option.group == group] for group in GROUPS}
    return {group: several for group, several in grouped.items() if several}


def _options_in_groups(options: Iterable[Option], width: int, command: str = "") -> list[str]:
    return [
        "\n".join([f"{group}:", *(entry(each.usage, each.text_for(command), width) for each in several), ""])
        for group, several in in_groups(options).items()
    ]


# ---- completion ----


def words_of(option: Option) -> Sequence[str]:
    return option.words() if callable(option.words) else option.words


def completion_script(parser: Parser, shell: str) -> str:
    check_choice("--completion", shell, SHELLS)
    try:
        import shtab
    except ImportError:
        raise UsageError("Completion needs the package shtab, which is not installed: pip install shtab.") from None

    pairs = (pair for each in (parser, *parser.commands.values()) for pair in each.actions.items())
    for option, action in pairs:
        words, action.help = words_of(option), option.text_for(option.explained_by).replace("%", "%%")
        if option.file:
            action.complete = shtab.DIRECTORY if option.file == "folder" else shtab.FILE  # type: ignore[attr-defined]
        elif words and option.type is None:
            action.choices = words
    script: str = shtab.complete(parser, shell)
    return script


# ---- what was probably meant ----

TO_TYPE = {
    "eval": "evaluate qrels.txt runs",
    "score": "evaluate qrels.txt runs",
    "metrics": "measures",
    "leaderboard": "compare qrels.txt runs",
    "rank": "compare qrels.txt runs",
    "diff": "compare qrels.txt runs/bm25.txt runs/dense.txt",
    "test": "compare qrels.txt runs/bm25.txt runs/dense.txt",
    "significance": "compare qrels.txt runs/bm25.txt runs/dense.txt",
    "t-test": "compare qrels.txt runs/bm25.txt runs/dense.txt --test t",
    "wilcoxon": "compare qrels.txt runs/bm25.txt runs/dense.txt --test wilcoxon",
    "bootstrap": "compare qrels.txt runs/bm25.txt runs/dense.txt --test bootstrap",
    "gate": 'compare qrels.txt runs/bm25.txt runs/dense.txt --fail-if "nDCG@10 worse"',
    "slices": "compare qrels.txt runs/bm25.txt runs/dense.txt --by classes.csv",
    "segments": "compare qrels.txt runs/bm25.txt runs/dense.txt --by classes.csv",
    "power": "compare qrels.txt runs/bm25.txt runs/dense.txt",
    "plot": "report qrels.txt runs",
    "figure": "report qrels.txt runs",
    "html": "report qrels.txt runs",
    "latex": "compare qrels.txt runs --format latex",
    "validate": "check runs",
    "lint": "check runs",
    "stats": "check qrels.txt",
    "holes": "judge-next qrels.txt runs",
    "unjudged": "judge-next qrels.txt runs",
    "judge": "serve qrels.txt runs",
    "label": "serve qrels.txt runs",
    "annotate": "serve qrels.txt runs",
    "leave-one-out": "study change-by-leaving-a-group-out qrels.txt runs --groups groups.txt",
    "overlap": "similarity runs/bm25.txt runs/dense.txt",
    "rbo": "similarity runs/bm25.txt runs/dense.txt",
    "kappa": "judges qrels.txt labels.txt",
    "llm": "judges qrels.txt labels.txt",
    "kendall": "study agreement-by-measure qrels.txt runs",
    "help": "--help",
    "version": "--version",
    "completion": "--completion bash",
}


def check_command(words: Sequence[str], known: Sequence[str]) -> None:
    name = words[0]
    if name in NOUNS:
        name, known = " ".join(words[:2]), [each for each in known if each.startswith(f"{name} ")]
    moved = next((each for each in known if each.endswith(f" {name}")), None)
    if moved:
        raise UsageError(f'{name} is "rankbounds {moved}".')
    if name in known:  # one argument with a blank in it
        raise UsageError(f'"{name}" is two words: type rankbounds {name}, without quotes.')
    if name.lower() in TO_TYPE:
        raise UsageError(f'There is no command "{name}": type "rankbounds {TO_TYPE[name.lower()]}".')
    if os.path.lexists(name):
        raise UsageError(f'"{name}" is a file, not a command: type "rankbounds evaluate {" ".join(words)}".')
    hint, program = did_you_mean(name, list(known)), " ".join(["rankbounds", *words[: name.count(" ")]])
    if not hint and _is_measure(name):
        raise UsageError(f'"{name}" is a measure: type "rankbounds evaluate qrels.txt runs -m {name}".')
    raise UsageError(f'There is no command "{name}".{hint} "{program} --help" lists the commands.')


OPTIONS_MEANT = {"metric": "measure", "metrics": "measure", "plot": "figure", "out": "output", "verbose": "wide"}


def check_options(program: str, options: Sequence[Option], words: Sequence[str]) -> None:
    from rankbounds.files.records import is_number

    flags = [flag for option in options for flag in option.flags]
    known = [flag.removeprefix("--") for flag in flags if flag.startswith("--")]
    formats = [word for option in options if option.dest == "format" for word in words_of(option)]
    for word in words:
        if word == "--":
            return
        flag = word.partition("=")[0]
        option = flag.removeprefix("--")
        if not flag.startswith("-") or " " in flag or flag in flags or is_number(flag) or flag == "-":
            continue
        if not flag.startswith("--") and flag[:2] in flags:  # -mAP
            continue
        longer = [name for name in known if len(option) > 1 and name.startswith(option)]
        if flag in ("-k", "--k", "--cutoff", "--top-k") and "measure" in known:
            hint = " The depth is part of the measure: -m nDCG@10."
        elif option in formats:
            hint = f' Did you mean "--format {option}"?'
        elif longer:
            hint = f' Did you mean "--{longer[0]}"?'
        else:
            near = did_you_mean(option, known, OPTIONS_MEANT) if flag.startswith("--") else ""
            hint = near.replace('"', '"--', 1)
        raise UsageError(f'There is no option "{flag}".{hint} See "{program} --help".')


def _is_measure(text: str) -> bool:
    from rankbounds.measures.naming.parser import parse_measure

    try:
        parse_measure(text)
    except RankboundsError:
        return False
    return True


def check_files(files: Sequence[str], measures: Sequence[str] | None) -> None:
    for file in files:
        if not os.path.lexists(file) and os.path.basename(file) == file and _is_measure(file):
            asked = ",".join([*(measures or ()), file])
            raise UsageError(f'"{file}" is a measure, not a file. Measures are separated by commas: -m {asked}.')
