"""Averages over the relevant documents: of precisions (AP, its relatives, Q), and of penalties (bpref)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.differences.any_measure import every_way, pairs_by_number
from rankbounds.evaluation.differences.shared_lists import CELLS, Found, Greatest, OpenTopic
from rankbounds.evaluation.score_differences import TOLERANCE
from rankbounds.measures.bpref import LimitedPenalty
from rankbounds.measures.formulas import quotient
from rankbounds.measures.precision.average_precision import AveragedPrecisions
from rankbounds.rankings.documents import RetrievedDocuments

FEW = 10
"""Of so many unjudged documents all judgments are tried."""
MANY = 100
"""Lists with more unjudged documents than this, down to the depth, are left to a coarser argument."""
PAIRS = 1024
NEGLIGIBLE, ROUGH = 1e-9, 1e-3
"""A bound may be so much larger than it need be; and a ratio that only begins the search."""
STEPS = 13
"""So often the ratio is raised; what then is left to be gained is added, so that the bound holds in any case."""


def greatest_average(measure: AveragedPrecisions, topic: OpenTopic) -> Greatest | None:
    """Bound differences of averages of precisions (AP, its relatives, Q).

    The sum of precisions is a quadratic form in what turns out relevant: known terms for single documents, and for each
    two documents one over the lower one's rank. ``ChoicesFromTheTop`` bounds it for up to ``MANY`` unjudged documents,
    often exactly; where it does not, all judgments of ``FEW`` are tried. ``LinearTerms`` takes any number: in A a
    document counts all unjudged documents above it, in B only those that are certainly above it in A too.
    """
    rankings, documents = topic.rankings, topic.documents
    terms = measure.precision_terms(rankings, documents.most_of_two)
    if terms is None:
        return None
    relevant = terms.credit > 0
    so_far = np.cumsum(terms.credit, axis=-1)
    cells = documents.run, documents.rank - 1
    above: Ints = (np.cumsum(rankings.holes, axis=-1) - rankings.holes)[cells]
    own, more, base, factor = [], [], [], []
    for by_rank in (terms.most, terms.least):
        at_known = np.where(relevant, by_rank, 0.0)
        below = at_known.sum(axis=-1, keepdims=True) - np.cumsum(at_known, axis=-1)
        own.append((by_rank * so_far)[cells])  # what is judged above a document
        more.append((by_rank * terms.itself + below)[cells])  # for each unit of its credit
        factor.append(by_rank[cells[1]])
        base.append((at_known * (so_far - (1 - terms.itself) * terms.credit)).sum(axis=-1))
    low, high = terms.low_credit, terms.high_credit
    plus = own[0] + high * (more[0] + above * factor[0])
    minus = own[1] + low * more[1]

    above_in_a, above_in_b = high * factor[0], high * factor[1]

    def shared(cell_a: Ints, cell_b: Ints, common: Ints) -> Floats:
        # A's own term and B's are the same document's: they have the same credit, and what stands above both cancels.
        cancelled: Floats = common * np.minimum(above_in_a[cell_a], above_in_b[cell_b])
        if high > low:
            cancelled += (high - low) * np.minimum(more[0][cell_a], more[1][cell_b])
        return cancelled

    linear = LinearTerms(documents, base[0], base[1], plus, minus, terms.known, terms.averaged, shared)
    if not terms.settled:
        return linear.greatest
    single = np.zeros((rankings.length.size, rankings.width + 1))
    single[documents.run, documents.rank] = own[0] + more[0]
    choices = ChoicesFromTheTop(
        documents, base[0], single, np.append(0.0, terms.most), measure.depth(rankings), terms.known, terms.averaged
    )  # fmt: skip

    def greatest(a: Ints, b: Ints) -> Found:
        result, exact = np.empty(a.size), np.zeros(a.size, dtype=bool)
        short = (choices.within[a] <= MANY) & (choices.within[b] <= MANY)
        result[~short], _ = linear.greatest(a[~short], b[~short])
        result[short], exact[short] = choices.greatest(a[short], b[short])
        few = ~exact & (np.maximum(documents.held[a], documents.held[b]) <= FEW)
        for pairs, in_a, in_b in pairs_by_number(documents, a, b, np.flatnonzero(few), FEW, (1 + 2 * FEW) ** 2):
            result[pairs], exact[pairs] = choices.greatest_of_all(a[pairs], b[pairs], in_a, in_b), True
        return result, exact

    return greatest


def greatest_preference(measure: LimitedPenalty, topic: OpenTopic) -> Greatest:
    """Bound differences of measures that count non-relevant documents up to a limit (bpref and its variants).

    A relevant document counts 1 minus the non-relevant ones above it over a divisor. In A it has at least the judged
    ones above it, under the lowest limit and the largest divisor that any judgments give; in B perhaps all unjudged
    ones too, under the largest limit and the smallest divisor. ``LinearTerms`` does the rest.
    """
    rankings, documents = topic.rankings, topic.documents
    facts, number = rankings.facts, int(rankings.topic[0])
    known = int(facts.relevant(measure.rel)[number])
    judged = int(facts.judged[number])
    relevant = rankings.grade >= measure.rel
    others = rankings.present & ~rankings.holes & ~relevant
    retrieved = np.count_nonzero(others, axis=-1)
    unjudged = documents.most_of_two
    least = measure.limit_and_divisor(np.array(known), np.array(judged - known), retrieved)
    most = measure.limit_and_divisor(
        np.array(known + unjudged), np.array(judged - known + unjudged), retrieved + rankings.num_holes
    )
    low_limit, low_divisor, high_limit, high_divisor = (
        np.broadcast_to(limit, retrieved.shape)[:, None] for limit in (*least, *most)
    )
    surely, perhaps = (np.cumsum(marks, axis=-1) for marks in (others, rankings.holes))
    lightest = np.minimum(low_limit, surely) / np.maximum(high_divisor, 1)
    heaviest = np.minimum(high_limit, surely + perhaps) / np.maximum(low_divisor, 1)
    terms: tuple[Floats, Floats] = 1 - np.minimum(lightest, 1.0), 1 - np.minimum(heaviest, 1.0)
    base = [np.where(relevant, term, 0.0).sum(axis=-1) for term in terms]
    plus, minus = (term[documents.run, documents.rank - 1] for term in terms)

    return LinearTerms(documents, base[0], base[1], plus, minus, known).greatest


@dataclass(frozen=True, eq=False)
class ChoicesFromTheTop:
    """Choose which unjudged documents of A to make relevant, from the top of A's list down (dynamic programming).

    Down A's list only the number chosen so far matters: the next one adds its own precision, and one over its rank for
    each of them, so the effect on A is exact. In B, if c are chosen above a document in A, and at most n of these are
    not above it in B too, c - n raise its precision at least. Where the true difference of the chosen documents equals
    the bound, it is exact. Documents that only B holds matter where A cannot get ahead: they enlarge the divisor, and
    the lowest in B's list help it least.
    """

    documents: RetrievedDocuments
    base: Floats
    single: Floats
    """By list and rank, what a document adds alone: its own term, and to judged ones below it."""
    factor: Floats
    """By rank, what each relevant document above adds; 0 at rank 0, which stands for no document."""
    depth: int
    known: int
    averaged: bool = True

    @cached_property
    def within(self) -> Ints:
        read = self.documents.rank <= self.depth
        return np.bincount(self.documents.run[read], minlength=self.documents.held.size)

    def greatest(self, a: Ints, b: Ints) -> Found:
        result, exact = np.empty(a.size), np.zeros(a.size, dtype=bool)
        # Lists of about the same length are taken together.
        order = np.argsort(self.within[a], kind="stable")
        widest = 1 + int(self.within[a].max(initial=0))
        for start in range(0, a.size, size := max(1, CELLS // widest**2)):
            pairs = order[start : start + size]
            result[pairs], exact[pairs] = self._of_some(a[pairs], b[pairs])
        return result, exact

    def _of_some(self, a: Ints, b: Ints) -> Found:
        listed, ranks = self.documents.tables
        width = int(self.within[a].max(initial=0))
        documents, there = listed[a][:, :width], np.arange(width) < self.within[a][:, None]
        rank_a, rank_b = ranks[a[:, None], documents], ranks[b[:, None], documents]
        alone = np.where(there, self.single[a[:, None], rank_a] - self.single[b[:, None], rank_b], -np.inf)
        read = _DocumentsRead(alone, self.factor[rank_a], self.factor[rank_b], np.where(there, rank_b, 0))
        best, taken = read.best_sums()
        base = self.base[a] - self.base[b]
        total = base[:, None] + best
        over = self.known + np.arange(total.shape[-1], dtype=np.float64) if self.averaged else np.ones(total.shape[-1])
        ratio = np.divide(total, over, out=np.zeros(total.shape), where=over > 0)
        number = np.argmax(ratio, axis=-1)
        bound, summed = (np.take_along_axis(sums, number[:, None], axis=-1)[:, 0] for sums in (ratio, total))
        # Is the sum that of the documents chosen, but for rounding?
        size = 1 + np.abs(np.where(np.isfinite(total), total, 0.0)).max(axis=-1)
        exact = np.asarray(np.abs(base + read.true_sum(taken, number) - summed) <= TOLERANCE * size)
        behind = np.flatnonzero(bound < 0)
        if self.averaged and behind.size:
            bound[behind], exact[behind] = self._of_those_behind(a[behind], b[behind], total[behind]), False
        return bound, exact

    def _of_those_behind(self, a: Ints, b: Ints, total: Floats) -> Floats:
        listed, ranks = self.documents.tables
        width = int(self.within[b].max(initial=0))
        documents = listed[b][:, :width]
        rank_a, rank_b = ranks[a[:, None], documents], ranks[b[:, None], documents]
        mine = (np.arange(width) < self.within[b][:, None]) & ((rank_a == 0) | (rank_a > self.depth))
        # From the bottom up: a document adds what it adds alone, and one factor for each of those below it.
        below = np.where(mine, self.factor[rank_b], 0.0)
        below = below.sum(axis=-1, keepdims=True) - np.cumsum(below, axis=-1)
        added = np.where(mine, self.single[b[:, None], rank_b] + below, 0.0)[:, ::-1]
        order = np.argsort(~mine[:, ::-1], axis=-1, kind="stable")
        lost = np.cumsum(np.take_along_axis(added, order, axis=-1), axis=-1)
        lost = np.concatenate((np.zeros((a.size, 1)), lost), axis=-1)
        number_b = np.count_nonzero(mine, axis=-1)
        lost = np.where(np.arange(width + 1) <= number_b[:, None], lost, np.inf)
        held, of_b = self.documents.held, listed[b]
        only_b = np.count_nonzero((of_b < len(self.documents)) & (ranks[a[:, None], of_b] == 0), axis=-1)
        unread = held[a] + only_b - self.within[a] - number_b
        # The divisor counts those of A, those of B, and all that change nothing else.
        from_a = self.known + unread[:, None] + np.arange(total.shape[-1])
        best = np.full(a.size, -np.inf)
        for chosen_b in range(width + 1):
            sums = total - lost[:, chosen_b : chosen_b + 1]
            over = from_a + chosen_b
            ratio = np.divide(sums, over, out=np.where(np.isneginf(sums), -np.inf, 0.0), where=over > 0)
            best = np.maximum(best, ratio.max(axis=-1))
        return best

    def greatest_of_all(self, a: Ints, b: Ints, in_a: Ints, in_b: Ints) -> Floats:
        number = in_a.shape[1]
        start = self.base[a] - self.base[b]
        alone = self.single[a[:, None], in_a] - self.single[b[:, None], in_b]
        both = self._together(in_a) - self._together(in_b)
        ways = every_way(np.array([0.0, 1.0]), number)[:, ::-1]
        over = self.known + ways.sum(axis=-1) if self.averaged else np.ones(len(ways))
        result = np.empty(a.size)
        for first in range(0, a.size, size := max(1, CELLS // (len(ways) * max(number, 1)))):
            part = slice(first, first + size)
            together = np.einsum("wi,pij,wj->pw", ways, both[part], ways, optimize=True) / 2 if number else 0.0
            total = start[part, None] + alone[part] @ ways.T + together
            result[part] = quotient(total, np.broadcast_to(over, total.shape)).max(axis=-1)
        return result

    def _together(self, rank: Ints) -> Floats:
        lower = np.maximum(rank[:, :, None], rank[:, None, :])
        held = rank > 0
        both = held[:, :, None] & held[:, None, :] & ~np.eye(rank.shape[1], dtype=bool)
        return np.where(both, self.factor[lower], 0.0)


@dataclass(frozen=True, eq=False)
class _DocumentsRead:
    alone: Floats
    at_a: Floats
    at_b: Floats
    rank_b: Ints

    def best_sums(self) -> tuple[Floats, Flags]:
        pairs, width = self.alone.shape
        best = np.full((pairs, width + 1), -np.inf)
        best[:, 0] = 0.0
        taken = np.zeros((pairs, width, width + 1), dtype=bool)
        terms = self._terms()
        for place in range(width):
            so_far = best[:, 1 : place + 2]
            with_it = best[:, : place + 1] + terms[:, place, : place + 1]
            np.greater(with_it, so_far, out=taken[:, place, 1 : place + 2])
            np.maximum(with_it, so_far, out=so_far)
        return best, taken

    def _terms(self) -> Floats:
        number = np.arange(self.alone.shape[1])
        terms = self.alone[:, :, None] + number * self.at_a[:, :, None]
        rows, columns = np.nonzero(self.rank_b > 0)
        if rows.size:
            # Of those above it in A, how many do not stand above it in B for certain?
            ranks = self.rank_b[rows]
            above = (ranks > 0) & (ranks < ranks[np.arange(rows.size), columns][:, None]) & (number < columns[:, None])
            others = columns - np.count_nonzero(above, axis=-1)
            terms[rows, columns] -= np.maximum(number - others[:, None], 0) * self.at_b[rows, columns][:, None]
        return terms

    def true_sum(self, taken: Flags, number: Ints) -> Floats:
        pairs, width = self.alone.shape
        left = np.empty((width + 1, pairs), dtype=np.int64)  # how many are chosen above each place
        left[width] = number
        flat, line = taken.reshape(-1), np.arange(pairs) * (width * (width + 1))
        for place in range(width - 1, -1, -1):
            np.subtract(left[place + 1], flat[line + place * (width + 1) + left[place + 1]], out=left[place])
        chosen = np.diff(left, axis=0).T.astype(np.float64)
        in_b = np.argsort(self.rank_b, axis=-1, kind="stable")
        total = np.where(chosen > 0, self.alone, 0.0).sum(axis=-1)
        total += (chosen * self.at_a * (np.cumsum(chosen, axis=-1) - chosen)).sum(axis=-1)
        held = np.take_along_axis(chosen * (self.rank_b > 0), in_b, axis=-1)
        at_b = np.take_along_axis(self.at_b, in_b, axis=-1)
        return total - (held * at_b * (np.cumsum(held, axis=-1) - held)).sum(axis=-1)


@dataclass(frozen=True, eq=False)
class LinearTerms:
    """Bound a difference of averages over relevant documents by what each of them can add on its own.

    A term depends on what else is relevant; here it is replaced by its greatest value in A and its least in B, an outer
    bound. Then every unjudged document adds a fixed value, and the greatest quotient is found by asking, for a ratio t,
    which documents add more than t (Dinkelbach).
    """

    documents: RetrievedDocuments
    base_most: Floats
    """By list, the most that the terms of judged documents add up to while all that is unjudged is not relevant."""
    base_least: Floats
    plus: Floats
    """By cell, the most that the document adds to its list when it is relevant, for itself and for others."""
    minus: Floats
    known: int
    averaged: bool = True
    """Does each relevant document add one to that?"""
    shared: Callable[[Ints, Ints, Ints], Floats] | None = None
    """For documents of both lists (cells in A, in B, how many shared ones surely stand above in both): what cancels."""

    def greatest(self, a: Ints, b: Ints) -> Found:
        result = np.empty(a.size)
        for forward in (True, False):
            pairs = np.flatnonzero((a <= b) == forward)
            one, other = (a, b) if forward else (b, a)
            pairs = pairs[np.argsort(one[pairs], kind="stable")]
            for start in range(0, pairs.size, PAIRS):
                part = pairs[start : start + PAIRS]
                met = self._met(one[part], other[part])
                result[part] = self._against(a[part], b[part], met, *((met.one, met.other)[:: 1 if forward else -1]))
        return result, np.zeros(a.size, dtype=bool)

    def _against(self, a: Ints, b: Ints, met: _Met, cell_a: Ints, cell_b: Ints) -> Floats:
        alone_a = self.plus[cell_a]
        value = alone_a - self.minus[cell_b]
        if self.shared is not None:
            value -= self.shared(cell_a, cell_b, met.common)
        base = self.base_most[a] - self.base_least[b]
        if not self.averaged:
            total, _ = self._in_a.beyond(a, np.zeros(a.size))
            return np.asarray(base + total + met.sums(np.maximum(value, 0.0) - np.maximum(alone_a, 0.0)))
        # If no document were shared, the ratio would be a little higher. There most documents are far from the limit
        # that the ratio is, and one step down leads below the ratio sought, because the rest is convex.
        highest = self._raised(base, np.zeros(a.size), lambda ratio: self._in_a.beyond(a, ratio), ROUGH)
        limit = np.repeat(highest, met.counts)
        above, above_alone = value > limit, alone_a > limit
        fixed = met.sums(np.where(above, value, 0.0) - np.where(above_alone, alone_a, 0.0))
        count = met.sums(np.subtract(above, above_alone, dtype=np.int8))
        total, number = self._in_a.beyond(a, highest)
        left = base - highest * self.known + total + fixed - highest * count
        over = self.known + number + count
        ratio = np.where(over > 0, highest + left / np.maximum(over, 1.0), 0.0) if self.known else np.zeros(a.size)
        # What is beyond either end has been added up; what is between them is looked at again and again.
        limit = np.repeat(ratio, met.counts)
        some = np.flatnonzero(((value > limit) > above) | ((alone_a > limit) > above_alone) | (limit < 0))
        value = np.where(above[some], -np.inf, value[some])
        alone_a, alone_b = np.where(above_alone[some], -np.inf, alone_a[some]), -self.minus[cell_b[some]]
        ends = np.searchsorted(some, met.ends)
        counts = np.diff(ends)

        def beyond(ratio: Floats) -> tuple[Floats, Floats]:
            limit = np.repeat(ratio, counts)
            total, number = self._in_a.beyond(a, ratio)
            total += fixed - ratio * count + sums_of_groups(np.maximum(value, limit) - np.maximum(alone_a, limit), ends)
            number += count + sums_of_groups(np.subtract(value > limit, alone_a > limit, dtype=np.int8), ends)
            if (negative := np.flatnonzero(ratio < 0)).size:  # documents of B make the divisor larger
                more, added = self._in_b.beyond(b[negative], ratio[negative])
                again = alone_b - limit
                more -= sums_of_groups(np.maximum(again, 0.0), ends)[negative]
                total[negative] += more
                number[negative] += added - sums_of_groups(again > 0, ends)[negative]
            return total, number

        return self._raised(base, ratio, beyond, NEGLIGIBLE)

    def _raised(
        self, base: Floats, ratio: Floats, beyond: Callable[[Floats], tuple[Floats, Floats]], negligible: float
    ) -> Floats:
        known = float(max(self.known, 1))
        bound = ratio
        for _ in range(STEPS):
            total, number = beyond(ratio)
            left = base - ratio * self.known + total  # what the ratio at hand leaves to be gained
            bound = ratio + np.maximum(left, 0.0) / known
            if (left <= negligible * known).all():
                break
            over = self.known + number
            better = np.where(over > 0, (left + ratio * over) / np.maximum(over, 1.0), 0.0)
            ratio = np.maximum(ratio, better)
        return bound

    @cached_property
    def _in_a(self) -> _Sorted:
        return _Sorted(self.documents.held, self.plus)

    @cached_property
    def _in_b(self) -> _Sorted:
        return _Sorted(self.documents.held, -self.minus)

    @cached_property
    def _cells(self) -> Ints:
        cells = np.full((len(self.documents), self.documents.held.size), -1, dtype=np.int32)
        cells[self.documents.document, self.documents.run] = np.arange(self.documents.run.size)
        return cells

    @cached_property
    def _known_meetings(self) -> dict[bytes, _Met]:
        return {}

    def _met(self, one: Ints, other: Ints) -> _Met:
        key = one.tobytes() + other.tobytes()
        if key not in self._known_meetings:
            starts = np.flatnonzero(np.diff(one, prepend=-1))
            several = zip(one[starts].tolist(), np.split(other, starts[1:]), strict=True)
            parts = zip(*(self._met_by(line, others) for line, others in several), strict=True)
            self._known_meetings[key] = _Met(*map(np.concatenate, parts))
        return self._known_meetings[key]

    def _met_by(self, line: int, others: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        held, rank = self.documents.held, self.documents.rank
        begin = int(held[:line].sum())
        cells = self._cells[self.documents.document[begin : begin + held[line]]]
        held_by = (cells >= 0).T[others]
        counts = np.count_nonzero(held_by, axis=-1)
        pair = np.repeat(np.arange(others.size), counts)
        cell = np.flatnonzero(held_by) - pair * len(cells)  # (several times as fast as for two axes)
        there = cells[cell, others[pair]].astype(np.int64)
        cell += begin
        rank_here, rank_there = rank[cell], rank[there]
        lower, higher = np.maximum(rank_here, rank_there), np.minimum(rank_here, rank_there)
        width = int(lower.max(initial=0)) + 2
        pair *= width
        down = np.bincount(pair + lower + 1, minlength=others.size * width).reshape(-1, width)
        common = np.cumsum(down, axis=-1, out=down).reshape(-1)[pair + higher]
        return counts, cell, there, common


@dataclass(frozen=True, eq=False)
class _Met:
    """The documents that lists share with others, pair after pair: their cells here and there."""

    counts: Ints
    one: Ints
    other: Ints
    common: Ints
    """How many other shared documents are certainly above in both lists: their lower rank is above its higher one."""

    @cached_property
    def ends(self) -> Ints:
        return np.append(0, np.cumsum(self.counts))

    def sums(self, values: Floats | Ints | Flags) -> Floats:
        return sums_of_groups(values, self.ends)


def sums_of_groups(values: Floats | Ints | Flags, ends: Ints) -> Floats:
    result: Floats = np.zeros(ends.size - 1)
    if values.size:
        filled = ends[1:] > ends[:-1]
        result[filled] = np.add.reduceat(values, ends[:-1][filled], dtype=np.float64)
    return result


class _Sorted:
    """Sorted values of the cells of many lists, to sum those above a limit."""

    def __init__(self, held: Ints, values: Floats) -> None:
        line = np.repeat(np.arange(held.size), held)
        inside = np.arange(held.max(initial=0)) < held[:, None]
        by_list = np.full(inside.shape, np.inf)
        by_list[inside] = values
        ordered = np.sort(by_list, axis=-1)[inside]
        self._sums = np.append(0.0, np.cumsum(ordered))
        self._ends = np.cumsum(held)
        # Lists lie one behind the other on one line of numbers, none of which reaches into the next.
        self._low, self._high = float(ordered.min(initial=0.0)) - 1, float(ordered.max(initial=0.0)) + 1
        self._span = self._high - self._low + 1
        self._keys = ordered + line * self._span

    def beyond(self, line: Ints, limit: Floats) -> tuple[Floats, Floats]:
        place = np.searchsorted(self._keys, np.clip(limit, self._low, self._high) + line * self._span, side="right")
        number = (self._ends[line] - place).astype(np.float64)
        return self._sums[self._ends[line]] - self._sums[place] - limit * number, number
