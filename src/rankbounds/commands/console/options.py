"""An option of a command is one object: parser, help, checks of files, completion and documentation read it."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NoReturn, TypeAlias, TypeVar

from rankbounds.choices import check_choice, whole_number
from rankbounds.errors import UsageError

T = TypeVar("T")
FILES = {"FILE": "read", "QRELS": "read", "RUN": "read", "LABELS": "read", "FOLDER": "folder"}
"""Which values are files, by what ``usage`` calls them."""
GROUPS = ("input", "options", "unjudged and ties", "test", "gate", "output")
Options: TypeAlias = argparse.Namespace
"""The values of a command's options; ``declared`` has the options themselves, ``command`` the command's name."""


@dataclass(frozen=True, eq=False)
class Option:
    """An option or argument of a command."""

    usage: str
    """Flags and what follows them, as help shows it: ``-m, --measure MEASURE``, ``--pair RUN_A RUN_B``, ``RUN ...``
    (one or more), ``[RUN ...]`` (any number), ``[QRELS]`` (may be left out), ``--mean collections|queries`` (one of
    these words, the first by default). Flags alone are a switch."""
    help: str | Callable[[], str]
    """What it is for; a function where that has to be looked up in modules that are not loaded before."""
    default: Any = None
    type: Callable[[str], Any] | None = None
    """What makes the value from the word; by default the type of a default that is a number."""
    dest: str = ""
    """The name of its value; by default that of the first long flag, or of the argument."""
    file: Literal["read", "written", "folder"] | None = None
    """Does it name files to read, a file to write, or a folder? By default what ``usage`` calls FILE, QRELS, RUN or
    LABELS is read, and FOLDER is a folder."""
    words: Sequence[str] | Callable[[], Sequence[str]] = ()
    """What completion offers; of an output, the formats that it can have."""
    closed: bool = False
    """Are other words rejected? (Where Python's own call says what it takes, it rejects them itself.)"""
    group: str = ""
    """The part of the help where it stands, one of ``GROUPS``; by default "input" for arguments, else "options"."""
    everyday: bool = False
    """Is it shown by ``--help``, or by ``--help-all`` alone? Arguments are always shown."""
    repeated: bool = False
    required: bool = False
    replaces_runs: bool = False
    """Judgments and runs are not asked for where it is given."""
    explain: Callable[[str], str] | None = None
    """What ``--help`` adds about the value that was given, such as the settings of a study."""
    about_runs: bool = False
    """Is it about judgments and runs, so that tables of scores in their place leave it nothing to decide?"""
    explained_by: str = ""
    """The command whose help explains it, if many commands take it."""
    flags: list[str] = field(init=False)
    names: list[str] = field(init=False)
    nargs: str | int | None = field(init=False)
    """The number of values in argparse's notation; None for one, 0 for a switch."""

    def __post_init__(self) -> None:
        words = self.usage.split()
        flags = [word.rstrip(",") for word in words if word.startswith("-")]
        shown = " ".join(word for word in words if not word.startswith("-"))
        may_lack, several = shown[:1] + shown[-1:] == "[]", shown.rstrip("]").endswith(" ...")
        names = shown.strip("[]" if may_lack else "").removesuffix(" ...").split()
        one = "?" if may_lack else None if len(names) == 1 else len(names)
        long = next((flag for flag in flags if flag.startswith("--")), None)
        derived: dict[str, Any] = {
            "flags": flags,
            "names": names,
            "nargs": ("*" if may_lack else "+") if several else one,
            "dest": self.dest or (long[2:].replace("-", "_") if long else names[0].lower()),
            "file": self.file or (FILES.get(names[0]) if names else None),
            "group": self.group or ("options" if flags else "input"),
            "everyday": self.everyday or not flags,
        }
        if names and "|" in names[0]:
            choices = names[0].split("|")
            derived |= {"words": self.words or choices, "default": self.default or choices[0], "closed": True}
        if self.type is None and type(self.default) in (int, float):
            derived["type"] = type(self.default)
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {name: None if callable(value) else value for name, value in vars(self).items()}

    def text_for(self, command: str) -> str:
        if self.explained_by not in ("", command) and not self.everyday:
            text = f"as in {self.explained_by}"
        else:
            text = self.help if isinstance(self.help, str) else self.help()
        return f"{text} (default {self.default})" if "|" in self.usage else text

    def add_to(self, parser: Any) -> argparse.Action:
        settings: dict[str, Any] = {"default": self.default}
        if self.nargs == 0:
            settings |= {"default": False, "action": "store_true"}
        else:
            metavar = self.names[0] if len(self.names) == 1 else tuple(self.names)
            settings |= {"type": self.type, "nargs": self.nargs, "metavar": metavar}
        if not self.flags:
            return parser.add_argument(self.dest, **settings)
        if self.nargs != 0:
            settings["action"] = _InsteadOfRuns if self.replaces_runs else "append" if self.repeated else _Once
        return parser.add_argument(*self.flags, dest=self.dest, required=self.required, **settings)


class _Once(argparse.Action):
    """A value that a second one may not silently replace."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, flag: str | None = None) -> None:
        if getattr(namespace, self.dest) is not self.default:
            parser.error(f"{flag} is given twice")
        setattr(namespace, self.dest, values)


class _InsteadOfRuns(argparse.Action):
    """Files that replace judgments and runs."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or []), *values])
        for option, action in parser.actions.items():
            if not option.flags:
                action.required = False


# ---- to declare options with ----


def whole(what: str, least: int, most: int | None = None) -> Callable[[str], int]:
    limits = f"from {least} on" if most is None else f"from {least} to {most}"

    def number(text: str) -> int:
        value = whole_number(text, 10**100 if most is None else most)
        if value is None or value < least:
            raise argparse.ArgumentTypeError(f'{what} a whole number {limits}, not "{text}"')
        return value

    return number


def words_in(module: str, name: str, *more: str) -> Callable[[], Sequence[str]]:
    return lambda: (*more, *getattr(importlib.import_module(f"rankbounds.{module}"), name))


def group_under(title: str, *options: Option, **more: Any) -> tuple[Option, ...]:
    return tuple(replace(option, group=title, **more) for option in options)


def everyday(*options: Option) -> tuple[Option, ...]:
    return tuple(replace(option, everyday=True) for option in options)


# ---- what they say ----


def check_words(options: Options) -> None:
    for option in options.declared:
        if option.closed and getattr(options, option.dest) is not None:
            check_choice(option.flags[-1], getattr(options, option.dest), option.words)


def options_given(options: Options, *names: str) -> list[str]:
    changed = (each for each in options.declared if getattr(options, each.dest) not in (None, False, each.default))
    return [each.flags[-1] for each in changed if each.flags and each.dest in names]


def pick(options: Options, *names: str) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names if hasattr(options, name)}


def call(options: Options, function: Callable[..., T], *given: Any, **more: Any) -> T:
    from inspect import Parameter, signature

    parameters = signature(function).parameters
    names = list(parameters)[len(given) :]
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()):
        from rankbounds.evaluation.assumptions import ASSUMPTIONS

        names += ASSUMPTIONS
    values = vars(options)
    chosen = {name: values[name] for name in names if name not in more and values.get(name) is not None}
    return function(*given, **chosen, **more)


class UnparsedError(UsageError):
    """Words that make no command."""


class Parser(argparse.ArgumentParser):
    """A parser of declared options with one-line errors; options are never abbreviated."""

    def __init__(self, options: Sequence[Option] = (), **more: Any) -> None:
        super().__init__(allow_abbrev=False, add_help=False, **more)
        self.actions = {option: option.add_to(self) for option in options}
        self.set_defaults(declared=tuple(options))
        self.commands: dict[str, Parser] = {}

    def error(self, message: str) -> NoReturn:
        for kind, number in (("int", "a whole number is"), ("float", "a number is"), ("numbers", "numbers are")):
            message = re.sub(f"invalid {kind} value: '(.*)'", rf'{number} expected, not "\1"', message)
        raise UnparsedError(f'{message[0].upper()}{message[1:]}. See "{self.prog} --help".')
