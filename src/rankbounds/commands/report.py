"""Commands that make pages: the report, and judging in the browser with the report beside it."""

from __future__ import annotations

import contextlib
import getpass
import os
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import doing, progress_on_terminal, say
from rankbounds.commands.console.options import Option, Options, whole
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.files.opening import STANDARD_INPUT

if TYPE_CHECKING:
    from rankbounds.desk.server import Office
    from rankbounds.report import Choices
    from rankbounds.report.page import Live

PAGE = "report.html"
CHOICES = (
    scoring.MEASURES,
    Option("--title TITLE", "the page's heading", "Evaluation report"),
    Option(
        "--worklist FILE",
        'under "What to judge next", the documents of this table (of "rankbounds sample" or "judge-next") that nobody '
        "has judged yet",
        about_runs=True,
    ),
    Option("--all-pairs", "of more than 20 runs, compare all pairs, not only those of the 20 that lead (takes longer)"),
    *scoring.TESTS,
    *scoring.ASSUMING,
    reading.CALIBRATE,
)
"""Everything that changes what a report says."""


@command(
    "report",
    "How do I show it?",
    1,
    *reading.INPUTS,
    *reading.SCORE_TABLES,
    *CHOICES,
    output.file_option(("html",), f"the page (default {PAGE}, unless it exists)"),
)
def run_report(options: Options) -> None:
    """Make one HTML page that shows what the runs' scores say, to be opened in any browser.

    Who leads and between which places, what could change it (noise, unjudged documents, ties, another p or measure),
    two runs compared in words, rankings of a topic, coverage, what to judge. The page needs no network, and names its
    files, options and seed. With --scores it is made from tables of scores: what needs judgments is left out, and that
    is said.
    """
    from rankbounds.report import gather, gather_scores, page

    if options.output is None:
        options.output = PAGE
        output.check_outputs(options)
        if os.path.lexists(PAGE):
            raise UsageError(f"{PAGE} exists already: name the page with -o, which replaces it.")
    choices = choices_from(options)
    if options.scores:
        scores = scoring.tabled_from(options, reading.score_tables_from(options))
        content = gather_scores(scores, [path for _, path in reading.score_table_files(options)], choices)
    else:
        progress = progress_on_terminal("runs scored", "comparing runs, and making the page")
        content = gather(options.qrels, reading.runs_from(options), choices, progress)
    output.write_text(options, page(content))


def choices_from(options: Options) -> Choices:
    """The choices that the options state."""
    from rankbounds.report import Choices

    given = vars(options) | {"measures": options.measures or DEFAULT_MEASURES}
    return Choices(**{choice.name: given[choice.name] for choice in fields(Choices)})


@command(
    "serve",
    "What should be judged next?",
    3,
    *reading.INPUTS,
    Option("--port PORT", "where to listen (default 8765; 0: any free port)", 8765, type=whole("a port is", 0, 65535)),
    Option("--host HOST", "on which address (default 127.0.0.1, this machine alone)", "127.0.0.1"),
    Option("--token TOKEN", "needed with --host, known to all who open the page; new: make one; or RANKBOUNDS_TOKEN"),
    Option("--queries FILE", "what the queries say: TREC topics, TSV, CSV or JSON lines with id and text"),
    Option(
        "--documents FILE",
        "what the documents say: JSON lines or a table with id and text, id<TAB>text, or TREC's SGML; a folder or a "
        "pattern for several files; may be repeated",
        repeated=True,
    ),
    Option("--judge NAME", "who judges; may be repeated, and the page then asks which", repeated=True),
    Option("--grades G", "to choose from: 3 for 0 to 3, or 0=off topic,1=related,2=answers (default: those of QRELS)"),
    replace(
        reading.COMPARE,
        help="the goal: which of two runs is better (--compare ONE OTHER), or who is better than the leader (--compare "
        "all), by the first measure",
    ),
    Option("--until WHEN", "with --compare: settled (the default), or decided with a probability (0.95)", "settled"),
    Option("--shared SHARE", "the share of documents that every judge is asked about (default 0)", 0.0),
    Option("--read-only", "show the report alone, and take no judgments"),
    *CHOICES,
)
def run_serve(options: Options) -> None:
    """Judge documents in the browser, with the report live beside it.

    The page shows one document after the other with its query; a key judges it. Judgments go to a journal beside QRELS
    first, and from there into QRELS, a TREC file or a CSV, TSV or Quepid table, whose other lines stay as they are.
    What comes next and how far it is to the goal (--compare) is computed in the background. The report, on the same
    address under /report, follows its files. Only this machine is answered, unless --host says otherwise; then
    everybody needs a --token. Stop with Ctrl-C.
    """
    from rankbounds.desk.server import Office, address, check_token, server
    from rankbounds.report.page import Live

    if STANDARD_INPUT in [options.qrels, *options.runs]:
        raise UsageError("The page follows its files: give files, not standard input (-).")
    token = check_token(options.host, options.token or os.environ.get("RANKBOUNDS_TOKEN") or None)
    live = Live(
        options.qrels, partial(reading.runs_from, options), choices_from(options), judging=not options.read_only
    )
    office = Office(live) if options.read_only else _judging(options, live)
    try:
        with server(office, options.host, options.port, token) as listening:
            port = listening.server_address[1]
            if token:
                say("warning: whoever has this address can read and judge, and traffic is not encrypted: keep it.")
            say(f"open {address(options.host, port, token)}")
            doing("")  # now it is others who take their time
            listening.serve_forever()
    finally:
        office.close()


def _judging(options: Options, live: Live) -> Office:
    from rankbounds.desk.desk import Desk, Settings, check_name, grades_from
    from rankbounds.desk.judgment_file import JudgmentFile
    from rankbounds.desk.planning import Planning
    from rankbounds.desk.server import Office
    from rankbounds.files.document_texts import DocumentTexts
    from rankbounds.files.queries import read_query_texts
    from rankbounds.judging.audits.judged_sample import listed_documents
    from rankbounds.judging.next.judge_next import criterion

    goal = {"compare": reading.compared_from(options.compare), "until": options.until, "seed": options.seed}
    if options.compare is not None:
        criterion(options.until, goal["compare"])
    if not 0 <= options.shared <= 1:
        raise UsageError(f"--shared is a share, a number from 0 to 1, not {options.shared:g}.")
    for name in options.judge or ():
        check_name(name)
    runs = reading.runs_from(options)  # what is wrong with them is told before anything is served
    user = ""
    if not options.judge:
        with contextlib.suppress(KeyError, OSError, ImportError):  # a machine need not say who works on it
            user = getpass.getuser()
    settings = Settings(
        tuple(options.judge or ()),
        {} if options.grades is None else grades_from(options.grades),
        {} if options.queries is None else read_query_texts(options.queries),
        None if options.documents is None else DocumentTexts(options.documents),
        None if options.worklist is None else tuple(listed_documents(options.worklist)),
        options.shared,
        user,
        live.retrieves,
    )
    source = options.source.split(",")[0].strip() if options.source else None
    file = JudgmentFile(options.qrels, formats=options.formats, columns=options.columns, source=source)
    desk = Desk(file, settings)
    journal = desk.journal
    if journal.unreadable:
        say(f"warning: {journal.path}: {journal.unreadable} torn lines, which nobody was told are saved, are left out.")
    if journal.entries:
        say(f"{journal.path}: {len(journal.entries):,} lines of earlier judging.")
    planned = bool(runs) and (options.worklist is None or options.compare is not None)
    return Office(live, desk, Planning(desk, live, goal) if planned else None)
