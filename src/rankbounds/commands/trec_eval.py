"""Print what trec_eval 10 prints, under its names, options and digits.

Put "rankbounds" before a command line of trec_eval. Names are trec_eval's, as are parameters behind a point: -m P.5,10,
-m ndcg.1=3,2=9; -m official (the default), set and all_trec stand for several. For everything else, bounds and other
measures among it, see "rankbounds evaluate".
"""

from __future__ import annotations

from rankbounds.commands.options import Option, Options
from rankbounds.commands.output import output, write_rows, write_text
from rankbounds.commands.reading import QRELS, READING, RUN, judgments_from, run_from
from rankbounds.errors import UsageError

QUESTION = "How good are my runs?", 4
OPTIONS = (
    QRELS,
    RUN,
    Option("-q, --query_eval_wanted", "each topic too, not the summary only"),
    Option("-m, --measure MEASURE", "may be repeated (default: official)", dest="measures", repeated=True),
    Option(
        "-c, --complete_rel_info_wanted", "judged topics that the run lacks count as 0; without it they are left out"
    ),
    Option("-l, --level_for_rel N", "the lowest grade that is relevant (default 1)", 1, type=int),
    Option("-M, --Max_retrieved_per_topic N", "read N documents of each list", type=int),
    Option("-J, --Judged_docs_only", "leave out documents that nobody judged"),
    Option("-N, --Number_docs_in_coll N", "documents in the collection, for utility", 0, type=int),
    Option("-n, --nosummary", "leave out the summary over all topics"),
    *READING,
    *output(("trec", "json", "jsonl", "csv", "tsv")),
)


def run(options: Options) -> None:
    """Evaluate and print."""
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
        judgments_from(options),
        run_from(options, options.run_file),
        options.measures or (),
        chosen,
        per_topic=options.query_eval_wanted,
        summary=not options.nosummary,
    )
    if options.format == "trec":
        write_text(options, "".join(lines))
        return
    fields = ("measure", "query_id", "value")
    rows = (dict(zip(fields, (part.strip() for part in line.split("\t")), strict=True)) for line in lines)
    write_rows(options, rows, fields)
