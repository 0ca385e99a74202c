"""Every document that runs retrieved, once: at which rank, by how many runs, in which groups of runs.

That a document is unjudged says something itself: no run that was pooled had it near the top. So ranks in runs whose
first documents are (nearly) all judged, as pooling leaves them, are told apart from ranks in the other runs; and since
a good system's rank says more than a poor one's, runs are grouped by how often their judged documents are relevant.
Without that, the top documents of a poor run that came too late for the pool would look as good as the pool's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.columns.pairs import number_pairs
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.score_sheet import join_lists
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts

POOLED_DEPTH, POOLED_SHARE = 5, 0.95
"""A run looks pooled when at least this share of its first documents, down to this depth, is judged."""
POOLED = f"{POOLED_SHARE:.0%} of the first {POOLED_DEPTH} documents"
"""The same in words."""
GROUPS = 6
"""Into how many groups of about the same quality runs that look pooled are put at most, and the others too."""


@dataclass(frozen=True, eq=False)
class RetrievedDocuments:
    """Every document that some run retrieved for a judged topic, once: where and how often, and its grade if judged."""

    topic: Ints
    best_rank: Ints
    """A row for each group of runs; ``nowhere`` where none of the group has the document."""
    retrieved_by: Ints
    grade: Floats
    group: dict[str, int]
    """The group of each run."""
    pooled: dict[str, bool]
    """For each run, does it look pooled: are its first documents judged?"""
    nowhere: int
    by_run: dict[str, Ints]
    """For each run, the document that stands in each row of its table (-1: of a topic without judgments)."""

    @property
    def judged(self) -> Flags:
        """Which are judged."""
        return ~np.isnan(self.grade)


def retrieved_documents(
    runs: Sequence[Run],
    facts: TopicFacts,
    assumptions: Assumptions,
    rankings_of_runs: Sequence[list[Rankings]] | None = None,
) -> RetrievedDocuments:
    """All documents that the runs retrieved; ``rankings_of_runs`` are those of ``join_lists``, if at hand."""
    numbers = number_pairs([run.pairs for run in runs])
    size = max((int(number.max(initial=-1)) for number in numbers), default=-1) + 1
    batches = rankings_of_runs or [list(join_lists(run, facts, assumptions).batches) for run in runs]
    pooled = [looks_pooled(parts) for parts in batches]
    group = _groups(batches, pooled)
    topic, retrieved_by, grade = np.full(size, -1), np.zeros(size, dtype=np.int64), np.full(size, np.nan)
    key = np.zeros(size, dtype=np.uint64)
    for run, number in zip(runs, numbers, strict=True):
        key[number] = run.pairs.keys
    nowhere = 1 + max(rankings.width for parts in batches for rankings in parts)
    best_rank = np.full((max(group) + 1, size), nowhere)
    for parts, number, its_group in zip(batches, numbers, group, strict=True):
        ranks = best_rank[its_group]
        for rankings in parts:
            assert rankings.row is not None
            line, rank = np.nonzero(rankings.row >= 0)
            document = number[rankings.row[line, rank]]
            topic[document] = rankings.topic[line]
            retrieved_by[document] += 1
            ranks[document] = np.minimum(ranks[document], rank + 1)
            grade[document] = rankings.grade[line, rank]
    # Documents stand in an order that does not depend on that of the runs, so that sums over them do not either.
    order = np.argsort(key)
    order = order[topic[order] >= 0]
    place = np.full(size, -1)
    place[order] = np.arange(order.size)
    return RetrievedDocuments(
        topic[order],
        best_rank[:, order],
        retrieved_by[order],
        grade[order],
        {run.name: its_group for run, its_group in zip(runs, group, strict=True)},
        {run.name: looks for run, looks in zip(runs, pooled, strict=True)},
        nowhere,
        {run.name: place[number] for run, number in zip(runs, numbers, strict=True)},
    )


def looks_pooled(parts: list[Rankings]) -> bool:
    """Are a run's first documents judged, as pooling leaves them?"""
    first = np.concatenate([batch.holes[:, :POOLED_DEPTH][batch.present[:, :POOLED_DEPTH]] for batch in parts])
    return bool(first.size) and float(first.mean()) <= 1 - POOLED_SHARE


def _groups(batches: Sequence[list[Rankings]], pooled: list[bool]) -> list[int]:
    """A group for each run: those that look pooled and the others apart, in each part by quality."""
    quality = []
    for parts in batches:
        # The rate of relevance among judged documents, higher ranks counting more.
        discount = [(batch.present & ~batch.holes) / np.arange(1, batch.width + 1) for batch in parts]
        met = sum(float((batch.relevant() * each).sum()) for batch, each in zip(parts, discount, strict=True))
        quality.append(met / max(sum(float(each.sum()) for each in discount), 1e-300))
    group = np.zeros(len(batches), dtype=np.int64)
    used = 0
    for looks_pooled in (True, False):
        members = np.flatnonzero(np.array(pooled) == looks_pooled)
        ordered = members[np.argsort(-np.array(quality)[members], kind="stable")]
        for part in np.array_split(ordered, min(GROUPS, max(1, ordered.size))):
            group[part] = used
            used += bool(part.size)
    return group.tolist()
