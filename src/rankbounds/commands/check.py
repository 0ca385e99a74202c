"""The command that checks run files."""

from __future__ import annotations

from rankbounds.checking.corpus import JudgedOutside, corpus_ids, judged_outside
from rankbounds.checking.diagnosis import Diagnosis, diagnose, in_words, places
from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import progress_on_terminal
from rankbounds.commands.console.options import Option, Options
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.measures import parse_measures
from rankbounds.results import Column, Row, build_table
from rankbounds.tables import TABLE_FORMATS


@command(
    "check",
    "Can I trust these files and numbers?",
    1,
    reading.RUNS,
    Option("--qrels QRELS", "judgments: say also what ties do to the scores"),
    scoring.MEASURES,
    Option(
        "--corpus FILE",
        "the documents that can be retrieved, an id in front of every line: say which of the judged and of the "
        "retrieved ones are not among them",
    ),
    Option("--strict", "exit with 1 if anything is wrong (ties are not wrong)"),
    Option("--examples N", "how many examples of each kind to show (default 3)", 3),
    Option("--details", "with json and jsonl: everything that was found"),
    *(option for option in reading.READING if option.dest != "lenient"),
    *output.OUTPUT,
)
def run_check(options: Options) -> int:
    """Check run files: lines that cannot be read, ties, and orders that contradict each other.

    For each run: lines, topics and errors; tied documents (with the score of the one before) and topics with ties; the
    largest group of equal scores; neighbours that stated rank and score order differently, and lines whose score is
    higher than that of the line above. Ties are not errors. With --qrels also how far ties can move each measure, and
    whether the places of the runs depend on how ties are broken.
    """
    qrels = None if options.qrels is None else reading.judgments_from(options)
    corpus = None if options.corpus is None else corpus_ids(options.corpus)
    judged = None if qrels is None or corpus is None else judged_outside(qrels, corpus)
    diagnoses = diagnose(
        reading.runs_from(options),
        qrels=qrels,
        corpus=corpus,
        measures=options.measures or DEFAULT_MEASURES,
        examples=max(0, options.examples),
        progress=progress_on_terminal("runs checked"),
    )
    rows = [_row(diagnosis, options, judged) for diagnosis in diagnoses]
    remarks = (*_remarks(diagnoses, options.examples), str(judged or ""))
    output.write_rows(
        options,
        rows,
        list(rows[0]),
        table=lambda: build_table(rows, _columns(list(rows[0]))),
        below=lambda: "".join(f"\n{part}\n" for part in remarks if part),
    )
    sound = all(diagnosis.sound for diagnosis in diagnoses) and not (judged and judged.documents)
    return 1 if options.strict and not sound else 0


def _row(diagnosis: Diagnosis, options: Options, judged: JudgedOutside | None) -> dict[str, object]:
    is_json, is_table = options.format in ("json", "jsonl"), options.format in TABLE_FORMATS
    row = diagnosis.summary()
    if options.corpus:
        row["outside_corpus"] = diagnosis.outside_corpus
    if judged is not None:
        row["judged_outside_corpus"] = len(judged.documents)
    if options.qrels:
        moved = {effect.measure: effect.width for effect in diagnosis.effects}
        row |= {"judged": diagnosis.judged, "residual": diagnosis.residual}
        if is_json:
            row |= {"missing_topics": list(diagnosis.missing_topics), "ties_move": moved}
        else:
            labels = map(str, parse_measures(options.measures or DEFAULT_MEASURES))
            row |= {f"ties_move {label}": moved.get(label) for label in labels}
    if is_table:
        row["notes"] = _notes(diagnosis)
    return row | diagnosis.details() if options.details and is_json else row


def _columns(names: list[str]) -> list[Column]:
    """The columns of the table, of rows with these names."""
    moved = [name for name in names if name.startswith("ties_move")]
    columns = [
        Column("run", left=True),
        Column("lines"),
        Column("topics"),
        Column("errors", importance=5),
        Column("tied_documents", "tied docs", _tied_documents, importance=4),
        Column("tied_topics"),
        Column("largest_group"),
        Column("contradictions_rank", "rank vs score"),
        Column("contradictions_line", "line vs score"),
        Column("judged", "judged@10", _judged, importance=3),
        Column("residual", "RBP(p=0.8) open"),
        *(Column(name, importance=2 * (name == moved[0])) for name in moved),
        Column("notes", left=True, importance=1),
    ]
    return [column for column in columns if column.name in names]


def _tied_documents(row: Row) -> str:
    return f"{row['tied_documents']} ({_share(row['tied_documents'], row['lines'])})"


def _judged(row: Row) -> str:
    return "-" if row["judged"] is None else f"{row['judged']:.0%}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _count(number_of: int, unit: str) -> str:
    return f"{number_of} {unit}{'s' * (number_of != 1)}"


def _notes(diagnosis: Diagnosis) -> str:
    counted = (
        (diagnosis.exponent_mistakes, "line", "{} sorted as if exponents were not there"),
        (diagnosis.rank_gap_topics, "topic", "stated ranks are not 1, 2, 3, ... in {}"),
        (len(diagnosis.missing_topics), "judged topic", "{} missing"),
        (diagnosis.outside_corpus, "document", "{} not in the corpus"),
        (diagnosis.tied_topics_top10, "topic", "ties reach the first 10 in {}"),
        (diagnosis.single_precision_ties, "more document", "single precision would tie {}"),
    )
    return "; ".join(words.format(_count(number_of, unit)) for number_of, unit, words in counted if number_of)


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
