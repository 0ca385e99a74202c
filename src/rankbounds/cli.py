"""The command line: parse, call, print. One module in ``rankbounds.commands`` is one command."""

from __future__ import annotations

from rankbounds.commands.messages import expect_interruption, say

expect_interruption()  # before anything that takes time to load

import argparse  # noqa: E402
import contextlib  # noqa: E402
import importlib  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Collection, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NoReturn  # noqa: E402

from rankbounds import commands  # noqa: E402
from rankbounds.errors import RankboundsError, RankboundsWarning, UsageError  # noqa: E402

DESCRIPTION = "Score ranked retrieval, and say how sure you can be."
EPILOGUE = (
    'Start with "rankbounds demo". "rankbounds COMMAND --help" explains a command, "rankbounds measures" the measures.'
)

KEEPS_ITS_NAME = ("trec_eval",)
"""Commands that are called as another program is, underscore and all."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the whole usage."""
        raise UsageError(f'{message[0].upper()}{message[1:]}. See "{self.prog} --help".')


def build_parser(loaded: Collection[str] | None = None) -> Parser:
    """A parser with a subcommand for every module in ``rankbounds.commands``.

    Only those named in ``loaded`` (None: all) have their arguments; of others no more than the explanation is read,
    because help and version should not wait for everything that a command may import.
    """
    from rankbounds.columns.native import described
    from rankbounds.version import __version__

    parser = Parser(prog="rankbounds", description=DESCRIPTION, epilog=EPILOGUE)
    parser.add_argument("--version", action="version", version=f"rankbounds {__version__} ({described()})")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name, explanation in _commands().items():
        one = subparsers.add_parser(
            name,
            help=explanation.splitlines()[0].rstrip("."),
            description=explanation,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if loaded is None or name in loaded:
            command: Any = importlib.import_module(f"{commands.__name__}.{name.replace('-', '_')}")
            command.add_arguments(one)
            one.set_defaults(run=command.run)
    return parser


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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RankboundsWarning)
            warnings.showwarning = _show_warning
            from rankbounds.commands.output import check_outputs

            given = sys.argv[1:] if arguments is None else arguments
            options = build_parser(given[:1]).parse_args(given)
            check_outputs(options)
            with _streams_kept():
                code = options.run(options)
            if sys.stdout is not None:
                sys.stdout.flush()
            return int(code or 0)
    except BrokenPipeError:
        _forget_output()  # the reader went away; nothing is left to say
        return 0
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except RankboundsError as error:
        _forget_output()
        say(str(error))
        return error.exit_code
    except (OSError, MemoryError, RecursionError, OverflowError) as error:
        _forget_output()
        say(_too_much(error))
        return 3
    except UnicodeEncodeError as error:
        _forget_output()
        say(f"The text {error.object!a} holds half a character, which no file and no name of one can hold.")
        return 2
    except Exception as error:
        if os.environ.get("RANKBOUNDS_TRACEBACK"):
            raise
        say(
            f"this is a mistake in rankbounds, not in your files: {type(error).__name__}: {error}. Please report it "
            "with the command; RANKBOUNDS_TRACEBACK=1 before the command shows where it happened."
        )
        return 70


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
