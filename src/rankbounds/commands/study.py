"""Repeat the papers' experiments on your own runs: a table, a figure and the answer in words for each.

"study list" shows the studies, their questions and what they need; "study all" does the lot. A folder for each study
holds table.csv, figure.svg, .png and .pdf, and README.md. What is complete for the same files and options is not
computed again, so that "study all" can be stopped and taken up later.
"""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankbounds.commands.messages import say
from rankbounds.commands.output import check_format, progress_on_terminal, seed, write_text
from rankbounds.commands.progress import doing
from rankbounds.commands.reading import add_inputs, add_reading, collection_from
from rankbounds.commands.run_names import name_and_path
from rankbounds.commands.scoring import add_gain, add_measures
from rankbounds.errors import RankboundsError, UsageError
from rankbounds.files.opening import STANDARD_INPUT, expand
from rankbounds.tables import Table, render_rows

if TYPE_CHECKING:
    from rankbounds.collection.qrels import Qrels
    from rankbounds.collection.run import Run
    from rankbounds.studies.folder import Study

NEEDS = {"qrels": "judgments", "runs": "runs", "groups": "groups of runs (--groups)"}
FIELDS = ("study", "question", "needs")
FLAGS = {
    "qrels": "judgments",
    "runs": "runs",
    "groups": "--groups",
    "measures": "-m",
    "gain": "--gain",
    "seed": "--seed",
}
"""What may be given and not every study takes, as the command line has it."""
READING = ("read_as", "labels", "columns", "lenient")
"""Options that say how files are read."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("name", metavar="NAME", help='a study, "all" or "list"')
    add_inputs(parser, needed=False)
    parser.add_argument(
        "-o", "--output", dest="folder", metavar="FOLDER", default="studies", help="where to write (default studies)"
    )
    add_measures(parser, ("those of the study",))
    parser.add_argument("--groups", metavar="FILE", help="which group each run is from: lines of run and group")
    add_gain(parser)
    add_reading(parser)
    parser.add_argument("--seed", type=seed, default=0, help="seed of the random numbers (default 0)")
    parser.add_argument("--again", action="store_true", help="compute what is complete once more")
    parser.add_argument("--format", default="table", metavar="F", help="of the list: table (default), json")


def run(options: argparse.Namespace) -> int:
    """List the studies, or do one or all of them."""
    from rankbounds.studies.folder import fingerprints, known_studies, study_called

    options.formats = ("table", "json")
    options.output, folder = None, Path(options.folder)
    check_format(options)
    if options.name == "list":
        write_text(options, listed(list(known_studies().values()), options.format))
        return 0
    chosen = list(known_studies().values()) if options.name == "all" else [study_called(options.name)]
    files = expand(name_and_path(argument)[1] for argument in options.runs)
    if STANDARD_INPUT in [options.qrels, *files]:
        raise UsageError("A study remembers its files by their checksums: give files, not standard input (-).")
    given = {
        "qrels": options.qrels,
        "runs": files or None,
        "groups": options.groups,
        "measures": options.measures,
        "gain": options.gain,
        "seed": options.seed or None,
    }
    ready = [study for study in chosen if not lacking(study, given)]
    for study in chosen:
        if study not in ready and options.name == "all":
            say(f"{study.name}: left out, it needs {' and '.join(lacking(study, given))}")
        elif study not in ready:
            raise UsageError(f"The study {study.name} needs {' and '.join(lacking(study, given))}.")
    for study in ready:
        without = untaken(study, given)
        if without and options.name == "all":
            say(f"{study.name}: takes {in_words(without)}; computed without what it does not take")
        elif without:
            raise UsageError(f"The study {study.name} takes {in_words(without)}.")
    read = [path for path in (options.qrels, *files, options.groups) if path]
    sums = fingerprints(read) if read else {}
    collection = cache(lambda: collection_from(options))  # read once, by the first study that is computed
    return max(
        [do(study, given, collection, sums, folder, options, at, len(ready)) for at, study in enumerate(ready, 1)],
        default=0,
    )


def do(
    study: Study,
    given: dict[str, Any],
    collection: Callable[[], tuple[Qrels, list[Run]]],
    sums: dict[str, str],
    folder: Path,
    options: argparse.Namespace,
    number: int,
    total: int,
) -> int:
    """One study; among several, one that fails is told of and the others go on."""
    from rankbounds.studies.folder import compute, is_complete, write
    from rankbounds.version import __version__

    label = f"{number} of {total}: {study.name}" if total > 1 else study.name
    place = folder / study.name
    taken = study.taken({name: given[name] for name in ("measures", "gain", "seed")})
    taken |= {name: getattr(options, name) for name in READING if getattr(options, name) and "qrels" in study.needs}
    made_from = {
        "files": sums if "qrels" in study.needs else {},
        "options": taken,
        "version": __version__,
    }
    if not options.again and is_complete(place, made_from):
        say(f"{label}: complete, left as it is")
        return 0
    started = time.monotonic()
    try:
        read = dict(zip(("qrels", "runs"), collection(), strict=True)) if "qrels" in study.needs else {}
        doing(f"computing {study.name}")
        result = compute(study, given | read, progress_on_terminal(f"steps of {study.name}"))
        write(study, result, place, made_from, command_line(study, options))
    except RankboundsError as error:
        if total == 1:
            raise
        say(f"{label}: failed: {error}")
        return error.exit_code
    say(f"{label}: wrote {place} ({time.monotonic() - started:.1f} s)")
    write_text(options, f"{study.name}: {result.answer}\n")
    return 0


def lacking(study: Study, given: dict[str, Any]) -> list[str]:
    """What the study needs and nobody gave, in words."""
    return [NEEDS.get(name, name) for name in study.needs if given.get(name) is None]


def untaken(study: Study, given: dict[str, Any]) -> list[str]:
    """What was given and the study does not take, in words."""
    return [
        f"no {flag}" if study.parameter(name) is None else f"{flag} once only"
        for name, flag in FLAGS.items()
        if given[name] is not None and not study.takes(name, given[name])
    ]


def in_words(parts: list[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def listed(studies: list[Study], kind: str) -> str:
    """The studies with their questions and needs."""
    rows = [
        {
            "study": study.name,
            "question": study.question,
            "needs": ", ".join(NEEDS.get(name, name) for name in study.needs) or "nothing (simulated)",
        }
        for study in studies
    ]
    if kind == "json":
        return render_rows(rows, "json", FIELDS)
    return Table(
        FIELDS, [[row[field] for field in FIELDS] for row in rows], frozenset({0, 1, 2}), importance=[1]
    ).text()


def command_line(study: Study, options: argparse.Namespace) -> str:
    """What would make the folder again."""
    words = ["rankbounds", "study", study.name]
    if "qrels" in study.needs:
        words += [options.qrels, *options.runs]
        words += [f"--from={options.read_as}"] if options.read_as else []
        words += [f"--labels={options.labels}"] if options.labels else []
        words += ["--columns=" + ",".join(map("=".join, options.columns.items()))] if options.columns else []
        words += ["--lenient"] if options.lenient else []
    for measure in options.measures or ():
        words += ["-m", measure] if study.takes("measures", options.measures) else []
    for name in ("groups", "gain", "seed"):
        if getattr(options, name) and study.parameter(name):
            words += [f"--{name}", str(getattr(options, name))]
    return shlex.join(words)
