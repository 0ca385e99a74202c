"""Averages over the relevant documents: of precisions (AP, its relatives, Q), and of penalties (bpref)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.differences.chosen_from_the_top import ChoicesFromTheTop
from rankbounds.evaluation.differences.completions import holes_of
from rankbounds.evaluation.differences.shared_lists import CELLS, Documents, Found, Greatest
from rankbounds.measures.formulas import quotient
from rankbounds.measures.precision.average_precision import AveragedPrecisions
from rankbounds.measures.preferences import LimitedPenalty
from rankbounds.rankings.rankings import Rankings

FEW = 10
"""Of so many unjudged documents all judgments are tried."""


def greatest_average(
    measure: AveragedPrecisions, rankings: Rankings, documents: Documents, elsewhere: int = 0
) -> Greatest | None:
    """Averages of precisions (AP, its relatives, Q): a document counts for itself and for all relevant ones around it.

    What it means: how far A can be ahead of B. A relevant document's precision counts the relevant documents above it.
    So an unjudged one that turns out relevant adds its own precision, raises that of every relevant one below it, and
    makes R larger by one.

    The sum of precisions is a quadratic form in what turns out relevant: terms of single documents, known exactly, and
    for each two of them one over the lower one's rank. It is bounded in three ways:

    * Lists with up to ``MANY`` unjudged documents: ``ChoicesFromTheTop``, which often finds judgments that attain it.
    * Where it does not, and both lists together have few (``FEW``), these are judged in all possible ways, exactly.
    * The term of a document j in A counts all unjudged documents above it, that in B none but those that surely stand
      above it in A too; what two lists share at like ranks cancels. This is ``LinearTerms``, for any number of
      documents.

    In Q, precisions are divided by what an ideal ranking has gained too. That is not settled by numbers alone: terms in
    A take the ideal ranking of what is judged, terms in B one with all unjudged documents on top.
    """
    terms = measure.precision_terms(rankings, 2 * int(documents.held.max(initial=0)) + elsewhere)
    if terms is None:
        return None
    relevant = terms.credit > 0
    so_far = np.cumsum(terms.credit, axis=-1)
    cells = documents.line, documents.rank
    above: Ints = (np.cumsum(rankings.holes, axis=-1) - rankings.holes)[cells]
    own, more, base, factor = [], [], [], []
    for by_rank in (terms.most, terms.least):
        at_known = np.where(relevant, by_rank, 0.0)
        below = at_known.sum(axis=-1, keepdims=True) - np.cumsum(at_known, axis=-1)
        own.append((by_rank * so_far)[cells])  # what is judged above a document
        more.append((by_rank * terms.itself + below)[cells])  # for each unit of its credit
        factor.append(by_rank[documents.rank])
        base.append((at_known * (so_far - (1 - terms.itself) * terms.credit)).sum(axis=-1))
    low, high = terms.low_credit, terms.high_credit
    plus = own[0] + high * (more[0] + above * factor[0])
    minus = own[1] + low * more[1]

    def shared(cell_a: Ints, cell_b: Ints, common: Ints) -> Floats:
        unit = more[0][cell_a] - more[1][cell_b]
        mine, other = factor[0][cell_a], factor[1][cell_b]
        together = above[cell_a] * mine - common * np.minimum(mine, other)
        net: Floats = own[0][cell_a] - own[1][cell_b] + np.maximum(low * unit, high * unit) + high * together
        return net

    linear = LinearTerms(documents, base[0], base[1], plus, minus, shared, terms.known, terms.averaged, elsewhere)
    if not terms.settled:
        return linear.greatest
    single = np.zeros((rankings.length.size, rankings.width + 1))
    single[documents.line, documents.rank + 1] = own[0] + more[0]
    factor_at = np.append(0.0, terms.most)
    choices = ChoicesFromTheTop(
        documents, base[0], single, factor_at, measure.depth(rankings), terms.known, terms.averaged, elsewhere
    )

    def greatest(a: Ints, b: Ints) -> Found:
        result, exact = np.empty(a.size), np.zeros(a.size, dtype=bool)
        short = choices.answers(a, b)
        result[~short], _ = linear.greatest(a[~short], b[~short])
        result[short], exact[short] = choices.greatest(a[short], b[short])
        few = np.flatnonzero(~exact & (np.maximum(documents.held[a], documents.held[b]) + elsewhere <= FEW))
        for start in range(0, 0 if elsewhere else few.size, size := max(1, CELLS // (1 + 2 * FEW) ** 2)):
            pairs = few[start : start + size]
            ways, counted = in_all_ways(a[pairs], b[pairs])
            result[pairs[counted]], exact[pairs[counted]] = ways[counted], True
        return result, exact

    def in_all_ways(a: Ints, b: Ints) -> Found:
        """The greatest over all judgments, of those pairs that have few documents together."""
        rank_a, rank_b = documents.of_either(a, b)
        there = (rank_a > 0) | (rank_b > 0)
        count = np.count_nonzero(there, axis=-1)
        best, counted = np.empty(a.size), count <= FEW
        for number in np.unique(count[counted]).tolist():
            alike = np.flatnonzero(count == number)
            in_a, in_b = holes_of(there[alike], rank_a[alike], rank_b[alike])
            best[alike] = _all_ways(
                base[0][a[alike]] - base[0][b[alike]],
                single[a[alike][:, None], in_a] - single[b[alike][:, None], in_b],
                _together(in_a, factor_at) - _together(in_b, factor_at),
                terms.known,
                terms.averaged,
            )
        return best, counted

    return greatest


def _together(rank: Ints, factor: Floats) -> Floats:
    """By pair and two documents, what they add together in a list: the factor at the lower one's rank."""
    lower = np.maximum(rank[:, :, None], rank[:, None, :])
    held = rank > 0
    both = held[:, :, None] & held[:, None, :] & ~np.eye(rank.shape[1], dtype=bool)
    return np.where(both, factor[lower], 0.0)


def _all_ways(start: Floats, alone: Floats, both: Floats, known: int, averaged: bool) -> Floats:
    """The greatest average over all choices of relevant documents, for pairs with equally many unjudged ones."""
    number = alone.shape[1]
    ways = (np.arange(1 << number)[:, None] >> np.arange(number) & 1).astype(np.float64)
    over = known + ways.sum(axis=-1) if averaged else np.ones(len(ways))
    result = np.empty(start.size)
    for first in range(0, start.size, size := max(1, CELLS // (len(ways) * max(number, 1)))):
        part = slice(first, first + size)
        together = np.einsum("wi,pij,wj->pw", ways, both[part], ways, optimize=True) / 2 if number else 0.0
        total = start[part, None] + alone[part] @ ways.T + together
        result[part] = quotient(total, np.broadcast_to(over, total.shape)).max(axis=-1)
    return result


def greatest_preference(
    measure: LimitedPenalty, rankings: Rankings, documents: Documents, elsewhere: int = 0
) -> Greatest:
    """Preferences that count non-relevant documents up to a limit (bpref and its variants).

    What it means: how far A can be ahead of B once all documents of both lists are judged. Each relevant document
    retrieved counts for 1, minus the non-relevant ones above it over a divisor; limit and divisor follow from how many
    documents are relevant and how many are not, both of which judging changes.

    Why it is right: in A a relevant document has at least the judged non-relevant ones above it, under the lowest limit
    and the largest divisor that any judgments give; in B all unjudged ones above it may be non-relevant too, under the
    largest limit and the smallest divisor. ``LinearTerms`` does the rest. The bounds hold, and are attained only where
    little is unjudged: there all judgments are tried instead.
    """
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


PAIRS = 512
"""So many pairs are taken at once."""
NEGLIGIBLE = 1e-9
"""A bound may be so much larger than it need be."""
STEPS = 12
"""So often the ratio is raised; what then is left to be gained is added, so that the bound holds in any case."""


@dataclass(frozen=True, eq=False)
class LinearTerms:
    """An average over the relevant documents, bounded by what each of them can add on its own.

    What it means: how far A can be ahead of B, where a score is a sum of terms, one for each relevant document, over a
    number that grows by one with each of them (AP, Q, bpref). A term depends on what else is relevant; it is replaced
    by the most that it can be in A and the least that it can be in B. Then every unjudged document adds a value of its
    own, and the greatest quotient is found by asking, for a ratio t, which documents add more than t (Dinkelbach).
    Nothing exceeds it; judgments that reach it may not exist.

    Most documents stand in one of the two lists only, and add what they add there, whatever the other list is: each
    list is sorted once, and only documents that two lists share are looked at pair by pair.

    What is known of every list, and of every unjudged document where it stands (cell by cell of the documents).
    """

    documents: Documents
    base_most: Floats
    """By list, the most that the terms of judged documents add up to while all that is unjudged is not relevant."""
    base_least: Floats
    plus: Floats
    """By cell, the most that the document adds to its list when it is relevant, for itself and for others."""
    minus: Floats
    """By cell, the least that it adds."""
    shared: Callable[[Ints, Ints, Ints], Floats]
    """For documents of both lists (cells in A, in B, how many shared ones surely stand above in both): the net."""
    known: int
    """How many relevant documents are known; what the sum is divided by at first."""
    averaged: bool = True
    """Does each relevant document add one to what the sum is divided by?"""
    elsewhere: int = 0

    def greatest(self, a: Ints, b: Ints) -> Found:
        """How large the difference of two lists can be, at most."""
        result = np.empty(a.size)
        one, other = np.minimum(a, b), np.maximum(a, b)
        order = np.argsort(one, kind="stable")
        for start in range(0, a.size, PAIRS):
            pairs = order[start : start + PAIRS]
            result[pairs] = self._against(a[pairs], b[pairs], self._met(one[pairs], other[pairs]))
        return result, np.zeros(a.size, dtype=bool)

    def _against(self, a: Ints, b: Ints, met: _Met) -> Floats:
        """Several pairs, and what their lists share."""
        turned = np.repeat(a > b, met.counts)
        cell_a, cell_b = np.where(turned, met.other, met.one), np.where(turned, met.one, met.other)
        value = self.shared(cell_a, cell_b, met.common)
        alone_a, alone_b = self.plus[cell_a], -self.minus[cell_b]
        base = self.base_most[a] - self.base_least[b]

        def beyond(ratio: Floats) -> tuple[Floats, Floats]:
            """What documents that add more than the ratio add beyond it, and how many they are."""
            limit = np.repeat(ratio, met.counts)
            total, number = self._in_a.beyond(a, ratio)
            total += met.sums(np.maximum(value, limit) - np.maximum(alone_a, limit))
            number += met.sums((value > limit).astype(np.int32) - (alone_a > limit))
            if (negative := np.flatnonzero(ratio < 0)).size:  # documents of B, and elsewhere, make the divisor larger
                more, count = self._in_b.beyond(b[negative], ratio[negative])
                again = alone_b - limit
                more += -ratio[negative] * self.elsewhere - met.sums(np.maximum(again, 0.0))[negative]
                total[negative] += more
                number[negative] += count + self.elsewhere - met.sums((again > 0).astype(np.float64))[negative]
            return total, number

        total, number = beyond(np.zeros(a.size))
        if not self.averaged:
            return np.asarray(base + total)
        known = float(max(self.known, 1))
        # Where some choice reaches 0, the ratio starts there; else from what is judged, below 0.
        over = self.known + number
        ratio = np.where(base + total >= 0, (base + total) / np.maximum(over, 1.0), base / known)
        bound = ratio
        for _ in range(STEPS):
            total, number = beyond(ratio)
            left = base - ratio * self.known + total  # what the ratio at hand leaves to be gained
            bound = ratio + np.maximum(left, 0.0) / known
            if (left <= NEGLIGIBLE * known).all():
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
        """By document and list, the document's cell there; -1 where the list lacks it."""
        cells = np.full((self.documents.count, self.documents.held.size), -1, dtype=np.int32)
        cells[self.documents.document, self.documents.line] = np.arange(self.documents.line.size)
        return cells

    @cached_property
    def _known_meetings(self) -> dict[bytes, _Met]:
        return {}

    def _met(self, one: Ints, other: Ints) -> _Met:
        """What pairs of lists share; kept, since the same pairs are asked about the other way round."""
        key = one.tobytes() + other.tobytes()
        if key not in self._known_meetings:
            held = self.documents.held[one]
            pair = np.repeat(np.arange(one.size), held)
            begin = (np.cumsum(self.documents.held) - self.documents.held)[one]
            cell = np.arange(pair.size) + np.repeat(begin - (np.cumsum(held) - held), held)
            there = self._cells[self.documents.document[cell], other[pair]]
            met = np.flatnonzero(there >= 0)
            self._known_meetings[key] = _Met.of(one.size, pair[met], cell[met], there[met], self.documents.rank)
        return self._known_meetings[key]


@dataclass(frozen=True, eq=False)
class _Met:
    """The documents that lists share with others, pair after pair: their cells here and there.

    ``common`` is how many other shared documents stand above in both lists, for certain: those do whose lower rank is
    above its higher rank.
    """

    counts: Ints
    one: Ints
    other: Ints
    common: Ints

    @classmethod
    def of(cls, pairs: int, pair: Ints, one: Ints, other: Ints, rank: Ints) -> _Met:
        """From the number of each document's pair, which rises, and its two cells."""
        here, there = rank[one], rank[other]
        width = int(max(here.max(initial=0), there.max(initial=0))) + 2
        counted = np.bincount(pair * width + np.maximum(here, there) + 1, minlength=pairs * width)
        down = np.cumsum(counted.reshape(-1, width), axis=-1, dtype=np.int32)
        common = down.reshape(-1)[pair * width + np.minimum(here, there)]
        return cls(np.bincount(pair, minlength=pairs), one, other, common)

    @cached_property
    def _filled(self) -> tuple[Flags, Ints]:
        filled = self.counts > 0
        return filled, (np.cumsum(self.counts) - self.counts)[filled]

    def sums(self, values: Floats | Ints) -> Floats:
        """Of each list's stretch."""
        result: Floats = np.zeros(self.counts.size)
        if values.size:
            filled, starts = self._filled
            result[filled] = np.add.reduceat(values, starts)
        return result


class _Sorted:
    """Values of the cells of many lists, to be asked what lies above a limit in any of them."""

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
        """By list and limit, what values above the limit add beyond it, and how many they are."""
        place = np.searchsorted(self._keys, np.clip(limit, self._low, self._high) + line * self._span, side="right")
        number = (self._ends[line] - place).astype(np.float64)
        return self._sums[self._ends[line]] - self._sums[place] - limit * number, number
