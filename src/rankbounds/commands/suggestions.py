"""Commands and options that do not exist, and which were probably meant."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rankbounds.errors import UsageError, did_you_mean


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
        if not word.startswith("--") or " " in option or any(name.startswith(option) for name in known):
            continue
        hint = did_you_mean(option, known).replace('"', '"--', 1)
        raise UsageError(f'There is no option "--{option}".{hint} "{parser.prog} --help" lists all of them.')
