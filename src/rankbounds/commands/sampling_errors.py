"""How far may estimates from sampled judgments be off? Standard errors over what could have been drawn.

For judgments of a sample with strata (five fields: topic 0 document stratum grade; -1 for documents of the pool that
were not drawn). The table shows xinfAP, infNDCG or inferred counts, the standard error of each (the jackknife within
strata, corrected for the share of each that was judged), and a normal interval. It covers the drawing of documents, not
that of topics.
"""

from __future__ import annotations

import argparse

from rankbounds.commands.messages import say
from rankbounds.commands.output import add_output, write_text
from rankbounds.commands.reading import add_inputs, add_reading, collection_from
from rankbounds.commands.scoring import add_ranking
from rankbounds.probability.sampling_errors import sampling_errors

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "latex", "markdown", "html")
DEFAULT_MEASURES = ("xinfAP", "infNDCG")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser)
    parser.add_argument(
        "-m", "--measure", dest="measures", metavar="MEASURE", action="append",
        help="xinfAP, infNDCG (the default: both), infP@10, infNumRelRet, infNumRel; may be repeated",
    )  # fmt: skip
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C", help="of the interval (default 0.95)")
    parser.add_argument("-q", "--per-topic", action="store_true", help="one row for each topic too")
    add_ranking(parser)
    add_reading(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Compute and print."""
    judgments, runs = collection_from(options)
    result = sampling_errors(
        judgments,
        runs,
        options.measures or DEFAULT_MEASURES,
        confidence=options.confidence,
        per_topic=options.per_topic,
        ties=options.ties,
        gain=options.gain,
        topics=options.topics,
        score_precision=options.score_precision,
    )
    for note in result.notes():
        say(note)
    write_text(options, result.render(options.format, raw=options.raw))
    return 0
