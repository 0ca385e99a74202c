"""Many comparisons at once: p-values that hold for all of them, and groups of systems that no test separates."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats
from rankbounds.comparison.significance import Resampling, pairs_of
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.score_differences import TOLERANCE

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
    # Means of the same numbers in another order differ in their last bits; such outcomes are equal.
    at_least = largest.size - np.searchsorted(largest, observed - TOLERANCE * np.abs(scores).max())
    return (at_least + 1) / (largest.size + 1)


def groups_not_separable(means: Floats, separable: Flags) -> list[str]:
    """Compact letters: two systems share a letter unless a test separates them.

    ``separable`` is a symmetric table of systems by systems. Letters run from the best system on, that of the greatest
    mean (Piepho's insertion and absorption).
    """
    order = np.argsort(-means, kind="stable").tolist()
    columns = [(1 << len(order)) - 1]  # the systems of a letter, as bits by rank: whole columns are compared at once
    for at, one in enumerate(order):
        for place, other in enumerate(order[at + 1 :], at + 1):
            if separable[one, other]:
                columns = _split(columns, 1 << at, 1 << place)
    columns.sort(key=lambda column: [place for place in range(len(order)) if column >> place & 1])
    rank = {system: place for place, system in enumerate(order)}
    return [
        "".join(_letter(number) for number, column in enumerate(columns) if column >> rank[system] & 1)
        for system in range(means.size)
    ]


def _split(columns: list[int], one: int, other: int) -> list[int]:
    """Replace each column that holds both systems by two that lack one of them, unless another column holds those."""
    both = one | other
    kept = [column for column in columns if column & both != both]
    halves = {column & ~system for column in columns if column & both == both for system in (one, other)}
    for half in sorted(halves, key=int.bit_count, reverse=True):
        for column in kept:  # (a plain loop: a generator would take most of the time)
            if half & ~column == 0:
                break
        else:
            kept.append(half)
    return kept


def _letter(number: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return letters[number] if number < 26 else f"({letters[number // 26 - 1]}{letters[number % 26]})"
