"""Pools: which documents get judged, and which judgments a shallower pool, fewer runs or a sample would have left.

Functions for users, ``rankbounds.pools``: ``pool`` and ``restrict`` here, and those that take judgments away, which
have modules of their own (``groups``, ``reduction``, ``subsets``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankbounds.collection.inputs import all_runs, judgments_from
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.judging.candidates import collect
from rankbounds.judging.groups import groups_of, read_groups, unique_to_group, without_group
from rankbounds.judging.reduction import RATES, Reduction, reduce
from rankbounds.judging.subsets import only_pooled, subset
from rankbounds.rankings.ties import ORDERS

__all__ = [
    "RATES",
    "Reduction",
    "groups_of",
    "only_pooled",
    "pool",
    "read_groups",
    "reduce",
    "restrict",
    "subset",
    "unique_to_group",
    "without_group",
]


def pool(
    runs: Any,
    *,
    depth: int | None = None,
    budget: int | None = None,
    ties: str = "trec",
    score_precision: str = "double",
    lenient: bool = False,
) -> Qrels:
    """The documents to judge: those that any run has down to a depth, or at most so many for each topic.

    Parameters
    ----------
    runs
        In any form that ``evaluate`` takes.
    depth
        How many documents of each list are pooled.
    budget
        The most documents for each topic. They come by their best rank in any run, then by the number of runs that
        hold them.
    ties, score_precision, lenient
        As in ``evaluate``; ties in one fixed order.

    Returns
    -------
    Qrels
        All have the grade -1: pooled, not judged. Topics stand in the order of the runs, documents by their ids.

    Examples
    --------
    >>> import rankbounds as rb
    >>> runs = {"one": {"q": {"a": 2.0, "b": 1.0}}, "two": {"q": {"c": 2.0, "a": 1.0}}}
    >>> rb.pools.pool(runs, depth=1).to_dict()
    {'q': {'a': -1.0, 'c': -1.0}}

    """
    for name, number in (("depth", depth), ("budget", budget)):
        if number is not None and number < 1:
            raise UsageError(f"The {name} of a pool must be at least 1, not {number}.")
    if depth is None and budget is None:
        raise UsageError("A pool needs a depth, or a budget for each topic.")
    assumptions = Assumptions(ties, score_precision=score_precision)
    if ties not in ORDERS:
        raise UsageError(f'Pools need one order of tied documents: {", ".join(ORDERS)}, not "{ties}".')
    candidates = collect(
        all_runs(runs, lenient=lenient),
        depth=depth,
        order=assumptions.order,
        precision=assumptions.score_precision,
    )
    chosen = np.arange(len(candidates))
    if budget is not None:
        by_worth = np.lexsort((-candidates.number_of_runs, candidates.best_rank, candidates.topic))
        counts = np.bincount(candidates.topic, minlength=len(candidates.topics))
        place = np.arange(by_worth.size) - np.repeat(np.cumsum(counts) - counts, counts)
        chosen = by_worth[place < budget]
    rows = sorted(zip(candidates.topic[chosen].tolist(), candidates.doc_ids(chosen), strict=True))
    return Qrels.from_columns(
        [candidates.topics[number] for number, _ in rows],
        [doc for _, doc in rows],
        [POOLED_NOT_JUDGED] * len(rows),
        source="pool",
    )


def restrict(qrels: Any, pooled: Any) -> Qrels:
    """The judgments that a pool would have led to.

    Parameters
    ----------
    qrels
        The judgments there are, in any form that ``evaluate`` takes.
    pooled
        A pool, as ``pool`` makes it; its grades are not looked at.

    Returns
    -------
    Qrels
        What the pool holds: judged where ``qrels`` judges it, else pooled, not judged (-1). Topics that nobody judged
        are left out.

    Examples
    --------
    >>> import rankbounds as rb
    >>> pooled = rb.pools.pool({"q": {"a": 2.0, "b": 1.0}}, depth=2)
    >>> rb.pools.restrict({"q": {"a": 1, "z": 1}}, pooled).to_dict()
    {'q': {'a': 1.0, 'b': -1.0}}

    """
    judgments, wanted = judgments_from(qrels), judgments_from(pooled)
    topics = judgments.pairs.index.topics_of(wanted.pairs)
    judged, judgment = judgments.pairs.index.find(wanted.pairs, topics)
    grade = np.full(len(wanted), float(POOLED_NOT_JUDGED))
    grade[judged] = judgments.grade[judgment]
    return subset(Qrels(wanted.pairs, grade), topics[wanted.pairs.topic] >= 0)
