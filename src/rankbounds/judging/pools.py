"""Pools: which documents get judged, and which judgments a shallower pool, fewer runs or a sample would have left.

The functions of ``rankbounds.judging.pools``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Flags, Ints
from rankbounds.calls import ends_in_a_sentence
from rankbounds.collection.inputs import Reading
from rankbounds.collection.order import ranks
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run_names import groups_of, read_groups
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.columns.native import worth_starting
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.options import OrderOptions, chosen_options
from rankbounds.judging.candidates import grades_of_pairs
from rankbounds.rankings.documents import RetrievedDocuments

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["RATES", "pool", "read_groups", "reduce", "restrict", "without_group"]

RATES = (90.0, 70.0, 50.0, 30.0, 10.0)
"""In percent."""


@ends_in_a_sentence
def pool(
    runs: RunsLike, *, depth: int | None = None, budget: int | None = None, **options: Unpack[OrderOptions]
) -> Qrels:
    """Pool the documents to judge: those that any run has down to a depth, or at most a budget per topic.

    Parameters
    ----------
    runs, **options
        As in ``evaluate``; ties in one fixed order.
    depth
        How many documents of each list are pooled.
    budget
        The largest number of documents per topic, chosen by their best rank in any run, then by the number of runs
        that retrieved them.

    Returns
    -------
    Qrels
        All have the grade -1: pooled, not judged. Topics are in the order of the runs, documents in that of their ids.

    Examples
    --------
    >>> import rankbounds as rb
    >>> runs = {"one": {"q": {"a": 2.0, "b": 1.0}}, "two": {"q": {"c": 2.0, "a": 1.0}}}
    >>> rb.judging.pools.pool(runs, depth=1).to_dict()
    {'q': {'a': -1.0, 'c': -1.0}}
    """
    for name, number in (("depth", depth), ("budget", budget)):
        if number is not None and number < 1:
            raise UsageError(f"The {name} of a pool must be at least 1, not {number}.")
    if depth is None and budget is None:
        raise UsageError("A pool needs a depth, or a budget per topic (--depth, --budget).")
    assumptions, reading = chosen_options(options, OrderOptions, one_order="Pools need", threads=worth_starting())
    systems = reading.runs(runs)
    names: dict[str, int] = {}
    cells = []
    for number, run in enumerate(systems):
        rank = ranks(run, assumptions.order, assumptions.score_precision)
        row = np.flatnonzero(rank <= depth) if depth is not None else np.arange(len(run))
        topic = np.array([names.setdefault(name, len(names)) for name in run.query_ids], dtype=np.int64)
        cells.append(np.stack((topic[run.pairs.topic[row]], np.full(row.size, number), rank[row], row)))
    documents = RetrievedDocuments.at(systems, np.concatenate(cells, axis=1))
    chosen = np.arange(len(documents))
    if budget is not None:
        by_worth = np.lexsort((-documents.number_of_runs, documents.best_rank, documents.topic))
        counts = np.bincount(documents.topic, minlength=len(names))
        chosen = by_worth[_places_within(counts) < budget]
    rows, topics = sorted(zip(documents.topic[chosen].tolist(), documents.doc_ids(chosen), strict=True)), [*names]
    return Qrels.from_columns(
        [topics[number] for number, _ in rows],
        [doc for _, doc in rows],
        [POOLED_NOT_JUDGED] * len(rows),
        source="pool",
    )


@ends_in_a_sentence
def restrict(qrels: QrelsLike, pooled: QrelsLike) -> Qrels:
    """Reduce judgments to those of a pool.

    Parameters
    ----------
    qrels, pooled
        The judgments, and a pool, as ``pool`` makes it; its grades are ignored.

    Returns
    -------
    Qrels
        The documents of the pool, with their grade in ``qrels`` if they have one, else -1 (pooled, not judged). Topics
        without judgments are left out.

    Examples
    --------
    >>> import rankbounds as rb
    >>> pooled = rb.judging.pools.pool({"q": {"a": 2.0, "b": 1.0}}, depth=2)
    >>> rb.judging.pools.restrict({"q": {"a": 1, "z": 1}}, pooled).to_dict()
    {'q': {'a': 1.0, 'b': -1.0}}
    """
    judgments, wanted = Reading().judgments(qrels), Reading().judgments(pooled)
    known_topic = judgments.pairs.index.topics_of(wanted.pairs)[wanted.pairs.topic] >= 0
    return subset(Qrels._of_pairs(wanted.pairs, grades_of_pairs(judgments, wanted.pairs)), known_topic)


def subset(qrels: Qrels, kept: Flags) -> Qrels:
    """The judgments that have a flag, in their order; topics without any are left out."""
    rows = np.flatnonzero(kept)
    if not rows.size:
        raise DataError(f"{qrels.pairs.source.name}: no judgment is left.")
    return qrels.take(rows)


def _places_within(counts: Ints) -> Ints:
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


@ends_in_a_sentence
def reduce(qrels: QrelsLike, rates: Iterable[float] = RATES, *, seed: int = 0, rel: float = 1.0) -> dict[float, Qrels]:
    """Reduce judgments to each of several rates, as in Sakai's and Buckley and Voorhees's experiments.

    Parameters
    ----------
    qrels, rates
        Judgments as in ``evaluate``, and percentages above 0 and up to 100.
    seed
        The seed of one shuffle for all rates, so that a smaller sample is part of a larger one.
    rel
        The lowest grade that counts as relevant.

    Returns
    -------
    dict
        For each rate the judgments that are kept: of the R relevant and the N non-relevant documents of each topic,
        shuffled, the first max(1, trunc(R rate / 100)) and max(10, trunc(N rate / 100)). Documents that were only
        pooled are left out.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"q": {f"d{number}": number % 2 for number in range(40)}}
    >>> {rate: len(kept) for rate, kept in rb.judging.pools.reduce(qrels, [100, 50, 10]).items()}
    {100: 40, 50: 20, 10: 12}
    """
    judgments = Reading().judgments(qrels)
    rows = np.flatnonzero(judgments.grade != POOLED_NOT_JUDGED)
    relevant = judgments.grade[rows] >= rel
    stratum = 2 * judgments.pairs.topic[rows] + relevant
    shuffled = np.lexsort((np.random.default_rng(seed).random(rows.size), stratum))
    counts = np.bincount(stratum, minlength=2 * len(judgments.query_ids))
    place = np.empty(rows.size, dtype=np.int64)
    place[shuffled] = _places_within(counts)
    reductions = {}
    for rate in rates:
        if not 0 < rate <= 100:
            raise UsageError(f"A rate is a percentage above 0 and up to 100, not {rate:g}.")
        # A rate with decimals, such as 12.3, must not lose a document to rounding.
        share = np.floor(counts[stratum] * rate / 100 + 1e-9).astype(np.int64)
        kept = np.zeros(len(judgments), dtype=bool)
        kept[rows[place < np.maximum(np.where(relevant, 1, 10), share)]] = True
        reductions[rate] = subset(judgments, kept)
    return reductions


@ends_in_a_sentence
def without_group(
    qrels: QrelsLike,
    runs: RunsLike,
    groups: Mapping[str, str],
    group: str,
    *,
    depth: int = 100,
    **options: Unpack[OrderOptions],
) -> Qrels:
    """Remove the judgments of documents that one group alone brought into the pool, as if it had not taken part.

    Parameters
    ----------
    qrels, runs, **options
        As in ``evaluate``; ties in one fixed order.
    groups, group
        The group of each run, by the run's name (``read_groups`` reads them from a file), and the one to leave out.
    depth
        The depth of the pool.

    Returns
    -------
    Qrels
        The remaining judgments.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"one": {"q": {"a": 1.0}}, "two": {"q": {"b": 2.0, "a": 1.0}}}
    >>> rb.judging.pools.without_group(qrels, runs, {"one": "here", "two": "there"}, "there").to_dict()
    {'q': {'a': 1.0}}
    """
    assumptions, reading = chosen_options(options, OrderOptions, one_order="Pools need", threads=worth_starting())
    judgments, systems = reading.judgments(qrels), reading.runs(runs)
    group_of_run = groups_of([run.name for run in systems], groups)
    if group not in group_of_run:
        raise UsageError(f'No run belongs to the group "{group}".')
    by_others, by_group = pooled = np.zeros((2, len(judgments)), dtype=bool)
    for run, own in zip(systems, group_of_run, strict=True):
        row, judged = judgments.pairs.index.find(run.pairs)
        in_pool = ranks(run, assumptions.order, assumptions.score_precision)[row] <= depth
        pooled[int(own == group), judged[in_pool]] = True
    return subset(judgments, by_others | ~by_group)
