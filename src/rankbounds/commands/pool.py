"""Build a pool of documents to judge, or find the judgments that another pool would have given.

The pool holds what any run has down to --depth, or at most --budget documents for each topic (by their best rank, then
by the number of runs that hold them). It is written as TREC judgments of grade -1: pooled, not judged.

With --restrict QRELS, documents of the pool that QRELS judges get their grade. With --without GROUP as well, QRELS is
written without the documents that only this group's runs brought into a pool of that depth; --groups names a file of
lines "run group".
"""

from __future__ import annotations

from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run import Run
from rankbounds.commands.messages import say
from rankbounds.commands.options import Option, Options
from rankbounds.commands.output import JUDGMENTS_FILE, write_pairs
from rankbounds.commands.reading import READING, RUNS, judgments_from, read_runs
from rankbounds.commands.scoring import ORDER
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.judging import pools

QUESTION = "What should be judged next?", 2
OPTIONS = (
    RUNS,
    Option("--depth D", "how many documents of each run and topic are pooled", type=int),
    Option("--budget N", "at most this many documents per topic", type=int),
    Option("--restrict QRELS", "the judgments to take grades from", file="read"),
    Option("--groups FILE", 'which group a run belongs to: lines of "run group"', file="read"),
    Option("--without GROUP", "leave out documents that only this group found"),
    ORDER,
    *READING,
    JUDGMENTS_FILE,
)


def run(options: Options) -> None:
    """Pool, restrict, write."""
    if (options.without is None) != (options.groups is None):
        raise UsageError("--without GROUP needs --groups FILE, and the other way round.")
    if options.without is not None and (options.restrict is None or options.depth is None):
        raise UsageError(
            "--without GROUP takes documents out of judgments: name them with --restrict QRELS, and --depth."
        )
    runs = read_runs(options)
    if options.without is not None:
        written = _without_group(options, runs)
    else:
        written = pools.pool(runs, depth=options.depth, budget=options.budget, ties=options.ties)
        if options.restrict is not None:
            written = pools.restrict(judgments_from(options, options.restrict), written)
    write_pairs(options, written)
    judged = int((written.grade != POOLED_NOT_JUDGED).sum())
    relevant = int((written.grade >= 1).sum())
    say(
        f"{len(written):,} documents for {len(written.query_ids)} topics from {len(runs)} runs: {judged:,} judged "
        f"({relevant:,} relevant), {len(written) - judged:,} to judge."
    )


def _without_group(options: Options, runs: list[Run]) -> Qrels:
    groups = pools.read_groups(options.groups)
    if options.without not in groups.values():
        hint = did_you_mean(options.without, sorted(set(groups.values())))
        raise UsageError(f'{options.groups} has no group "{options.without}".{hint}')
    qrels = judgments_from(options, options.restrict)
    left = pools.without_group(qrels, runs, groups, options.without, depth=options.depth)
    say(f"{options.without} alone found {len(qrels) - len(left):,} of {len(qrels):,} documents.")
    return left
