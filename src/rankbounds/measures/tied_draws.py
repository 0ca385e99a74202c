"""Random orders of tied documents: how many relevant ones fall above a cut, and where the n-th of them stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import chance_drawn


@dataclass(frozen=True)
class TiedGroup:
    """For each list one of its tied groups."""

    first: Ints
    """How many documents stand above the group."""
    size: Ints
    relevant: Ints
    """How many documents of the group are relevant."""
    above: Ints
    """How many documents above the group are relevant."""
    wanted: Ints
    """How many relevant documents are asked of the group, or (at a cut) how many of its ranks are above the cut."""
    reached: Flags
    """Does the group have what was asked for?"""


def groups_reaching(rankings: Rankings, relevant: Floats, n: int) -> TiedGroup:
    """The group of each list that holds its n-th relevant document; the last one where there are too few."""
    so_far = np.cumsum(relevant, axis=-1)
    reached = so_far[:, -1] >= n
    group = _groups_of(rankings, relevant, np.where(reached, np.argmax(so_far >= n, axis=-1), relevant.shape[-1] - 1))
    return TiedGroup(*group, wanted=n - group[3], reached=reached)


def groups_at_cut(rankings: Rankings, relevant: Floats, depth: int) -> TiedGroup:
    """The group of each list that holds rank ``depth``."""
    rank = np.full(rankings.length.size, depth - 1)
    group = _groups_of(rankings, relevant, rank)
    return TiedGroup(*group, wanted=depth - group[0], reached=np.ones(rank.size, dtype=bool))


def _groups_of(rankings: Rankings, relevant: Floats, column: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Of the group that holds this column of each list: first, size, relevant, above."""
    begins = np.ones(relevant.shape, dtype=bool) if rankings.tied is None else ~rankings.tied
    rank = np.arange(relevant.shape[-1])
    first = np.where(begins & (rank <= column[:, None]), rank, 0).max(axis=-1)
    end = np.where(begins & (rank > column[:, None]), rank, relevant.shape[-1]).min(axis=-1)
    so_far = np.concatenate([np.zeros((column.size, 1)), np.cumsum(relevant, axis=-1)], axis=-1).astype(np.int64)
    row = np.arange(column.size)
    above = so_far[row, first]
    return first, end - first, so_far[row, end] - above, above


def chance_of_place(group: TiedGroup, width: int) -> Floats:
    """The chance that the ``wanted``-th relevant document of the group is its first, second, ... document.

    Down to that place there are as many relevant documents as are wanted, and the last of them stands there.
    """
    place = np.arange(1, width + 1)
    size, relevant, wanted = (column[:, None] for column in (group.size, group.relevant, group.wanted))
    return chance_drawn(size, relevant, place, wanted) * wanted / place


def chance_of_number(group: TiedGroup, most: int) -> Floats:
    """The chance that 0, 1, ..., ``most`` of the group's relevant documents are among ``wanted`` drawn from it."""
    size, relevant, drawn = (column[:, None] for column in (group.size, group.relevant, group.wanted))
    return chance_drawn(size, relevant, drawn, np.arange(most + 1))
