"""Commands, options and files that do not exist, and what was probably meant."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from rankbounds.errors import RankboundsError, UsageError, did_you_mean


def check_words(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    """Reject the first command or option that does not exist, naming one that is like it."""
    subparsers = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    place = next((place for place, word in enumerate(given) if not word.startswith("-")), len(given))
    _check_options(parser, given[:place])
    if place == len(given):
        return
    command, words = given[place], given[place + 1 :]
    if command not in subparsers.choices:
        hint = did_you_mean(command, list(subparsers.choices))
        raise UsageError(f'There is no command "{command}".{hint} "rankbounds --help" lists all of them.')
    _check_options(subparsers.choices[command], words)


def _check_options(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    known = [option.removeprefix("--") for option in parser._option_string_actions if option.startswith("--")]
    for word in words:
        if word == "--":
            return
        option = word.partition("=")[0].removeprefix("--")
        if not word.startswith("--") or " " in option or option in known:
            continue
        longer = [name for name in known if name.startswith(option)]
        hint = f' Did you mean "--{longer[0]}"?' if longer else did_you_mean(option, known).replace('"', '"--', 1)
        raise UsageError(f'There is no option "--{option}".{hint} "{parser.prog} --help" lists all of them.')


def check_files(files: Sequence[str], measures: Sequence[str] | None) -> None:
    """Reject measures where files are expected: people separate them by blanks."""
    for file in files:
        if os.path.lexists(file) or not _is_measure(file):
            continue
        together = ",".join([*(measures or ()), file])
        raise UsageError(f'"{file}" is a measure, not a file: they go behind -m with commas between: -m {together}.')


def _is_measure(word: str) -> bool:
    if os.path.basename(word) != word:
        return False
    from rankbounds.measures.naming.parser import parse_measure

    try:
        parse_measure(word)
    except RankboundsError:
        return False
    return True
