"""Make one HTML page that shows what the runs' scores say, to be opened in any browser.

Who leads and between which places, what could change it (noise, unjudged documents, ties, another p or measure), two
runs compared in words, rankings of a topic, coverage, what to judge. The page needs no network, and names its files,
options and seed. With --scores it is made from tables of scores: what needs judgments is left out, and that is said.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from rankbounds.commands.output import check_outputs, progress_on_terminal, write_text
from rankbounds.commands.reading import (
    add_calibrate,
    add_inputs,
    add_score_tables,
    runs_from,
    score_table_files,
    score_tables_from,
)
from rankbounds.commands.scoring import add_assumptions, add_measures, add_tests, tabled_from
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES

PAGE = "report.html"

if TYPE_CHECKING:
    from rankbounds.report import Choices


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser)
    add_score_tables(parser)
    add_choices(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help=f"the page (default {PAGE}, unless it exists)")
    parser.set_defaults(format="html", formats=("html",))


def add_choices(parser: argparse.ArgumentParser) -> None:
    """Everything that changes what a report says."""
    add_measures(parser)
    parser.add_argument("--title", default="Evaluation report", help="the page's heading")
    parser.add_argument(
        "--worklist",
        metavar="FILE",
        help='under "What to judge next", the documents of this table (of "rankbounds sample" or "judge-next") that '
        "nobody has judged yet",
    )
    parser.add_argument(
        "--all-pairs",
        action="store_true",
        help="of more than 20 runs: compare all pairs in the page, not only those of the 20 that lead (takes longer)",
    )
    add_tests(parser)
    add_assumptions(parser)
    add_calibrate(parser)


def choices_from(options: argparse.Namespace) -> Choices:
    """The choices that the options state."""
    from dataclasses import fields

    from rankbounds.report import Choices

    given = vars(options) | {"formats": options.read_as, "measures": options.measures or DEFAULT_MEASURES}
    return Choices(**{choice.name: given[choice.name] for choice in fields(Choices)})


def run(options: argparse.Namespace) -> int:
    """Gather, and write the page."""
    from rankbounds.report import gather, gather_scores, page

    if options.output is None:
        options.output = PAGE
        check_outputs(options)
        if os.path.lexists(PAGE):
            raise UsageError(f"{PAGE} exists already: name the page with -o, which replaces it.")
    if options.scores:
        scores = tabled_from(options, score_tables_from(options))
        files = [path for _, path in score_table_files(options)]
        write_text(options, page(gather_scores(scores, files, choices_from(options))))
        return 0
    content = gather(
        options.qrels,
        runs_from(options),
        choices_from(options),
        progress_on_terminal("runs scored", "comparing runs, and making the page"),
    )
    write_text(options, page(content))
    return 0
