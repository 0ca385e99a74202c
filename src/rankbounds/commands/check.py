"""The command that checks run files."""

from __future__ import annotations

from rankbounds.checking.diagnosis import diagnose
from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import progress_on_terminal
from rankbounds.commands.console.options import Option, Options
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.measures import parse_measures


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
    found = diagnose(
        reading.runs_from(options),
        qrels=None if options.qrels is None else reading.judgments_from(options),
        corpus=options.corpus,
        measures=options.measures or DEFAULT_MEASURES,
        examples=max(0, options.examples),
        progress=progress_on_terminal("runs checked"),
    )
    rows = found.rows()
    if options.format in ("json", "jsonl"):
        rows = [row | (one.details() if options.details else {}) for row, one in zip(rows, found, strict=True)]
    elif options.qrels:
        labels = [str(measure) for measure in parse_measures(options.measures or DEFAULT_MEASURES)]
        for row in rows:
            del row["missing_topics"]
            moved = row.pop("ties_move")
            row |= {f"ties_move {label}": moved.get(label) for label in labels}
    output.write_rows(
        options,
        rows,
        list(rows[0]),
        table=found.table,
        below=lambda: "".join(f"\n{words}\n" for words in [found.words()] if words),
    )
    return 1 if options.strict and not found.sound else 0
