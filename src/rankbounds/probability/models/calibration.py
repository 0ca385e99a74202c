"""Labels of one source as probabilities of what another would say: a language model's, calibrated on people's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
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

    Parameters
    ----------
    labels
        Judgments of the source to be calibrated, such as a language model; in any form that ``evaluate`` takes.
    truth
        Judgments that are trusted, such as people's; another entry of ``read_qrels_by_source``.
    rel
        The lowest trusted grade that counts as relevant.

    Returns
    -------
    LabelProbabilities
        ``by_pair``, ``{query: {document: probability}}`` for every document that only the labels cover, as
        ``uncertainty(q=...)`` takes it; and ``by_grade``, what that rests on.

    Raises
    ------
    DataError
        For a grade that never meets a trusted judgment: nothing is known of what it means.

    Notes
    -----
    The probability of a grade is the share of relevant documents among those that both sources judged, drawn towards
    one half by one document. It assumes that the other documents are like these.

    Examples
    --------
    >>> import rankbounds as rb
    >>> people = {"q": {"a": 1, "b": 0, "c": 0}}
    >>> model = {"q": {"a": 1, "b": 1, "c": 0, "d": 1}}
    >>> rb.label_probabilities(model, people).by_pair
    {'q': {'d': 0.5}}

    """
    labelled, trusted = judgments_from(labels), judgments_from(truth)
    rows, grade, relevant = _judged_by_both(labelled, trusted, rel)
    judged = labelled.grade != POOLED_NOT_JUDGED
    rates = {}
    for level in np.unique(labelled.grade[judged]).tolist():
        same = grade == level
        rates[level] = GradeRate(level, int(np.count_nonzero(same)), int(np.count_nonzero(relevant[same])))
        if not rates[level].both:
            raise DataError(
                f"No document that is labelled {level:g} ({labelled.pairs.source.name}) has a trusted judgment "
                f"({trusted.pairs.source.name}), so that nothing is known of what this label means."
            )
    only = judged.copy()
    only[rows] = False
    chosen = np.flatnonzero(only)
    probability = np.array([rates[level].probability for level in labelled.grade[chosen].tolist()])
    return LabelProbabilities(labelled.pairs.take(chosen).nested(probability), list(rates.values()))


def _judged_by_both(labelled: Qrels, trusted: Qrels, rel: float) -> tuple[Ints, Floats, Flags]:
    """The rows of the labels that are judged too, their labels, and whether the judgment says relevant."""
    topic = trusted.pairs.index.topics_of(labelled.pairs)
    rows, there = trusted.pairs.index.find(labelled.pairs, topic)
    known = (trusted.grade[there] != POOLED_NOT_JUDGED) & (labelled.grade[rows] != POOLED_NOT_JUDGED)
    rows, there = rows[known], there[known]
    return rows, labelled.grade[rows], trusted.grade[there] >= rel
