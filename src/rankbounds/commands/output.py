"""Where a command's results go, and how they look: options that every command has, whatever it reads."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rankbounds.errors import DataError, RankboundsError, UsageError, did_you_mean
from rankbounds.files.writing import not_utf8, reject_inputs, writing

FILES_READ = (
    "qrels", "runs", "run_file", "a", "b", "trec_output", "against", "baseline", "restrict", "groups", "ties_key",
    "depths", "examined", "documents", "corpus", "q", "sample", "judgments", "worklist", "label_files", "again",
    "preferences", "scores", "by", "collections", "queries",
)  # fmt: skip
"""Under which names the options of commands hold files to read."""
FILES_WRITTEN = ("output", "save", "figure")
"""Under which names they hold files to write."""


def add_output(parser: argparse.ArgumentParser, formats: tuple[str, ...]) -> None:
    """Where results go, and how they look."""
    parser.add_argument(
        "--format", default=formats[0], metavar="F", help=f"{', '.join(formats)} (default {formats[0]})"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of to standard output")
    if "csv" in formats:
        parser.add_argument(
            "--raw",
            action="store_true",
            help="csv and tsv: leave ids that begin with = + - @ as they are; without it a ' before them tells "
            "spreadsheets that they are text",
        )
    parser.set_defaults(formats=formats)


def check_format(options: argparse.Namespace) -> None:
    """Reject an unknown format before any work is done."""
    if options.format not in options.formats:
        hint = did_you_mean(options.format, list(options.formats))
        raise UsageError(f'There is no format "{options.format}".{hint} Known: {", ".join(options.formats)}.')
    if options.format == "parquet" and not options.output:
        raise UsageError("Parquet is not text: name a file with -o.")


def check_outputs(options: argparse.Namespace, outputs: Sequence[str] | None = None) -> None:
    """Reject, before any work is done, results that would replace a file that is read."""
    if outputs is None:
        written = (getattr(options, name, None) for name in FILES_WRITTEN)
        outputs = [name for name in written if isinstance(name, str)]
    reject_inputs(outputs, _files_read(options) if any(map(os.path.isfile, outputs)) else ())


def _files_read(options: argparse.Namespace) -> list[str]:
    from rankbounds.commands.run_names import name_and_path
    from rankbounds.files.opening import expand

    paths: list[str] = []
    for option in FILES_READ:
        given = getattr(options, option, None)
        for path in given if isinstance(given, list) else [given]:
            if isinstance(path, str):
                with contextlib.suppress(RankboundsError):  # the command tells of what is not there
                    paths += expand([name_and_path(path)[1]])
    return paths


def write_rows(options: argparse.Namespace, rows: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> None:
    """Rows in the format asked for, to where it was asked for."""
    from rankbounds.tables import render_rows

    write_text(options, render_rows(rows, options.format, fields, raw=options.raw))


def write_text(options: argparse.Namespace, text: str) -> None:
    """To the file asked for, or to standard output."""
    if options.output:
        with writing(options.output) as out:
            out.write(text)
        return
    if sys.stdout is None:
        raise DataError("Standard output is closed. Name a file with -o.")
    try:
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
    ending = path.rpartition(".")[2].lower()
    if ending not in FIGURES:
        raise UsageError(f'A figure cannot be "{path}". Known endings: {", ".join(FIGURES)}.')
    axes = draw()
    with writing(path, "wb") as out:
        axes.get_figure().savefig(out, format=ending, dpi=200, bbox_inches="tight")


def progress_on_terminal(what: str) -> Callable[[int, int], None] | None:
    """A counter that rewrites one line of a terminal; None where standard error is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        if total > 1:
            last = done == total
            print(f"\r{done} of {total} {what}" + ("\r\033[K" if last else ""), end="", file=sys.stderr, flush=True)

    return show


def numbers(text: str) -> list[float]:
    """Numbers with commas between them."""
    return [float(part) for part in text.split(",")]


def seed(text: str) -> int:
    """Where random numbers start: a whole number from 0 on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'a seed is a whole number from 0 on, not "{text}"')
    return int(text)
