"""May I trust this judge? Labels, say of language models, held against trusted ones.

TRUSTED are labels to believe, LABELS those in question; several are compared side by side (--votes adds their votes).
Without LABELS, all other sources of TRUSTED are in question, and --labels says which source is trusted. The verdict
says how far labels agree, whether they are generous, which runs they like, and whether they order runs alike.
"""

from __future__ import annotations

import argparse
import html
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from rankbounds.commands.output import add_output, write_figure, write_rows, write_text
from rankbounds.commands.reading import RUNS_HELP, reading_from, runs_from
from rankbounds.commands.run_names import name_and_path
from rankbounds.commands.scoring import add_assumptions, add_measures, add_resampling, assumptions_from
from rankbounds.errors import DataError, UsageError
from rankbounds.files.opening import expand
from rankbounds.tables import json_of

if TYPE_CHECKING:
    from rankbounds.collection.inputs import Reading
    from rankbounds.collection.qrels import Qrels
    from rankbounds.judging.judges.comparison import Judges

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html")
ROWS = ("agreement", "confusion", "by_grade", "systems", "orderings", "changes")
PROSE: dict[str, Callable[[str], str]] = {
    "table": "{}\n".format,
    "markdown": "{}\n".format,
    "latex": lambda text: "".join(f"% {line}\n" for line in text.splitlines()),
    "html": lambda text: f"<p>{html.escape(text)}</p>\n",
}
"""How each format tells what is no table."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("qrels", metavar="TRUSTED", help="the labels to believe: any known format of judgments")
    parser.add_argument(
        "label_files",
        metavar="LABELS",
        nargs="*",
        help="the labels in question: files, patterns in quotes or folders; name=FILE gives them a name",
    )
    parser.add_argument("--runs", metavar="RUN", nargs="+", default=[], help=f"{RUNS_HELP}; without: labels only")
    add_measures(parser, ("RBP(p=0.8)",))
    parser.add_argument(
        "--rel",
        type=float,
        metavar="GRADE",
        help="lowest trusted grade that counts as relevant, for kappa and for measures that name none (default: that "
        "of the first measure, or 1)",
    )
    parser.add_argument(
        "--labels-rel",
        metavar="[NAME=]GRADE",
        action="append",
        help="the same of the labels in question, where it is another; needed where scales differ, unless they are 0/1",
    )
    parser.add_argument(
        "--same-scale",
        action="store_true",
        default=None,
        help="grades mean the same in all labels, though the highest ones differ",
    )
    parser.add_argument(
        "--votes", action="store_true", help="add the labels' majority and mean grade as further labels"
    )
    parser.add_argument(
        "--pairs",
        default="all",
        metavar="WHICH",
        help="score runs by all labels of each (default), or by the shared pairs of query and document alone",
    )
    parser.add_argument("--alpha", type=float, default=0.05, help="significance level (default 0.05)")
    parser.add_argument("--confidence", type=float, default=0.95, help="of the intervals (default 0.95)")
    add_resampling(parser, resamples=2000)
    parser.add_argument(
        "--figure", metavar="FILE", help="draw agreement by grade and bias by run there (.svg, .png, .pdf)"
    )
    add_assumptions(parser)
    add_output(parser, FORMATS)
    parser.set_defaults(bounds="none")


def run(options: argparse.Namespace) -> int:
    """Read, compare, print, draw."""
    from rankbounds.judging.judges.comparison import DEFAULT_MEASURES, judges

    reading = reading_from(options)
    labels_rel = labels_rel_from(options)
    trusted, labels = labels_from(options, reading)
    found = judges(
        trusted,
        labels,
        reading.runs(runs_from(options)) if options.runs else None,
        options.measures or DEFAULT_MEASURES,
        rel=options.rel,
        labels_rel=labels_rel,
        same_scale=options.same_scale,
        votes=options.votes,
        pairs=options.pairs,
        alpha=options.alpha,
        confidence=options.confidence,
        resamples=options.resamples,
        seed=options.seed,
        trusted_name=options.labels,
        **assumptions_from(options),
    )
    if options.figure:
        from rankbounds.plots.labels import labels_overview

        write_figure(options.figure, lambda: labels_overview(found))
    if options.format in ("jsonl", "csv", "tsv"):
        write_rows(options, found.rows(), found.fields)
        return 0
    write_text(options, rendered(options, found))
    return 0


def labels_from(options: argparse.Namespace, reading: Reading) -> tuple[Qrels, dict[str, Qrels]]:
    """The trusted labels, and the others by name."""
    if not options.label_files:
        from rankbounds.collection.qrels import read_qrels_by_source

        if not options.labels or "," in options.labels:
            raise UsageError("Name the labels in question, or with --labels the one source of TRUSTED to believe.")
        by_source = read_qrels_by_source(options.qrels, kind=options.read_as, columns=options.columns)
        trusted = reading.judgments(options.qrels)
        others = {name: labels for name, labels in by_source.items() if name != options.labels}
        if not others:
            raise DataError(options.qrels, f'all labels have the source "{options.labels}": none are in question.')
        return trusted, others
    labels: dict[str, Qrels] = {}
    for argument in options.label_files:
        name, path = name_and_path(argument)
        for file in expand([path]):
            read = _read_labels(reading, file)
            if name is None:
                labels |= {file if known in labels else known: given for known, given in read.items()}
            elif name in labels:
                raise UsageError(f'Two sets of labels are called "{name}".')
            else:
                labels[name] = next(iter(read.values()))
    return reading.judgments(options.qrels), labels


def _read_labels(reading: Reading, file: str) -> dict[str, Qrels]:
    """The labels of a file by its name; --labels chooses among sources where a file has any."""
    try:
        return reading.label_sets([file])
    except DataError:
        if reading.labels is None:
            raise
        return replace(reading, labels=None).label_sets([file])


def labels_rel_from(options: argparse.Namespace) -> float | dict[str, float] | None:
    """One grade for all labels, or grades by name."""
    by_name: dict[str, float] = {}
    for given in options.labels_rel or ():
        name, _, grade = given.rpartition("=")
        try:
            by_name[name] = float(grade)
        except ValueError:
            raise UsageError(f'--labels-rel takes a grade or NAME=GRADE, not "{given}".') from None
    if "" in by_name:
        if len(by_name) > 1:
            raise UsageError("--labels-rel takes one grade for all labels, or NAME=GRADE for each.")
        return by_name[""]
    return by_name or None


def rendered(options: argparse.Namespace, found: Judges) -> str:
    """Everything in the format asked for."""
    if options.format == "json":
        content = {name: getattr(found, name) for name in ROWS} | {"settings": found.settings}
        content["words"] = {name: found.words(name) for name in found.labels}
        return json_of(content, indent=1) + "\n"
    prose = PROSE[options.format]
    parts = [prose(paragraph) for paragraph in found.words().strip("\n").split("\n\n")]
    parts += [prose(caption) + table.render(options.format) for caption, table in found.parts()]
    return "\n".join(parts)
