"""Judgments from preferences between two documents, made into levels.

Copeland: a document's score is the number of documents that it is preferred to, minus those preferred to it; if a pair
was asked several times, the majority decides. Bradley and Terry: every document has a strength, and is preferred to
another with probability s / (s + t); the strengths maximise the likelihood of the preferences. Each document has drawn
once against one of strength 1, so that a document which always wins has a finite strength.

Levels are the distinct scores of a topic's documents, from 1. They keep the order, not the distances, as Compatibility
requires. Preferences may contradict each other; the share that the levels violate says how far to trust them.

Sources: Copeland 1951; Bradley and Terry, Biometrika 39, 1952, fitted as in Hunter, Annals of Statistics 32(1), 2004.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.choices import check_choice
from rankbounds.collection.qrels import Qrels
from rankbounds.errors import DataError, Place
from rankbounds.files.records import rows_of_fields

METHODS = ("copeland", "bradley-terry")
IN_WORDS = {"copeland": "Copeland scores", "bradley-terry": "Bradley-Terry strengths"}
CLOSE = 1e-6
"""Strengths whose logarithms differ by less are the same."""


@dataclass(frozen=True)
class PreferenceCounts:
    """How far levels agree with the preferences that they were made from.

    Of the ``stated`` preferences, ``violated`` contradict the levels, and ``tied`` are between documents of one level.
    """

    method: str
    stated: int
    violated: int
    tied: int

    @property
    def violated_share(self) -> float:
        """The share of preferences that contradict the levels."""
        return self.violated / self.stated

    @property
    def tied_share(self) -> float:
        """The share of preferences between documents of the same level."""
        return self.tied / self.stated

    def __str__(self) -> str:
        return (
            f"{IN_WORDS[self.method]} of {self.stated:,} preferences: {self.violated:,} ({self.violated_share:.1%}) "
            f"violated, {self.tied:,} ({self.tied_share:.1%}) between documents of one level"
        )


def levels_from_preferences(
    preferences: str | os.PathLike[str] | Iterable[tuple[Any, Any, Any]], method: str
) -> tuple[Qrels, PreferenceCounts]:
    """Turn pairwise preferences into judgments by levels, and count the preferences that the levels violate."""
    check_choice("method", method, METHODS)
    if isinstance(preferences, str | os.PathLike):
        source = os.fspath(preferences)
        given = rows_of_fields(source, "query", "better document", "worse document")
        rows = [_check_row(place, row) for place, row in given]
    else:
        source = "preferences"
        rows = [_check_row(Place(source, row=number), row) for number, row in enumerate(preferences, 1)]
    if not rows:
        raise DataError(source, "there is no preference.")
    number: dict[tuple[str, str], int] = {}
    better, worse = (
        np.array([number.setdefault((row[0], row[side]), len(number)) for row in rows], dtype=np.int64)
        for side in (1, 2)
    )
    queries: dict[str, int] = {}
    topic = np.array([queries.setdefault(query, len(queries)) for query, _ in number], dtype=np.int64)
    score = _copeland(better, worse) if method == "copeland" else _strengths(better, worse)
    level = _levels(topic, score)
    query_ids, documents = zip(*number, strict=True)
    order = np.lexsort((-level, topic))
    qrels = Qrels.from_columns(
        [query_ids[place] for place in order], [documents[place] for place in order], level[order], source=source
    )
    violated, tied = level[better] < level[worse], level[better] == level[worse]
    return qrels, PreferenceCounts(method, len(rows), int(violated.sum()), int(tied.sum()))


def _check_row(place: Place, row: Sequence[Any]) -> tuple[str, str, str]:
    if isinstance(row, str) or len(row) != 3:
        raise DataError(place, "expected a query, the better document and the worse one.")
    query, better, worse = map(str, row)
    if better == worse:
        raise DataError(place, f'document "{better}" of topic "{query}" is preferred to itself.')
    return query, better, worse


def _copeland(better: Ints, worse: Ints) -> Floats:
    """The number of documents that each beats, minus those that it loses to."""
    documents = int(max(better.max(), worse.max())) + 1
    low, high = np.minimum(better, worse), np.maximum(better, worse)
    pair, code = np.unique(low * documents + high, return_inverse=True)
    outcome = np.sign(np.bincount(code, weights=np.where(better == low, 1.0, -1.0)))
    score = np.zeros(documents)
    np.add.at(score, pair // documents, outcome)
    np.add.at(score, pair % documents, -outcome)
    return score


def _strengths(better: Ints, worse: Ints) -> Floats:
    """Return the logarithms of Bradley and Terry's strengths (Hunter's algorithm), with one draw each against strength
    1.
    """
    documents = int(max(better.max(), worse.max())) + 1
    won = np.bincount(better, minlength=documents) + 0.5
    strength = np.ones(documents)
    for _ in range(100_000):
        met = 1 / (strength[better] + strength[worse])
        against = np.bincount(better, met, documents) + np.bincount(worse, met, documents) + 1 / (strength + 1)
        updated = won / against
        moved = np.abs(np.log(updated / strength)).max()
        strength = updated
        if moved < CLOSE / 1000:
            break
    return np.log(strength)


def _levels(topic: Ints, score: Floats) -> Ints:
    """Return the rank of each score among the distinct ones of its topic, from 1."""
    order = np.lexsort((score, topic))
    first = np.diff(topic[order], prepend=-1) != 0
    rises = ~first & (np.diff(score[order], prepend=0.0) > CLOSE)
    steps = np.cumsum(rises)
    since_first = steps - np.maximum.accumulate(np.where(first, steps, 0))
    level = np.empty(topic.size, dtype=np.int64)
    level[order] = since_first + 1
    return level
