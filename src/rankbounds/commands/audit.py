"""Correct scores by a model's labels with a sample that people judged, and say how far they can be trusted.

LABELS are the labels that SAMPLE was drawn from ("rankbounds sample"), and SAMPLE has the column relevance filled in.
"by labels" is what the labels alone claim; "estimate" is what people would say who judged everything, with an interval
that holds however bad the labels are: bad ones make it wide. --difference compares the runs in pairs. --sources both
makes intervals that hold for other topics as well.

--plan 0.03 says how many judgments intervals of that half-width need; SAMPLE is then a pilot, or left out when nobody
has judged yet.
"""

from __future__ import annotations

import argparse

from rankbounds.commands.messages import say
from rankbounds.commands.output import add_output, write_text
from rankbounds.commands.progress import doing
from rankbounds.commands.reading import RUNS_HELP, add_labels, add_reading, collection_from, judgments_from
from rankbounds.commands.sample import add_question, question_from
from rankbounds.commands.scoring import add_gain, add_ties
from rankbounds.errors import UsageError
from rankbounds.judging.audits.audit import SOURCES, Audit, audit
from rankbounds.judging.audits.judged_sample import is_sample
from rankbounds.judging.audits.plan import AuditPlan, plan_audit

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_labels(parser)
    parser.add_argument("sample", metavar="SAMPLE", help="the judged sample: query_id, doc_id, probability, relevance")
    parser.add_argument("runs", metavar="RUN", nargs="*", help=RUNS_HELP)
    parser.add_argument(
        "-m", "--measure", dest="measures", metavar="MEASURE", action="append",
        help="RBP(p=0.8) (the default), P@10, DCG@20; nDCG@10, AP, Recall@100 by linearisation; may be repeated",
    )  # fmt: skip
    parser.add_argument("--difference", action="store_true", help="compare the runs in pairs")
    parser.add_argument(
        "--judgments", metavar="FILE",
        help="take the judgments from this file, not from the column relevance; it may hold no other documents",
    )  # fmt: skip
    parser.add_argument(
        "--sources", default=SOURCES[0], metavar="WHICH",
        help="what the interval covers: judgments that nobody made (default), or both that and topics being a sample",
    )  # fmt: skip
    parser.add_argument(
        "--label-rel", type=float, metavar="L",
        help='the lowest label that stands for relevant in "by labels" (default: the rel of the measure)',
    )  # fmt: skip
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C", help="of the intervals (default 0.95)")
    parser.add_argument("--plan", type=float, metavar="H", help="how many judgments a half-width of H needs")
    add_question(parser)
    add_ties(parser)
    add_gain(parser)
    add_reading(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Compute and print."""
    result = audited(options) if options.plan is None else planned(options)
    write_text(options, result.render(options.format, raw=options.raw))
    for sentence in result.notes():
        say(sentence)
    return 0


def audited(options: argparse.Namespace) -> Audit:
    """The audit that the options ask for."""
    if options.compare is not None:
        raise UsageError("--compare goes with --plan; --difference compares the runs in pairs.")
    if not options.runs:
        raise UsageError("No run was given: an audit needs LABELS, SAMPLE and runs, in this order.")
    labels, runs = collection_from(options)
    doing("calibrating labels, and correcting the scores")
    return audit(
        labels,
        options.sample,
        runs,
        options.measures or "RBP(p=0.8)",
        difference=options.difference,
        judgments=None if options.judgments is None else judgments_from(options, options.judgments),
        sources=options.sources,
        label_rel=options.label_rel,
        confidence=options.confidence,
        ties=options.ties,
        gain=options.gain,
        score_precision=options.score_precision,
    )


def planned(options: argparse.Namespace) -> AuditPlan:
    """How many judgments are needed; what stands in the place of the sample may be a run."""
    pilot = options.sample if is_sample(options.sample) else None
    if pilot is None:
        options.runs = [options.sample, *options.runs]
    if not options.runs:
        raise UsageError("No run was given.")
    labels, runs = collection_from(options)
    doing("planning the audit")
    return plan_audit(
        labels,
        runs,
        options.measures or "RBP(p=0.8)",
        half_width=options.plan,
        sample=pilot,
        compare=question_from(options) or ("all" if options.difference else None),
        confidence=options.confidence,
        ties=options.ties,
        gain=options.gain,
        score_precision=options.score_precision,
    )
