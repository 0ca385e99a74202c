"""Documents with equal scores: the best and worst order for a measure, and means over all orders.

All orders inside a tied group are equally likely, and groups are independent. Means mostly need one of three things,
each here for whole batches: the mean at a rank (``group_means``), the mean of a product with the sum above
(``expected_with_earlier``), and the mean of a running product (``expected_products``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.order import ORDERS as ORDERS
from rankbounds.columns.native.ranking import order_in_groups
from rankbounds.rankings.rankings import Rankings

"""Treatments that fix one order of tied documents while the run is ranked."""
RULES = (*ORDERS, "best", "worst", "expected")


def order_by_worth(rankings: Rankings, worth: Floats, *, best: bool) -> Ints:
    """Return the cell that replaces each tied document's when groups are ordered by falling (worst: rising) worth."""
    groups = rankings.groups
    if groups is None:
        return np.empty(0, dtype=np.int64)
    value = groups.values(worth)
    order = order_in_groups(value, groups.start, best)
    return groups.cell[np.lexsort((-value if best else value, groups.number)) if order is None else order]


def reorder(rankings: Rankings, worth: Floats, *, best: bool) -> Rankings:
    if rankings.groups is None:
        return rankings
    # Many measures ask with the same array of worth, which the rankings remember. It is kept with its lists, so that no
    # other array can have its identity.
    _, lists = rankings.remembered(
        ("reordered", id(worth), best),
        lambda: (worth, rankings.with_tied_from(order_by_worth(rankings, worth, best=best))),
    )
    return lists


def reorder_worth(rankings: Rankings, worth: Floats, *, best: bool) -> Floats:
    groups = rankings.groups
    if groups is None:
        return worth
    _, ordered = rankings.remembered(
        ("reordered worth", id(worth), best),
        lambda: (worth, groups.filled_from(worth, order_by_worth(rankings, worth, best=best))),
    )
    return ordered


def group_means(rankings: Rankings, worth: Floats) -> Floats:
    """Replace every document's worth by the mean of its tied group: the expectation in a weighted sum over ranks."""
    groups = rankings.groups
    if groups is None:
        return worth
    means = np.array(worth, dtype=np.float64, order="C")
    means.reshape(-1)[groups.cell] = groups.spread(groups.sums(worth) / groups.size)
    return means


def expected_with_earlier(rankings: Rankings, worth: Floats) -> Floats:
    """Return, at every rank, the mean of the worth there times the summed worth before it (as average precision is)."""
    means = group_means(rankings, worth)
    product = means * (np.cumsum(means, axis=-1) - means)
    groups = rankings.groups
    if groups is not None:
        # Two ranks of a group hold two different documents, so that a pair is no product of means.
        squared = groups.sums(worth) ** 2
        pair = (squared - groups.sums(worth**2)) / (groups.size * (groups.size - 1))
        product.reshape(-1)[groups.cell] += groups.position * groups.spread(pair - squared / groups.size**2)
    return product


def expected_products(rankings: Rankings, factors: Floats) -> Floats:
    """Return, at every rank, the mean of the product of the ``factors`` (between 0 and 1) of all documents to it.

    With continuation probabilities as factors, this is the probability that a user gets past the rank. In a group, the
    mean over all choices of t documents is built up document by document: of all choices of t among m + 1 documents,
    the share t / (m + 1) holds the last one.
    """
    steps = np.array(factors, dtype=np.float64, order="C")
    groups = rankings.groups
    if groups is None:
        return np.cumprod(steps, axis=-1)
    flat = steps.reshape(-1)
    values = flat[groups.cell]
    ones, zeros = (np.add.reduceat((values == sure).astype(np.int64), groups.start) for sure in (1.0, 0.0))
    # Certain factors have a closed form: t documents without a zero are C(ones, t) of C(ones + zeros, t) choices.
    left = groups.spread(ones) - groups.position
    flat[groups.cell] = np.maximum(left, 0) / np.maximum(left + groups.spread(zeros), 1)
    uncertain = groups.size - ones - zeros
    for chosen in _of_like_size(groups.size, np.flatnonzero(uncertain)):
        chosen = chosen[np.argsort(-uncertain[chosen], kind="stable")]
        size, count = groups.size[chosen], uncertain[chosen]
        cells = groups.start[chosen][:, None] + np.arange(int(size.max()))
        inside = np.arange(cells.shape[1]) < size[:, None]
        cells = np.where(inside, cells, 0)
        value = np.where(inside, values[cells], 1.0)
        others = np.take_along_axis(value, np.argsort((value == 0) | (value == 1), axis=-1, kind="stable"), axis=-1)
        means = np.ones((chosen.size, cells.shape[1] + 1))
        np.cumprod(np.where(inside, flat[groups.cell][cells], 0.0), axis=-1, out=means[:, 1:])
        drawn = np.arange(1, means.shape[1])
        for more in range(int(count.max())):
            active = int(np.searchsorted(-count, -more, side="left"))
            known = (ones + zeros)[chosen[:active]] + more
            change = others[:active, more, None] * means[:active, :-1]
            change -= means[:active, 1:]
            change *= np.minimum(drawn, known[:, None] + 1)
            change /= known[:, None] + 1
            means[:active, 1:] += change
        ratio = np.divide(means[:, 1:], means[:, :-1], out=np.zeros(value.shape), where=means[:, :-1] > 0)
        flat[groups.cell[cells[inside]]] = ratio[inside]
    return np.cumprod(steps, axis=-1)


def _of_like_size(size: Ints, chosen: Ints) -> list[Ints]:
    size_class = np.ceil(np.log2(size[chosen])).astype(np.int64)
    return [chosen[size_class == log_size] for log_size in np.flatnonzero(np.bincount(size_class))]


def chance_drawn(size: Ints | int, marked: Ints | int, drawn: Ints, count: Ints) -> Floats:
    """Return the (hypergeometric) chance that ``drawn`` of ``size`` documents hold ``count`` of the ``marked``."""
    from scipy.special import gammaln

    log_factorial: Floats = gammaln(np.arange(1, int(np.max(size, initial=1)) + 2))

    def log_choices(of: Ints | int, pick: Ints) -> Floats:
        pick = np.clip(pick, 0, of)
        ways: Floats = log_factorial[of] - log_factorial[pick] - log_factorial[of - pick]
        return ways

    others = drawn - count
    possible = (count >= 0) & (count <= marked) & (others >= 0) & (others <= size - marked)
    log_chance = log_choices(marked, count) + log_choices(size - marked, others) - log_choices(size, drawn)
    return np.where(possible, np.exp(log_chance), 0.0)


def group_place(rankings: Rankings) -> tuple[Ints, Ints]:
    """Return for every cell the column in which its tied group begins, and the size of the group."""
    columns = np.broadcast_to(np.arange(rankings.width), rankings.grade.shape)
    if rankings.tied is None:
        return columns, np.ones(rankings.grade.shape, dtype=np.int64)
    first = np.maximum.accumulate(np.where(rankings.tied, 0, columns), axis=-1)
    number = np.cumsum(~rankings.tied.ravel()) - 1
    return first, np.bincount(number)[number].reshape(first.shape)


def before_and_within(rankings: Rankings, worth: Floats) -> tuple[Floats, Floats]:
    first, size = group_place(rankings)
    so_far = sums_before(worth)
    before = np.take_along_axis(so_far, first, axis=-1)
    return before, np.take_along_axis(so_far, first + size, axis=-1) - before


def sums_before(worth: Floats | Ints | Flags) -> Floats:
    return np.concatenate((np.zeros((*worth.shape[:-1], 1)), np.cumsum(worth, axis=-1)), axis=-1)


def share_above(rankings: Rankings) -> Floats:
    """Return for every place in a tied group the probability that another document of it is above."""
    first, size = group_place(rankings)
    return (np.arange(rankings.width) - first) / np.maximum(size - 1, 1)


def expected_count(rankings: Rankings, worth: Floats, depth: int | Ints) -> Floats:
    """Return the mean over orders of the summed worth to a depth; a group that it cuts counts by the share above."""
    down_to = np.minimum(depth, rankings.width) + np.zeros(rankings.length.shape, dtype=np.int64)
    first, size, within, before = _groups_of(rankings, worth, np.maximum(down_to - 1, 0))
    return np.where(down_to > 0, before + within * (down_to - first) / size, 0.0)


@dataclass(frozen=True)
class TiedGroup:
    """For each list one of its tied groups."""

    first: Ints
    """How many documents stand above the group."""
    size: Ints
    relevant: Ints
    above: Ints
    """How many documents above the group are relevant."""
    wanted: Ints
    """How many relevant documents are asked of the group, or (at a cut) how many of its ranks are above the cut."""
    reached: Flags

    @property
    def columns(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        first, size, relevant, above, wanted = (
            number[:, None] for number in (self.first, self.size, self.relevant, self.above, self.wanted)
        )
        return first, size, relevant, above, wanted


def groups_reaching(rankings: Rankings, relevant: Floats, n: int) -> TiedGroup:
    so_far = np.cumsum(relevant, axis=-1)
    reached = so_far[:, -1] >= n
    column = np.where(reached, np.argmax(so_far >= n, axis=-1), relevant.shape[-1] - 1)
    first, size, inside, above = (part.astype(np.int64) for part in _groups_of(rankings, relevant, column))
    return TiedGroup(first, size, inside, above, n - above, reached)


def groups_at_cut(rankings: Rankings, relevant: Floats, depth: int) -> TiedGroup:
    column = np.full(rankings.length.size, depth - 1)
    first, size, inside, above = (part.astype(np.int64) for part in _groups_of(rankings, relevant, column))
    return TiedGroup(first, size, inside, above, depth - first, np.ones(column.size, dtype=bool))


def _groups_of(rankings: Rankings, worth: Floats, column: Ints) -> tuple[Ints, Ints, Floats, Floats]:
    row, so_far = np.arange(column.size), sums_before(worth)
    first, size = (place[row, column] for place in group_place(rankings))
    before = so_far[row, first]
    return first, size, so_far[row, first + size] - before, before


def chance_of_place(group: TiedGroup, width: int) -> Floats:
    """Return the probability that the group's ``wanted``-th relevant document is its first, second, ... document."""
    place = np.arange(1, width + 1)
    _, size, relevant, _, wanted = group.columns
    return chance_drawn(size, relevant, place, wanted) * wanted / place


def chance_of_number(group: TiedGroup, most: int) -> Floats:
    """Return the probability that 0, 1, ..., ``most`` of the group's relevant documents are among ``wanted`` drawn."""
    _, size, relevant, _, drawn = group.columns
    return chance_drawn(size, relevant, drawn, np.arange(most + 1))
