"""Where a command's results go, and how they look: options that every command has, whatever it reads."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankbounds.choices import check_choice, whole_number
from rankbounds.commands.messages import say, screen_width
from rankbounds.commands.progress import cleared
from rankbounds.commands.progress import progress_on_terminal as progress_on_terminal
from rankbounds.errors import DataError, RankboundsError, UsageError, did_you_mean
from rankbounds.files.writing import not_utf8, reject_compressed, reject_inputs, writing
from rankbounds.terminal import Look, harmless, lines_that_fit, look

FILES_READ = (
    "qrels", "runs", "run_file", "a", "b", "trec_output", "against", "baseline", "restrict", "groups", "ties_key",
    "depths", "examined", "documents", "corpus", "q", "sample", "judgments", "worklist", "label_files", "again",
    "preferences", "scores", "by", "collections", "queries",
)  # fmt: skip
"""Under which names the options of commands hold files to read."""
FILES_WRITTEN = ("output", "save", "figure", "bibtex", "page")
"""Under which names they hold files to write."""


ENDINGS = {
    "json": "json", "jsonl": "jsonl", "ndjson": "jsonl", "csv": "csv", "tsv": "tsv", "parquet": "parquet",
    "tex": "latex", "md": "markdown", "html": "html", "htm": "html", "xml": "junit",
}  # fmt: skip
"""Endings of files that say in which format to write."""
PLAIN_ENDINGS = ("", "txt", "text", "out", "log", "trec", "qrels", "run", "res", "eval")
"""Endings that say nothing of the format. Others are refused, unless --format says what is meant."""
MOST_DIGITS = 15


def add_output(parser: argparse.ArgumentParser, formats: tuple[str, ...]) -> None:
    """Where results go, and how they look."""
    parser.add_argument(
        "--format",
        metavar="F",
        help=f"{', '.join(formats)} (default: what the file's name after -o ends in, else {formats[0]})",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of to standard output")
    if "csv" in formats:
        parser.add_argument(
            "--raw",
            action="store_true",
            help="csv and tsv: leave ids that begin with = + - @ as they are; without it a ' before them tells "
            "spreadsheets that they are text",
        )
    if "table" in formats:
        parser.add_argument(
            "--wide", action="store_true", help="all columns and whole names, also where the terminal is too narrow"
        )
        if "--digits" not in parser._option_string_actions:  # (where it is about what was published)
            parser.add_argument(
                "--digits", dest="table_digits", type=_digits, metavar="N", help="of scores in tables (default 4)"
            )
    parser.set_defaults(formats=formats)


def _digits(text: str) -> int:
    digits = whole_number(text, MOST_DIGITS)
    if digits is None:
        raise argparse.ArgumentTypeError(f'digits are a whole number from 0 to {MOST_DIGITS}, not "{text}"')
    return digits


def add_terminal(parser: argparse.ArgumentParser) -> None:
    """What every command says beside its results, and how."""
    parser.add_argument("--quiet", action="store_true", help="no progress, notes or warnings: errors only")
    parser.add_argument(
        "--color",
        metavar="WHEN",
        default="auto",
        help="bold in tables: auto (default; on a terminal, unless NO_COLOR is set), always, never",
    )


def check_format(options: argparse.Namespace) -> None:
    """Settle the format, and reject what cannot be written before any work is done."""
    named = _format_of_ending(options)
    if options.format is None:
        options.format = named or options.formats[0]
    if options.format not in options.formats:
        hint = did_you_mean(options.format, list(options.formats))
        raise UsageError(f'There is no format "{options.format}".{hint} Known: {", ".join(options.formats)}.')
    if named and named != options.format:
        raise UsageError(
            f"-o {options.output} ends as {named} does, but --format says {options.format}: leave out --format, or "
            "name another file."
        )
    if options.format == "parquet" and not options.output:
        raise UsageError("Parquet is not text: name a file with -o.")


def _format_of_ending(options: argparse.Namespace) -> str | None:
    """The format that the end of the file's name asks for, if it does."""
    name = os.path.basename(options.output or "").lower()
    ending = name.rpartition(".")[2] if "." in name else ""
    named = ENDINGS.get(ending)
    if named is None and (ending in PLAIN_ENDINGS or not ending[0].isalpha()):
        return None
    if named is None and getattr(options, "format", None) and len(options.formats) > 1:
        return None  # --format says what is meant
    if named not in options.formats:
        reject_compressed(name)
        raise UsageError(
            f'-o {options.output}: "{options.command}" cannot write {named or f".{ending}"}. Known: '
            f"{', '.join(options.formats)}."
        )
    return named


def look_from(options: argparse.Namespace) -> Look:
    """How tables look where these options send them."""
    check_choice("--color", options.color, ("auto", "always", "never"))
    on_terminal = not getattr(options, "output", None) and sys.stdout is not None and sys.stdout.isatty()
    styled = options.color == "always" or (options.color == "auto" and on_terminal and _takes_styles(os.environ))
    digits = getattr(options, "table_digits", None)
    width = screen_width() if on_terminal and not getattr(options, "wide", False) else None
    return Look(width, 4 if digits is None else digits, styled)


def _takes_styles(environment: Mapping[str, str]) -> bool:
    """Does this terminal know bold, and does its user want it? (See no-color.org.)"""
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return os.name != "nt" or any(name in environment for name in ("WT_SESSION", "ANSICON", "TERM"))


def check_outputs(options: argparse.Namespace, outputs: Sequence[str] | None = None) -> None:
    """Reject, before any work is done, names that results cannot have, and those of files that are read."""
    if outputs is None:
        written = (getattr(options, name, None) for name in FILES_WRITTEN)
        outputs = [name for name in written if isinstance(name, str)]
    for name in outputs:
        reject_compressed(name)
    if not getattr(options, "formats", None) and getattr(options, "output", None):
        options.formats = ("trec", "csv", "tsv", "jsonl")  # what judgments are written as
        _format_of_ending(options)
    if getattr(options, "figure", None):
        _figure_ending(options.figure)
    reject_inputs(outputs, _files_read(options) if any(map(os.path.isfile, outputs)) else ())


def _files_read(options: argparse.Namespace) -> list[str]:
    from rankbounds.commands.run_names import name_and_path
    from rankbounds.files.opening import STANDARD_INPUT, expand

    paths: list[str] = []
    for option in FILES_READ:
        given = getattr(options, option, None)
        for path in given if isinstance(given, list) else [given]:
            if isinstance(path, str):
                with contextlib.suppress(RankboundsError):  # the command tells of what is not there
                    paths += expand([name_and_path(path)[1]])
    return ["/dev/stdin" if path == STANDARD_INPUT else path for path in paths]  # whichever file that is


def write_rows(options: argparse.Namespace, rows: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> None:
    """Rows in the format asked for, to where it was asked for."""
    from rankbounds.tables import render_rows

    write_text(options, render_rows(rows, options.format, fields, raw=options.raw))


def write_text(options: argparse.Namespace, text: str) -> None:
    """To the file asked for, or to standard output.

    Of text for people, no line is wider than the terminal, and no character of an id or a name acts on it.
    """
    from rankbounds.tables import TABLE_FORMATS

    if getattr(options, "format", None) in TABLE_FORMATS:
        text = harmless(text)
    if options.output:
        with writing(options.output) as out:
            out.write(text)
        wrote(options.output)
        return
    if sys.stdout is None:
        raise DataError("Standard output is closed. Name a file with -o.")
    width = look().width
    if width is not None and getattr(options, "format", None) == "table":
        text = lines_that_fit(text, width)
    try:
        with cleared():
            sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"Standard output cannot be written ({error.strerror or error}).") from None
    except UnicodeEncodeError as error:
        raise DataError(not_utf8(error)) from None


FIGURES = ("svg", "png", "pdf")
"""Endings of files for figures."""


def write_figure(path: str, draw: Callable[[], Any]) -> None:
    """What ``draw`` draws, in the format that the file's ending names."""
    ending = _figure_ending(path)
    axes = draw()
    with writing(path, "wb") as out:
        axes.get_figure().savefig(out, format=ending, dpi=200, bbox_inches="tight")
    wrote(path)


def _figure_ending(path: str) -> str:
    ending = path.rpartition(".")[2].lower()
    if ending not in FIGURES:
        raise UsageError(f'A figure cannot be "{path}". Known endings: {", ".join(FIGURES)}.')
    return ending


def wrote(path: str) -> None:
    """Tell of a file that is there now; of pipes and devices nobody needs to hear."""
    if os.path.isfile(path):
        say(f"wrote {in_brief(path)}")


def in_brief(path: str) -> str:
    """The file's name as it was given, and its size."""
    return f"{path} ({_size(Path(path).stat().st_size)})" if os.path.isfile(path) else path


def _size(count: float) -> str:
    """So many bytes, in words."""
    unit = next((unit for unit, most in (("bytes", 1e3), ("kB", 1e6), ("MB", 1e9)) if count < most), "GB")
    count /= {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
    return f"{count:.0f} {unit}" if unit == "bytes" or count >= 10 else f"{count:.1f} {unit}"


def numbers(text: str) -> list[float]:
    """Numbers with commas between them."""
    return [float(part) for part in text.split(",")]


def seed(text: str) -> int:
    """Where random numbers start: a whole number from 0 on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'a seed is a whole number from 0 on, not "{text}"')
    return int(text)
