"""Commands about labels that a model made: may they be trusted, what people should judge to find out, the audit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import doing, say_all
from rankbounds.commands.console.options import Option, Options, call
from rankbounds.errors import DataError, UsageError
from rankbounds.files.opening import expand, plain_name

if TYPE_CHECKING:
    from rankbounds.collection.inputs import Reading
    from rankbounds.collection.qrels import Qrels


@command(
    "judges",
    "May a model's labels stand in for people?",
    1,
    Option("TRUSTED", "the labels to believe: any known format of judgments", dest="qrels", file="read"),
    Option("[LABELS ...]", "the labels in question: files, patterns or folders; name=FILE", dest="label_files"),
    Option("--runs RUN ...", f"{reading.RUNS_HELP}; without: labels only", []),
    scoring.measures(("RBP(p=0.8)",)),
    Option(
        "--rel GRADE",
        "lowest trusted grade that counts as relevant, for kappa and for measures that name none (default: that of the "
        "first measure, or 1)",
        type=float,
    ),
    Option(
        "--labels-rel [NAME=]GRADE",
        "the same of the labels in question, where it is another; needed where scales differ, unless they are 0/1",
        repeated=True,
    ),
    Option("--same-scale", "grades mean the same in all labels, though the highest ones differ"),
    Option("--votes", "add the labels' majority and mean grade as further labels"),
    Option("--pairs all|shared", "score runs by all labels of each, or by pairs of query and document that all have"),
    scoring.alpha(),
    scoring.confidence(),
    *scoring.resampling(2000),
    *scoring.ASSUMING_NO_BOUNDS,
    output.figure("draw agreement by grade and bias by run there"),
    *output.OUTPUT,
)
def run_judges(options: Options) -> Any:
    """May I trust this judge? Labels, say of language models, held against trusted ones.

    TRUSTED are labels to believe, LABELS those in question; several are compared side by side (--votes adds their
    votes). Without LABELS, all other sources of TRUSTED are in question, and --source says which source is trusted. The
    verdict says how far labels agree, whether they are generous, which runs they like, and whether they order runs
    alike.
    """
    from rankbounds.judging.judges.comparison import compare_judges

    reader, labels_rel = reading.reading_from(options), labels_rel_from(options)
    trusted, labels = labels_from(options, reader)
    found = call(
        options,
        compare_judges,
        trusted,
        labels,
        reader.runs(reading.runs_from(options)) if options.runs else None,
        labels_rel=labels_rel,
        same_scale=options.same_scale or None,
        trusted_name=options.source,
    )
    output.write_figure(options, "labels_overview", found)
    return found


def labels_from(options: Options, reader: Reading) -> tuple[Qrels, dict[str, Qrels]]:
    """The trusted labels, and the others by name."""
    from rankbounds.collection.qrels import Qrels

    if not options.label_files:
        if not options.source or "," in options.source:
            raise UsageError("Name the labels in question, or with --source the one source of TRUSTED to believe.")
        by_source = Qrels.by_source(options.qrels, formats=options.formats, columns=options.columns)
        trusted = reader.judgments(options.qrels)
        others = {name: labels for name, labels in by_source.items() if name != options.source}
        if not others:
            raise DataError(options.qrels, f'all labels have the source "{options.source}": none are in question.')
        return trusted, others
    labels: dict[str, Qrels] = {}
    for argument in options.label_files:
        name, path = output.name_and_path(argument)
        for file in expand([path]):
            if name is not None and name in labels:
                raise UsageError(f'Two sets of labels are called "{name}".')
            own = name or (file if plain_name(file) in labels else plain_name(file))
            try:
                labels[own] = reader.judgments(file)
            except DataError:
                if reader.source is None:
                    raise
                labels[own] = replace(reader, source=None).judgments(file)  # a file without sources
    return reader.judgments(options.qrels), labels


def labels_rel_from(options: Options) -> float | dict[str, float] | None:
    """One grade for all labels, or grades by name."""
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
    "May a model's labels stand in for people?",
    2,
    reading.LABELS,
    reading.RUNS,
    Option("--budget N", "how many documents people will judge", type=int, required=True),
    reading.COMPARE,
    Option(
        "-m, --measure MEASURE",
        "what is to be audited: RBP(p=0.8) (the default), P@10, DCG@20, nDCG@10, AP, Recall@100",
        "RBP(p=0.8)",
        words=scoring.measure_names,
    ),
    scoring.SEED,
    *scoring.TIES,
    scoring.GAIN,
    *reading.READING,
    *output.options_for(("csv", "tsv", "json", "jsonl", "trec", "table", "markdown", "latex", "html")),
)
def run_sample(options: Options) -> None:
    """Draw the documents that people should judge, so that a model's labels can be audited.

    The probability that a document is drawn is known, and grows with its weight in what is asked and with how unsure
    its label is. -o sample.csv is a table query_id, doc_id, probability, relevance: fill in the last column, and
    "rankbounds audit" takes it from there. To judge in the browser: "rankbounds serve QRELS RUN... --worklist
    sample.csv", for which --format trec writes QRELS to begin with.
    """
    from rankbounds.judging.audits.sample import draw_sample

    drawn = call(
        options, draw_sample, *reading.collection_from(options), compare=reading.compared_from(options.compare)
    )
    if options.format == "trec":
        output.write_text(options, drawn.pool().text())
    else:
        options.raw = True  # ids are to be found again as they are
        rows = [row | {"relevance": None} for row in drawn.rows()]
        output.write_rows(options, rows, (*drawn.fields, "relevance"), table=drawn.table)
    say_all(drawn.notes())


@command(
    "audit",
    "May a model's labels stand in for people?",
    3,
    reading.LABELS,
    Option("SAMPLE", "the judged sample: query_id, doc_id, probability, relevance", file="read"),
    replace(reading.RUNS, usage="[RUN ...]"),
    scoring.measures((), "RBP(p=0.8) (the default), P@10, DCG@20; nDCG@10, AP, Recall@100 by linearisation"),
    Option("--difference", "compare the runs in pairs"),
    Option("--judgments FILE", "take judgments from there, not from the column relevance; no other documents"),
    Option("--sources judgments|both", "the interval covers judgments that nobody made, or also topics as a sample"),
    Option("--label-rel L", "lowest relevant label of the labels (default: the rel of the measure)", type=float),
    scoring.confidence(),
    Option("--plan H", "how many judgments a half-width of H needs", type=float),
    reading.COMPARE,
    *scoring.TIES,
    scoring.GAIN,
    *reading.READING,
    *output.OUTPUT,
)
def run_audit(options: Options) -> Any:
    """Correct scores by a model's labels with a sample that people judged, and say how far they can be trusted.

    LABELS are the labels that SAMPLE was drawn from ("rankbounds sample"), and SAMPLE has the column relevance filled
    in. "by labels" is what the labels alone claim; "estimate" is what people would say who judged everything, with an
    interval that holds however bad the labels are: bad ones make it wide. --plan 0.03 says how many judgments intervals
    of that half-width need; SAMPLE is then a pilot, or left out when nobody has judged yet.
    """
    from rankbounds.judging.audits.audit import audit
    from rankbounds.judging.audits.judged_sample import is_sample
    from rankbounds.judging.audits.plan import plan_audit

    plans = options.plan is not None
    if options.compare is not None and not plans:
        raise UsageError("--compare goes with --plan; --difference compares the runs in pairs.")
    has_sample = not plans or is_sample(options.sample)  # what stands in its place may be a run
    options.runs = options.runs if has_sample else [options.sample, *options.runs]
    if not options.runs:
        needs = "" if plans else ": an audit needs LABELS, SAMPLE and runs, in this order"
        raise UsageError(f"No run was given{needs}.")
    labels, runs = reading.collection_from(options)
    doing("planning the audit" if plans else "calibrating labels, and correcting the scores")
    if plans:
        return call(
            options,
            plan_audit,
            labels,
            runs,
            half_width=options.plan,
            sample=options.sample if has_sample else None,
            compare=reading.compared_from(options.compare) or ("all" if options.difference else None),
        )
    judgments = None if options.judgments is None else reading.judgments_from(options, options.judgments)
    return call(options, audit, labels, options.sample, runs, judgments=judgments)
