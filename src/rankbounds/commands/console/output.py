"""Where a command's results go, and how they look: options that every command has, whatever it reads."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankbounds.commands.console.messages import cleared, say, say_all, screen_width
from rankbounds.commands.console.options import Option, Options, group_under, whole
from rankbounds.errors import DataError, RankboundsError, UsageError, did_you_mean
from rankbounds.files.writing import is_stream, not_utf8, reject_compressed, reject_inputs, writing
from rankbounds.terminal import Look, escape_controls, fit_lines, look

if TYPE_CHECKING:
    from rankbounds.collection.qrels import Qrels
    from rankbounds.results import Column
    from rankbounds.tables import Table

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html")
"""Formats of a command that answers with rows: the table for people, and rows in full precision."""
ENDINGS = {
    "json": "json", "jsonl": "jsonl", "ndjson": "jsonl", "csv": "csv", "tsv": "tsv", "parquet": "parquet",
    "tex": "latex", "md": "markdown", "html": "html", "htm": "html", "xml": "junit",
}  # fmt: skip
PLAIN_ENDINGS = ("", "txt", "text", "out", "log", "trec", "qrels", "run", "res", "eval")
"""Endings that say nothing of the format. Others are refused, unless --format says what is meant."""
# ---- options ----


def numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def file_option(formats: Sequence[str], text: str = "write to this file instead of standard output") -> Option:
    return Option("-o, --output FILE", text, file="written", words=formats, group="output", everyday=True)


LOOKS = group_under(
    "output",
    Option(
        "--raw",
        "csv, tsv: do not prefix ids that begin with = + - @ with ' (which keeps spreadsheets from running them)",
    ),
    Option("--wide", "show all columns and full names, even if the terminal is too narrow"),
    Option("--digits N", "digits in tables (default 4)", type=whole("digits are", 0, 15), dest="table_digits"),
    explained_by="evaluate",
)


def options_for(formats: Sequence[str] = FORMATS, *, digits: bool = True) -> tuple[Option, ...]:
    text = f"{', '.join(formats)} (default: by the ending of -o, or {formats[0]})"
    raw, *looks = LOOKS if digits else LOOKS[:2]
    own = Option("--format F", text, words=formats, group="output", everyday=True), file_option(formats)
    return (*own, *([raw] if "csv" in formats else []), *(looks if "table" in formats else []))


OUTPUT = options_for()
JUDGMENTS_FILE = file_option(("trec", "csv", "tsv", "jsonl"))
EXPLAIN = Option("--explain", "print all that stands behind the answer", group="output", everyday=True)
BIBTEX = Option("--bibtex FILE", "write the sources of measures and tests to this file", file="written", group="output")
TERMINAL = group_under(
    "output",
    Option("--quiet", "print errors only: no progress, notes or warnings"),
    Option("--color auto|always|never", "bold text in tables (auto: on a terminal, unless NO_COLOR is set)"),
    Option("-h, --help", "show the help"),
    Option("--help-all", "show the help with every option"),
)


FIGURES = group_under(
    "output",
    Option("--figure FILE", "draw a figure of the result (.pdf, .svg, .png)", file="written", everyday=True),
    Option(
        "--width WIDTH",
        "width of figures and LaTeX tables: column (of a two-column paper, 3.33 in), text (of a one-column paper, 4.77 "
        "in) or page (7 in)",
        words=("column", "text", "page"),
        closed=True,
    ),
)


# ---- checks before any work is done ----


def check_format(options: Options) -> None:
    words = {option.dest: option.words for option in options.declared}
    formats: Any = words.get("format", words.get("output"))
    if formats is None:
        return
    path, chosen = getattr(options, "output", None), getattr(options, "format", None)
    name = os.path.basename(path or "").lower()
    ending = name.rpartition(".")[2] if "." in name else ""
    named = ENDINGS.get(ending)
    says_nothing = ending in PLAIN_ENDINGS or not ending[0].isalpha() or (chosen and len(formats) > 1)
    if named not in formats and not (named is None and says_nothing):
        reject_compressed(name)
        raise UsageError(
            f'-o {path}: "{options.command}" cannot write {named or f".{ending}"}. Known: {", ".join(formats)}.'
        )
    chosen = chosen or named or formats[0]
    if chosen not in formats:
        hint = did_you_mean(chosen, list(formats))
        raise UsageError(f'There is no format "{chosen}".{hint} Known: {", ".join(formats)}.')
    if named and named != chosen:
        raise UsageError(
            f"-o {path} is {named} by its ending, but --format says {chosen}: leave out --format, or change the ending."
        )
    if chosen == "parquet" and not path:
        raise UsageError("Parquet is not text: name a file with -o.")
    options.format = chosen


def check_outputs(options: Options, outputs: Sequence[str] | None = None) -> None:
    outputs = files_given(options, "written") if outputs is None else outputs
    for name in outputs:
        reject_compressed(name)
    if getattr(options, "figure", None):
        from rankbounds.plots.style import ending_of, pyplot

        ending_of(options.figure)
        pyplot().switch_backend("agg")  # a figure that becomes a file needs no screen
    read: list[str] = []
    if any(map(os.path.isfile, outputs)):
        from rankbounds.files.opening import STANDARD_INPUT, expand

        for given in files_given(options, "read"):
            with contextlib.suppress(RankboundsError):  # the command reports files that do not exist
                read += expand([name_and_path(given)[1]])
        read = ["/dev/stdin" if path == STANDARD_INPUT else path for path in read]  # whichever file that is
    reject_inputs(outputs, read)


def files_given(options: Options, kind: str) -> list[str]:
    given = (getattr(options, option.dest, None) for option in options.declared if option.file == kind)
    several = (value if isinstance(value, list) else [value] for value in given)
    return [file for files in several for file in files if isinstance(file, str)]


def name_and_path(given: str) -> tuple[str | None, str]:
    from glob import has_magic

    from rankbounds.files.opening import matching

    name, equals, path = given.partition("=")
    if not (name and equals and path) or os.path.basename(name) != name or os.path.exists(given):
        return None, given
    if has_magic(given) and matching(given):
        return None, given
    return name, path


def look_from(options: Options) -> Look:
    on_terminal = not getattr(options, "output", None) and sys.stdout is not None and sys.stdout.isatty()
    unwanted = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    knows_bold = os.name != "nt" or any(name in os.environ for name in ("WT_SESSION", "ANSICON", "TERM"))
    styled = options.color == "always" or (options.color == "auto" and on_terminal and knows_bold and not unwanted)
    digits = getattr(options, "table_digits", None)
    width = screen_width() if on_terminal and not getattr(options, "wide", False) else None
    return Look(width, 4 if digits is None else digits, styled, getattr(options, "width", None))


# ---- writing ----


def finish(options: Options, answer: Any) -> int:
    if not hasattr(answer, "render"):
        return int(answer or 0)
    write_result(options, answer)
    if options.format == "table":
        say_all(answer.notes() if getattr(options, "explain", True) else answer.doubts())
    else:
        say_all([*(answer.words().splitlines() if answer.words_beside == "above" else ()), *answer.notes()])
    return 0


def write_result(options: Options, result: Any, **more: Any) -> None:
    write_figure(options, result)
    if options.format == "parquet":
        result.write_parquet(options.output, **more)
        report_file(options.output)
    else:
        write_text(options, result.render(options.format, raw=options.raw, **more))


def write_rows(
    options: Options,
    rows: Iterable[Mapping[str, Any]],
    columns: Sequence[Column | str],
    *,
    table: Callable[[], Table | None] | None = None,
    above: Callable[[], str] = str,
    below: Callable[[], str] = str,
) -> None:
    from rankbounds.results import Column, build_table
    from rankbounds.tables import ROW_FORMATS, render_rows

    declared = [Column(column) if isinstance(column, str) else column for column in columns]
    if options.format in ROW_FORMATS:
        fields = [column.name for column in declared if column.in_rows]
        write_text(options, render_rows(rows, options.format, fields, raw=getattr(options, "raw", False)))
        return
    shown = build_table(rows, declared) if table is None else table()
    text = "" if shown is None else shown.render(options.format)
    write_text(options, above() + text + below() if options.format == "table" else text)


def write_text(options: Options, text: str) -> None:
    from rankbounds.tables import TABLE_FORMATS

    if getattr(options, "format", None) in TABLE_FORMATS:
        text = escape_controls(text)
    if getattr(options, "output", None):
        with writing(options.output) as out:
            out.write(text)
        report_file(options.output)
        return
    if sys.stdout is None:
        raise DataError("Standard output is closed. Name a file with -o.")
    width = look().width
    if width is not None and options.format == "table":
        text = fit_lines(text, width)
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


def write_pairs(options: Options, written: Qrels) -> None:
    if options.output:
        written.write(options.output)
        report_file(options.output)
    else:
        write_text(options, written.text())


def write_figure(options: Options, result: Any, **how: Any) -> None:
    if getattr(options, "figure", None) is None:
        return
    from rankbounds.plots.style import draw, save

    save(draw(result, **how), options.figure, options.width)
    report_file(options.figure)


def write_bibtex(options: Options, entries: str) -> None:
    if options.bibtex:
        with writing(options.bibtex) as out:
            out.write(entries)
        report_file(options.bibtex)


def report_file(path: str) -> None:
    if os.path.isfile(path) and not is_stream(path):
        say(f"wrote {in_brief(path)}")


def in_brief(path: str) -> str:
    if not os.path.isfile(path):
        return path
    size = float(Path(path).stat().st_size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{path} ({size:.{0 if unit == 'bytes' or size >= 10 else 1}f} {unit})"
