"""Pools: which documents get judged, and which judgments a shallower pool, fewer runs or a sample would have left."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints, Words
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run import Run
from rankbounds.errors import DataError, UsageError
from rankbounds.files.opening import read_text
from rankbounds.rankings.order import Order, Precision, ranks

NOT_RETRIEVED = np.iinfo(np.int32).max
RATES = (90.0, 70.0, 50.0, 30.0, 10.0)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The different documents that runs retrieved, topic by topic, and where each run has them.

    ``document``, ``run`` and ``rank`` are parallel: one entry for each document of each run.
    """

    topics: list[str]
    topic: Ints
    """The topic of each different document."""
    document: Ints
    run: Ints
    rank: Ints
    sources: Sequence[tuple[Run, Ints]]
    """The runs, and which of their rows the entries stand for, run after run."""
    _first: Ints

    def __len__(self) -> int:
        return self.topic.size

    def doc_ids(self, documents: Ints) -> list[str]:
        """The names of these documents."""
        names = np.empty(documents.size, dtype=object)
        entry = self._first[documents]
        starts = np.cumsum([0, *(rows.size for _, rows in self.sources)])
        for number, (run, rows) in enumerate(self.sources):
            mine = np.flatnonzero((entry >= starts[number]) & (entry < starts[number + 1]))
            if mine.size:
                names[mine] = run.pairs.docs.take(rows[entry[mine] - starts[number]]).to_list()
        return names.tolist()

    def grades(self, qrels: Qrels) -> Floats:
        """The grade of each document; NaN where it has no judgment."""
        grade = np.full(len(self), np.nan)
        start = 0
        for run, rows in self.sources:
            pairs = run.pairs.take(rows)
            found, judgments = qrels.pairs.index.find(pairs, qrels.pairs.index.topics_of(pairs))
            grade[self.document[start + found]] = qrels.grade[judgments]
            start += rows.size
        return np.where(grade == POOLED_NOT_JUDGED, np.nan, np.maximum(grade, 0.0))

    @cached_property
    def best_rank(self) -> Ints:
        """The best rank that any run gives each document."""
        best = np.full(len(self), NOT_RETRIEVED, dtype=np.int64)
        np.minimum.at(best, self.document, self.rank)
        return best

    @cached_property
    def number_of_runs(self) -> Ints:
        """How many runs hold each document."""
        return np.bincount(self.document, minlength=len(self))


def collect(
    runs: Iterable[Run], *, depth: int | None = None, order: Order = "trec", precision: Precision = "double"
) -> Candidates:
    """Gather what runs retrieved, down to a depth. Documents are told apart byte by byte."""
    kept: list[tuple[Run, Ints]] = []
    numbers: dict[str, int] = {}
    rank, keys, topic, run_number = [], [], [], []
    for number, run in enumerate(runs):
        rank_of_row = ranks(run, order, precision)
        rows = np.flatnonzero(rank_of_row <= depth) if depth is not None else np.arange(len(run))
        names = np.array([numbers.setdefault(name, len(numbers)) for name in run.query_ids], dtype=np.int64)
        kept.append((run, rows))
        rank.append(rank_of_row[rows])
        keys.append(run.pairs.keys[rows])
        topic.append(names[run.pairs.topic[rows]])
        run_number.append(np.full(rows.size, number))
    if not kept:
        raise UsageError("No run was given.")
    topics_of_entries = np.concatenate(topic)
    first, document = _distinct(np.concatenate(keys), topics_of_entries, kept)
    return Candidates(
        list(numbers),
        topics_of_entries[first],
        document,
        np.concatenate(run_number),
        np.concatenate(rank),
        kept,
        first,
    )


def _distinct(keys: Words, topic: Ints, kept: list[tuple[Run, Ints]]) -> tuple[Ints, Ints]:
    """The first entry of every different document, and every entry's document."""
    docs = [run.pairs.docs.take(rows) for run, rows in kept]
    width = max(one.word_count() for one in docs)
    columns = [topic.astype(np.uint64), np.concatenate([one.length for one in docs]).astype(np.uint64)]
    columns += [np.concatenate(words) for words in zip(*(one.telling_words(width) for one in docs), strict=True)]
    _, first, document = np.unique(keys, return_index=True, return_inverse=True)
    if all((column == column[first[document]]).all() for column in columns):
        return first, document
    # Two documents share a 64-bit key: tell them apart by all their bytes.
    _, first, document = np.unique(np.stack(columns, axis=-1), axis=0, return_index=True, return_inverse=True)
    return first, document.reshape(-1)


def pool(
    runs: Iterable[Run],
    *,
    depth: int | None = None,
    budget: int | None = None,
    order: Order = "trec",
    precision: Precision = "double",
) -> Qrels:
    """The documents to judge: those that any run has down to ``depth``, or at most ``budget`` for each topic.

    Within a budget, documents come by their best rank in any run, then by the number of runs that hold them. All have
    the grade -1: pooled, not judged. Topics stand in the order of the runs, documents by their ids.
    """
    for name, number in (("depth", depth), ("budget", budget)):
        if number is not None and number < 1:
            raise UsageError(f"The {name} of a pool must be at least 1, not {number}.")
    if depth is None and budget is None:
        raise UsageError("A pool needs a depth, or a budget for each topic.")
    candidates = collect(runs, depth=depth, order=order, precision=precision)
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


def restrict(qrels: Qrels, pooled: Qrels) -> Qrels:
    """The judgments that this pool would have led to; what it holds beyond them is pooled, not judged (-1).

    Topics that nobody judged are left out.
    """
    topics = qrels.pairs.index.topics_of(pooled.pairs)
    found, judgments = qrels.pairs.index.find(pooled.pairs, topics)
    grade = np.full(len(pooled), float(POOLED_NOT_JUDGED))
    grade[found] = qrels.grade[judgments]
    return subset(Qrels(pooled.pairs, grade), topics[pooled.pairs.topic] >= 0)


def subset(qrels: Qrels, kept: Flags) -> Qrels:
    """Some of the judgments, in their order."""
    rows = np.flatnonzero(kept)
    if not rows.size:
        raise DataError(f"{qrels.pairs.source.name}: no judgment is left.")
    return Qrels(qrels.pairs.take(rows).without_unused_topics(), qrels.grade[rows])


def only_pooled(qrels: Qrels, kept: Flags) -> Qrels:
    """All judgments, those not kept turned into "pooled, not judged": what inferred measures want of a sample."""
    return Qrels(qrels.pairs, np.where(kept, qrels.grade, POOLED_NOT_JUDGED))


def ranks_of_judgments(
    qrels: Qrels, runs: Iterable[Run], order: Order = "trec", precision: Precision = "double"
) -> Ints:
    """A row for each run: the rank it gives each judged document, ``NOT_RETRIEVED`` where it has none."""
    found_ranks = []
    for run in runs:
        found, judgments = qrels.pairs.index.find(run.pairs, qrels.pairs.index.topics_of(run.pairs))
        row = np.full(len(qrels), NOT_RETRIEVED, dtype=np.int32)
        row[judgments] = ranks(run, order, precision)[found]
        found_ranks.append(row)
    if not found_ranks:
        raise UsageError("No run was given.")
    return np.stack(found_ranks)


def unique_to_group(rank: Ints, groups: Sequence[str], group: str, depth: int) -> Flags:
    """Which judged documents only this group's runs brought into a pool of that depth.

    ``rank`` as from ``ranks_of_judgments``; ``groups`` names the group of each of its rows.
    """
    mine = np.array([one == group for one in groups])
    if not mine.any():
        raise UsageError(f'No run belongs to the group "{group}".')
    pooled = rank <= depth
    unique: Flags = pooled[mine].any(axis=0) & ~pooled[~mine].any(axis=0)
    return unique


def without_group(
    qrels: Qrels, runs: Sequence[Run], groups: Mapping[str, str], group: str, *, depth: int = 100
) -> Qrels:
    """The judgments as if a group had not taken part: documents that it alone brought into the pool are removed.

    ``groups`` maps the name of each run to its group.
    """
    rank = ranks_of_judgments(qrels, runs)
    return subset(qrels, ~unique_to_group(rank, groups_of([run.name for run in runs], groups), group, depth))


def read_groups(path: str | os.PathLike[str]) -> dict[str, str]:
    """Which group each run belongs to: lines of two fields, ``run group``."""
    text = read_text(os.fspath(path))
    groups: dict[str, str] = {}
    for number, line in enumerate(text.tobytes().decode("utf-8", "surrogateescape").splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        if len(fields) != 2:
            raise DataError(f"{text.name}:{number}: expected two fields (run group), but found {len(fields)}.")
        if groups.setdefault(fields[0], fields[1]) != fields[1]:
            raise DataError(f'{text.name}:{number}: the run "{fields[0]}" stands in two groups.')
    return groups


def groups_of(names: Iterable[str], groups: Mapping[str, str]) -> list[str]:
    """The group of each run, or an error for a run that has none."""
    named = list(names)
    missing = [name for name in named if name not in groups]
    if missing:
        raise DataError(f'The groups do not say which one the run "{missing[0]}" belongs to.')
    return [groups[name] for name in named]


class Reduction:
    """Samples of judgments, as in Sakai's and Buckley and Voorhees's experiments.

    For each topic the relevant and the non-relevant documents are shuffled, and at a rate of j percent the first
    max(1, trunc(R j / 100)) relevant and max(10, trunc(N j / 100)) non-relevant ones are kept. One seed shuffles once,
    so that the judgments of a smaller rate are among those of a larger one.
    """

    def __init__(self, qrels: Qrels, seed: int, rel: float = 1.0) -> None:
        self.qrels, self.seed = qrels, seed
        judged = qrels.grade != POOLED_NOT_JUDGED
        self._rows = np.flatnonzero(judged)
        relevant = qrels.grade[self._rows] >= rel
        stratum = 2 * qrels.pairs.topic[self._rows] + relevant
        shuffled = np.lexsort((np.random.default_rng(seed).random(self._rows.size), stratum))
        counts = np.bincount(stratum, minlength=2 * len(qrels.query_ids))
        place = np.empty(self._rows.size, dtype=np.int64)
        place[shuffled] = np.arange(self._rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
        self._place, self._size, self._least = place, counts[stratum], np.where(relevant, 1, 10)

    def kept(self, rate: float) -> Flags:
        """Which judgments are kept at this rate, in percent; documents that were only pooled are not."""
        if not 0 < rate <= 100:
            raise UsageError(f"A rate is a percentage above 0 and up to 100, not {rate:g}.")
        # A rate with decimals, such as 12.3, must not lose a document to rounding.
        number = np.maximum(self._least, np.floor(self._size * rate / 100 + 1e-9).astype(np.int64))
        kept = np.zeros(len(self.qrels), dtype=bool)
        kept[self._rows[self._place < number]] = True
        return kept


def reduce(qrels: Qrels, rates: Iterable[float] = RATES, *, seed: int = 0, rel: float = 1.0) -> dict[float, Qrels]:
    """Reduced judgments by rate; see ``Reduction``. Documents that were only pooled are left out."""
    reduction = Reduction(qrels, seed, rel)
    return {rate: subset(qrels, reduction.kept(rate)) for rate in rates}
