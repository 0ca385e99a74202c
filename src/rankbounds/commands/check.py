"""Check run files: lines that cannot be read, ties, and orders that contradict each other.

For each run: lines, topics and errors; tied documents (with the score of the one before) and topics with ties; the
largest group of equal scores; neighbours that stated rank and score order differently, and lines whose score is higher
than that of the line above. Ties are not errors. With --qrels also how far ties can move each measure, and whether the
places of the runs depend on how ties are broken.
"""

from __future__ import annotations

import argparse

from rankbounds.checking.corpus import JudgedOutside, corpus_ids, judged_outside
from rankbounds.checking.diagnosis import Diagnosis, diagnose, in_words, places
from rankbounds.commands.output import add_output, progress_on_terminal, write_rows, write_text
from rankbounds.commands.reading import add_reading, add_runs, judgments_from, runs_from
from rankbounds.commands.scoring import add_measures
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.measures import parse_measures
from rankbounds.tables import Table, number

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_runs(parser)
    parser.add_argument("--qrels", metavar="QRELS", help="judgments: say also what ties do to the scores")
    add_measures(parser)
    parser.add_argument(
        "--corpus",
        metavar="FILE",
        help="the documents that can be retrieved, an id in front of every line: say which of the judged and of the "
        "retrieved ones are not among them",
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 if anything is wrong (ties are not wrong)")
    parser.add_argument(
        "--examples", type=int, default=3, metavar="N", help="how many examples of each kind to show (default 3)"
    )
    parser.add_argument("--details", action="store_true", help="with json and jsonl: everything that was found")
    add_reading(parser, lenient=False)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Diagnose and print."""
    qrels = None if options.qrels is None else judgments_from(options)
    corpus = None if options.corpus is None else corpus_ids(options.corpus)
    judged = None if qrels is None or corpus is None else judged_outside(qrels, corpus)
    diagnoses = diagnose(
        runs_from(options),
        qrels=qrels,
        corpus=corpus,
        measures=options.measures or DEFAULT_MEASURES,
        examples=max(0, options.examples),
        progress=progress_on_terminal("runs checked"),
    )
    if options.format in ("json", "jsonl", "csv", "tsv"):
        rows = [_row(diagnosis, options, judged) for diagnosis in diagnoses]
        write_rows(options, rows, list(rows[0]))
    else:
        text = _table(diagnoses).render(options.format)
        if options.format == "table":
            remarks = [*_remarks(diagnoses, options.examples), str(judged or "")]
            text += "".join(f"\n{part}\n" for part in remarks if part)
        write_text(options, text)
    sound = all(diagnosis.sound for diagnosis in diagnoses) and not (judged and judged.documents)
    return 1 if options.strict and not sound else 0


def _row(diagnosis: Diagnosis, options: argparse.Namespace, judged: JudgedOutside | None) -> dict[str, object]:
    row = diagnosis.summary()
    if options.corpus:
        row["outside_corpus"] = diagnosis.outside_corpus
    if judged is not None:
        row["judged_outside_corpus"] = len(judged.documents)
    if options.qrels:
        moved = {effect.measure: effect.width for effect in diagnosis.effects}
        row |= {"judged": diagnosis.judged, "residual": diagnosis.residual}
        if options.format in ("json", "jsonl"):
            row |= {"missing_topics": list(diagnosis.missing_topics), "ties_move": moved}
        else:
            row |= {f"ties_move {label}": moved.get(label) for label in _labels(options)}
    if options.details and options.format in ("json", "jsonl"):
        row |= diagnosis.details()
    return row


def _labels(options: argparse.Namespace) -> list[str]:
    return [str(measure) for measure in parse_measures(options.measures or DEFAULT_MEASURES)]


def _table(diagnoses: list[Diagnosis]) -> Table:
    scored = (diagnosis for diagnosis in diagnoses if diagnosis.effects)
    effects = next(([effect.measure for effect in diagnosis.effects] for diagnosis in scored), [])
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
    for diagnosis in diagnoses:
        cells = [
            diagnosis.run,
            *map(str, (diagnosis.lines, diagnosis.topics, diagnosis.errors)),
            f"{diagnosis.tied_documents} ({_share(diagnosis.tied_documents, diagnosis.lines)})",
            *map(str, (diagnosis.tied_topics, diagnosis.largest_group)),
            "-" if diagnosis.contradictions_rank is None else str(diagnosis.contradictions_rank),
            str(diagnosis.contradictions_line),
        ]
        if effects:
            width = {effect.measure: effect.width for effect in diagnosis.effects}
            cells += ["-" if diagnosis.judged is None else f"{diagnosis.judged:.0%}", number(diagnosis.residual)]
            cells += [number(width.get(measure)) for measure in effects]
        rows.append([*cells, _notes(diagnosis)])
    first = ["errors", "tied docs", "judged@10", *(f"ties move {measure}" for measure in effects[:1]), "notes"]
    importance = [header.index(name) for name in first if name in header]
    return Table(header, rows, frozenset({0, len(header) - 1}), importance)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _count(number_of: int, unit: str) -> str:
    return f"{number_of} {unit}{'s' * (number_of != 1)}"


def _notes(diagnosis: Diagnosis) -> str:
    parts = []
    if diagnosis.exponent_mistakes:
        parts.append(f"{_count(diagnosis.exponent_mistakes, 'line')} sorted as if exponents were not there")
    if diagnosis.rank_gap_topics:
        parts.append(f"stated ranks are not 1, 2, 3, ... in {_count(diagnosis.rank_gap_topics, 'topic')}")
    if diagnosis.missing_topics:
        parts.append(f"{_count(len(diagnosis.missing_topics), 'judged topic')} missing")
    if diagnosis.outside_corpus:
        parts.append(f"{_count(diagnosis.outside_corpus, 'document')} not in the corpus")
    if diagnosis.tied_topics_top10:
        parts.append(f"ties reach the first 10 in {_count(diagnosis.tied_topics_top10, 'topic')}")
    if diagnosis.single_precision_ties:
        parts.append(f"single precision would tie {_count(diagnosis.single_precision_ties, 'more document')}")
    return "; ".join(parts)


def _remarks(diagnoses: list[Diagnosis], examples: int) -> list[str]:
    """What stands below the table, in sentences."""
    remarks = []
    for diagnosis in diagnoses:
        lines = [str(problem) for problem in diagnosis.problems[:examples]]
        if diagnosis.errors > examples:
            lines.append(f"{diagnosis.file}: and {diagnosis.errors - examples} more.")
        lines += [sentence for several in diagnosis.examples.values() for sentence in several]
        remarks.append("\n".join(lines))
    if len(diagnoses) > 1:
        remarks.append(_summary(diagnoses))
    if any(diagnosis.effects for diagnosis in diagnoses):
        measures = max(len(diagnosis.effects) for diagnosis in diagnoses)
        ranked = [places(diagnoses, measure) for measure in range(measures)]
        remarks.append("\n".join(filter(None, map(in_words, ranked))))
    return remarks


def _summary(diagnoses: list[Diagnosis]) -> str:
    """The shares of runs, topics and documents concerned."""
    topics, lines = sum(diagnosis.topics for diagnosis in diagnoses), sum(diagnosis.lines for diagnosis in diagnoses)
    tied_runs = sum(diagnosis.tied_documents > 0 for diagnosis in diagnoses)
    sentences = [
        f"Ties: in {tied_runs} of {len(diagnoses)} runs ({_share(tied_runs, len(diagnoses))}), "
        f"{_share(sum(diagnosis.tied_topics for diagnosis in diagnoses), topics)} of all run-topics, "
        f"{_share(sum(diagnosis.tied_documents for diagnosis in diagnoses), lines)} of all lines."
    ]
    for what, count in (
        ("Stated rank against score", [diagnosis.contradictions_rank or 0 for diagnosis in diagnoses]),
        ("Line order against score", [diagnosis.contradictions_line for diagnosis in diagnoses]),
        ("Errors", [diagnosis.errors for diagnosis in diagnoses]),
    ):
        concerned = sum(number_of > 0 for number_of in count)
        if concerned:
            sentences.append(f"{what}: {_count(sum(count), 'place')} in {_count(concerned, 'run')}.")
    return "\n".join(sentences)
