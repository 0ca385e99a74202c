"""Build a pool of documents to judge, or find the judgments that another pool would have given.

The pool holds what any run has down to --depth, or at most --budget documents for each topic (by their best rank, then
by the number of runs that hold them). It is written as TREC judgments of grade -1: pooled, not judged.

With --restrict QRELS, documents of the pool that QRELS judges get their grade. With --without GROUP as well, QRELS is
written without the documents that only this group's runs brought into a pool of that depth; --groups names a file of
lines "run group".
"""

from __future__ import annotations

import argparse

from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run import Run
from rankbounds.commands.messages import say
from rankbounds.commands.output import write_text, wrote
from rankbounds.commands.reading import add_reading, add_runs, judgments_from, read_runs
from rankbounds.commands.scoring import add_order, order
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.judging import pools


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_runs(parser)
    parser.add_argument("--depth", type=int, metavar="D", help="how many documents of each run and topic are pooled")
    parser.add_argument("--budget", type=int, metavar="N", help="at most so many documents for each topic")
    parser.add_argument("--restrict", metavar="QRELS", help="the judgments to take grades from")
    parser.add_argument("--groups", metavar="FILE", help='which group a run belongs to: lines of "run group"')
    parser.add_argument("--without", metavar="GROUP", help="leave out documents that only this group found")
    add_order(parser)
    add_reading(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of to standard output")


def run(options: argparse.Namespace) -> int:
    """Pool, restrict, write."""
    if (options.without is None) != (options.groups is None):
        raise UsageError("--without GROUP needs --groups FILE, and the other way round.")
    if options.without is not None and (options.restrict is None or options.depth is None):
        raise UsageError(
            "--without GROUP takes documents out of judgments: name them with --restrict QRELS, and --depth."
        )
    ranking = order(options)
    runs = read_runs(options)
    if options.without is not None:
        written = _without_group(options, runs)
    else:
        written = pools.pool(runs, depth=options.depth, budget=options.budget, ties=ranking)
        if options.restrict is not None:
            written = pools.restrict(judgments_from(options, options.restrict), written)
    if options.output:
        written.write(options.output)
        wrote(options.output)
    else:
        write_text(options, written.text())
    say(_summary(written, len(runs)))
    return 0


def _without_group(options: argparse.Namespace, runs: list[Run]) -> Qrels:
    groups = pools.read_groups(options.groups)
    if options.without not in groups.values():
        hint = did_you_mean(options.without, sorted(set(groups.values())))
        raise UsageError(f'{options.groups} has no group "{options.without}".{hint}')
    qrels = judgments_from(options, options.restrict)
    left = pools.without_group(qrels, runs, groups, options.without, depth=options.depth)
    say(f"{options.without} alone found {len(qrels) - len(left):,} of {len(qrels):,} documents.")
    return left


def _summary(written: Qrels, number_of_runs: int) -> str:
    judged = int((written.grade != POOLED_NOT_JUDGED).sum())
    relevant = int((written.grade >= 1).sum())
    told = f"{len(written):,} documents for {len(written.query_ids)} topics from {number_of_runs} runs"
    return f"{told}: {judged:,} judged ({relevant:,} relevant), {len(written) - judged:,} to judge."
