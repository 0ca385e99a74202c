"""Where documents stand in the ideal ranking that a list resembles most: by grade, then in the list's own order."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Ints
from rankbounds.rankings.rankings import Rankings


def relevant(rankings: Rankings) -> Flags:
    """Which documents gain more than one of grade 0."""
    marks: Flags = (rankings.gain() > rankings.facts.nonrelevant_gain) & rankings.present
    return marks


def levels_above_zero(rankings: Rankings) -> list[float]:
    """The gains that relevant documents may have."""
    facts = rankings.facts
    return [level for level in facts.levels.tolist() if level > facts.nonrelevant_gain]


def known_relevant(rankings: Rankings) -> Ints:
    """How many documents of the topic are judged relevant."""
    above = int(np.count_nonzero(rankings.facts.levels <= rankings.facts.nonrelevant_gain))
    return rankings.facts.count_from_level[above][rankings.topic]


def turned_relevant(rankings: Rankings) -> Ints:
    """How many unjudged documents count as relevant, at the highest level."""
    return np.count_nonzero(rankings.holes & relevant(rankings), axis=-1)


def ideal_places(rankings: Rankings) -> Ints:
    """The place of each relevant document in the ideal ranking, from 1; 0 for others."""
    facts, gain, marks = rankings.facts, rankings.gain(), relevant(rankings)
    places = np.zeros(gain.shape, dtype=np.int64)
    better = np.zeros(gain.shape[0], dtype=np.int64)
    for number in range(facts.levels.size - 1, -1, -1):
        here = marks & (gain == facts.levels[number])
        places += np.where(here, better[:, None] + np.cumsum(here, axis=-1), 0)
        better = facts.count_from_level[number][rankings.topic] + turned_relevant(rankings)
    return places


def ranks(rankings: Rankings) -> Ints:
    """The rank of every cell."""
    return np.broadcast_to(np.arange(1, rankings.width + 1), rankings.grade.shape)


def rank_and_place(rankings: Rankings) -> Ints:
    """From which depth on a relevant document is in the list and in the ideal ranking."""
    return np.maximum(ranks(rankings), ideal_places(rankings))


def marked_before(marks: Flags, first: Ints) -> Ints:
    """How many marked documents stand before these columns."""
    so_far: Ints = np.pad(np.cumsum(marks, axis=-1, dtype=np.int64), ((0, 0), (1, 0)))
    return np.take_along_axis(so_far, first, axis=-1)
