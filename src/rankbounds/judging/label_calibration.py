"""Labels as probabilities, calibrated on a sample of judgments and cross-fitted.

The probability that a document reaches a grade is the share of judged documents with its label that do, moved by how
the topic's judged documents differ from what their labels said (drawn towards no difference by as much as chance alone
explains). Documents are dealt into folds; those of a fold are calibrated on the judgments of the others, so that no
judgment has a say in its own calibration.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.judging.labelled_pool import LabelledPool

FOLDS = 10


def crossfitted(pool: LabelledPool, rows: Ints, reached: Floats) -> Floats:
    """The probability that each document reaches each level (levels by documents).

    ``rows`` are the judged documents, ``reached`` says for each level (a row) whether they reach it.
    """
    fold = folds(len(pool))
    chance = np.empty((reached.shape[0], len(pool)))
    for number in range(FOLDS):
        others = fold[rows] != number
        mine = np.flatnonzero(fold == number)
        of_label, of_topic = _fitted(pool, rows[others], reached[:, others])
        chance[:, mine] = of_label[:, pool.group[mine]] + of_topic[:, pool.topic[mine]]
    return np.clip(chance, 0.0, 1.0)


def folds(documents: int) -> Ints:
    """The fold of each document: dealt at random, always in the same way."""
    return np.random.default_rng(0).permutation(documents) % FOLDS


def _fitted(pool: LabelledPool, rows: Ints, reached: Floats) -> tuple[Floats, Floats]:
    """What each label stands for, and what to add for each topic; a row for each level."""
    group, topic = pool.group[rows], pool.topic[rows]
    overall = (reached.sum(axis=1) + 0.5) / (rows.size + 1)
    judged = np.bincount(group, minlength=int(pool.group.max()) + 1)
    of_label = (_sums(reached, group, judged.size) + overall[:, None]) / (judged + 1)  # one document draws to the mean
    rest = reached - of_label[:, group]
    count = np.bincount(topic, minlength=pool.number_of_topics)
    total = _sums(rest, topic, count.size)
    return of_label, total / np.maximum(count, 1) * _reliability(rest, total, count)


def _sums(rows: Floats, number: Ints, size: int) -> Floats:
    """Each row summed by a number of its columns."""
    return np.stack([np.bincount(number, row, size) for row in rows]) if rows.size else np.zeros((len(rows), size))


def _reliability(rest: Floats, total: Floats, count: Ints) -> Floats:
    """How much of a topic's mean is its own and not chance: variance components of a one-way layout."""
    judged = count.sum()
    if judged < 2:
        return np.zeros(total.shape)
    within = (rest**2).sum(axis=1, keepdims=True) / judged
    between = (total**2 / np.maximum(count, 1)).sum(axis=1, keepdims=True) - within * np.count_nonzero(count)
    scale = judged - (count.astype(np.float64) ** 2).sum() / judged
    own = np.maximum(between / scale, 0.0) if scale > 0 else np.zeros(between.shape)
    chance = within / np.maximum(count, 1)
    return np.divide(own, own + chance, out=np.zeros(total.shape), where=(own > 0) & (count > 0))
