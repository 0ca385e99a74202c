"""May I trust this judge? Labels, say of language models, held against trusted ones.

TRUSTED are labels to believe, LABELS those in question; several are compared side by side (--votes adds their votes).
Without LABELS, all other sources of TRUSTED are in question, and --labels says which source is trusted. The verdict
says how far labels agree, whether they are generous, which runs they like, and whether they order runs alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import OUTPUT, figure, name_and_path, write_figure, write_parts
from rankbounds.commands.reading import RUNS_HELP, reading_from, runs_from
from rankbounds.commands.scoring import ASSUMING_NO_BOUNDS, alpha, assumptions_from, confidence, measures, resampling
from rankbounds.errors import DataError, UsageError
from rankbounds.files.opening import expand

if TYPE_CHECKING:
    from rankbounds.collection.inputs import Reading
    from rankbounds.collection.qrels import Qrels

QUESTION = "May a model's labels stand in for people?", 1
ROWS = ("agreement", "confusion", "by_grade", "systems", "orderings", "changes")
OPTIONS = (
    Option("TRUSTED", "the labels to believe: any known format of judgments", dest="qrels", file="read"),
    Option(
        "[LABELS ...]",
        "the labels in question: files, patterns in quotes or folders; name=FILE gives them a name",
        dest="label_files",
        file="read",
    ),
    Option("--runs RUN ...", f"{RUNS_HELP}; without: labels only", [], file="read"),
    measures(("RBP(p=0.8)",)),
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
    Option(
        "--pairs WHICH",
        "score runs by all labels of each (default), or by the shared pairs of query and document alone",
        "all",
        words=("all", "shared"),
    ),
    alpha(),
    confidence(),
    *resampling(2000),
    *ASSUMING_NO_BOUNDS,
    figure("draw agreement by grade and bias by run there"),
    *OUTPUT,
)


def run(options: Options) -> None:
    """Read, compare, print, draw."""
    from rankbounds.judging.judges.comparison import DEFAULT_MEASURES, judges

    reading = reading_from(options)
    labels_rel = labels_rel_from(options)
    trusted, labels = labels_from(options, reading)
    found = judges(
        trusted,
        labels,
        reading.runs(runs_from(options)) if options.runs else None,
        options.measures or DEFAULT_MEASURES,
        labels_rel=labels_rel,
        same_scale=options.same_scale or None,
        trusted_name=options.labels,
        **pick(options, "rel", "votes", "pairs", "alpha", "confidence", "resamples", "seed"),
        **assumptions_from(options),
    )
    write_figure(options, "labels_overview", found)
    words = {name: found.words(name) for name in found.labels}
    write_parts(options, found, found.rows(), found.fields, ROWS, words)


def labels_from(options: Options, reading: Reading) -> tuple[Qrels, dict[str, Qrels]]:
    """The trusted labels, and the others by name."""
    if not options.label_files:
        from rankbounds.collection.qrels import read_qrels_by_source

        if not options.labels or "," in options.labels:
            raise UsageError("Name the labels in question, or with --labels the one source of TRUSTED to believe.")
        by_source = read_qrels_by_source(options.qrels, kind=options.read_as, columns=options.columns)
        trusted = reading.judgments(options.qrels)
        others = {name: labels for name, labels in by_source.items() if name != options.labels}
        if not others:
            raise DataError(options.qrels, f'all labels have the source "{options.labels}": none are in question.')
        return trusted, others
    labels: dict[str, Qrels] = {}
    for argument in options.label_files:
        name, path = name_and_path(argument)
        for file in expand([path]):
            read = _read_labels(reading, file)
            if name is None:
                labels |= {file if known in labels else known: given for known, given in read.items()}
            elif name in labels:
                raise UsageError(f'Two sets of labels are called "{name}".')
            else:
                labels[name] = next(iter(read.values()))
    return reading.judgments(options.qrels), labels


def _read_labels(reading: Reading, file: str) -> dict[str, Qrels]:
    """The labels of a file by its name; --labels chooses among sources where a file has any."""
    try:
        return reading.label_sets([file])
    except DataError:
        if reading.labels is None:
            raise
        return replace(reading, labels=None).label_sets([file])


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
