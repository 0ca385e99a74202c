"""The noise floor: what changes when nothing changed? Reruns of systems, and labels made again by a model.

Runs named name#1, name#2 are reruns of one system (--replicates REGEX for other names; name#1=FILE names a file).
--judged-again names further judgments of the same pool by the same judge. The spread of scores is split into topics,
systems, reruns and labels; the output says how far two runs of one system lie apart (the A/A floor), how often verdicts
flip, and how many topics and reruns a reliable order of systems needs.
"""

from __future__ import annotations

from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import OUTPUT, numbers, write_parts
from rankbounds.commands.reading import INPUTS, reading_from, runs_from
from rankbounds.commands.scoring import ASSUMING_NO_BOUNDS, alpha, assumptions_from, confidence, measures, resampling
from rankbounds.files.opening import expand

QUESTION = "Is A better than B, or is it noise?", 3
ROWS = ("components", "floors", "flips", "pairs", "reliability", "plan")
OPTIONS = (
    *INPUTS,
    Option(
        "--judged-again QRELS ...",
        "the same pool judged again by the same judge: further judgments, files or patterns",
        [],
        dest="again",
        file="read",
    ),
    Option(
        "--replicates REGEX",
        "what marks a rerun in a run's name; the rest of the name (or the first group) is the system (default: # and "
        "what follows)",
        "#[^#]*$",
        dest="pattern",
    ),
    measures(("RBP(p=0.8)",)),
    Option(
        "--reliability R[,R...]",
        "count topics for these reliabilities of the order of systems (default 0.8,0.9,0.95)",
        [0.8, 0.9, 0.95],
        type=numbers,
    ),
    alpha("significance level of verdicts"),
    confidence("intervals and of the floor"),
    *resampling(),
    *ASSUMING_NO_BOUNDS,
    *OUTPUT,
)


def run(options: Options) -> None:
    """Read, analyse and print."""
    from rankbounds.comparison.replicates.comparison import replicates
    from rankbounds.judging.judges.comparison import DEFAULT_MEASURES

    reading = reading_from(options)
    judgments = {path: reading.judgments(path) for path in [options.qrels, *expand(options.again)]}
    found = replicates(
        judgments,
        reading.runs(runs_from(options)),
        options.measures or DEFAULT_MEASURES,
        **pick(options, "pattern", "reliability", "alpha", "confidence", "resamples", "seed"),
        **assumptions_from(options),
    )
    write_parts(options, found, found.rows(), found.fields, ROWS, found.words())
