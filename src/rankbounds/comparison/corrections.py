"""Many comparisons at once: p-values that hold for all of them, and groups of systems that no test separates."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats
from rankbounds.comparison.significance import Resampling, pairs_of
from rankbounds.errors import UsageError, did_you_mean

CORRECTIONS = ("none", "bonferroni", "holm", "bh", "tukey")


def check_correction(correction: str) -> None:
    """Reject the name of a correction that does not exist."""
    if correction not in CORRECTIONS:
        hint = did_you_mean(correction, list(CORRECTIONS))
        raise UsageError(f'There is no correction "{correction}".{hint} Known: {", ".join(CORRECTIONS)}.')


def adjusted(p_values: Floats, correction: str) -> Floats:
    """p-values corrected for their number.

    ``bonferroni`` and ``holm`` bound the chance of any false alarm; ``bh`` (Benjamini and Hochberg) the share of false
    alarms among the alarms. ``tukey`` is not a function of p-values: see ``randomized_tukey``.
    """
    check_correction(correction)
    if correction == "tukey":
        raise UsageError("Tukey's correction is a test of its own.")
    count = p_values.size
    if correction == "none" or count == 0:
        return p_values.copy()
    if correction == "bonferroni":
        return np.minimum(1.0, p_values * count)
    order = np.argsort(p_values, kind="stable")
    ranked = p_values[order]
    if correction == "holm":
        ranked = np.maximum.accumulate(ranked * np.arange(count, 0, -1))
    else:
        ranked = np.minimum.accumulate((ranked * count / np.arange(1, count + 1))[::-1])[::-1]
    result = np.empty(count)
    result[order] = np.minimum(1.0, ranked)
    return result


def randomized_tukey(scores: Floats, resampling: Resampling | None = None) -> Floats:
    """Paired randomised Tukey HSD: for each pair, how often chance alone gives any two systems so large a difference.

    ``scores`` has a row for each system and a column for each topic. In each resample the systems' scores are shuffled
    within every topic, and the largest difference of two means is noted. The outcome at hand counts as one (the +1).
    """
    resampling = resampling or Resampling()
    systems, topics = scores.shape
    means = scores.mean(axis=-1)
    first, second = pairs_of(systems)
    generator = resampling.generator()
    largest = np.empty(resampling.resamples)
    step = max(1, (1 << 22) // scores.size)
    by_topic = np.ascontiguousarray(scores.T)
    for at in range(0, resampling.resamples, step):
        count = min(step, resampling.resamples - at)
        shuffled = generator.permuted(np.broadcast_to(by_topic, (count, topics, systems)), axis=-1)
        largest[at : at + count] = np.ptp(shuffled.mean(axis=1), axis=-1)
    largest.sort()
    observed = np.abs(means[first] - means[second])
    at_least = largest.size - np.searchsorted(largest, observed - 1e-9 * (1 + observed))
    return (at_least + 1) / (largest.size + 1)


def groups_not_separable(means: Floats, separable: Flags) -> list[str]:
    """Compact letters: two systems share a letter unless a test separates them.

    ``separable`` is a symmetric table of systems by systems. Letters run from the best system on (Piepho's insertion
    and absorption).
    """
    order = np.argsort(-means, kind="stable")
    columns: list[set[int]] = [set(order.tolist())]
    for at, one in enumerate(order.tolist()):
        for other in order[at + 1 :].tolist():
            if not separable[one, other]:
                continue
            split = []
            for column in columns:
                if one in column and other in column:
                    split += [column - {one}, column - {other}]
                else:
                    split.append(column)
            columns = _without_contained(split)
    rank = {system: place for place, system in enumerate(order.tolist())}
    columns.sort(key=lambda column: sorted(rank[system] for system in column))
    return [
        "".join(_letter(number) for number, column in enumerate(columns) if system in column)
        for system in range(means.size)
    ]


def _without_contained(columns: list[set[int]]) -> list[set[int]]:
    """Leave out columns that another one holds."""
    kept: list[set[int]] = []
    for column in sorted(columns, key=len, reverse=True):
        if not any(column <= larger for larger in kept):
            kept.append(column)
    return kept


def _letter(number: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return letters[number] if number < 26 else f"({letters[number // 26 - 1]}{letters[number % 26]})"
