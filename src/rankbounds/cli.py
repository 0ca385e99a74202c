"""The command line: parse, call, print. Commands are functions in the modules of ``rankbounds.commands``."""

from __future__ import annotations

from rankbounds.commands.console.messages import (
    complain,
    expect_interruption,
    keep_quiet,
    progress_shown,
    say,
    screen_width,
)

expect_interruption()  # before anything that takes time to load

import argparse  # noqa: E402
import contextlib  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402

# Work is shared among threads of our own: those of matrix products would wait for theirs in loops. Before NumPy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Sequence  # noqa: E402
from typing import Any, NoReturn  # noqa: E402

from rankbounds.commands import Command, known_commands, our_commands  # noqa: E402
from rankbounds.commands.console.options import Option, Parser, UnparsedError, check_words  # noqa: E402
from rankbounds.errors import RankboundsError, RankboundsWarning  # noqa: E402

PROGRAM = (
    Option("--version", "show the version", everyday=True),
    Option(
        "--completion SHELL",
        "print the script that completes commands and options in bash, zsh or fish",
        words=("bash", "zsh", "fish"),
        everyday=True,
    ),
    Option("-h, --help", "show this help", everyday=True),
)


def build_parser() -> Parser:
    """A parser of the program with all of its commands, for completion."""
    from rankbounds.commands.console.output import TERMINAL

    parser = Parser(PROGRAM, prog="rankbounds")
    above = {"": _commands_of(parser)}
    for name, command in known_commands().items():
        noun, _, verb = name.rpartition(" ")
        if noun not in above:
            above[noun] = _commands_of(above[""].add_parser(noun, help=f"commands about {noun}"))
        options = (*command.load()[0], *TERMINAL)
        parser.commands[name] = above[noun].add_parser(verb, help=command.summary, options=options)
    return parser


def _commands_of(parser: Any) -> Any:
    return parser.add_subparsers(metavar="COMMAND", dest="command", required=True, parser_class=Parser)


def parse(given: Sequence[str]) -> argparse.Namespace:
    """Parse the options; an error names what unknown words probably meant."""
    command = _command_of(given)
    if command is None:
        _answer(given)
    from rankbounds.commands.console.output import TERMINAL

    declared, run = command.load()
    declared, words = (*declared, *TERMINAL), given[len(command.name.split()) :]
    before = words[: words.index("--")] if "--" in words else words
    if asked := {*before} & {"-h", "--help", "--help-all"}:
        from rankbounds.commands.console.help import command_help, value_help

        text = value_help(declared, before, screen_width() - 2)
        _show(text or command_help(command, declared, screen_width() - 2, everything="--help-all" in asked))
    parser = Parser(declared, prog=f"rankbounds {command.name}")
    try:
        options, apart = parser.parse_known_args(words)
        several = (each.dest for each in options.declared if not each.flags and each.nargs in ("+", "*"))
        files = next(several, None)
        if apart and (files is None or any(word.startswith("-") for word in apart)):
            raise UnparsedError(f'Unrecognized arguments: {" ".join(apart)}. See "{parser.prog} --help".')
    except UnparsedError:
        from rankbounds.commands.console.help import check_options

        check_options(parser.prog, declared, words)
        raise
    options.command, options.run = command.name, run
    check_words(options)
    if files is not None and (apart or getattr(options, files)):
        from rankbounds.commands.console.help import check_files

        setattr(options, files, [*(getattr(options, files) or ()), *apart])  # some stood behind other options
        given_files = [getattr(options, "qrels", None) or "", *getattr(options, files)]
        check_files(given_files, getattr(options, "measures", None))
    return options


def _command_of(given: Sequence[str]) -> Command | None:
    named = [" ".join(given[:words]) for words in (2, 1) if not any(" " in word for word in given[:words])]
    ours = our_commands()
    known = ours if given[0].startswith("-") or not ours.keys().isdisjoint(named) else known_commands()
    return next((known[name] for name in named if name in known), None)


def _show(text: str) -> NoReturn:
    print(text, end="")
    raise SystemExit(0)


def _answer(given: Sequence[str]) -> NoReturn:
    from rankbounds.commands.console import help as about

    asked = {*given} & {"-h", "--help", "--help-all"}
    if given[0] in about.NOUNS and (len(given) == 1 or given[1] in asked):
        _show(about.noun_help(given[0], our_commands().values(), screen_width() - 2))
    if given[0] in asked:
        _show(about.program_help(PROGRAM, known_commands().values(), screen_width() - 2))
    place = next((place for place, word in enumerate(given) if not word.startswith("-")), len(given))
    parser = Parser(PROGRAM, prog="rankbounds")
    options, apart = parser.parse_known_args(given)
    if options.version:
        from rankbounds.columns.native import described
        from rankbounds.version import __version__

        _show(f"rankbounds {__version__} ({described()})\n")
    if options.completion is not None:
        _show(about.completion_script(build_parser(), options.completion))
    about.check_options("rankbounds", PROGRAM, given[:place])
    if place == len(given):
        parser.error("the following arguments are required: COMMAND")
    commands = known_commands()
    if given[place] not in commands or " " in given[place]:
        about.check_command(given[place:], list(commands))
    parser.error(f"unrecognized arguments: {' '.join(word for word in apart if word.startswith('-'))}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code: 0 fine, 1 a check failed, 2 usage, 3 bad data, 4 undecided, 70 our bug."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (open as long as the program runs)
    keep_quiet(False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RankboundsWarning)
            warnings.showwarning = _show_warning
            given = sys.argv[1:] if arguments is None else arguments
            if not given:
                from rankbounds.commands.console.help import greeting

                print(greeting(), end="")
                return 0
            options = parse(given)
            keep_quiet(options.quiet)
            from rankbounds.commands.console import output
            from rankbounds.terminal import use_look

            output.check_format(options)
            output.check_outputs(options)
            opening = sys.modules.get("rankbounds.files.opening")  # a command that reads nothing need not load it
            streams = opening.keeping_streams() if opening else contextlib.nullcontext()
            with streams, use_look(output.look_from(options)), progress_shown():
                code = output.finish(options, options.run(options))
            if sys.stdout is not None:
                sys.stdout.flush()
            return code
    except BrokenPipeError:
        _forget_output()  # the reader went away; nothing is left to say
        return 0
    except KeyboardInterrupt:
        complain("interrupted")
        return 130
    except RankboundsError as error:
        return _fail(str(error), error.exit_code)
    except OSError as error:
        return _fail(f"{error.filename or 'a file'}: cannot be used ({error.strerror or error}).", 3)
    except MemoryError:
        return _fail("not enough memory for this input.", 3)
    except RecursionError:
        return _fail("the input is nested too deeply.", 3)
    except OverflowError as error:
        return _fail(f"a number is too large to compute with ({error}).", 3)
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith("rankbounds"):
            raise
        package = error.name.partition(".")[0]
        return _fail(f"this needs the package {package}, which is not installed: pip install {package}.", 2)
    except UnicodeEncodeError as error:
        return _fail(
            f"The text {error.object!a} contains half a character (a lone surrogate), which no file or name "
            "can contain.",
            2,
        )
    except Exception as error:
        if os.environ.get("RANKBOUNDS_TRACEBACK"):
            raise
        complain(
            f"this is a bug in rankbounds, not a problem with your files: {type(error).__name__}: {error}. Please "
            "report it with the command. Set RANKBOUNDS_TRACEBACK=1 to see where it happened."
        )
        return 70


def _fail(message: str, code: int) -> int:
    _forget_output()
    complain(message)
    return code


def _forget_output() -> None:
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(message: Warning | str, category: type[Warning], *_place: Any, **_options: Any) -> None:
    if issubclass(category, RankboundsWarning):
        say(f"warning: {message}")


if __name__ == "__main__":
    sys.exit(main())
