"""Ideal rankings: the greedy one of documents that are relevant to several subtopics, and the one most like a list."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns.pairs import Pairs
from rankbounds.rankings.rankings import Rankings


def greedy_gains(pairs: Pairs, row: Ints, place: Ints, alpha: float, depth: int, width: int) -> Floats:
    """For each topic what the document at each rank of its greedy ideal ranking adds, zeros behind the last.

    At every rank stands the document that adds the most, where a subtopic met n times before counts (1 - alpha)^n. To
    find the best ranking is NP-complete; this one is what evaluation measures by. Document ``row`` is relevant to its
    topic's subtopic number ``place``. All topics take a step at a time, and of documents that are relevant to the same
    subtopics only the next one is looked at: the one whose id sorts last.
    """
    topics = len(pairs.topics)
    if not row.size:
        return np.zeros((topics, depth))
    documents, document = np.unique(row, return_inverse=True)
    covers = np.zeros((documents.size, width), dtype=bool)
    covers[document, place] = True
    topic = pairs.topic[documents].astype(np.int64)
    last_id_first = np.empty(documents.size, dtype=np.int64)
    last_id_first[np.lexsort(pairs.docs.take(documents).sort_keys()[::-1])] = np.arange(documents.size)
    # Documents of a topic that cover the same subtopics are a kind; each kind is a queue, the last id at its head.
    _, kind = np.unique(np.column_stack((topic, np.packbits(covers, axis=1))), axis=0, return_inverse=True)
    kind = kind.reshape(-1)  # NumPy 2.0 has it as a column
    order = np.lexsort((-last_id_first, kind))
    head = np.flatnonzero(np.diff(kind[order], prepend=-1))
    size = np.diff(head, append=order.size)
    of_kind, covered = topic[order[head]], covers[order[head]]
    queue = last_id_first[order]
    starts = np.searchsorted(of_kind, np.arange(topics + 1))
    columns = np.arange(int(np.diff(starts).max()))
    cell = np.minimum(starts[:-1, None] + columns, of_kind.size - 1)
    there = columns < np.diff(starts)[:, None]
    used = np.zeros((topics, columns.size), dtype=np.int64)
    worth = np.ones((topics, width))
    gains = np.zeros((topics, depth))
    everyone = np.arange(topics)
    for rank in range(min(depth, int(np.bincount(topic).max()))):
        open_kind = there & (used < size[cell])
        gain = np.where(open_kind, (covered[cell] * worth[:, None, :]).sum(axis=-1), -1.0)
        best = gain == gain.max(axis=1, keepdims=True)
        candidate = queue[np.minimum(head[cell] + used, queue.size - 1)]
        chosen = np.where(best & open_kind, candidate, -1).argmax(axis=1)
        some = open_kind.any(axis=1)
        gains[:, rank] = np.where(some, gain[everyone, chosen], 0.0)
        used[everyone[some], chosen[some]] += 1
        met = covered[cell[everyone, chosen]] & some[:, None]
        worth[met] *= 1 - alpha
    return gains


def relevant(rankings: Rankings) -> Flags:
    """Which documents gain more than one of grade 0."""
    marks: Flags = (rankings.gain() > rankings.facts.nonrelevant_gain) & rankings.present
    return marks


def levels_above_zero(rankings: Rankings) -> list[float]:
    """The gains that relevant documents may have."""
    facts = rankings.facts
    return [level for level in facts.levels.tolist() if level > facts.nonrelevant_gain]


def known_relevant(rankings: Rankings) -> Ints:
    """How many documents of the topic are judged relevant."""
    above = int(np.count_nonzero(rankings.facts.levels <= rankings.facts.nonrelevant_gain))
    return rankings.facts.count_from_level[above][rankings.topic]


def turned_relevant(rankings: Rankings) -> Ints:
    """How many unjudged documents count as relevant, at the highest level."""
    return np.count_nonzero(rankings.holes & relevant(rankings), axis=-1)


def ideal_places(rankings: Rankings) -> Ints:
    """The place of each relevant document in the ideal ranking, from 1; 0 for others."""
    facts, gain, marks = rankings.facts, rankings.gain(), relevant(rankings)
    places = np.zeros(gain.shape, dtype=np.int64)
    better = np.zeros(gain.shape[0], dtype=np.int64)
    for number in range(facts.levels.size - 1, -1, -1):
        here = marks & (gain == facts.levels[number])
        places += np.where(here, better[:, None] + np.cumsum(here, axis=-1), 0)
        better = facts.count_from_level[number][rankings.topic] + turned_relevant(rankings)
    return places


def ranks(rankings: Rankings) -> Ints:
    """The rank of every cell."""
    return np.broadcast_to(np.arange(1, rankings.width + 1), rankings.grade.shape)


def rank_and_place(rankings: Rankings) -> Ints:
    """From which depth on a relevant document is in the list and in the ideal ranking."""
    return np.maximum(ranks(rankings), ideal_places(rankings))


def marked_before(marks: Flags, first: Ints) -> Ints:
    """How many marked documents stand before these columns."""
    so_far: Ints = np.pad(np.cumsum(marks, axis=-1, dtype=np.int64), ((0, 0), (1, 0)))
    return np.take_along_axis(so_far, first, axis=-1)
