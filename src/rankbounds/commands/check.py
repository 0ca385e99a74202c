"""Check run files: lines that cannot be read, ties, and orders that contradict each other.

For each run: lines, topics and errors; tied documents (with the score of the one before) and topics with ties; the
largest group of equal scores; neighbours that stated rank and score order differently, and lines whose score is higher
than that of the line above. Ties are not errors. With --qrels also how far ties can move each measure, and whether the
places of the runs depend on how ties are broken.
"""

from __future__ import annotations

import argparse

from rankbounds.checking.diagnosis import Diagnosis, diagnose
from rankbounds.checking.tie_effects import in_words, places
from rankbounds.commands import options as shared
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.files.opening import expand
from rankbounds.measures import parse_measures
from rankbounds.tables import Table, number

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "runs", metavar="RUN", nargs="+", help="runs: files, patterns in quotes, or folders; - is stdin"
    )
    parser.add_argument("--qrels", metavar="QRELS", help="judgments: say also what ties do to the scores")
    shared.add_measures(parser)
    parser.add_argument("--strict", action="store_true", help="exit with 1 if anything is wrong (ties are not wrong)")
    parser.add_argument(
        "--examples", type=int, default=3, metavar="N", help="how many examples of each kind to show (default 3)"
    )
    parser.add_argument("--details", action="store_true", help="with json and jsonl: everything that was found")
    shared.add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Diagnose and print."""
    shared.check_format(options)
    found = diagnose(
        expand(options.runs),
        qrels=options.qrels,
        measures=options.measures or DEFAULT_MEASURES,
        examples=max(0, options.examples),
        progress=shared.progress_on_terminal("runs checked"),
    )
    if options.format in ("json", "jsonl", "csv", "tsv"):
        rows = [_row(one, options) for one in found]
        shared.write_rows(options, rows, list(rows[0]))
    else:
        text = _table(found).render(options.format)
        if options.format == "table":
            text += "".join(f"\n{part}\n" for part in _remarks(found, options.examples) if part)
        shared.write_text(options, text)
    return 1 if options.strict and not all(one.sound for one in found) else 0


def _row(one: Diagnosis, options: argparse.Namespace) -> dict[str, object]:
    row = one.summary()
    if options.qrels:
        moved = {effect.measure: effect.width for effect in one.effects}
        row |= {"judged": one.judged, "residual": one.residual}
        if options.format in ("json", "jsonl"):
            row |= {"missing_topics": list(one.missing_topics), "ties_move": moved}
        else:
            row |= {f"ties_move {label}": moved.get(label) for label in _labels(options)}
    if options.details and options.format in ("json", "jsonl"):
        row |= one.details()
    return row


def _labels(options: argparse.Namespace) -> list[str]:
    return [str(measure) for measure in parse_measures(options.measures or DEFAULT_MEASURES)]


def _table(found: list[Diagnosis]) -> Table:
    effects = next(([effect.measure for effect in one.effects] for one in found if one.effects), [])
    header = [
        "run",
        "lines",
        "topics",
        "errors",
        "tied docs",
        "tied topics",
        "largest group",
        "rank vs score",
        "line vs score",
    ]
    if effects:
        header += ["judged@10", "RBP(p=0.8) open", *(f"ties move {measure}" for measure in effects)]
    header.append("notes")
    rows = []
    for one in found:
        cells = [
            one.run,
            *map(str, (one.lines, one.topics, one.errors)),
            f"{one.tied_documents} ({_share(one.tied_documents, one.lines)})",
            *map(str, (one.tied_topics, one.largest_group)),
            "-" if one.contradictions_rank is None else str(one.contradictions_rank),
            str(one.contradictions_line),
        ]
        if effects:
            width = {effect.measure: effect.width for effect in one.effects}
            cells += ["-" if one.judged is None else f"{one.judged:.0%}", number(one.residual)]
            cells += [number(width.get(measure)) for measure in effects]
        rows.append([*cells, _notes(one)])
    return Table(header, rows, frozenset({0, len(header) - 1}))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _count(number_of: int, one: str) -> str:
    return f"{number_of} {one}{'s' * (number_of != 1)}"


def _notes(one: Diagnosis) -> str:
    parts = []
    if one.exponent_mistakes:
        parts.append(f"{_count(one.exponent_mistakes, 'line')} sorted as if exponents were not there")
    if one.rank_gap_topics:
        parts.append(f"stated ranks are not 1, 2, 3, ... in {_count(one.rank_gap_topics, 'topic')}")
    if one.missing_topics:
        parts.append(f"{_count(len(one.missing_topics), 'judged topic')} missing")
    if one.tied_topics_top10:
        parts.append(f"ties reach the first 10 in {_count(one.tied_topics_top10, 'topic')}")
    if one.single_precision_ties:
        parts.append(f"single precision would tie {_count(one.single_precision_ties, 'more document')}")
    return "; ".join(parts)


def _remarks(found: list[Diagnosis], examples: int) -> list[str]:
    """What stands below the table, in sentences."""
    remarks = []
    for one in found:
        lines = [str(problem) for problem in one.problems[:examples]]
        if one.errors > examples:
            lines.append(f"{one.file}: and {one.errors - examples} more.")
        lines += [sentence for sentences in one.examples.values() for sentence in sentences]
        remarks.append("\n".join(lines))
    if len(found) > 1:
        remarks.append(_summary(found))
    if any(one.effects for one in found):
        ranked = [places(found, at) for at in range(max(len(one.effects) for one in found))]
        remarks.append("\n".join(filter(None, map(in_words, ranked))))
    return remarks


def _summary(found: list[Diagnosis]) -> str:
    """The shares of runs, topics and documents concerned."""
    topics, lines = sum(one.topics for one in found), sum(one.lines for one in found)
    tied_runs = sum(one.tied_documents > 0 for one in found)
    told = [
        f"Ties: in {tied_runs} of {len(found)} runs ({_share(tied_runs, len(found))}), "
        f"{_share(sum(one.tied_topics for one in found), topics)} of all run-topics, "
        f"{_share(sum(one.tied_documents for one in found), lines)} of all lines."
    ]
    for what, count in (
        ("Stated rank against score", [one.contradictions_rank or 0 for one in found]),
        ("Line order against score", [one.contradictions_line for one in found]),
        ("Errors", [one.errors for one in found]),
    ):
        concerned = sum(number_of > 0 for number_of in count)
        if concerned:
            told.append(f"{what}: {_count(sum(count), 'place')} in {_count(concerned, 'run')}.")
    return "\n".join(told)
