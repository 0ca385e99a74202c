"""Labels that are sometimes wrong, beside people's, as plain dicts; kappa and alpha by their definitions."""

from __future__ import annotations

import itertools

import numpy as np


def made(seed=0, topics=9, documents=12, runs=5, grades=4, judges=("one", "two")):
    """People's grades, models that are sometimes wrong, and runs of different quality, as plain dicts."""
    generator = np.random.default_rng(seed)
    people, models, lists = {}, {name: {} for name in judges}, {f"run{number}": {} for number in range(runs)}
    for topic in map(str, range(topics)):
        grade = np.minimum(generator.geometric(0.5, documents) - 1, grades - 1)
        people[topic] = {f"d{place}": int(value) for place, value in enumerate(grade)}
        for number, labels in enumerate(models.values()):
            moved = np.clip(grade + generator.integers(-1, 2 + number, documents), 0, grades - 1)
            labels[topic] = {f"d{place}": int(value) for place, value in enumerate(moved)}
        for number, ranking in enumerate(lists.values()):
            score = grade * number / runs + generator.normal(size=documents)
            ranking[topic] = {f"d{place}": float(value) for place, value in enumerate(score)}
    return people, models, lists


def paired(people, labels, topics=None):
    """The two grades of every pair that both have."""
    chosen = people if topics is None else topics
    return np.array([
        (people[topic][doc], labels[topic][doc])
        for topic in chosen for doc in people[topic] if doc in labels.get(topic, {})
    ], dtype=float)  # fmt: skip


def plain_kappa(pairs, weight):
    """Cohen: observed over expected disagreement, from two lists of grades."""
    observed = np.mean([weight(a, b) for a, b in pairs])
    expected = np.mean([weight(a, b) for a in pairs[:, 0] for b in pairs[:, 1]])
    return 1 - observed / expected


def plain_alpha(pairs):
    """Krippendorff, ordinal: disagreement within units over that of any two of all values."""
    values = pairs.ravel().tolist()
    below = {grade: sum(value < grade for value in values) for grade in values}
    count = {grade: values.count(grade) for grade in values}

    def distance(a, b):
        low, high = min(a, b), max(a, b)
        between = below[high] + count[high] - below[low]
        return 0.0 if low == high else (between - (count[low] + count[high]) / 2) ** 2

    observed = np.mean([distance(a, b) for a, b in pairs])
    expected = np.mean([distance(a, b) for a, b in itertools.permutations(values, 2)])
    return 1 - observed / expected
