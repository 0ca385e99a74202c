"""Correct scores by a model's labels with a sample that people judged, and say how far they can be trusted.

LABELS are the labels that SAMPLE was drawn from ("rankbounds sample"), and SAMPLE has the column relevance filled in.
"by labels" is what the labels alone claim; "estimate" is what people would say who judged everything, with an interval
that holds however bad the labels are: bad ones make it wide. --difference compares the runs in pairs. --sources both
makes intervals that hold for other topics as well.

--plan 0.03 says how many judgments intervals of that half-width need; SAMPLE is then a pilot, or left out when nobody
has judged yet.
"""

from __future__ import annotations

from dataclasses import replace

from rankbounds.commands.messages import say_all
from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import OUTPUT, write_result
from rankbounds.commands.progress import doing
from rankbounds.commands.reading import LABELS, READING, RUNS, collection_from, judgments_from
from rankbounds.commands.sample import COMPARE, compared_from
from rankbounds.commands.scoring import GAIN, TIES, confidence, measures
from rankbounds.errors import UsageError
from rankbounds.judging.audits.audit import SOURCES, Audit, audit
from rankbounds.judging.audits.judged_sample import is_sample
from rankbounds.judging.audits.plan import AuditPlan, plan_audit

QUESTION = "May a model's labels stand in for people?", 3
OPTIONS = (
    LABELS,
    Option("SAMPLE", "the judged sample: query_id, doc_id, probability, relevance", file="read"),
    replace(RUNS, usage="[RUN ...]"),
    measures((), "RBP(p=0.8) (the default), P@10, DCG@20; nDCG@10, AP, Recall@100 by linearisation"),
    Option("--difference", "compare the runs in pairs"),
    Option(
        "--judgments FILE",
        "take the judgments from this file, not from the column relevance; it may hold no other documents",
        file="read",
    ),
    Option(
        "--sources WHICH",
        "what the interval covers: judgments that nobody made (default), or both that and topics being a sample",
        SOURCES[0],
        words=SOURCES,
    ),
    Option(
        "--label-rel L",
        'the lowest label that stands for relevant in "by labels" (default: the rel of the measure)',
        type=float,
    ),
    confidence(),
    Option("--plan H", "how many judgments a half-width of H needs", type=float),
    COMPARE,
    *TIES,
    GAIN,
    *READING,
    *OUTPUT,
)


def run(options: Options) -> None:
    """Compute and print."""
    result = audit_from(options) if options.plan is None else plan_from(options)
    write_result(options, result)
    say_all(result.notes())


def audit_from(options: Options) -> Audit:
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
        judgments=None if options.judgments is None else judgments_from(options, options.judgments),
        **pick(options, "difference", "sources", "label_rel", "confidence", "ties", "gain", "score_precision"),
    )


def plan_from(options: Options) -> AuditPlan:
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
        compare=compared_from(options.compare) or ("all" if options.difference else None),
        **pick(options, "confidence", "ties", "gain", "score_precision"),
    )
