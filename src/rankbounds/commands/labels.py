"""Commands about labels that a model made: may they be trusted, what people should judge to find out, the audit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankbounds.choices import check_choice
from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import doing, say_all
from rankbounds.commands.console.options import Option, Options, call, everyday
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.files.opening import plain_name

if TYPE_CHECKING:
    from rankbounds.collection.inputs import Reading
    from rankbounds.collection.qrels import Qrels


@command(
    "judges",
    Option("TRUSTED", "the trusted labels, in any format of judgments", dest="qrels", file="read"),
    Option("[LABELS ...]", "the labels to check: files, patterns or folders; name=FILE", dest="label_files"),
    Option("--runs RUN ...", f"{reading.RUNS_HELP} (default: compare labels only)", [], group="input", everyday=True),
    reading.FAMILIES,
    scoring.measures(DEFAULT_MEASURES[:1]),
    Option("--details NAME", "print all that is known of these labels", everyday=True),
    Option(
        "--rel GRADE",
        "lowest trusted grade that counts as relevant (default: rel of the first measure, or 1)",
        type=float,
        everyday=True,
    ),
    Option(
        "--labels-rel [NAME=]GRADE",
        "lowest relevant grade of the labels to check; required if the scales differ, unless they are 0/1",
        repeated=True,
    ),
    Option("--same-scale", "treat all labels as one scale, even if their highest grades differ"),
    scoring.ALPHA,
    scoring.CONFIDENCE,
    *scoring.resampling(2000),
    *scoring.ASSUMING_NO_BOUNDS,
    *output.FIGURES,
    output.EXPLAIN,
    *output.OUTPUT,
)
def run_judges(options: Options) -> Any:
    """Compare labels, such as those of a language model, with trusted ones: agreement, bias, order of runs.

      rankbounds judges qrels.txt labels.txt
      rankbounds judges qrels.txt labels.txt --runs runs -m nDCG@10

    Several sets of LABELS are compared side by side, the best first, and --details NAME prints the rest. Without
    LABELS, the sources of the file TRUSTED are compared, and --source names the trusted one.
    """
    from rankbounds.judging.judges.comparison import compare_judges

    reader, labels_rel = reading.reading_from(options), labels_rel_from(options)
    trusted, labels = labels_from(options, reader)
    comparison = call(
        options,
        compare_judges,
        trusted,
        labels,
        reader.runs(reading.runs_from(options)) if options.runs else None,
        labels_rel=labels_rel,
        same_scale=options.same_scale or None,
        trusted_name=options.source,
    )
    return comparison.details(options.details) if options.details or options.explain else comparison


def labels_from(options: Options, reader: Reading) -> tuple[Qrels, dict[str, Qrels]]:
    from rankbounds.collection.qrels import Qrels

    if not options.label_files:
        if not options.source or "," in options.source:
            raise UsageError("Name the labels to check, or with --source the one source of TRUSTED that is trusted.")
        by_source = Qrels.by_source(options.qrels, formats=options.formats, columns=options.columns)
        trusted = reader.judgments(options.qrels)
        others = {name: labels for name, labels in by_source.items() if name != options.source}
        if not others:
            raise DataError(options.qrels, f'all labels have the source "{options.source}": there are none to check.')
        return trusted, others
    files: dict[str, str] = {}
    for name, file in reading.named_files(options.label_files):
        if name is not None and name in files:
            raise UsageError(f'Two sets of labels are called "{name}".')
        files[name or (file if plain_name(file) in files else plain_name(file))] = file
    if options.details is not None:
        check_choice("--details", options.details, [*files])
    labels: dict[str, Qrels] = {}
    for own, file in files.items():
        try:
            labels[own] = reader.judgments(file)
        except DataError:
            if reader.source is None:
                raise
            labels[own] = replace(reader, source=None).judgments(file)  # a file without sources
    return reader.judgments(options.qrels), labels


def labels_rel_from(options: Options) -> float | dict[str, float] | None:
    by_name: dict[str, float] = {}
    for given in options.labels_rel or ():
        name, _, grade = given.rpartition("=")
        try:
            by_name[name] = float(grade)
        except ValueError:
            raise UsageError(f'--labels-rel takes a grade or NAME=GRADE, not "{given}".') from None
    if "" in by_name:
        if len(by_name) > 1:
            raise UsageError("--labels-rel takes one grade for all labels, or NAME=GRADE for each.")
        return by_name[""]
    return by_name or None


@command(
    "sample",
    reading.LABELS,
    reading.RUNS,
    *everyday(
        Option("--budget N", "number of documents that people will judge (required)", type=int, required=True),
        Option(
            "-m, --measure MEASURE",
            "the measure to audit: nDCG@10 (default), RBP(p=0.8), P@10, DCG@20, AP, Recall@100",
            DEFAULT_MEASURES[0],
            words=scoring.measure_names,
        ),
        reading.COMPARE,
        reading.FAMILIES,
    ),
    scoring.SEED,
    *scoring.TIES,
    scoring.GAIN,
    *(option for option in reading.READING if option.dest != "complete"),
    *output.options_for(("csv", "tsv", "json", "jsonl", "trec", "table", "markdown", "latex", "html")),
)
def run_sample(options: Options) -> None:
    """Draw the documents that people should judge, so that a model's labels can be audited.

      rankbounds sample labels.txt runs --budget 100 -o drawn.csv
      rankbounds sample labels.txt runs --budget 100 --compare reranked dense

    Documents are drawn with known probabilities. The output has columns query_id, doc_id, order, probability: fill in
    relevance in the order of the lines, for "rankbounds audit"; or judge with "rankbounds serve" (--format trec).
    """
    from rankbounds.judging.audits.sample import draw_sample

    compare = reading.compared_from(options.compare)
    drawn = call(options, draw_sample, *reading.collection_from(options), compare=compare)
    if options.format == "trec":
        output.write_text(options, drawn.pool().text())
    else:
        options.raw = True  # ids are to be found again as they are
        rows = [row | {"relevance": None} for row in drawn.rows()]
        output.write_rows(options, rows, (*drawn.fields, "relevance"), table=drawn.table)
    say_all(drawn.notes())


@command(
    "audit",
    reading.LABELS,
    Option("SAMPLE", 'what "rankbounds sample" wrote, with its column relevance filled in', file="read"),
    reading.RUNS_IF_ANY,
    *everyday(
        scoring.measures((), "nDCG@10 (default), AP, Recall@100 by linearisation; RBP(p=0.8), P@10, DCG@20"),
        Option("--difference", "compare the runs in pairs"),
        reading.FAMILIES,
        Option("--judgments FILE", "read the sample's judgments from this file instead of its column relevance"),
        Option("--sequential", "give intervals that stay valid at every look, and say when the question is settled"),
    ),
    Option("--label-rel L", "lowest label that counts as relevant (default: the rel of the measure)", type=float),
    scoring.CONFIDENCE,
    *scoring.TIES,
    scoring.GAIN,
    *(option for option in reading.READING if option.dest != "complete"),
    *output.FIGURES,
    output.EXPLAIN,
    *output.OUTPUT,
)
def run_audit(options: Options) -> Any:
    """Correct scores from a model's labels with a sample that people judged, with confidence intervals.

      rankbounds audit labels.txt sample.csv runs
      rankbounds audit labels.txt sample.csv runs --difference --sequential

    SAMPLE was drawn from LABELS ("rankbounds sample"), with relevance filled in from the first document on. "by labels"
    is the score from the labels alone; "estimate" is that if people had judged everything.
    """
    from rankbounds.judging.audits.audit import audit

    if not options.runs:
        raise UsageError("No run was given: an audit needs LABELS, SAMPLE and runs, in this order.")
    labels, runs = reading.collection_from(options)
    doing("calibrating labels, and correcting the scores")
    judgments = None if options.judgments is None else reading.judgments_from(options, options.judgments)
    return call(options, audit, labels, options.sample, runs, judgments=judgments)
