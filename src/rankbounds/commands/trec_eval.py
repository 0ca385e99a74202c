"""Print what trec_eval 10 prints, under its names, options and digits.

Put "rankbounds" before a command line of trec_eval. Names are trec_eval's, as are parameters behind a point: -m P.5,10,
-m ndcg.1=3,2=9; -m official (the default), set and all_trec stand for several. For everything else, bounds and other
measures among it, see "rankbounds evaluate".
"""

from __future__ import annotations

import argparse

from rankbounds.commands.output import add_output, write_rows, write_text
from rankbounds.commands.reading import add_reading, judgments_from, run_from
from rankbounds.errors import UsageError

FORMATS = ("trec", "json", "jsonl", "csv", "tsv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("qrels", metavar="QRELS", help="judgments; - is stdin")
    parser.add_argument("run_file", metavar="RUN", help="the run; - is stdin")
    parser.add_argument("-q", "--query_eval_wanted", action="store_true", help="each topic too, not the summary only")
    parser.add_argument(
        "-m",
        "--measure",
        dest="measures",
        metavar="MEASURE",
        action="append",
        help="may be repeated (default: official)",
    )
    parser.add_argument(
        "-c",
        "--complete_rel_info_wanted",
        action="store_true",
        help="judged topics that the run lacks count as 0; without it they are left out",
    )
    parser.add_argument(
        "-l", "--level_for_rel", type=int, default=1, metavar="N", help="the lowest grade that is relevant (default 1)"
    )
    parser.add_argument("-M", "--Max_retrieved_per_topic", type=int, metavar="N", help="read N documents of each list")
    parser.add_argument("-J", "--Judged_docs_only", action="store_true", help="leave out documents that nobody judged")
    parser.add_argument(
        "-N", "--Number_docs_in_coll", type=int, default=0, metavar="N", help="documents in the collection, for utility"
    )
    parser.add_argument("-n", "--nosummary", action="store_true", help="leave out the summary over all topics")
    add_reading(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
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
        return 0
    fields = ("measure", "query_id", "value")
    rows = (dict(zip(fields, (part.strip() for part in line.split("\t")), strict=True)) for line in lines)
    write_rows(options, rows, fields)
    return 0
