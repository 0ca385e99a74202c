"""The greedy ideal ranking of documents that are relevant to several subtopics.

At every rank it takes the document that adds the most, where a subtopic met n times before counts (1 - alpha)^n. To
find the best ranking is NP-complete; this one is what evaluation measures by.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.columns.pairs import Pairs


def greedy_gains(pairs: Pairs, row: Ints, place: Ints, alpha: float, depth: int, width: int) -> Floats:
    """For each topic what the document at each rank of its greedy ideal ranking adds, zeros behind the last.

    Document ``row`` is relevant to its topic's subtopic number ``place``. All topics take a step at a time, and of
    documents that are relevant to the same subtopics only the next one is looked at: the one whose id sorts last.
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
