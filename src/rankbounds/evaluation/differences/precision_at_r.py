"""Precision at depth R: judgments move the depth as well.

What it means: how far A can be ahead of B when some of the unjudged documents turn out relevant, each of which makes R,
the depth to which both lists are read and the number they are divided by, larger by one.

Why it is right: with m documents relevant R is settled, and a document counts 1 if A alone holds it within that depth,
-1 if B alone does, else 0. The best choice takes the first kind before the others and the second kind last. All m are
tried at once: how many documents both lists hold down to a depth is a running sum over the lower of their two ranks.

Relevant documents that neither list holds, where there is room for them (``Rankings.room``), make R larger and count
for nobody: with m no larger than the room, none of B's has to be among the m. Beyond the ends of the lists only the
divisor still grows, so that the largest R is the last to try.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.evaluation.differences.greatest import Found, Greatest
from rankbounds.evaluation.differences.shared_lists import Documents
from rankbounds.measures.retrieved_set import RPrec
from rankbounds.rankings.rankings import Rankings


def greatest_at_r(measure: RPrec, rankings: Rankings, documents: Documents, elsewhere: int = 0) -> Greatest:
    """How large the difference of any two of the lists can be."""
    judged = rankings.assume(0.0)
    known = int(judged.num_relevant(measure.rel)[0])
    found, held = (_at_every_depth(flags) for flags in (judged.relevant(measure.rel), rankings.holes))
    listed, ranks = documents.tables
    room = max(0.0, rankings.most_relevant - known)
    deepest = np.ceil(rankings.width / measure.times)  # for more relevant documents, the depth is beyond all lists

    def greatest(a: Ints, b: Ints) -> Found:
        result = np.empty(a.size)
        for pair, (line, other) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
            in_a = listed[line, : documents.held[line]]
            in_b = ranks[other, in_a]
            shared = in_b > 0
            lower = np.maximum(ranks[line, in_a], in_b)[shared]
            count = documents.held[line] + documents.held[other] - lower.size + elsewhere
            number = np.arange(max(count, min(room, deepest)) + 1.0)
            if room > number[-1]:
                number = np.append(number, room)
            read = measure.documents_read(known + number)
            depth = np.minimum(read, rankings.width).astype(np.int64)
            both = np.cumsum(np.bincount(lower, minlength=rankings.width + 1))[depth]
            only_a, only_b = held[line][depth] - both, held[other][depth] - both
            ahead = found[line][depth] - found[other][depth]
            for_b = np.where(number <= room, 0.0, np.maximum(number - (count - only_b), 0))
            ahead = ahead + np.minimum(number, only_a) - for_b
            result[pair] = (ahead / np.maximum(read, 1)).max()
        return result, np.ones(a.size, dtype=bool)

    return greatest


def _at_every_depth(marks: np.ndarray) -> Floats:
    """By list, how many are marked down to each depth from 0 on."""
    return np.concatenate((np.zeros((marks.shape[0], 1)), np.cumsum(marks, axis=-1)), axis=-1)
