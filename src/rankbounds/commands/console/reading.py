"""What the options of commands say of judgments and runs: which files, and how to read them."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from rankbounds.collection.gains import gain_rule
from rankbounds.collection.inputs import Reading, RunToRead
from rankbounds.collection.order import Order, as_tie_key
from rankbounds.collection.preparation import Preparation
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.commands.console.messages import doing, say
from rankbounds.commands.console.options import Option, Options, group_under, options_given
from rankbounds.commands.console.output import files_given, in_brief, name_and_path
from rankbounds.errors import UsageError
from rankbounds.files.formats import OURS, known_formats
from rankbounds.files.opening import STANDARD_INPUT, expand
from rankbounds.rankings.ties import ORDERS
from rankbounds.threads import processors

if TYPE_CHECKING:
    from rankbounds.evaluation.scores import Scores
    from rankbounds.measures import Measure
    from rankbounds.probability.models.trusted_labels import TrustedFirst


def columns(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in next(csv.reader([text]), [])]
    if not pairs or not all(ours.strip() and theirs.strip() for ours, _, theirs in pairs):
        raise argparse.ArgumentTypeError(f'columns are named like query_id=q,doc_id=d, not "{text}"')
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def complete(text: str) -> bool:
    if text != "complete":
        raise argparse.ArgumentTypeError(f'judgments are "complete", or the option is left out, not "{text}"')
    return True


RUNS_HELP = "runs: files, folders or patterns; name=FILE names a run; - reads stdin"
QRELS = Option("QRELS", "judgments: a file, or ir_datasets:ID; - reads stdin")
RUNS = Option("RUN ...", RUNS_HELP, dest="runs")
RUNS_IF_ANY = replace(RUNS, usage="[RUN ...]")
RUN = Option("RUN", "the run; name=FILE gives it a name; - reads stdin", dest="run_file")
INPUTS = (
    QRELS,
    replace(RUNS_IF_ANY, help=f"{RUNS_HELP}; not needed if QRELS lists retrieved ids too"),
)
INPUTS_IF_ANY = (replace(QRELS, usage="[QRELS]"), RUNS_IF_ANY)
LABELS = Option("LABELS", "labels of a model, in any format of judgments; - reads stdin", dest="qrels")
SCORE_TABLES = group_under(
    "input",
    Option(
        "--scores FILE ...",
        "tables of scores per topic instead of QRELS and RUN, as rankbounds, trec_eval -q, ir_measures -q, pytrec_eval "
        "and ranx write them",
        replaces_runs=True,
        everyday=True,
    ),
    Option(
        "--lower-is-better NAME",
        "with --scores: lower values of this measure are better; may be repeated",
        repeated=True,
    ),
)
READING = group_under(
    "input",
    Option(
        "--formats FORMAT",
        "format of the files (default: detected from their contents); two, separated by a comma, are for judgments and "
        f"runs: {', '.join(OURS)}",
        words=known_formats,
        about_runs=True,
    ),
    Option(
        "--columns NAMES",
        "names of a table's columns: query_id=q,qrels.doc_id=d,run.doc_id=sku,score=s (relevance, retrieved, ...)",
        type=columns,
        everyday=True,
    ),
    Option("--lenient", "skip lines that cannot be read, and count them", about_runs=True),
    Option(
        "--source SOURCE",
        "use the judgments of this source; for several (a,b), the first source that judged the document",
        about_runs=True,
    ),
    Option(
        "--raters HOW",
        "how several people's judgments become one: their mean, the majority's (of a tie the lowest), or the first",
        words=("mean", "majority", "first"),
        about_runs=True,
    ),
    Option(
        "--judgments complete",
        "no relevant document is missing from the judgments: what they do not list is judged non-relevant",
        False,
        dest="complete",
        type=complete,
        words=("complete",),
        everyday=True,
        about_runs=True,
    ),
    Option("--same-as FILE", "groups of ids of one document, a line each: the first stands for all", about_runs=True),
    explained_by="evaluate",
)
READING_RUNS = READING[:3]
"""How to read files, where there are no judgments among them."""
PREPARING = group_under(
    "input",
    Option("--drop-self", "leave out documents whose id is the query's id (as BEIR does: ArguAna, Quora)"),
    Option("--documents-of SEP", "ids name chunks (d7#3 where SEP is #): score documents, each by its best chunk"),
    Option("--depth N", "score only the first N documents of each list", type=int),
    Option("--budget N", "score each list only as far as the --costs of its documents add up to N", type=float),
    Option("--costs FILE", "what documents cost: a document and its cost per line, or rows with doc_id and tokens"),
    about_runs=True,
    explained_by="evaluate",
)
CALIBRATE = Option(
    "--calibrate",
    "with --source human,llm: a label of the second source counts as a probability of relevance for the first, "
    "estimated from documents that both judged",
    group="input",
    about_runs=True,
)

COMPARE = Option(
    "--compare NAME ...",
    "names of two runs, or all: ask about differences (default: about the score of every run)",
    everyday=True,
)
FAMILIES = Option(
    "--families WHAT",
    'ask about families of runs: a file of lines "run family", a mark that ends it in names ("_"), or their length',
    file="read",
    everyday=True,
)


def compared_from(names: list[str] | None) -> tuple[str, str] | str | None:
    if names is None:
        return None
    if names == ["all"]:
        return "all"
    if len(names) != 2:
        raise UsageError(
            f"--compare takes the names of two runs, or all, not {' '.join(names)}. Put it after the runs' files."
        )
    return names[0], names[1]


def preparation_from(options: Options) -> Preparation:
    given: dict[str, Any] = vars(options)
    depth, budget = (given["depth"], given["budget"]) if "drop_self" in given else (None, None)
    key = (
        as_tie_key(given["ties_key"]) if (depth, budget) != (None, None) and given.get("ties_key") is not None else None
    )
    ties = "key" if key is not None else given.get("ties")
    return Preparation(
        given.get("drop_self", False),
        given.get("documents_of"),
        depth,
        cast(Order, ties) if ties in ORDERS else "trec",
        given.get("score_precision", "double"),
        key,
        given.get("same_as"),
        budget,
        given.get("costs"),
    )


def _then(job: RunToRead, change: Callable[[Run], Run]) -> RunToRead:
    return replace(job, read=lambda: change(job.read()))


def reading_from(options: Options) -> Reading:
    check_inputs(options)
    given: dict[str, Any] = vars(options)
    return Reading(
        given.get("formats"),
        given.get("source"),
        given.get("columns"),
        given.get("lenient", False),
        processors(),
        gain_rule(given.get("gain")),
        raters=given.get("raters"),
        complete=given.get("complete", False),
        same_as=given.get("same_as"),
    )


def check_inputs(options: Options) -> None:
    if files_given(options, "read").count(STANDARD_INPUT) > 1:
        raise UsageError("Standard input (-) can be given only once.")


def runs_from(options: Options, *, repeated: bool = False) -> list[RunToRead]:
    """Return the runs that the options name, each read when needed; a file named twice is one, unless ``repeated``."""
    reading = reading_from(options)
    given: list[str | RunToRead] = []
    arguments = list(options.runs or ())
    qrels = options.qrels if any(each.names == ["QRELS"] and not each.flags for each in options.declared) else None
    if not arguments and (qrels is None or not reading.holds_run(qrels)):
        lacking = reading.lacking_list(qrels) if qrels is not None else ""
        only = "No run was given: name run files after the judgments."
        raise UsageError(lacking or only)
    for argument in arguments:
        name, path = name_and_path(argument)
        if name is not None:
            given += (reading if len(arguments) == 1 else replace(reading, threads=1)).runs_to_read({name: path})
        else:
            if arguments.count(argument) > 1 and not repeated:
                raise UsageError(f"{argument} is given twice. Leave one out, or give them names: a={path} b={path}.")
            given += [file for file in expand([path]) if repeated or file not in given]
    jobs = reading.runs_to_read(given or None, qrels)
    if not reading.complete and any(qrels is not None and job.path == qrels for job in jobs):  # rows of both lists
        say("if the expected documents are complete, add --judgments complete: then no document is unjudged.")
    return prepare_runs(options, jobs)


def prepare_runs(options: Options, jobs: Sequence[RunToRead]) -> list[RunToRead]:
    preparation = preparation_from(options)
    if len(jobs) == 1:
        doing(f"reading {in_brief(jobs[0].path or jobs[0].place)}")

    def prepare(run: Run) -> Run:
        run = preparation(run)
        say(f"{run.name}: {run.prepared}.")
        return run

    return [_then(job, prepare) for job in jobs] if preparation else list(jobs)


def run_from(options: Options, given: str) -> Run:
    name, path = name_and_path(given)
    return reading_from(options).run(path if name is None else {name: path})


def judgments_from(options: Options, given: str | None = None) -> Qrels:
    chosen = options.qrels if given is None else given
    doing(f"reading {in_brief(chosen)}")
    return reading_from(options).judgments(chosen)


def collection_from(
    options: Options, trusted: TrustedFirst | None = None, *, repeated: bool = False
) -> tuple[Qrels, list[Run]]:
    judgments = judgments_from(options) if trusted is None else trusted.qrels
    return judgments, read_runs(options, repeated=repeated)


def read_runs(options: Options, *, repeated: bool = False) -> list[Run]:
    jobs = runs_from(options, repeated=repeated)
    if len(jobs) > 1:
        doing(f"reading {len(jobs)} runs")
    return reading_from(options).runs(jobs)


def trusted_from(options: Options, measures: Sequence[Measure], *, drawn: bool = False) -> TrustedFirst | None:
    """Return the labels named, the trusted source's as truth and others calibrated; ``drawn``: for drawn measures."""
    if not options.calibrate:
        return None
    if options.same_as:
        raise UsageError("--calibrate does not go with --same-as: write the labels with one id for each document.")
    from rankbounds.probability.models.trusted_labels import TrustedFirst

    return TrustedFirst.read(options.qrels, reading_from(options), measures, drawn=drawn)


def score_tables_from(options: Options) -> Scores:
    from rankbounds.evaluation.score_files import scores_of_files

    if options.qrels or options.runs:
        raise UsageError("--scores replaces judgments and runs: give one or the other.")
    for flag in options_given(options, *(option.dest for option in options.declared if option.about_runs)):
        raise UsageError(f"{flag} needs judgments and runs; it has no effect on tables of --scores.")
    check_inputs(options)
    files = named_files(options.scores)
    return scores_of_files(files, columns=options.columns, lower_is_better=options.lower_is_better or ())


def named_files(arguments: Sequence[str]) -> list[tuple[str | None, str]]:
    return [(name, file) for name, path in map(name_and_path, arguments) for file in expand([path])]
