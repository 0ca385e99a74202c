"""The command that repeats the papers' experiments."""

from __future__ import annotations

import argparse
import shlex
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import doing, progress_on_terminal, say
from rankbounds.commands.console.options import Option, Options, everyday, pick
from rankbounds.errors import RankboundsError, RankboundsWarning, UsageError, did_you_mean
from rankbounds.files.named_columns import columns_argument
from rankbounds.files.opening import STANDARD_INPUT, expand
from rankbounds.results import Column

if TYPE_CHECKING:
    from rankbounds.studies.study import Study

NEEDS = {"qrels": "judgments", "runs": "runs", "groups": "groups of runs (--groups)"}


def setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f'a setting is written name=value, not "{text}"')
    return name.strip().replace("-", "_"), value.strip()


def explain(name: str) -> str:
    from rankbounds.studies.papers import describe_rows
    from rankbounds.studies.study import PARAMETERS, rows_beside, studies_called

    if name in ("all", "list"):
        return ""
    if rows := rows_beside(name):
        return describe_rows(rows)
    parts = []
    for study in studies_called(name):
        parts += [f"{study.name}: {study.question}", f"Source: {study.source}.", "settings (--set name=value):"]
        parts += [f"  {each}={_default_text(default)}\n    {PARAMETERS[each].replace('``', '')}"
                  for each, default in study.settings.items()]  # fmt: skip
        parts.append("")
    return "\n".join(parts)


def _default_text(default: Any) -> str:
    return "none" if default is None else ",".join(map(str, default)) if isinstance(default, tuple) else str(default)


@command(
    "study",
    Option("[NAME]", 'a study, a paper, something in it ("Yang table 3"), "all" or "list"', explain=explain),
    *reading.INPUTS_IF_ANY,
    *everyday(
        Option(
            "--set NAME=VALUE",
            "a setting of the study (see study NAME --help); may be repeated",
            type=setting,
            dest="chosen",
            repeated=True,
        ),
        scoring.measures(("those of the study",), "the same as --set measures=...: nDCG@10,AP"),
        Option("--groups FILE", "the group of each run: lines of run and group"),
    ),
    *reading.READING,
    Option(
        "-o, --output FOLDER",
        "folder to write to (default studies)",
        "studies",
        dest="folder",
        group="output",
        everyday=True,
    ),
    Option(
        "--format F", "format of lists: table (default), json", words=("table", "json"), group="output", everyday=True
    ),
)
def run_study(options: Options) -> int:
    """Repeat tables and figures of papers on your own runs, with the answer in words.

      rankbounds study list
      rankbounds study "Moffat and Zobel figure 5" qrels.txt runs

    "study list" shows the studies, their questions, sources and needs; "study NAME --help" the settings of one. NAME
    may be a paper ("study sakai"), which also gives a page of all its tables and figures; of its sections, equations
    and recommendations the commands are shown ("study 'Zhang section 5'"). "study all" computes everything. The
    folder of each study holds table.csv, figures as .svg, .png and .pdf, and README.md. Studies that are complete for
    the same files and options are not computed again, so that they can be stopped and resumed.
    """
    from rankbounds.studies.folders import fingerprints
    from rankbounds.studies.papers import PAPERS, describe_rows
    from rankbounds.studies.study import STUDIES, rows_beside, studies_called

    if rows := rows_beside(options.name, has_files=bool(options.qrels)):
        fields = [{"paper": paper.label, **asdict(row)} for paper, row in rows]
        output.write_rows(options, fields, list(fields[0]), table=lambda: None, above=lambda: describe_rows(rows))
        return 0
    if not options.name:
        raise UsageError('Name a study, a paper, a table or figure ("Yang table 3"), "all" or "list".')
    every = [study for _, study in sorted(STUDIES.items())]
    studies = every if options.name in ("all", "list") else studies_called(options.name)
    if options.name == "list":
        list_studies(options, studies)
        return 0
    one = len(studies) == 1
    files = expand(output.name_and_path(argument)[1] for argument in options.runs)
    if STANDARD_INPUT in [options.qrels, *files]:
        raise UsageError("A study checks whether its files changed: give files, not standard input (-).")
    given = {"qrels": options.qrels, "runs": files or None, "groups": options.groups}
    if options.measures:
        options.chosen = [*(options.chosen or ()), ("measures", ",".join(options.measures))]
    ready = choose_settings(studies, given, options.chosen or ())
    read = [path for path in (options.qrels, *files, options.groups) if path]
    sums = fingerprints(read) if read else {}
    collection = cache(lambda: reading.collection_from(options))  # read once, by the first study that is computed
    codes = [0]
    for number, (study, chosen) in enumerate(ready.items(), 1):
        label = study.name if one else f"{number} of {len(ready)}: {study.name}"
        try:
            do(study, label, chosen, collection, sums, options)
        except RankboundsError as error:  # the others go on
            if one:
                raise
            say(f"{label}: failed: {error}")
            codes.append(error.exit_code)
    if not one:
        write_pages(list(PAPERS.values()), [study for study in STUDIES.values() if study in ready], options)
    return max(codes)


def choose_settings(
    studies: list[Study], given: dict[str, Any], chosen: Sequence[tuple[str, str]]
) -> dict[Study, dict[str, str]]:
    ready: dict[Study, dict[str, str]] = {}
    known = dict.fromkeys(name for study in studies for name in study.settings)
    for name, _ in chosen:
        if not any(study.name_of(name) for study in studies):
            hint = did_you_mean(name, list(known))
            raise UsageError(f'There is no setting "{name}".{hint} "rankbounds study NAME --help" lists all.')
    for study in studies:
        lacks = " and ".join(NEEDS[name] for name in study.needs if given[name] is None)
        unused = " and ".join(f"no {NEEDS[name]}" for name in given if given[name] and name not in study.needs)
        if (lacks or unused) and len(studies) == 1:
            raise UsageError(f"The study {study.name} {f'needs {lacks}' if lacks else f'takes {unused}'}.")
        if lacks:
            say(f"{study.name}: skipped, it needs {lacks}")
            continue
        ready[study] = {own: text for name, text in chosen if (own := study.name_of(name))}
    if not ready:
        raise UsageError("Nothing to compute: name judgments and runs.")
    return ready


def list_studies(options: Options, studies: list[Study]) -> None:
    columns = [Column("study", importance=2), Column("question", importance=1), Column("source"), Column("needs")]
    rows = [
        {
            "study": each.name,
            "question": each.question,
            "source": each.source,
            "needs": ", ".join(NEEDS.get(name, name) for name in each.needs) or "nothing (no files)",
        }
        for each in studies
    ]
    output.write_rows(options, rows, columns)


def do(
    study: Study,
    label: str,
    chosen: dict[str, str],
    collection: Callable[[], Any],
    sums: dict[str, str],
    options: Options,
) -> None:
    from rankbounds.studies.folders import is_complete, write_folder
    from rankbounds.version import __version__

    settings = {name: study.setting(name, text) for name, text in chosen.items()}
    reads, place = "qrels" in study.needs, Path(options.folder) / study.name
    reader = pick(options, *(option.dest for option in reading.READING)) if reads else {}
    noted = chosen | {name: value for name, value in reader.items() if value}
    made_from = {"files": sums if reads else {}, "options": noted, "version": __version__}
    if is_complete(place, made_from):
        say(f"{label}: complete already")
        return
    read = dict(zip(("qrels", "runs"), collection(), strict=True)) if reads else {}
    started = time.monotonic()
    doing(f"computing {study.name}")
    if "groups" in study.needs:
        read["groups"] = options.groups
    if "progress" in study.parameters:
        settings["progress"] = progress_on_terminal(f"steps of {study.name}")
    with warnings.catch_warnings():
        warnings.simplefilter("once", RankboundsWarning)  # not for each of many parts of the judgments
        result = study(**read, **settings)
    write_folder(study, result, place, made_from, command_line(study, options))
    say(f"{label}: wrote {place} ({time.monotonic() - started:.1f} s)")
    output.write_text(options, f"{study.name}: {result.words()}\n")


def write_pages(papers: list[Any], studies: list[Study], options: Options) -> None:
    from rankbounds.studies.folders import write_paper

    for paper in papers:
        own = [study for study in studies if any(source.paper == paper.label for source in study.sources)]
        page = write_paper(paper, own, Path(options.folder)) if own else None
        if page:
            say(f"wrote {page}, with {len(own)} {'study' if len(own) == 1 else 'studies'}")


def command_line(study: Study, options: Options) -> str:
    words = ["rankbounds", "study", study.name]
    if "qrels" in study.needs:
        words += [options.qrels, *options.runs]
        names = ("formats", "source", "raters", "same_as")
        given = {name.replace("_", "-"): getattr(options, name) for name in names}
        given["columns"] = columns_argument(options.columns) if options.columns else None
        given["judgments"] = "complete" if options.complete else None
        words += [*(f"--{name}={text}" for name, text in given.items() if text), *["--lenient"] * options.lenient]
    for name, text in options.chosen or ():
        words += ["--set", f"{study.name_of(name)}={text}"] if study.name_of(name) else []
    words += ["--groups", options.groups] if "groups" in study.needs else []
    return shlex.join(words)
