"""Labels of one source as probabilities of what another would say: a language model's, calibrated on people's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.collection.inputs import judgments_from
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.errors import DataError


@dataclass(frozen=True)
class GradeRate:
    """Of the documents that the other source judged too, how many with this grade it calls relevant."""

    grade: float
    both: int
    relevant: int

    @property
    def probability(self) -> float:
        """The share, drawn towards one half by one document, so that a few agreements are never certainty."""
        return (self.relevant + 0.5) / (self.both + 1)


@dataclass(frozen=True)
class LabelProbabilities:
    """For every document that only the labels cover, the probability that it is relevant; and what that rests on."""

    by_pair: dict[str, dict[str, float]]
    """``{query: {document: probability}}``."""
    by_grade: list[GradeRate]


def label_probabilities(labels: Any, truth: Any, rel: float = 1.0) -> LabelProbabilities:
    """Calibrate labels on judgments that are trusted, grade by grade, and apply that where there are only labels.

    ``labels`` and ``truth`` are judgments, such as two entries of ``read_qrels_by_source``. A grade that never meets a
    trusted judgment is an error: nothing is known of what it means.
    """
    told, trusted = judgments_from(labels), judgments_from(truth)
    rows, grade, relevant = _met(told, trusted, rel)
    judged = told.grade != POOLED_NOT_JUDGED
    rates = {}
    for one in np.unique(told.grade[judged]).tolist():
        same = grade == one
        rates[one] = GradeRate(one, int(np.count_nonzero(same)), int(np.count_nonzero(relevant[same])))
        if not rates[one].both:
            raise DataError(
                f"No document that is labelled {one:g} ({told.pairs.source.name}) has a trusted judgment "
                f"({trusted.pairs.source.name}), so that nothing is known of what this label means."
            )
    only = judged.copy()
    only[rows] = False
    chosen = np.flatnonzero(only)
    probability = np.array([rates[one].probability for one in told.grade[chosen].tolist()])
    return LabelProbabilities(told.pairs.take(chosen).nested(probability), list(rates.values()))


def _met(told: Qrels, trusted: Qrels, rel: float) -> tuple[Any, Any, Any]:
    """The rows of the labels that are judged too, their labels, and whether the judgment says relevant."""
    topic = trusted.pairs.index.topics_of(told.pairs)
    rows, there = trusted.pairs.index.find(told.pairs, topic)
    known = (trusted.grade[there] != POOLED_NOT_JUDGED) & (told.grade[rows] != POOLED_NOT_JUDGED)
    rows, there = rows[known], there[known]
    return rows, told.grade[rows], trusted.grade[there] >= rel
