"""Bounds of differences for sums over ranks: weighted (RBP, P, DCG), over an ideal ranking (nDCG), or counted.

Counts are divided by something that grows with R (recall, F), read to depth R (RPrec), or only the best counts (RR).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.shared_lists import Choice, Found, Greatest, OpenTopic, in_parts
from rankbounds.measures.formulas import (
    BestRelevant,
    IdealRatio,
    Normalised,
    RankWeighted,
    ShareOfRelevant,
    count_to_depth,
    quotient,
)
from rankbounds.measures.precision.precision_and_recall import RPrec
from rankbounds.rankings.documents import RetrievedDocuments
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS, group_means, reorder

WEIGHTLESS = 1e-17
"""Lighter documents are not matched one by one: a thousand of them are less than the rounding error of a score."""


def orders_are_open(assumptions: Assumptions) -> bool:
    return assumptions.bounds == "both" or assumptions.ties not in (*ORDERS, "expected")


@dataclass(frozen=True, eq=False)
class TiedWeights:
    """What a unit of worth counts in each cell at most and at least, and judged documents in all, under a rule."""

    most: Floats
    least: Floats
    base_most: Floats
    base_least: Floats
    settled: Flags

    @classmethod
    def of(cls, measure: RankWeighted | Normalised, rankings: Rankings, assumptions: Assumptions) -> TiedWeights:
        depth = measure.depth(rankings)
        weight: Floats = np.zeros(rankings.grade.shape)
        weight[:, :depth] = measure.weights(depth)
        judged = rankings.assume(0.0)
        worth = measure.worth(judged)
        groups, is_open = rankings.groups, orders_are_open(assumptions)
        if groups is not None and not is_open and assumptions.ties == "expected":
            weight = group_means(rankings, weight)
        if groups is None or rankings.tied is None or not is_open:
            base = np.einsum("lr,lr->l", worth, weight)
            return cls(weight, weight, base, base, np.ones(base.size, dtype=bool))
        ends = []
        for reduced in (np.maximum, np.minimum):
            at_end = weight.copy()
            at_end.reshape(-1)[groups.cell] = groups.spread(reduced.reduceat(groups.values(weight), groups.start))
            ends.append(at_end)
        worst, best = (
            np.einsum("lr,lr->l", measure.worth(reorder(judged, worth, best=best)), weight) for best in (False, True)
        )
        return cls(ends[0], ends[1], best, worst, np.asarray(~rankings.tied.any(axis=-1)))

    def base(self, a: Ints, b: Ints) -> Floats:
        return np.asarray(self.base_most[a] - self.base_least[b])

    def are_settled(self, a: Ints, b: Ints) -> Flags:
        return np.asarray(self.settled[a] & self.settled[b])

    @cached_property
    def _from_rank_0(self) -> list[Floats]:
        return [np.pad(weights, ((0, 0), (1, 0))) for weights in (self.most, self.least)]

    def net(self, documents: RetrievedDocuments, a: Ints, b: Ints) -> tuple[Floats, Flags, Flags]:
        """Return each document's net weight for A, whether there is one, and whether it counts in either list."""
        rank_a, rank_b = documents.of_either(a, b)
        most, least = self._from_rank_0
        in_a = most[a[:, None], rank_a]
        net = in_a - least[b[:, None], rank_b]
        return net, (rank_a > 0) | (rank_b > 0), (in_a > 0) | (most[b[:, None], rank_b] > 0)


def documents_of_weight(
    measure: RankWeighted | Normalised, assumptions: Assumptions, weightless: float = WEIGHTLESS
) -> Choice:
    return lambda rankings: TiedWeights.of(measure, rankings, assumptions).most > weightless


def greatest_sum(measure: RankWeighted, topic: OpenTopic) -> Greatest:
    """Bound differences of weighted sums over ranks (RBP, P, DCG, SDCG, counts), exactly.

    The difference is a sum of net weights (in A minus in B) times worth, and each document's worth is free: those of
    positive net weight take the largest, the others the least. Beyond the ends of the lists only relevant documents
    follow A's and none B's, which is compatible, since neither list need hold them.
    """
    from scipy.spatial.distance import cdist

    rankings, documents = topic.rankings, topic.documents
    weights = TiedWeights.of(measure, rankings, topic.assumptions)
    spread = np.where(rankings.holes, measure.worth(rankings.assume(1.0)) - measure.worth(rankings.assume(0.0)), 0.0)
    cells = documents.run, documents.rank - 1
    most, least = (documents.by_run((side * spread)[cells]) for side in (weights.most, weights.least))
    light = np.where(rankings.holes & (weights.most <= WEIGHTLESS), weights.most * spread, 0.0).sum(axis=-1)
    tail = measure.open_tail(rankings) + light
    # By topic's own scale (RBP, by_topic) an unjudged document of a higher grade than any lowers what the others count.
    shrunk = 1.0
    if getattr(measure, "by_topic", False) and rankings.topic.size:
        shrunk = float(rankings.facts.top_gain[rankings.topic[0]] / rankings.facts.max_gain)
    distance = cdist(most, least, "cityblock")
    opened_most, opened_least = most.sum(axis=-1), least.sum(axis=-1)

    def greatest(a: Ints, b: Ints) -> Found:
        base = weights.base(a, b)
        base = np.maximum(base, base * shrunk)
        ahead = (opened_most[a] - opened_least[b] + distance[a, b]) / 2
        return base + ahead + tail[a], weights.are_settled(a, b) & (shrunk == 1.0)

    return greatest


def greatest_of_linear(counted: Greatest, rankings: Rankings, for_each: float, for_length: float) -> Greatest:
    """Add a weight for each document that A counts more than B, and one for each that it retrieves more."""

    def greatest(a: Ints, b: Ints) -> Found:
        most, exact = counted(a, b) if for_each >= 0 else counted(b, a)
        return for_length * rankings.length[a] - for_length * rankings.length[b] + abs(for_each) * most, exact

    return greatest


def documents_of_ratio(measure: IdealRatio, assumptions: Assumptions) -> Choice:
    """Select documents that gain something at their ranks, and all of a list with few others (needed by id)."""

    def choice(rankings: Rankings) -> Flags:
        gaining, crowded = _gaining_and_crowded(measure, rankings, TiedWeights.of(measure, rankings, assumptions))
        return gaining | ~crowded[:, None]

    return choice


def _gaining_and_crowded(measure: IdealRatio, rankings: Rankings, weights: TiedWeights) -> tuple[Flags, Flags]:
    gaining = rankings.holes & (weights.most > 0)
    number = np.count_nonzero(gaining, axis=-1)
    if measure.cutoff is None:
        return gaining, np.zeros(number.shape, dtype=bool)
    return gaining, rankings.num_holes - number >= measure.cutoff + number.max(initial=0)


def greatest_ratio(measure: IdealRatio, topic: OpenTopic) -> Greatest:
    """Bound differences of a weighted sum over that of the ideal ranking (nDCG), exactly.

    With gains as sums of steps, a document counts once for each level that its gain reaches. With m unjudged documents
    at a level, the ideal sum depends on m alone, and the numerator is greatest for the m largest net weights. For a
    ratio t, maximising (numerator - t * ideal) splits into one small maximisation over m per level (Dinkelbach).

    * For t at least 0, higher levels have fewer judged documents, so one more unjudged document there adds a larger
      weight to the ideal sum. So the best m falls from level to level, and the choices nest: documents that reach a
      level have reached those below it.
    * For negative t, the best m would rise from level to level. Both parts are concave in m, so the best nested choice
      has the same m at all levels: every document has no gain or the largest.

    The second kind is tried first, for every m. If its best ratio is negative, that is the answer, since the greatest
    numerator is among them. Otherwise the iteration starts from it.
    """
    rankings, documents = topic.rankings, topic.documents
    weights = TiedWeights.of(measure, rankings, topic.assumptions)
    _, crowded = _gaining_and_crowded(measure, rankings, weights)
    levels, known = measure.levels(rankings.facts)
    step, known = np.diff(levels, prepend=0.0), known[:, int(rankings.topic[0])]
    every_gains = measure.every_document_counts(rankings.facts)  # and reaches the first level, whatever its judgment
    rising = slice(1, None) if every_gains else slice(0, None)
    steps = step[rising]
    top = float(steps.sum())
    at_most = int(known.max(initial=0)) + 2 * int(rankings.num_holes.max(initial=0)) + 1
    reach = at_most if measure.cutoff is None else min(at_most, measure.cutoff)
    ideal_sums = np.append(0.0, np.cumsum(measure.weights(reach)))

    def ideal(level: int, number: Ints) -> Floats:
        return ideal_sums[np.minimum(known[level] + number, reach)]

    def greatest(a: Ints, b: Ints) -> Found:
        net, there, matters = weights.net(documents, a, b)
        idle = np.where(crowded[a] | crowded[b], reach, np.count_nonzero(there & ~matters, axis=-1))
        fixed = np.zeros(a.size)
        if every_gains:
            fixed = step[0] * ideal(0, np.count_nonzero(matters, axis=-1) + idle)
        idle = np.minimum(idle, reach)
        base = weights.base(a, b)
        net = np.where(matters, net, -np.inf)
        net = net[:, matters.any(axis=0)]
        net = np.concatenate((net, np.where(np.arange(idle.max(initial=0)) < idle[:, None], 0.0, -np.inf)), axis=-1)
        net[:, ::-1].sort(axis=-1)
        sums = np.concatenate((np.zeros((a.size, 1)), np.cumsum(net, axis=-1)), axis=-1)
        number = np.arange(sums.shape[-1])
        ideals = [ideal(level, number) for level in range(levels.size)][rising]
        divisor = fixed[:, None] + sum(height * part for height, part in zip(steps, ideals, strict=True))
        above = base[:, None] + (top * sums if top > 0 else np.zeros(sums.shape))
        ratio = quotient(above, np.broadcast_to(divisor, sums.shape)).max(axis=-1)
        chosen = np.flatnonzero(ratio >= 0)
        if steps.size > 1 and chosen.size:
            ratio[chosen] = _raise_ratio(ratio[chosen], base[chosen], fixed[chosen], sums[chosen], steps, ideals)
        return ratio, weights.are_settled(a, b)

    return lambda a, b: in_parts(greatest, a, b, documents.most_of_two + min(reach, 1000) + 1)


def _raise_ratio(
    ratio: Floats, base: Floats, fixed: Floats, sums: Floats, steps: Floats, ideals: list[Floats]
) -> Floats:
    for _ in range(100):
        above, below = base.copy(), fixed.copy()
        for height, ideal in zip(steps, ideals, strict=True):
            best = np.argmax(sums - ratio[:, None] * ideal, axis=-1)
            above += height * np.take_along_axis(sums, best[:, None], axis=-1)[:, 0]
            below += height * ideal[best]
        better = quotient(above, below)
        if not (better > ratio).any():
            break
        ratio = np.maximum(ratio, better)
    return ratio


def greatest_share(measure: ShareOfRelevant, topic: OpenTopic) -> Greatest:
    """Bound differences of documents counted to a depth over something that grows with R (recall, F), exactly.

    A relevant document that only A holds (within the depth) helps A, one that only B holds helps B, any other helps
    neither; each increases R by one, so only their numbers matter. With m documents relevant both divisors are fixed,
    and the best choice takes the kinds in the order of what they count. As m grows within one kind, a quotient of two
    linear terms is monotone, so its ends suffice where the two divisors are the same; elsewhere (F of two whole lists
    of different lengths, relative precision) every m is tried.
    """
    rankings, documents = topic.rankings, topic.documents
    orders_matter = orders_are_open(topic.assumptions) or topic.assumptions.ties == "expected"
    if measure.cutoff is not None and rankings.tied is not None and orders_matter:
        return _greatest_share_over_ties(measure, topic)
    judged, depth = rankings.assume(0.0), measure.depth(rankings)
    found = count_to_depth(measure, judged)
    known = float(judged.num_relevant(measure.rel)[0])
    slope, offset, limit = measure.growth(rankings)
    above = documents.rank <= depth
    within = np.bincount(documents.run[above], minlength=found.size).astype(np.float64)
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
    """Bound differences of precision at depth R, which judgments move as well, exactly.

    With m unjudged documents relevant, R is fixed, and a document counts 1 if only A holds it within that depth, -1 if
    only B does, else 0: the first kind is taken first, the second last, for all m at once. Those that neither list
    holds (``Rankings.room``) enlarge R and count for neither; beyond the lists only the divisor grows.
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
    return lambda rankings: _weights(measure, rankings) > measure.value(rankings.assume(0.0))[:, None]


def _weights(measure: BestRelevant, rankings: Rankings) -> Floats:
    weights = np.zeros(rankings.width)
    depth = measure.depth(rankings)
    weights[:depth] = measure.weights(depth)
    return weights


def greatest_of_best(measure: BestRelevant, topic: OpenTopic) -> Greatest:
    """Bound differences of measures that count the best relevant document alone (RR, Success), exactly.

    If the best relevant document of A is unjudged, let it alone turn relevant, else none: A's score stays, and B's
    cannot rise. So it suffices to try none, and each one of A above its best judged relevant one.
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
