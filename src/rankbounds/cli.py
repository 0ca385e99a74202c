"""The command line: parse, call, print. One module in ``rankbounds.commands`` is one command."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NoReturn

from rankbounds import commands
from rankbounds.errors import RankboundsError, RankboundsWarning, UsageError
from rankbounds.files.opening import keeping_streams

DESCRIPTION = "Score ranked retrieval, and say how sure you can be."
EPILOGUE = (
    'Start with "rankbounds demo". "rankbounds COMMAND --help" explains a command, "rankbounds measures" the measures.'
)


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
    from rankbounds import __version__

    parser = Parser(prog="rankbounds", description=DESCRIPTION, epilog=EPILOGUE)
    parser.add_argument("--version", action="version", version=f"rankbounds {__version__}")
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
        name.replace("_", "-"): text.split('"""', 2)[1].strip() for name, text in source.items() if "\ndef run(" in text
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code: 0 fine, 1 a check failed, 2 usage, 3 bad data."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RankboundsWarning)
            warnings.showwarning = _show_warning
            given = sys.argv[1:] if arguments is None else arguments
            options = build_parser(given[:1]).parse_args(given)
            with keeping_streams():
                code = options.run(options)
            sys.stdout.flush()
            return int(code or 0)
    except RankboundsError as error:
        print(f"rankbounds: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader went away; nothing is left to say
        return 0
    except KeyboardInterrupt:
        print("rankbounds: interrupted", file=sys.stderr)
        return 130
    except MemoryError:
        print("rankbounds: not enough memory for this input.", file=sys.stderr)
        return 3


def _show_warning(message: Warning | str, category: type[Warning], *_place: Any, **_options: Any) -> None:
    if issubclass(category, RankboundsWarning):
        print(f"rankbounds: warning: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
