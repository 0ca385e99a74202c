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
from rankbounds.commands.console.options import Option, Options, everyday, whole
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.question import QuestionOptions
from rankbounds.files.opening import STANDARD_INPUT

if TYPE_CHECKING:
    from rankbounds.desk.server import Office
    from rankbounds.report import Choices
    from rankbounds.report.page import Live

PAGE = "report.html"
TEXTS = (
    Option("--queries FILE", "texts of the queries: TREC topics, TSV, CSV or JSON lines with id and text"),
    Option(
        "--documents FILE",
        "texts of the documents: JSON lines or a table with id and text, id<TAB>text, or TREC's SGML; a folder or "
        "a pattern for several files; may be repeated",
        repeated=True,
    ),
)
WORKLIST = Option(
    "--worklist FILE",
    'under "What to judge next", show the documents of this table (from "rankbounds sample" or "judge-next") that are '
    "not judged yet",
    about_runs=True,
)


@command(
    "report",
    *reading.INPUTS,
    *reading.SCORE_TABLES,
    *everyday(*TEXTS),
    scoring.MEASURES,
    WORKLIST,
    Option(
        "--since FILE",
        'say what changed since these scores were saved ("rankbounds compare --save"): topics, judged documents, '
        "grades, options, runs",
        about_runs=True,
    ),
    scoring.BY,
    *scoring.TESTS,
    *scoring.ASSUMING,
    reading.CALIBRATE,
    output.file_option(("html",), f"the page to write (default {PAGE}, if it does not exist)"),
)
def run_report(options: Options) -> None:
    """Write an HTML report: leaderboard, plots, comparisons in words, topics, and what to judge next.

      rankbounds report qrels.txt runs -o report.html
      rankbounds report qrels.txt runs/bm25.txt runs/dense.txt -o two.html

    For two runs the page opens with the verdict, then shows what noise, unjudged documents and ties leave open, and the
    topics that changed most. For more it opens with the leaderboard. With --queries and --documents it shows texts,
    with --by differences by class of topic; -m RBP adds a slider for the persistence p. It is one file that needs no
    network, and names its files, options and seed. With --scores it is made from tables of scores, without the parts
    that need judgments.
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
        content = gather_scores(scores, [path for _, path in reading.named_files(options.scores)], choices)
    else:
        progress = progress_on_terminal("runs scored", "comparing runs, and making the page")
        content = gather(options.qrels, reading.runs_from(options), choices, progress)
    output.write_text(options, page(content))


def choices_from(options: Options) -> Choices:
    from rankbounds.report import Choices

    known = {*(choice.name for choice in fields(Choices)), *QuestionOptions.__annotations__} - {"threads", "baseline"}
    given = {name: value for name, value in vars(options).items() if name in known}
    return Choices.of(options.measures or DEFAULT_MEASURES, **given)


@command(
    "serve",
    *reading.INPUTS,
    *everyday(
        *TEXTS,
        Option("--judge NAME", "the judge's name; if repeated, the page asks who is judging", repeated=True),
        Option("--grades G", "grades: 3 for 0 to 3, or 0=off topic,1=related,2=answers (default: those of QRELS)"),
        replace(
            reading.COMPARE,
            help="the goal: which of two runs is better (--compare bm25 dense; the default for two), or which runs "
            "beat the leader (--compare all), by the first measure",
        ),
        Option(
            "--labels FILE",
            "the labels that --worklist was sampled from; the page audits them while people judge (with --compare A B)",
            file="read",
        ),
        Option("--port PORT", "port (default 8765; 0: any free port)", 8765, type=whole("a port is", 0, 65535)),
        Option("--read-only", "show only the report, without judging"),
    ),
    Option("--host HOST", "address to listen on (default 127.0.0.1, only this machine)", "127.0.0.1"),
    Option(
        "--token TOKEN",
        "the secret that opens the page, required with --host; new makes one; RANKBOUNDS_TOKEN sets it too",
    ),
    Option("--until WHEN", "settled (default with --compare), or decided with a probability (0.95)"),
    scoring.MEASURES,
    WORKLIST,
    *scoring.TIES,
    scoring.GAIN,
    *reading.PREPARING,
    *reading.READING,
    reading.CALIBRATE,
)
def run_serve(options: Options) -> None:
    """Judge (label) documents in the browser, with the report live beside it.

      rankbounds serve qrels.txt runs
      rankbounds serve qrels.txt runs --compare reranked dense

    The page shows one document after another with its query, and a key judges it. Judgments go to a journal beside
    QRELS, and from there into QRELS: a TREC file or a CSV or TSV table, whose other lines are kept. What to
    judge next, and how far the goal (--compare) is, is computed in the background; with --labels and --worklist, the
    page audits a model's labels and says when the comparison is settled. The report, at /report of the same
    address, follows the files. Only this machine can open the page, unless --host says otherwise; then a --token is
    required. Stop with Ctrl-C.
    """
    from rankbounds.desk.server import Office, address, check_token, server
    from rankbounds.report.page import Live

    if STANDARD_INPUT in [options.qrels, *options.runs]:
        raise UsageError("The page follows its files: give files, not standard input (-).")
    token = check_token(options.host, options.token or os.environ.get("RANKBOUNDS_TOKEN") or None)
    choices = replace(choices_from(options), documents=None)  # (indexing them at every change would take too long)
    asked = replace(choices.question, compare=reading.compared_from(options.compare))
    choices, runs = replace(choices, question=asked), partial(reading.runs_from, options)
    live = Live(options.qrels, runs, choices, judging=not options.read_only)
    office = Office(live) if options.read_only else _judging(options, live)
    try:
        with server(office, options.host, options.port, token) as listening:
            if token:
                say(
                    "warning: anyone who has this address can read and judge, and traffic is not encrypted. Keep the "
                    "address secret."
                )
            say(f"open {address(options.host, listening.server_address[1], token)}")
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
    from rankbounds.judging.audits.labelled_pool import listed_documents
    from rankbounds.judging.next.judge_next import criterion

    goal = {"compare": live.choices.question.compare}
    if options.labels is not None:
        if options.worklist is None:
            raise UsageError(
                '--labels goes with --worklist, the sample that was drawn from them ("rankbounds sample").'
            )
        if options.worklist == options.qrels:
            raise UsageError('--labels needs QRELS beside the sample: "rankbounds sample --format trec" writes it.')
        goal |= {"labels": options.labels, "sample": options.worklist}
    else:
        goal |= {"until": options.until}
    for name in options.judge or ():
        check_name(name)
    runs = reading.runs_from(options)  # what is wrong with them is told before anything is served
    criterion(options.until, goal["compare"] or len(runs) == 2 or None)
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
        user,
        goal["compare"] if isinstance(goal["compare"], tuple) else (),
        live.retrieves,
    )
    source = options.source.split(",")[0].strip() if options.source else None
    desk = Desk(JudgmentFile(options.qrels, formats=options.formats, columns=options.columns, source=source), settings)
    journal = desk.journal
    if journal.unreadable:
        say(f"warning: {journal.path}: skipped {journal.unreadable} incomplete lines, never confirmed as saved.")
    if journal.entries:
        say(f"{journal.path}: {len(journal.entries):,} entries from earlier sessions.")
    planned = bool(runs) and (options.worklist is None or options.compare is not None or options.labels is not None)
    return Office(live, desk, Planning(desk, live, goal) if planned else None)
