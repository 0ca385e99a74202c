"""Options that several commands share."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from rankbounds.errors import DataError, RankboundsError, UsageError, did_you_mean
from rankbounds.evaluation.assumptions import ASSUMPTIONS, BOUNDS, PRECISIONS, TOPICS
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from rankbounds.evaluation.scores import Scores
from rankbounds.files.formats import NAMES as FORMAT_NAMES
from rankbounds.files.opening import expand
from rankbounds.files.writing import not_utf8, reject_inputs, writing
from rankbounds.rankings.order import Order
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.unjudged import RULES as UNJUDGED_RULES
from rankbounds.tables import render_rows

if TYPE_CHECKING:
    from rankbounds.comparison.significance import Resampling

FILES_READ = (
    "qrels", "runs", "run_file", "a", "b", "trec_output", "against", "baseline", "restrict", "groups", "ties_key",
    "depths", "examined", "documents", "q",
)  # fmt: skip
"""Under which names the options of commands hold files to read."""
FILES_WRITTEN = ("output", "save", "figure")
"""Under which names they hold files to write."""


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """The judgments and the runs."""
    parser.add_argument(
        "qrels",
        metavar="QRELS",
        help="judgments: a TREC file or any other known format (see --from), or ir_datasets:ID; - is stdin",
    )
    parser.add_argument(
        "runs", metavar="RUN", nargs="+", help="runs: files, patterns in quotes, or folders; - is stdin"
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How to read the files."""
    parser.add_argument(
        "--from",
        dest="read_as",
        metavar="FORMAT",
        help=f"format of the files, where their contents should not decide: {', '.join(FORMAT_NAMES)}; two with a "
        "comma between them are that of the judgments and that of the runs",
    )
    parser.add_argument(
        "--labels",
        metavar="SOURCE",
        help='use judgments with this value in the column "source"; of several (human,llm) the first that has one',
    )


def add_measures(parser: argparse.ArgumentParser, default: Sequence[str] = DEFAULT_MEASURES) -> None:
    """Which measures."""
    parser.add_argument(
        "-m",
        "--measure",
        dest="measures",
        metavar="MEASURE",
        action="append",
        help=f"RBP(p=0.8), nDCG@10, a trec_eval name, ...; may be repeated (default: {', '.join(default)})",
    )


def add_ties(parser: argparse.ArgumentParser, more: str = "", *, lenient: bool = True) -> None:
    """How to rank tied documents, and what is a tie."""
    parser.add_argument(
        "--ties",
        default="trec",
        metavar="RULE",
        help="tied documents: trec (docno down, as trec_eval; default), run (line order, scores ignored), line (line "
        f"order among equal scores), rank (stated rank), docid (docno up){more}",
    )
    parser.add_argument(
        "--score-precision",
        default="double",
        metavar="WHICH",
        help=f"compare scores in {' or '.join(PRECISIONS)} precision (trec_eval 9: single; default double)",
    )
    if lenient:
        parser.add_argument(
            "--lenient", action="store_true", help="leave out lines that cannot be read, and count them"
        )


def add_assumptions(parser: argparse.ArgumentParser, *, reading: bool = True) -> None:
    """How to treat ties, unjudged documents, grades and missing topics, and how to read the files."""
    parser.add_argument(
        "--unjudged",
        default="nonrelevant",
        metavar="RULE",
        help=f"unjudged documents: {', '.join(UNJUDGED_RULES)} (default nonrelevant; condensed leaves them out)",
    )
    parser.add_argument("--q", type=float, help="with --unjudged expected: the probability that one is relevant")
    parser.add_argument("--bounds", default="unjudged", metavar="WHAT", help=f"low and high cover: {', '.join(BOUNDS)}")
    add_ranking(parser)
    parser.add_argument(
        "--ties-key",
        metavar="FILE",
        help="rank tied documents by your own key: lines of a document and its value (a length, a date, a URL), "
        "smallest first",
    )
    if reading:
        add_reading(parser)


def add_ranking(parser: argparse.ArgumentParser) -> None:
    """How runs become rankings: ties, gains, missing topics, the precision of scores, lines that cannot be read."""
    add_ties(parser, ", best, worst, expected (mean over all orders)")
    add_gain(parser)
    parser.add_argument(
        "--topics",
        default="judged",
        metavar="WHICH",
        help=f"{' or '.join(TOPICS)}: score judged topics that a run lacks as empty lists (default), or leave them out",
    )


def numbers(text: str) -> list[float]:
    """Numbers with commas between them."""
    return [float(part) for part in text.split(",")]


def seed(text: str) -> int:
    """Where random numbers start: a whole number from 0 on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'a seed is a whole number from 0 on, not "{text}"')
    return int(text)


def add_gain(parser: argparse.ArgumentParser) -> None:
    """What grades are worth."""
    parser.add_argument(
        "--gain",
        metavar="RULE",
        help='gains of grades: linear (default), or a table like "1=3,2=9", or "S=3,A=2,B=1" where grades are words',
    )


def add_order(parser: argparse.ArgumentParser) -> None:
    """How documents of equal score are ordered, where one order is needed."""
    parser.add_argument(
        "--ties",
        default="trec",
        metavar="RULE",
        help="tied documents: trec (docno down; default), run (line order, scores ignored), line (line order among "
        "equal scores), rank (stated rank), docid (docno up)",
    )


def order(options: argparse.Namespace) -> Order:
    """The order that was asked for."""
    if options.ties not in ORDERS:
        hint = did_you_mean(options.ties, list(ORDERS))
        raise UsageError(f'There is no order "{options.ties}" of tied documents.{hint} Known: {", ".join(ORDERS)}.')
    return cast(Order, options.ties)


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


def add_resampling(parser: argparse.ArgumentParser, resamples: int) -> None:
    """How often and from which seed tests resample."""
    parser.add_argument("--resamples", type=int, default=resamples, help=f"how many resamples (default {resamples})")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random numbers (default 0)")


def add_tests(parser: argparse.ArgumentParser) -> None:
    """Which tests runs are compared by; the same everywhere, so that the same pair gets the same p-values."""
    parser.add_argument("--test", default="randomization", help="randomization (default), t, wilcoxon, sign, bootstrap")
    parser.add_argument(
        "--correction",
        default="auto",
        help="for three runs or more: tukey (randomised, paired; what auto, the default, takes), holm (what auto takes "
        "for other tests), bonferroni, bh, none",
    )
    parser.add_argument("--alpha", type=float, default=0.05, help="significance level (default 0.05)")
    parser.add_argument("--confidence", type=float, default=0.95, help="of the intervals (default 0.95)")
    add_resampling(parser, resamples=10_000)


def resampling_from(options: argparse.Namespace) -> Resampling:
    """The resampling that the options ask for."""
    from rankbounds.comparison.significance import Resampling

    return Resampling(options.resamples, options.seed)


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
    found: list[str] = []
    for name in FILES_READ:
        given = getattr(options, name, None)
        for one in given if isinstance(given, list) else [given]:
            if isinstance(one, str):
                with contextlib.suppress(RankboundsError):  # the command tells of what is not there
                    found += expand([one])
    return found


def write_rows(options: argparse.Namespace, rows: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> None:
    """Rows in the format asked for, to where it was asked for."""
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


def check_inputs(options: argparse.Namespace) -> None:
    """Reject standard input where it is given twice."""
    if [options.qrels, *options.runs].count("-") > 1:
        raise UsageError("Standard input (-) can be given once only.")


def assumptions_from(options: argparse.Namespace) -> dict[str, Any]:
    """What ``add_assumptions`` declared, by the names that ``evaluate`` has for it."""
    return {name: getattr(options, name) for name in ASSUMPTIONS}


def evaluate_from(options: argparse.Namespace) -> Scores:
    """Run ``evaluate`` as the options say."""
    check_inputs(options)
    return evaluate(
        options.qrels,
        expand(options.runs),
        options.measures or DEFAULT_MEASURES,
        **assumptions_from(options),
        labels=options.labels,
        formats=options.read_as,
        lenient=options.lenient,
        progress=progress_on_terminal("runs scored"),
    )


def progress_on_terminal(what: str) -> Callable[[int, int], None] | None:
    """A counter that rewrites one line of a terminal; None where standard error is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        if total > 1:
            last = done == total
            print(f"\r{done} of {total} {what}" + ("\r\033[K" if last else ""), end="", file=sys.stderr, flush=True)

    return show
