"""Make one HTML page that shows what the runs' scores say, to be opened in any browser.

Leaderboard with intervals and bounds, RBP at any persistence, any two runs compared, rankings of a topic side by side,
ties and coverage, agreement of measures. The page needs no network; it names the files, options and seed it comes from.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rankbounds.commands.output import progress_on_terminal, write_text
from rankbounds.commands.reading import add_calibrate, add_inputs, runs_from
from rankbounds.commands.scoring import add_assumptions, add_measures, add_tests
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES

if TYPE_CHECKING:
    from rankbounds.report import Choices


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser)
    add_choices(parser)
    parser.add_argument("-o", "--output", metavar="FILE", default="report.html", help="the page (default report.html)")
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
    from rankbounds.report import gather, page

    content = gather(options.qrels, runs_from(options), choices_from(options), progress_on_terminal("runs scored"))
    write_text(options, page(content))
    return 0
