"""Documents with equal scores: the order that is best or worst for a measure, and the mean over all orders."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.rankings import Rankings

ORDERS = ("trec", "run", "line", "rank", "docid")
"""Treatments that fix one order of tied documents while the run is ranked."""
RULES = (*ORDERS, "best", "worst", "expected")


def order_by_worth(rankings: Rankings, worth: Floats, *, best: bool) -> Ints:
    """For each list its ranks, in tied groups by falling (or rising) worth. Equal worth keeps its place."""
    columns = np.tile(np.arange(rankings.width), (rankings.length.size, 1))
    if rankings.tied is not None:
        lists = np.flatnonzero(rankings.tied.any(axis=-1))
        group = np.cumsum(~rankings.tied[lists], axis=-1)
        columns[lists] = np.lexsort((-worth[lists] if best else worth[lists], group), axis=-1)
    return columns


def reordered(rankings: Rankings, worth: Floats, *, best: bool) -> Rankings:
    """The lists with each tied group in its best (or worst) order."""
    if rankings.tied is None:
        return rankings
    return rankings.permuted(order_by_worth(rankings, worth, best=best))


def group_means(rankings: Rankings, worth: Floats) -> Floats:
    """Every document's worth replaced by the mean of its tied group: what a weighted sum over ranks expects."""
    if rankings.tied is None:
        return worth
    first = ~rankings.tied.ravel()
    number = np.cumsum(first) - 1
    size = np.bincount(number)
    return (np.bincount(number, weights=worth.ravel()) / size)[number].reshape(worth.shape)


def group_place(rankings: Rankings) -> tuple[Ints, Ints]:
    """For every cell the column in which its tied group begins, and how many documents the group has."""
    columns = np.broadcast_to(np.arange(rankings.width), rankings.grade.shape)
    if rankings.tied is None:
        return columns, np.ones(rankings.grade.shape, dtype=np.int64)
    first = np.maximum.accumulate(np.where(rankings.tied, 0, columns), axis=-1)
    number = np.cumsum(~rankings.tied.ravel()) - 1
    return first, np.bincount(number)[number].reshape(first.shape)


def before_and_within(rankings: Rankings, worth: Floats) -> tuple[Floats, Floats]:
    """For every cell the worth summed over all ranks before its tied group, and over the group."""
    first, size = group_place(rankings)
    so_far = np.concatenate((np.zeros((*worth.shape[:-1], 1)), np.cumsum(worth, axis=-1)), axis=-1)
    before = np.take_along_axis(so_far, first, axis=-1)
    return before, np.take_along_axis(so_far, first + size, axis=-1) - before


def share_above(rankings: Rankings) -> Floats:
    """For every place in a tied group, the chance that any other document of the group stands above it."""
    first, size = group_place(rankings)
    return (np.arange(rankings.width) - first) / np.maximum(size - 1, 1)
