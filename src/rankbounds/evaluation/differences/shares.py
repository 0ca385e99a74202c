"""Documents counted to a depth over something that grows with R: recall, F, relative precision, R-precision."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.shared_lists import CELLS, Documents, Found, Greatest
from rankbounds.evaluation.differences.weighted_sums import TiedWeights, lines_with_open_order, orders_are_open
from rankbounds.measures.formulas import ShareOfRelevant, count_to_depth, quotient
from rankbounds.measures.precision.precision_and_recall import RPrec
from rankbounds.rankings.rankings import Rankings


def greatest_share(
    measure: ShareOfRelevant, rankings: Rankings, documents: Documents, assumptions: Assumptions, elsewhere: int = 0
) -> Greatest:
    """Documents counted to a depth over something that grows with R (recall, F, relative precision): only numbers
    matter.

    What it means: how far A can be ahead of B when unjudged documents turn out relevant or not. A relevant one that A
    alone holds (within the depth) helps A, one that B alone holds helps B, one that both or neither hold helps nobody
    directly; and each makes R, the number of relevant documents, larger by one.

    Why it is right: with m documents relevant both divisors are settled, and each document counts for what its kind
    does. The best choice takes the kinds in the order of what they count for. As m grows within one kind, a quotient of
    two linear terms rises or falls all the way, so that its ends are enough where the two divisors are the same one;
    where they are not (F of two whole lists of different lengths, relative precision), every m is tried.
    """
    judged, depth = rankings.assume(0.0), measure.depth(rankings)
    found = count_to_depth(measure, judged)
    known = float(judged.num_relevant(measure.rel)[0])
    slope, offset, limit = measure.growth(rankings)
    capped = bool(np.isfinite(limit).any())
    above = documents.rank < depth
    within = np.bincount(documents.line[above], minlength=found.size).astype(np.float64)
    both_within = _shared_within(documents, above)
    either = documents.held[:, None] + documents.held[None, :] - documents.overlap
    if measure.cutoff is not None and rankings.tied is not None and _orders_matter(assumptions):
        return _greatest_over_ties(measure, rankings, documents, assumptions, elsewhere)

    def greatest(a: Ints, b: Ints) -> Found:
        both = both_within[a, b]
        only_a, only_b = within[a] - both, within[b] - both
        neither = either[a, b] - only_a - only_b - both + elsewhere
        exact = np.ones(a.size, dtype=bool)
        kinds = np.stack((only_a, both + neither, only_b), axis=-1)
        ends = np.concatenate((np.zeros((a.size, 1)), np.cumsum(kinds, axis=-1)), axis=-1)
        if not capped and (offset[a] == offset[b]).all():
            return values(a, b, only_a, both, neither, only_b, ends).max(axis=-1), exact
        result = np.empty(a.size)
        most = int(ends.max(initial=0)) + 1
        for start in range(0, a.size, size := max(1, CELLS // most)):
            part = slice(start, start + size)
            numbers = np.minimum(np.arange(most), ends[part, -1:])
            result[part] = values(a[part], b[part], only_a[part], both[part], neither[part], only_b[part], numbers).max(
                axis=-1
            )
        return result, exact

    def values(
        a: Ints, b: Ints, only_a: Floats, both: Floats, neither: Floats, only_b: Floats, number: Floats
    ) -> Floats:
        """The best differences with these numbers of documents relevant."""
        only_a, both, neither, only_b = (kind[:, None] for kind in (only_a, both, neither, only_b))
        divisors = [slope * (known + number) + offset[side][:, None] for side in (a, b)]
        if capped:
            divisors = [np.minimum(over, limit[side][:, None]) for over, side in zip(divisors, (a, b), strict=True)]
        weight_a, weight_b = (quotient(np.ones(1), over) for over in divisors)
        turned_a = np.minimum(number, only_a)
        left = number - turned_a
        both_first = weight_a >= weight_b
        turned_both = np.where(both_first, np.minimum(left, both), np.clip(left - neither, 0, both))
        turned_b = np.maximum(left - both - neither, 0)
        in_a = found[a][:, None] + turned_a + turned_both
        in_b = found[b][:, None] + turned_b + turned_both
        return np.asarray(weight_a * in_a - weight_b * in_b)

    return greatest


def _orders_matter(assumptions: Assumptions) -> bool:
    return orders_are_open(assumptions) or assumptions.ties == "expected"


def _greatest_over_ties(
    measure: ShareOfRelevant, rankings: Rankings, documents: Documents, assumptions: Assumptions, elsewhere: int
) -> Greatest:
    """Where the depth may cut through tied documents, each counts by a share of its own: the largest net ones first."""
    weights = TiedWeights.of(measure, rankings, assumptions)
    most, least = (
        np.concatenate((np.zeros((side.shape[0], 1)), side), axis=-1) for side in (weights.most, weights.least)
    )
    known = float(rankings.assume(0.0).num_relevant(measure.rel)[0])
    slope, offset, limit = measure.growth(rankings)
    open_order = lines_with_open_order(rankings, assumptions)

    def greatest(a: Ints, b: Ints) -> Found:
        result = np.empty(a.size)
        for start in range(0, a.size, size := max(1, CELLS // (2 * int(documents.held.max(initial=0)) + 1))):
            part = slice(start, start + size)
            result[part] = of_some(a[part], b[part])
        return result, ~(open_order[a] | open_order[b])

    def of_some(a: Ints, b: Ints) -> Floats:
        rank_a, rank_b = documents.of_either(a, b)
        there = (rank_a > 0) | (rank_b > 0)
        net = np.where(there, most[a[:, None], rank_a] - least[b[:, None], rank_b], -np.inf)
        net[:, ::-1].sort(axis=-1)
        base = (weights.base_most[a] - weights.base_least[b])[:, None]
        sums = np.concatenate((base, base + np.cumsum(net, axis=-1)), axis=-1)
        number = np.arange(sums.shape[-1])
        # Documents that neither list holds only add to the divisor: all of them or none, as the sign of the sum is.
        best = np.full(a.size, -np.inf)
        for added in dict.fromkeys((0, elsewhere)):
            over = np.minimum(slope * (known + number + added) + offset[a][:, None], limit[a][:, None])
            best = np.maximum(best, quotient(sums, over).max(axis=-1))
        return best

    return greatest


def _shared_within(documents: Documents, above: np.ndarray) -> Floats:
    """By two lists, how many documents both hold within the depth."""
    member = documents.by_run(above.astype(np.float64)).astype(np.float32)
    shared: Floats = (member @ member.T).astype(np.float64)
    return shared


def greatest_at_r(measure: RPrec, rankings: Rankings, documents: Documents, elsewhere: int = 0) -> Greatest:
    """Precision at depth R: judgments move the depth as well.

    What it means: how far A can be ahead of B when some of the unjudged documents turn out relevant, each of which
    makes R, the depth to which both lists are read and the number they are divided by, larger by one.

    Why it is right: with m documents relevant R is settled, and a document counts 1 if A alone holds it within that
    depth, -1 if B alone does, else 0. The best choice takes the first kind before the others and the second kind last.
    All m are tried at once: how many documents both lists hold down to a depth is a running sum over the lower of their
    two ranks.

    Relevant documents that neither list holds, where there is room for them (``Rankings.room``), make R larger and
    count for nobody: with m no larger than the room, none of B's has to be among the m. Beyond the ends of the lists
    only the divisor still grows, so that the largest R is the last to try.
    """
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
