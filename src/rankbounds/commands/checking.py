"""Commands that check: run files, trec_eval's numbers under its own options, and why another tool's numbers differ."""

from __future__ import annotations

from dataclasses import replace

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import progress_on_terminal, say
from rankbounds.commands.console.options import Option, Options, whole
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES


@command(
    "check",
    "Can I trust these files and numbers?",
    1,
    reading.RUNS,
    Option("--qrels QRELS", "judgments: which judged topics are missing, and what ties do to the scores"),
    Option("--topics-file FILE", "the topics that every run must have, and no others: ids, or any file of queries"),
    Option("--depth N", "how many documents a topic may have", type=whole("a topic may have", 1)),
    Option("--corpus FILE", "ids of all documents, one per line: which retrieved and judged ones are not among them?"),
    Option("--strict", "warnings fail too"),
    Option("--examples N", "how many places of each kind to show (default 3)", 3),
    replace(scoring.MEASURES, help="with --qrels: measures to try ties on; may be repeated"),
    *(option for option in reading.READING if option.dest != "lenient"),
    *output.OUTPUT,
)
def run_check(options: Options) -> int:
    """Check whether runs are fit to be submitted and scored: a gate with exit code 0 (ok) or 1 (errors).

    Errors: lines that cannot be read, scores that are not numbers, duplicates, topics that are missing or were not
    asked for, too many documents, documents outside the corpus. Warnings, which fail with --strict: score, stated rank
    and line order that contradict each other, gaps in the ranks, empty lists. Notes: ties, and with --qrels what they
    can move. A folder gives one table with a row per run, then the details of runs that fail; json has all findings.
    """
    from rankbounds.checking.submissions import check

    found = check(
        reading.runs_from(options),
        None if options.qrels is None else reading.judgments_from(options),
        topics=options.topics_file,
        depth=options.depth,
        corpus=options.corpus,
        strict=options.strict,
        measures=options.measures or DEFAULT_MEASURES,
        examples=max(0, options.examples),
        progress=progress_on_terminal("runs checked"),
    )
    output.finish(options, found)
    return 0 if found.ok else 1


@command(
    "trec_eval",
    "How good are my runs?",
    4,
    reading.QRELS,
    reading.RUN,
    Option("-q, --query_eval_wanted", "each topic too, not the summary only"),
    Option("-m, --measure MEASURE", "may be repeated (default: official)", dest="measures", repeated=True),
    Option(
        "-c, --complete_rel_info_wanted", "judged topics that the run lacks count as 0; without it they are left out"
    ),
    Option("-l, --level_for_rel N", "the lowest grade that is relevant (default 1)", 1),
    Option("-M, --Max_retrieved_per_topic N", "read N documents of each list", type=int),
    Option("-J, --Judged_docs_only", "leave out documents that nobody judged"),
    Option("-N, --Number_docs_in_coll N", "documents in the collection, for utility", 0),
    Option("-n, --nosummary", "leave out the summary over all topics"),
    *reading.READING,
    *output.options_for(("trec", "json", "jsonl", "csv", "tsv")),
)
def run_trec_eval(options: Options) -> None:
    """Print what trec_eval 10 prints, under its names, options and digits.

    Put "rankbounds" before a command line of trec_eval. Names are trec_eval's, as are parameters behind a point: -m
    P.5,10, -m ndcg.1=3,2=9; -m official (the default), set and all_trec stand for several. For everything else, bounds
    and other measures among it, see "rankbounds evaluate".
    """
    from rankbounds.interop import trec_eval

    if options.level_for_rel < 1:
        raise UsageError(f"-l, the lowest grade that is relevant, must be 1 or more, not {options.level_for_rel}.")
    if options.Max_retrieved_per_topic is not None and options.Max_retrieved_per_topic < 1:
        raise UsageError(f"-M must be 1 or more, not {options.Max_retrieved_per_topic}.")
    chosen = trec_eval.Options(
        options.level_for_rel,
        options.Max_retrieved_per_topic,
        options.Judged_docs_only,
        options.complete_rel_info_wanted,
        options.Number_docs_in_coll,
    )
    lines = trec_eval.lines(
        reading.judgments_from(options),
        reading.run_from(options, options.run_file),
        options.measures or (),
        chosen,
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
    "Can I trust these files and numbers?",
    2,
    Option("OUTPUT", "what a tool reported: a file, or a number as in nDCG@10=0.534", dest="trec_output", file="read"),
    reading.QRELS,
    reading.RUN,
    Option("--all", "show measures that agree too"),
    *reading.READING,
    *output.OUTPUT,
)
def run_explain(options: Options) -> None:
    """Say why another tool's numbers differ from what rankbounds computes on the same files, and what reproduces them.

    OUTPUT is a file (what trec_eval or ir_measures printed; JSON of pytrec_eval, ranx, BEIR or MTEB) or a number, as in
    nDCG@10=0.534, nDCG@10=53.4% or, of an unknown measure, 0.534. Numbers are compared to the digits given. Where they
    differ, what other tools do is tried (missing topics, ties, precision of scores, relevance levels, gains, unjudged
    documents, the ideal ranking, depth, duplicates, self-matches, chunks, names), and the options that do it are named.
    """
    from rankbounds.checking.explanation import explain_read, run_with_repeats

    judgments = reading.judgments_from(options)
    name, path = output.name_and_path(options.run_file)
    given, repeated = run_with_repeats(path if name is None else {name: path}, reading.reading_from(options))
    if repeated is not None and not options.lenient:
        again = len(repeated) - len(given)
        lines = "1 line names" if again == 1 else f"{again:,} lines name"
        say(f"{given.name}: {lines} a document again; the first line of each document counts here.")
    found = explain_read(judgments, given, options.trec_output, repeated)
    rows = found.rows()
    if options.format in ("csv", "tsv"):
        for row, explanation in zip(rows, found, strict=True):
            row["also"] = " | ".join(map(str, explanation.also))
    table = found.table(everything=options.all)
    output.write_rows(
        options,
        rows,
        found.columns,
        table=lambda: table if table.rows else None,
        below=lambda: "".join(f"{line}\n" for line in found.words().splitlines()),
    )
