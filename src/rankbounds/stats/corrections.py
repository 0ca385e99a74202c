"""Many comparisons at once: p-values that hold for all of them, and groups of systems that no test separates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns.native.lists import shuffled_means_by_kernel
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.score_differences import TOLERANCE
from rankbounds.stats.significance import Resampling, pairs_of

CORRECTIONS = ("none", "bonferroni", "holm", "bh", "tukey", "dunnett")
FAMILY_WISE = ("bonferroni", "holm", "tukey")
"""Corrections over all pairs that bound the chance of any false alarm."""
BY_SHUFFLES = ("tukey", "dunnett")
"""Corrections that are tests of their own, by scores shuffled within topics, and no function of p-values."""
_CELLS_AT_ONCE = 1 << 19


def check_correction(correction: str) -> None:
    """Reject the name of a correction that does not exist."""
    if correction not in CORRECTIONS:
        hint = did_you_mean(correction, list(CORRECTIONS))
        raise UsageError(f'There is no correction "{correction}".{hint} Known: {", ".join(CORRECTIONS)}.')


def adjusted(p_values: Floats, correction: str) -> Floats:
    """p-values corrected for their number.

    ``bonferroni`` and ``holm`` bound the chance of any false alarm; ``bh`` (Benjamini and Hochberg) the share of false
    alarms among the alarms. ``tukey`` and ``dunnett`` are no functions of p-values: see
    ``over_all_pairs`` and ``against_baseline``.
    """
    check_correction(correction)
    if correction in BY_SHUFFLES:
        raise UsageError(f"The correction {correction} is a test of its own.")
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
    return over_all_pairs(scores[None], *pairs_of(scores.shape[0]), resampling or Resampling())[0]


def over_all_pairs(scores: Floats, first: Ints, second: Ints, resampling: Resampling) -> Floats:
    """The p-values of ``randomized_tukey`` for these pairs, by measure (the first axis of ``scores``)."""
    return _family_wise(scores, first, second, resampling)


def against_baseline(scores: Floats, first: Ints, baseline: int, resampling: Resampling) -> Floats:
    """As Dunnett's test, by the shuffles of Tukey's: how often does chance give any system such a distance from one?

    In each resample the largest difference between the baseline's mean and any other is noted.
    """
    return _family_wise(scores, first, np.full(first.size, baseline), resampling, baseline)


def _family_wise(
    scores: Floats, first: Ints, second: Ints, resampling: Resampling, baseline: int | None = None
) -> Floats:
    """Measure by measure, each pair's difference of means beside the largest of every resample.

    The measures share the shuffles. Systems are shuffled from an order of their own, so that the order in which they
    were given does not matter.
    """
    orders = np.stack([np.lexsort(matrix.T[::-1]) for matrix in scores])
    values = np.stack([matrix[order].T for matrix, order in zip(scores, orders, strict=True)], axis=-1)
    measures = np.arange(len(scores))
    largest = np.empty((measures.size, resampling.resamples))
    begin = 0
    for means in _shuffled_means(values, resampling):
        if baseline is None:
            noted = np.ptp(means, axis=-1)
        else:
            held_against = np.argmax(orders == baseline, axis=-1)
            noted = np.abs(means - means[:, measures, held_against, None]).max(axis=-1)
        largest[:, begin : begin + len(means)] = noted.T
        begin += len(means)
    largest.sort(axis=-1)
    means = scores.mean(axis=-1)
    observed = np.abs(means[:, first] - means[:, second])
    # Means of the same numbers in another order differ in their last bits; such outcomes are equal.
    observed -= TOLERANCE * np.abs(scores).max(axis=(1, 2))[:, None]
    below = [np.searchsorted(noted, sizes) for noted, sizes in zip(largest, observed, strict=True)]
    return (resampling.resamples - np.stack(below) + 1) / (resampling.resamples + 1)


def _shuffled_means(values: Floats, resampling: Resampling) -> Iterator[Floats]:
    """Of some resamples after the other, the means over topics by measure and system.

    ``values`` lie by topic, system and measure; the systems of every topic are shuffled.
    """
    topics, systems, measures = values.shape
    generator, step = resampling.generator(), max(1, _CELLS_AT_ONCE // (topics * systems))
    if (by_kernel := shuffled_means_by_kernel(values, generator, resampling.resamples, step)) is not None:
        yield from by_kernel
        return
    by_measure = [np.ascontiguousarray(values[..., measure]).ravel() for measure in range(measures)]
    places = np.arange(topics * systems).reshape(topics, systems)
    shuffles, drawn = np.empty((step, *places.shape), dtype=places.dtype), np.empty((step, *places.shape))
    for begin in range(0, resampling.resamples, step):
        count = min(step, resampling.resamples - begin)
        unshuffled = np.broadcast_to(places, (count, topics, systems))
        shuffled = generator.permuted(unshuffled, axis=-1, out=shuffles[:count])
        taken = (np.take(of_measure, shuffled, out=drawn[:count], mode="clip") for of_measure in by_measure)
        yield np.stack([scores.mean(axis=1) for scores in taken], axis=1)


def groups_not_separable(means: Floats, separable: Flags) -> list[str]:
    """Compact letters: two systems share a letter unless a test separates them.

    ``separable`` is a symmetric table of systems by systems. Letters run from the best system on, that of the greatest
    mean (Piepho's insertion and absorption).
    """
    order = np.argsort(-means, kind="stable")
    # The systems of a letter are bits by rank: whole columns are compared at once.
    columns = _intervals(separable[np.ix_(order, order)])
    if columns is None:
        columns = [(1 << order.size) - 1]
        for one, other in zip(*np.nonzero(np.triu(separable[np.ix_(order, order)], 1)), strict=True):
            columns = _split(columns, 1 << int(one), 1 << int(other))
    columns.sort(key=lambda column: [place for place in range(order.size) if column >> place & 1])
    rank = {system: place for place, system in enumerate(order.tolist())}
    return [
        "".join(_letter(number) for number, column in enumerate(columns) if column >> rank[system] & 1)
        for system in range(means.size)
    ]


def _intervals(separable: Flags) -> list[int] | None:
    """The columns where systems that lie further apart are separated whenever nearer ones are; None where they are not.

    From every system on, those down to the first that is separated from it share a letter.
    """
    place = np.arange(len(separable))
    behind = np.triu(separable, 1)
    first = np.where(behind.any(axis=1), behind.argmax(axis=1), place.size)
    if (np.diff(first) < 0).any() or (behind != (place >= first[:, None])).any():
        return None
    new = np.diff(first, prepend=0) > 0
    return [(1 << end) - (1 << begin) for begin, end in zip(place[new].tolist(), first[new].tolist(), strict=True)]


def _split(columns: list[int], one: int, other: int) -> list[int]:
    """Replace each column that holds both systems by two that lack one of them, unless another column holds those."""
    both = one | other
    divided = [column for column in columns if column & both == both]
    if not divided:
        return columns
    kept = [column for column in columns if column & both != both]
    halves = {column & ~system for column in divided for system in (one, other)}
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
