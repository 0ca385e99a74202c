"""Draw the documents that people should judge, so that a model's labels can be audited.

The probability that a document is drawn is known, and grows with its weight in what is asked and with how unsure its
label is. Without --compare the scores of all runs are asked about; --compare A B asks which of two runs is better, and
--compare all about all pairs. -o sample.csv is a table query_id, doc_id, probability, relevance: fill in the last
column, and "rankbounds audit" takes it from there. To judge in the browser: "rankbounds serve QRELS RUN... --worklist
sample.csv", for which --format trec writes QRELS to begin with. Ids are written as they are.
"""

from __future__ import annotations

from rankbounds.commands.messages import say_all
from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import output, write_rows, write_text
from rankbounds.commands.reading import LABELS, READING, RUNS, collection_from
from rankbounds.commands.scoring import GAIN, SEED, TIES, measure_names
from rankbounds.errors import UsageError
from rankbounds.judging.audits.sample import draw_sample

QUESTION = "May a model's labels stand in for people?", 2
COMPARE = Option(
    "--compare NAME ...", "two names of runs, or all: ask about differences (default: about the score of every run)"
)
OPTIONS = (
    LABELS,
    RUNS,
    Option("--budget N", "how many documents people will judge", type=int, required=True),
    COMPARE,
    Option(
        "-m, --measure MEASURE",
        "what is to be audited: RBP(p=0.8) (the default), P@10, DCG@20, nDCG@10, AP, Recall@100",
        "RBP(p=0.8)",
        words=measure_names,
    ),
    SEED,
    *TIES,
    GAIN,
    *READING,
    *output(("csv", "tsv", "json", "jsonl", "trec", "table", "markdown", "latex", "html")),
)


def compared_from(names: list[str] | None) -> tuple[str, str] | str | None:
    """The two runs that ``COMPARE`` names, or ``"all"``."""
    if names is None:
        return None
    if names == ["all"]:
        return "all"
    if len(names) != 2:
        raise UsageError(
            f"--compare takes the names of two runs, or all, not {' '.join(names)}. Put it after the runs' files."
        )
    return names[0], names[1]


def run(options: Options) -> None:
    """Draw and write."""
    drawn = draw_sample(
        *collection_from(options),
        options.measure,
        budget=options.budget,
        compare=compared_from(options.compare),
        **pick(options, "seed", "ties", "gain", "score_precision"),
    )
    if options.format == "trec":
        write_text(options, drawn.pool().text())
    else:
        options.raw = True  # ids are to be found again as they are
        rows = [row | {"relevance": None} for row in drawn.rows()]
        write_rows(options, rows, (*drawn.fields, "relevance"), table=drawn.table)
    say_all(drawn.notes())
