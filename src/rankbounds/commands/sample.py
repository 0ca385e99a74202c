"""Draw the documents that people should judge, so that a model's labels can be audited.

The probability that a document is drawn is known, and grows with its weight in what is asked and with how unsure its
label is. Without --compare the scores of all runs are asked about; --compare A B asks which of two runs is better, and
--compare all about all pairs. -o sample.csv is a table query_id, doc_id, probability, relevance: fill in the last
column, and "rankbounds audit" takes it from there. To judge in the browser: "rankbounds serve QRELS RUN... --worklist
sample.csv", for which --format trec writes QRELS to begin with. Ids are written as they are.
"""

from __future__ import annotations

import argparse

from rankbounds.commands.messages import say
from rankbounds.commands.output import add_output, seed, write_text
from rankbounds.commands.reading import add_labels, add_reading, add_runs, collection_from
from rankbounds.commands.scoring import add_gain, add_ties
from rankbounds.errors import UsageError
from rankbounds.judging.sample import Sample, draw_sample
from rankbounds.tables import render_rows

FORMATS = ("csv", "tsv", "json", "jsonl", "trec", "table", "markdown", "latex", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_labels(parser)
    add_runs(parser)
    parser.add_argument("--budget", type=int, required=True, metavar="N", help="how many documents people will judge")
    add_question(parser)
    parser.add_argument(
        "-m", "--measure", default="RBP(p=0.8)", metavar="MEASURE",
        help="what is to be audited: RBP(p=0.8) (the default), P@10, DCG@20, nDCG@10, AP, Recall@100",
    )  # fmt: skip
    parser.add_argument("--seed", type=seed, default=0, help="where the random numbers start (default 0)")
    add_ties(parser)
    add_gain(parser)
    add_reading(parser)
    add_output(parser, FORMATS)


def add_question(parser: argparse.ArgumentParser) -> None:
    """Which runs are compared."""
    parser.add_argument(
        "--compare", nargs="+", metavar="NAME",
        help="two names of runs, or all: ask about differences (default: about the score of every run)",
    )  # fmt: skip


def question_from(options: argparse.Namespace) -> tuple[str, str] | str | None:
    """What the options ask about."""
    names = options.compare
    if names is None or names == ["all"]:
        return names and "all"
    if len(names) != 2:
        raise UsageError(
            f"--compare takes two names of runs, or the word all, not {len(names)}. Put it after the runs' files."
        )
    return names[0], names[1]


def run(options: argparse.Namespace) -> int:
    """Draw and write."""
    drawn = draw_sample(
        *collection_from(options),
        options.measure,
        budget=options.budget,
        compare=question_from(options),
        seed=options.seed,
        ties=options.ties,
        gain=options.gain,
        score_precision=options.score_precision,
    )
    write_text(options, rendered(drawn, options.format))
    for sentence in drawn.notes():
        say(sentence)
    return 0


def rendered(drawn: Sample, kind: str) -> str:
    """The sample in any format of the command."""
    if kind == "trec":
        return drawn.pool().text()
    if kind in ("csv", "tsv", "json", "jsonl"):
        rows = [row | {"relevance": None} for row in drawn.rows()]
        return render_rows(rows, kind, (*drawn.fields, "relevance"), raw=True)
    return drawn.table().render(kind)
