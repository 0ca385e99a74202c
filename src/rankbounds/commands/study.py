"""Repeat the papers' experiments on your own runs: a table, a figure and the answer in words for each.

"study list" shows the studies, their questions and what they need; "study all" does the lot. A folder for each study
holds table.csv, figure.svg, .png and .pdf, and README.md. What is complete for the same files and options is not
computed again, so that "study all" can be stopped and taken up later.
"""

from __future__ import annotations

import argparse
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankbounds.commands import options as shared
from rankbounds.commands.messages import say
from rankbounds.errors import RankboundsError, UsageError
from rankbounds.files.opening import STANDARD_INPUT, expand
from rankbounds.tables import Table, render_rows

if TYPE_CHECKING:
    from rankbounds.studies.folder import Study

NEEDS = {"qrels": "judgments", "runs": "runs", "groups": "groups of runs (--groups)"}
FIELDS = ("study", "question", "needs")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("name", metavar="NAME", help='a study, "all" or "list"')
    parser.add_argument("qrels", metavar="QRELS", nargs="?", help="judgments, for studies that need them")
    parser.add_argument("runs", metavar="RUN", nargs="*", help="runs: files, patterns in quotes, or folders")
    parser.add_argument("-o", "--output", metavar="FOLDER", default="studies", help="where to write (default studies)")
    shared.add_measures(parser)
    parser.add_argument("--groups", metavar="FILE", help="which group each run is from: lines of run and group")
    parser.add_argument("--gain", metavar="RULE", help='gains of grades, like "1=3,2=9"')
    parser.add_argument("--seed", type=shared.seed, default=0, help="seed of the random numbers (default 0)")
    parser.add_argument("--again", action="store_true", help="compute what is complete once more")
    parser.add_argument("--format", default="table", metavar="F", help="of the list: table (default), json")


def run(options: argparse.Namespace) -> int:
    """List the studies, or do one or all of them."""
    from rankbounds.studies.folder import fingerprints, known_studies, study_called

    options.formats = ("table", "json")
    options.output, folder = None, Path(options.output)
    shared.check_format(options)
    if options.name == "list":
        shared.write_text(options, listed(list(known_studies().values()), options.format))
        return 0
    chosen = list(known_studies().values()) if options.name == "all" else [study_called(options.name)]
    files = expand(options.runs)
    if STANDARD_INPUT in [options.qrels, *files]:
        raise UsageError("A study reads its files more than once: give files, not standard input (-).")
    given = {
        "qrels": options.qrels,
        "runs": files or None,
        "groups": options.groups,
        "measures": options.measures,
        "gain": options.gain,
        "seed": options.seed,
        "first_seed": options.seed,
    }
    ready = [study for study in chosen if not lacking(study, given)]
    for study in chosen:
        if study not in ready and options.name == "all":
            say(f"{study.name}: left out, it needs {' and '.join(lacking(study, given))}")
        elif study not in ready:
            raise UsageError(f"The study {study.name} needs {' and '.join(lacking(study, given))}.")
    read = [path for path in (options.qrels, *files, options.groups) if path]
    sums = fingerprints(read) if read else {}
    return max(
        [do(study, given, sums, folder, options, at, len(ready)) for at, study in enumerate(ready, 1)], default=0
    )


def do(
    study: Study,
    given: dict[str, Any],
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
    taken = {name: given[name] for name in ("measures", "gain", "seed", "first_seed") if name in study.parameters}
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
        result = compute(study, given, shared.progress_on_terminal(f"steps of {study.name}"))
        write(study, result, place, made_from, command_line(study, options))
    except RankboundsError as error:
        if total == 1:
            raise
        say(f"{label}: failed: {error}")
        return error.exit_code
    say(f"{label}: {place} ({time.monotonic() - started:.1f} s)")
    print(f"{study.name}: {result.answer}")
    return 0


def lacking(study: Study, given: dict[str, Any]) -> list[str]:
    """What the study needs and nobody gave, in words."""
    return [NEEDS.get(name, name) for name in study.needs if given.get(name) is None]


def listed(studies: list[Study], kind: str) -> str:
    """The studies with their questions and needs."""
    rows = [
        {
            "study": one.name,
            "question": one.question,
            "needs": ", ".join(NEEDS.get(name, name) for name in one.needs) or "nothing (simulated)",
        }
        for one in studies
    ]
    if kind == "json":
        return render_rows(rows, "json", FIELDS)
    return Table(FIELDS, [[row[field] for field in FIELDS] for row in rows], frozenset({0, 1, 2})).text()


def command_line(study: Study, options: argparse.Namespace) -> str:
    """What would make the folder again."""
    words = ["rankbounds", "study", study.name]
    if "qrels" in study.needs:
        words += [options.qrels, *options.runs]
    for measure in options.measures or () if "measures" in study.parameters else ():
        words += ["-m", measure]
    for name in ("groups", "gain", "seed"):
        if getattr(options, name) and {name, f"first_{name}"} & set(study.parameters):
            words += [f"--{name}", str(getattr(options, name))]
    return shlex.join(words)
