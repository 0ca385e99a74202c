"""Make one HTML page that shows what the runs' scores say, to be opened in any browser.

Who leads and between which places, what could change it (noise, unjudged documents, ties, another p or measure), two
runs compared in words, rankings of a topic, coverage, what to judge. The page needs no network, and names its files,
options and seed. With --scores it is made from tables of scores: what needs judgments is left out, and that is said.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rankbounds.commands.options import Option, Options
from rankbounds.commands.output import check_outputs, output_file, write_text
from rankbounds.commands.progress import progress_on_terminal
from rankbounds.commands.reading import CALIBRATE, INPUTS, SCORE_TABLES, runs_from, score_table_files, score_tables_from
from rankbounds.commands.scoring import ASSUMING, MEASURES, TESTS, tabled_from
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES

if TYPE_CHECKING:
    from rankbounds.report import Choices

QUESTION = "How do I show it?", 1
PAGE = "report.html"
CHOICES = (
    MEASURES,
    Option("--title TITLE", "the page's heading", "Evaluation report"),
    Option(
        "--worklist FILE",
        'under "What to judge next", the documents of this table (of "rankbounds sample" or "judge-next") that nobody '
        "has judged yet",
        file="read",
        without_runs=(),
    ),
    Option(
        "--all-pairs",
        "of more than 20 runs: compare all pairs in the page, not only those of the 20 that lead (takes longer)",
    ),
    *TESTS,
    *ASSUMING,
    CALIBRATE,
)
"""Everything that changes what a report says."""
OPTIONS = (*INPUTS, *SCORE_TABLES, *CHOICES, output_file(("html",), f"the page (default {PAGE}, unless it exists)"))


def choices_from(options: Options) -> Choices:
    """The choices that the options state."""
    from dataclasses import fields

    from rankbounds.report import Choices

    given = vars(options) | {"formats": options.read_as, "measures": options.measures or DEFAULT_MEASURES}
    return Choices(**{choice.name: given[choice.name] for choice in fields(Choices)})


def run(options: Options) -> None:
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
        return
    content = gather(
        options.qrels,
        runs_from(options),
        choices_from(options),
        progress_on_terminal("runs scored", "comparing runs, and making the page"),
    )
    write_text(options, page(content))
