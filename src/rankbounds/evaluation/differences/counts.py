"""Documents counted: over something that grows with R (recall, F), down to depth R (RPrec), or the best one (RR)."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.evaluation.differences.shared_lists import Choice, Found, Greatest, OpenTopic, in_parts
from rankbounds.evaluation.differences.weighted_sums import TiedWeights, orders_are_open
from rankbounds.measures.formulas import BestRelevant, ShareOfRelevant, count_to_depth, quotient
from rankbounds.measures.precision.precision_and_recall import RPrec
from rankbounds.rankings.rankings import Rankings


def greatest_share(measure: ShareOfRelevant, topic: OpenTopic) -> Greatest:
    """Documents counted to a depth over something that grows with R (recall, F, relative precision).

    What it means: how far A can be ahead of B when unjudged documents turn out relevant or not. A relevant one that A
    alone holds (within the depth) helps A, one that B alone holds helps B, one that both or neither hold helps nobody
    directly; and each makes R, the number of relevant documents, larger by one: only numbers matter.

    Why it is right: with m documents relevant both divisors are settled, and each document counts for what its kind
    does. The best choice takes the kinds in the order of what they count for. As m grows within one kind, a quotient of
    two linear terms rises or falls all the way, so that its ends are enough where the two divisors are the same one;
    where they are not (F of two whole lists of different lengths, relative precision), every m is tried.
    """
    rankings, documents = topic.rankings, topic.documents
    orders_matter = orders_are_open(topic.assumptions) or topic.assumptions.ties == "expected"
    if measure.cutoff is not None and rankings.tied is not None and orders_matter:
        return _greatest_share_over_ties(measure, topic)
    judged, depth = rankings.assume(0.0), measure.depth(rankings)
    found = count_to_depth(measure, judged)
    known = float(judged.num_relevant(measure.rel)[0])
    slope, offset, limit = measure.growth(rankings)
    above = documents.rank < depth
    within = np.bincount(documents.line[above], minlength=found.size).astype(np.float64)
    both_within = documents.shared(above)
    either = documents.held[:, None] + documents.held[None, :] - documents.overlap

    def greatest(a: Ints, b: Ints) -> Found:
        both = both_within[a, b]
        only_a, only_b = within[a] - both, within[b] - both
        neither = either[a, b] - only_a - only_b - both
        kinds = np.stack((only_a, both + neither, only_b), axis=-1)
        ends = np.concatenate((np.zeros((a.size, 1)), np.cumsum(kinds, axis=-1)), axis=-1)
        if not np.isfinite(limit).any() and (offset[a] == offset[b]).all():
            return values(a, b, np.stack((only_a, both, neither)), ends)
        most = int(ends.max(initial=0)) + 1
        kinds_and_all = np.stack((only_a, both, neither, ends[:, -1]))

        def every_number(pairs: Ints, _: Ints) -> Found:
            *numbers, whole = kinds_and_all[:, pairs]
            return values(a[pairs], b[pairs], np.stack(numbers), np.minimum(np.arange(most), whole[:, None]))

        return in_parts(every_number, pairs := np.arange(a.size), pairs, most)

    def values(a: Ints, b: Ints, kinds: Floats, number: Floats) -> Found:
        """The best differences with any of these numbers of documents relevant."""
        only_a, both, neither = kinds[:, :, None]
        weight_a, weight_b = (
            quotient(np.ones(1), np.minimum(slope * (known + number) + offset[side][:, None], limit[side][:, None]))
            for side in (a, b)
        )
        turned_a = np.minimum(number, only_a)
        left = number - turned_a
        both_first = weight_a >= weight_b
        turned_both = np.where(both_first, np.minimum(left, both), np.clip(left - neither, 0, both))
        turned_b = np.maximum(left - both - neither, 0)
        in_a = found[a][:, None] + turned_a + turned_both
        in_b = found[b][:, None] + turned_b + turned_both
        return (weight_a * in_a - weight_b * in_b).max(axis=-1), np.ones(a.size, dtype=bool)

    return greatest


def _greatest_share_over_ties(measure: ShareOfRelevant, topic: OpenTopic) -> Greatest:
    """Where the depth may cut through tied documents, each counts by a share of its own: the largest net ones first."""
    weights = TiedWeights.of(measure, topic.rankings, topic.assumptions)
    known = float(topic.rankings.assume(0.0).num_relevant(measure.rel)[0])
    slope, offset, limit = measure.growth(topic.rankings)

    def greatest(a: Ints, b: Ints) -> Found:
        net, there, _ = weights.net(topic.documents, a, b)
        net = np.where(there, net, -np.inf)
        net[:, ::-1].sort(axis=-1)
        base = weights.base(a, b)[:, None]
        sums = np.concatenate((base, base + np.cumsum(net, axis=-1)), axis=-1)
        number = np.arange(sums.shape[-1])
        over = np.minimum(slope * (known + number) + offset[a][:, None], limit[a][:, None])
        return quotient(sums, over).max(axis=-1), weights.are_settled(a, b)

    return lambda a, b: in_parts(greatest, a, b, topic.documents.most_of_two + 1)


def greatest_at_r(measure: RPrec, topic: OpenTopic) -> Greatest:
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
    rankings, documents = topic.rankings, topic.documents
    judged = rankings.assume(0.0)
    known = int(judged.num_relevant(measure.rel)[0])
    found, held = (
        np.cumsum(np.insert(marks, 0, 0, axis=-1), axis=-1, dtype=np.float64)
        for marks in (judged.relevant(measure.rel), rankings.holes)
    )
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
            count = documents.held[line] + documents.held[other] - lower.size
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


def documents_of_best(measure: BestRelevant) -> Choice:
    """Those that would count for more than the best judged one does."""
    return lambda rankings: _weights(measure, rankings) > measure.value(rankings.assume(0.0))[:, None]


def _weights(measure: BestRelevant, rankings: Rankings) -> Floats:
    weights = np.zeros(rankings.width)
    depth = measure.depth(rankings)
    weights[:depth] = measure.weights(depth)
    return weights


def greatest_of_best(measure: BestRelevant, topic: OpenTopic) -> Greatest:
    """The best relevant document alone counts (RR, Success): one unjudged document decides.

    What it means: how far A can be ahead of B. The score is the largest weight of any relevant document (1 / rank, or
    1 within the depth), 0 where there is none.

    Why it is right: take any judgments, and let d be the best relevant document of A. If d is unjudged, let it be the
    only unjudged one that is relevant: A's score stays, and B's cannot rise. If d was judged before, let none be
    relevant: the same holds. So the greatest difference is attained with no unjudged document relevant or with one,
    and those of A that stand above its best judged relevant one are the only ones to try.
    """
    known = measure.value(topic.rankings.assume(0.0))
    weights = np.append(0.0, _weights(measure, topic.rankings))
    listed, ranks = topic.documents.tables

    def greatest(a: Ints, b: Ints) -> Found:
        result = known[a] - known[b]
        # The documents of one A after the other: they are few, and all B are asked at once.
        order = np.argsort(a, kind="stable")
        for pairs in np.split(order, np.flatnonzero(np.diff(a[order])) + 1):
            held = listed[a[pairs[0]], : topic.documents.held[a[pairs[0]]]] if pairs.size else pairs
            if held.size:
                line, others = a[pairs[0]], b[pairs]
                in_b = np.maximum(known[others][:, None], weights[ranks[others[:, None], held]])
                turned = (weights[ranks[line, held]] - in_b).max(axis=-1)
                result[pairs] = np.maximum(result[pairs], turned)
        return result, np.ones(a.size, dtype=bool)

    return greatest
