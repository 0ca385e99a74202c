"""Commands that check runs and judgments, print trec_eval's numbers, and say why another tool's numbers differ."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import doing, progress_on_terminal, say
from rankbounds.commands.console.options import Option, Options, call, everyday, group_under, whole
from rankbounds.errors import RankboundsError, UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.files.opening import STANDARD_INPUT
from rankbounds.results import Result


@command(
    "check",
    reading.RUNS_IF_ANY,
    *group_under(
        "input",
        Option(
            "--qrels QRELS", "judgments, to find missing topics and what ties do to the scores; alone: what they hold"
        ),
        Option("--topics-file FILE", "the topics that every run must have, and no others: a file of ids or of queries"),
        Option("--corpus FILE", "ids of all documents, one per line, to report documents outside the corpus"),
        everyday=True,
    ),
    *everyday(
        Option("--depth N", "largest number of documents per topic", type=whole("a topic may have", 1)),
        Option("--strict", "warnings fail too"),
    ),
    replace(scoring.MEASURES, help="with --qrels: the measures on which ties are tried; may be repeated"),
    *(option for option in reading.READING if option.dest != "lenient"),
    *output.FIGURES,
    *output.OUTPUT,
)
def run_check(options: Options) -> int | Result:
    """Check whether runs can be submitted and scored; exit code 0 (ok) or 1 (errors).

      rankbounds check runs
      rankbounds check runs --qrels qrels.txt --depth 1000

    Errors: lines that cannot be read, scores that are not numbers, duplicates, topics that are missing or were not
    asked for, too many documents, documents outside the corpus. Warnings, which fail with --strict: score, stated rank
    and line order that contradict each other, gaps in the ranks, empty lists. Notes: ties, and with --qrels what they
    can move. Of several runs the table has a row each, or, of more than 10, a row per finding; csv always has a row per
    run, json all findings. Last, per measure: the ceiling, queries that all runs answer perfectly, and the smallest
    difference that the queries show.

    Judgments alone ("check qrels.txt") are described: documents per topic that are judged, relevant, and of each grade.
    """
    from rankbounds.checking.judgments import describe
    from rankbounds.checking.submissions import check

    if not options.runs:
        if options.qrels is None:
            raise UsageError("Name runs, or judgments.")
        return describe(reading.judgments_from(options))
    runs = check(
        reading.runs_from(options),
        None if options.qrels is None else reading.judgments_from(options),
        topics=options.topics_file,
        depth=options.depth,
        corpus=options.corpus,
        strict=options.strict,
        measures=options.measures or DEFAULT_MEASURES,
        progress=progress_on_terminal("runs checked"),
    )
    if options.qrels is None and [run.count("unreadable") for run in runs] == [1] and options.runs != [STANDARD_INPUT]:
        with contextlib.suppress(RankboundsError):  # what is no run may be judgments
            return describe(reading.judgments_from(options, options.runs[0]))
    output.finish(options, runs)
    return 0 if runs.ok else 1


@command(
    "trec_eval",
    reading.QRELS,
    reading.RUN,
    *everyday(
        Option("-q, --query_eval_wanted", "show every topic too"),
        Option("-m, --measure MEASURE", "may be repeated (default: official)", dest="measures", repeated=True),
        Option(
            "-c, --complete_rel_info_wanted", "count judged topics that the run lacks as 0 (default: leave them out)"
        ),
        Option("-l, --level_for_rel N", "lowest grade that is relevant (default 1)", 1, type=whole("it takes", 1)),
        Option("-M, --Max_retrieved_per_topic N", "read only N documents per topic", type=whole("it takes", 1)),
        Option("-J, --Judged_docs_only", "leave out unjudged documents"),
        Option("-N, --Number_docs_in_coll N", "number of documents in the collection, for utility", 0),
        Option("-n, --nosummary", "leave out the summary over all topics"),
        Option(
            "-R, --Rel_info_format FORMAT",
            "what QRELS holds: qrels (default), qrels_jg (judgment groups), qrels_prefs (judgments as preferences) or "
            "prefs (preferences)",
            "qrels",
            words=("qrels", "qrels_jg", "qrels_prefs", "prefs"),
            closed=True,
        ),
    ),
    *reading.READING,
    *output.options_for(("trec", "json", "jsonl", "csv", "tsv")),
)
def run_trec_eval(options: Options) -> None:
    """Print the same output as trec_eval 10, with its names, options and digits.

      rankbounds trec_eval qrels.txt runs/bm25.txt
      rankbounds trec_eval -q -m map -m ndcg_cut.10 qrels.txt runs/bm25.txt

    Put "rankbounds" before a command line of trec_eval. Measures have trec_eval's names and parameters: -m P.5,10,
    -m ndcg.1=3,2=9; -m official (default), set and all_trec are groups. For bounds and other measures see "rankbounds
    evaluate".
    """
    from rankbounds.interop import trec_eval

    if options.Rel_info_format == "prefs" and options.formats is None:
        options.formats = "prefs,"
    lines = trec_eval.lines(
        reading.judgments_from(options),
        reading.run_from(options, options.run_file),
        options.measures or (),
        call(options, trec_eval.Options),
        per_topic=options.query_eval_wanted,
        summary=not options.nosummary,
    )
    if options.format == "trec":
        output.write_text(options, "".join(lines))
        return
    fields = ("measure", "query_id", "value")
    rows = (dict(zip(fields, (part.strip() for part in line.split("\t")), strict=True)) for line in lines)
    output.write_rows(options, rows, fields)


@command(
    "explain",
    Option(
        "OUTPUT", "the other tool's output: a file, or a number as in nDCG@10=0.534", dest="trec_output", file="read"
    ),
    reading.QRELS,
    replace(reading.RUN, usage="[RUN]", help=f"{reading.RUN.help}; not needed if QRELS lists retrieved ids too"),
    *reading.READING,
    *output.OUTPUT,
)
def run_explain(options: Options) -> None:
    """Explain why another tool reports other numbers for the same files, and find the options that reproduce them.

      rankbounds explain nDCG@10=0.366 qrels.txt runs/bm25.txt
      rankbounds explain 0.3375 qrels.txt runs/bm25.txt

    OUTPUT is a file (output of trec_eval or ir_measures; JSON of pytrec_eval, ranx, BEIR or MTEB) or a number, as in
    nDCG@10=0.534, nDCG@10=53.4% or, if the measure is unknown, 0.534. Numbers are compared to the digits given. If they
    differ, the conventions of other tools are tried (missing topics, ties, precision of scores, relevance levels,
    gains, unjudged documents, the ideal ranking, depth, duplicates, self-matches, chunks, names).
    """
    from rankbounds.checking.explanation import explain_read, run_with_repeats

    judgments = reading.judgments_from(options)
    name, path = output.name_and_path(options.run_file) if options.run_file else (None, None)
    run = path if name is None else {name: path}
    given, repeated = run_with_repeats(run, reading.reading_from(options), options.qrels)
    if repeated is not None and not options.lenient:
        again = len(repeated) - len(given)
        lines = "1 duplicate line" if again == 1 else f"{again:,} duplicate lines"
        say(f"{given.name}: {lines} left out; of each document, only the first line counts.")
    explained = explain_read(judgments, given, options.trec_output, repeated)
    rows = explained.rows()
    if options.format in ("csv", "tsv"):
        for row, explanation in zip(rows, explained, strict=True):
            row["also"] = " | ".join(explanation.also)
    table = explained.table()
    output.write_rows(
        options,
        rows,
        explained.columns,
        table=lambda: table if table.rows else None,
        below=lambda: "".join(f"{line}\n" for line in explained.words().splitlines()),
    )


@command(
    "mcp",
    Option(
        "[FOLDER]", "the folder that the tools may read; paths outside it are refused (default: the current folder)"
    ),
    Option(
        "--read-only",
        "write no files; without this option, long results go to FOLDER/rankbounds-results",
        everyday=True,
    ),
)
def run_mcp(options: Options) -> None:
    """Serve tools to an assistant over standard input and output (Model Context Protocol).

      rankbounds mcp .
      rankbounds mcp runs --read-only

    The tools are check, evaluate, compare, gate, explain, judge_next, sample and audit. Each takes paths below FOLDER,
    or small data themselves, and answers with sentences and the first rows; what is too long for a conversation is
    written to a file that the answer names. Needs the package mcp: pip install "rankbounds[mcp]".
    """
    from rankbounds.interop.assistant_tools import tool_server

    server = tool_server(options.folder or ".", writes=not options.read_only)
    say("serving check, evaluate, compare, gate, explain, judge_next, sample, audit on standard input and output.")
    doing("")
    try:
        server.run("stdio")
    except Exception as error:
        raise UsageError(f"Standard input and output cannot be served ({error}): run this from an assistant.") from None
