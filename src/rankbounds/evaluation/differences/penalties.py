"""Preferences that count non-relevant documents up to a limit (bpref and its variants).

What it means: how far A can be ahead of B once all documents of both lists are judged. Each relevant document retrieved
counts for 1, less the non-relevant ones above it over a divisor; limit and divisor follow from how many documents are
relevant and how many are not, both of which judging changes.

Why it is right: in A a relevant document has at least the judged non-relevant ones above it, under the lowest limit and
the largest divisor that any judgments give; in B all unjudged ones above it may be non-relevant too, under the largest
limit and the smallest divisor. ``LinearTerms`` does the rest. The bounds hold, and are attained only where little is
unjudged: there all judgments are tried instead.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.evaluation.differences.greatest import Greatest
from rankbounds.evaluation.differences.linear_terms import LinearTerms
from rankbounds.evaluation.differences.shared_lists import Documents
from rankbounds.measures.binary_preference import LimitedPenalty
from rankbounds.rankings.rankings import Rankings


def greatest_preference(
    measure: LimitedPenalty, rankings: Rankings, documents: Documents, elsewhere: int = 0
) -> Greatest:
    """How large the difference of any two of the lists can be, at most."""
    facts, topic = rankings.facts, int(rankings.topic[0])
    known = int(facts.relevant(measure.rel)[topic])
    judged = int(facts.judged[topic])
    relevant = rankings.grade >= measure.rel
    others = rankings.present & ~rankings.holes & ~relevant
    retrieved = np.count_nonzero(others, axis=-1)
    unjudged = 2 * int(documents.held.max(initial=0)) + elsewhere  # of two lists together, at most
    least = measure.limit_and_divisor(np.array(known), np.array(judged - known), retrieved)
    most = measure.limit_and_divisor(
        np.array(known + unjudged), np.array(judged - known + unjudged), retrieved + rankings.num_holes
    )
    low_limit, low_divisor, high_limit, high_divisor = (
        np.broadcast_to(number, retrieved.shape)[:, None] for number in (*least, *most)
    )
    surely, perhaps = (np.cumsum(marks, axis=-1) for marks in (others, rankings.holes))
    lightest = np.minimum(low_limit, surely) / np.maximum(high_divisor, 1)
    heaviest = np.minimum(high_limit, surely + perhaps) / np.maximum(low_divisor, 1)
    terms: tuple[Floats, Floats] = 1 - np.minimum(lightest, 1.0), 1 - np.minimum(heaviest, 1.0)
    base = [np.where(relevant, term, 0.0).sum(axis=-1) for term in terms]
    plus, minus = (term[documents.line, documents.rank] for term in terms)

    def shared(cell_a: Ints, cell_b: Ints, common: Ints) -> Floats:  # noqa: ARG001
        net: Floats = plus[cell_a] - minus[cell_b]
        return net

    return LinearTerms(documents, base[0], base[1], plus, minus, shared, known, elsewhere=elsewhere).greatest
