"""The command that repeats the papers' experiments."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import doing, progress_on_terminal, say
from rankbounds.commands.console.options import Option, Options, pick
from rankbounds.errors import RankboundsError, UsageError
from rankbounds.files.opening import STANDARD_INPUT, expand
from rankbounds.results import Column

if TYPE_CHECKING:
    from rankbounds.studies.study import Study

NEEDS = {"qrels": "judgments", "runs": "runs", "groups": "groups of runs (--groups)"}
FLAGS = {"qrels": "judgments", "runs": "runs", "groups": "--groups", "measures": "-m", "gain": "--gain",
         "seed": "--seed"}  # fmt: skip
"""What may be given and not every study takes, as the command line has it."""


@command(
    "study",
    "How do I try things out?",
    4,
    Option("NAME", 'a study, "all" or "list"'),
    *reading.INPUTS_IF_ANY,
    scoring.measures(("those of the study",)),
    Option("--groups FILE", "the group of each run: lines of run and group", everyday=True),
    scoring.GAIN,
    *reading.READING,
    scoring.SEED,
    Option("--again", "compute studies again that are complete"),
    Option(
        "-o, --output FOLDER",
        "folder to write to (default studies)",
        "studies",
        dest="folder",
        group="output",
        everyday=True,
    ),
    Option(
        "--format F",
        "format of the list: table (default), json",
        words=("table", "json"),
        group="output",
        everyday=True,
    ),
)
def run_study(options: Options) -> int:
    """Repeat experiments of papers on your own runs: a table, a figure and the answer in words for each.

      rankbounds study list
      rankbounds study bounds-by-depth qrels.txt runs

    "study list" shows the studies, their questions and what they need; "study all" computes all of them. The folder of
    each study holds table.csv, figure.svg, .png and .pdf, and README.md. Studies that are complete for the same files
    and options are not computed again, so "study all" can be stopped and resumed.
    """
    from rankbounds.studies.study import STUDIES, fingerprints, study_called

    known = [STUDIES[name] for name in sorted(STUDIES)]
    if options.name == "list":
        columns = [Column("study"), Column("question", importance=1), Column("needs")]
        needs = [", ".join(NEEDS.get(name, name) for name in each.needs) or "nothing (simulated)" for each in known]
        listed = zip(known, needs, strict=True)
        rows = [{"study": each.name, "question": each.question, "needs": needed} for each, needed in listed]
        output.write_rows(options, rows, columns)
        return 0
    is_all = options.name == "all"
    studies = known if is_all else [study_called(options.name)]
    files = expand(output.name_and_path(argument)[1] for argument in options.runs)
    if STANDARD_INPUT in [options.qrels, *files]:
        raise UsageError("A study checks whether its files changed: give files, not standard input (-).")
    given = pick(options, "qrels", "groups", "measures", "gain")
    given |= {"runs": files or None, "seed": options.seed or None}
    ready = []
    for study in studies:
        lacks = " and ".join(NEEDS.get(name, name) for name in study.needs if given.get(name) is None)
        takes = untaken(study, given)
        if (lacks or takes) and not is_all:
            raise UsageError(f"The study {study.name} {f'needs {lacks}' if lacks else f'takes {takes}'}.")
        if lacks:
            say(f"{study.name}: skipped, it needs {lacks}")
            continue
        ready.append(study)
        if takes:
            say(f"{study.name}: takes {takes}; computed without")
    read = [path for path in (options.qrels, *files, options.groups) if path]
    sums = fingerprints(read) if read else {}
    collection = cache(lambda: reading.collection_from(options))  # read once, by the first study that is computed
    codes = [0]
    for number, study in enumerate(ready, 1):
        label = f"{number} of {len(ready)}: {study.name}" if len(ready) > 1 else study.name
        try:
            do(study, label, given, collection, sums, options)
        except RankboundsError as error:  # the others go on
            if len(ready) == 1:
                raise
            say(f"{label}: failed: {error}")
            codes.append(error.exit_code)
    return max(codes)


def do(
    study: Study,
    label: str,
    given: dict[str, Any],
    collection: Callable[[], Any],
    sums: dict[str, str],
    options: Options,
) -> None:
    """Compute one study and write its folder, unless it is complete."""
    from rankbounds.studies.study import is_complete, write_folder
    from rankbounds.version import __version__

    reads, place = "qrels" in study.needs, Path(options.folder) / study.name
    taken = study.taken({name: given[name] for name in ("measures", "gain", "seed")})
    if reads:
        reader = pick(options, *(option.dest for option in reading.READING))
        taken |= {name: value for name, value in reader.items() if value}
    made_from = {"files": sums if reads else {}, "options": taken, "version": __version__}
    if not options.again and is_complete(place, made_from):
        say(f"{label}: complete already")
        return
    started = time.monotonic()
    read = dict(zip(("qrels", "runs"), collection(), strict=True)) if reads else {}
    doing(f"computing {study.name}")
    progress = progress_on_terminal(f"steps of {study.name}")
    result = study(**study.taken(given | read | {"progress": progress}))
    write_folder(study, result, place, made_from, command_line(study, options))
    say(f"{label}: wrote {place} ({time.monotonic() - started:.1f} s)")
    output.write_text(options, f"{study.name}: {result.answer}\n")


def untaken(study: Study, given: dict[str, Any]) -> str:
    """What was given and the study does not take, in words: ``no --gain and -m once only``."""
    *others, last = [
        f"no {flag}" if study.parameter(name) is None else f"{flag} once only"
        for name, flag in FLAGS.items()
        if given[name] is not None and not study.takes(name, given[name])
    ] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def command_line(study: Study, options: Options) -> str:
    """What would make the folder again."""
    words = ["rankbounds", "study", study.name]
    if "qrels" in study.needs:
        words += [options.qrels, *options.runs]
        words += [f"--formats={options.formats}"] if options.formats else []
        words += [f"--source={options.source}"] if options.source else []
        words += ["--columns=" + ",".join(map("=".join, options.columns.items()))] if options.columns else []
        words += ["--lenient"] if options.lenient else []
    for measure in options.measures or ():
        words += ["-m", measure] if study.takes("measures", options.measures) else []
    for name in ("groups", "gain", "seed"):
        if getattr(options, name) and study.parameter(name):
            words += [f"--{name}", str(getattr(options, name))]
    return shlex.join(words)
