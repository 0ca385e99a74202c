"""The command line: parse, call, print. One module in ``rankbounds.commands`` is one command."""

from __future__ import annotations

from rankbounds.commands.messages import complain, expect_interruption, keep_quiet, say

expect_interruption()  # before anything that takes time to load

import argparse  # noqa: E402
import contextlib  # noqa: E402
import importlib  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402

# Work is shared among threads of our own: those of matrix products would wait for theirs in loops. Before NumPy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Collection, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NoReturn  # noqa: E402

from rankbounds import commands  # noqa: E402
from rankbounds.errors import RankboundsError, RankboundsWarning, UsageError  # noqa: E402

DESCRIPTION = "Score ranked retrieval, and say how sure you can be."
EPILOGUE = '"rankbounds COMMAND --help" explains a command, "rankbounds measures" the measures.'

KEEPS_ITS_NAME = ("trec_eval",)
"""Commands that are called as another program is, underscore and all."""


class _UnparsedError(UsageError):
    """Words that make no command."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line, and whose help has commands by question.

    Options are never abbreviated: a new one would change what a shorter word stands for.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the whole usage."""
        raise _UnparsedError(f'{message[0].upper()}{message[1:]}. See "{self.prog} --help".')

    def format_help(self) -> str:
        """The usual help; that of the program has commands under the questions that they answer."""
        subparsers = self._subparsers
        if subparsers is None:
            return super().format_help()
        from rankbounds.commands.messages import screen_width
        from rankbounds.commands.questions import commands_by_question
        from rankbounds.terminal import wrapped

        (listed,) = subparsers._group_actions
        explanations = {action.dest: action.help or "" for action in listed._get_subactions()}  # type: ignore[attr-defined]
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        formatter.start_section(self._optionals.title)
        formatter.add_arguments(self._optionals._group_actions)
        formatter.end_section()
        width = screen_width() - 2
        by_question, epilogue = commands_by_question(explanations, width), wrapped(self.epilog or "", width)
        return "\n".join([formatter.format_help(), by_question, *epilogue, ""])


class _Help(argparse.HelpFormatter):
    """Help whose descriptions keep their paragraphs, in lines as long as the terminal's."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from rankbounds.terminal import reflowed

        return "\n".join(indent + line for line in reflowed(text, width).split("\n"))


class _Completion(argparse.Action):
    """Print the script that completes commands, options and their values in a shell."""

    def __call__(self, parser: argparse.ArgumentParser, _options: Any, shell: Any, _given: str | None = None) -> None:
        from rankbounds.commands.completion import script

        print(script(build_parser(), shell), end="")
        parser.exit()


def build_parser(loaded: Collection[str] | None = None) -> Parser:
    """A parser with a subcommand for every module in ``rankbounds.commands``.

    Only those named in ``loaded`` (None: all) have their arguments; of others no more than the explanation is read,
    because help and version should not wait for everything that a command may import.
    """
    from rankbounds.columns.native import described
    from rankbounds.version import __version__

    parser = Parser(prog="rankbounds", description=DESCRIPTION, epilog=EPILOGUE)
    parser.add_argument("--version", action="version", version=f"rankbounds {__version__} ({described()})")
    parser.add_argument(
        "--completion",
        metavar="SHELL",
        action=_Completion,
        help="print the script that completes commands and options in bash, zsh or fish",
    )
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name, explanation in _commands().items():
        subparser = subparsers.add_parser(
            name,
            help=explanation.splitlines()[0].rstrip("."),
            description=explanation,
            formatter_class=_Help,
        )
        if loaded is None or name in loaded:
            from rankbounds.commands.output import add_terminal

            command: Any = importlib.import_module(f"{commands.__name__}.{name.replace('-', '_')}")
            command.add_arguments(subparser)
            add_terminal(subparser)
            subparser.set_defaults(run=command.run)
    return parser


def parsed(given: Sequence[str]) -> argparse.Namespace:
    """The options; of words that are none of ours, those that were probably meant are named."""
    parser = build_parser(given[:1])
    try:
        options, apart = parser.parse_known_args(given)
        files = _repeated_files(parser, options.command)
        if apart and (files is None or any(word.startswith("-") for word in apart)):
            parser.error(f"unrecognized arguments: {' '.join(apart)}")
    except _UnparsedError:
        from rankbounds.commands.suggestions import check_words

        check_words(parser, given)
        raise
    if files is not None and (apart or getattr(options, files)):
        setattr(options, files, [*(getattr(options, files) or ()), *apart])
        from rankbounds.commands.suggestions import check_files

        given_files = [getattr(options, "qrels", None) or "", *getattr(options, files)]
        check_files(given_files, getattr(options, "measures", None))
    return options


def _repeated_files(parser: Parser, command: str) -> str | None:
    """Under which name a command's options hold files of which there may be several, also behind other options."""
    (subparsers,) = parser._subparsers._group_actions  # type: ignore[union-attr]
    actions = subparsers.choices[command]._actions  # type: ignore[index]
    return next((action.dest for action in actions if not action.option_strings and action.nargs in ("+", "*")), None)


def _commands() -> dict[str, str]:
    """The explanation that opens each module of a command, by the command's name."""
    source = {path.stem: path.read_text("utf-8") for path in sorted(Path(commands.__path__[0]).glob("*.py"))}
    return {
        name if name in KEEPS_ITS_NAME else name.replace("_", "-"): text.split('"""', 2)[1].strip()
        for name, text in source.items()
        if "\ndef run(" in text
    }


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
                return _greet()
            options = parsed(given)
            keep_quiet(options.quiet)
            from rankbounds.commands import output, progress
            from rankbounds.terminal import looking

            if getattr(options, "formats", None):
                output.check_format(options)
            output.check_outputs(options)
            with _streams_kept(), looking(output.look_from(options)), progress.shown():
                code = options.run(options)
            if sys.stdout is not None:
                sys.stdout.flush()
            return int(code or 0)
    except BrokenPipeError:
        _forget_output()  # the reader went away; nothing is left to say
        return 0
    except KeyboardInterrupt:
        complain("interrupted")
        return 130
    except RankboundsError as error:
        _forget_output()
        complain(str(error))
        return error.exit_code
    except (OSError, MemoryError, RecursionError, OverflowError) as error:
        _forget_output()
        complain(_too_much(error))
        return 3
    except UnicodeEncodeError as error:
        _forget_output()
        complain(f"The text {error.object!a} holds half a character, which no file and no name of one can hold.")
        return 2
    except Exception as error:
        if os.environ.get("RANKBOUNDS_TRACEBACK"):
            raise
        complain(
            f"this is a mistake in rankbounds, not in your files: {type(error).__name__}: {error}. Please report it "
            "with the command; RANKBOUNDS_TRACEBACK=1 before the command shows where it happened."
        )
        return 70


def _greet() -> int:
    from rankbounds.commands.questions import greeting
    from rankbounds.version import __version__

    print(greeting(__version__, DESCRIPTION), end="")
    return 0


def _streams_kept() -> contextlib.AbstractContextManager[None]:
    """Pipes can be read again while a command runs; a command that reads nothing need not load what reads."""
    opening = sys.modules.get("rankbounds.files.opening")
    return opening.keeping_streams() if opening else contextlib.nullcontext()


def _too_much(error: BaseException) -> str:
    """What the machine refused, where nobody closer to it knew more."""
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: cannot be used ({error.strerror or error})."
    if isinstance(error, MemoryError):
        return "not enough memory for this input."
    if isinstance(error, RecursionError):
        return "the input is nested too deeply."
    return f"a number is too large to compute with ({error})."


def _forget_output() -> None:
    """What could not be printed is not tried again when the program ends."""
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
