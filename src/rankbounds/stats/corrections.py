"""Many comparisons at once: p-values that hold for all of them, and groups of systems that no test separates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_choice
from rankbounds.columns.native.ranking import shuffled_means_by_kernel
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import TOLERANCE, differences
from rankbounds.stats.significance import (
    Resampling,
    check_differences,
    deviation_of,
    least_of_signs,
    rounding,
    t_statistic,
    topic_counts,
)

LEAST_ERROR = 0.5
"""A resampled standard error counts as at least this share of the observed one: where two runs differ on few topics, a
resample may hold none of them, and one such pair would make all others look like chance."""
MOST_LETTERS = 52
_CELLS_AT_ONCE = 1 << 19
_T_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Correction:
    """A correction of p-values for their number, with its facts."""

    name: str
    of_ranked: Callable[[Floats], Floats] | None = None
    """Rising p-values corrected, along the last axis."""
    of_scores: Callable[[Floats, Ints, Ints, Resampling], Floats] | None = None
    """Corrected p-values of pairs from scores by measure, system and topic, for corrections that resample scores."""
    family_wise: bool = True
    """Does it bound the probability of any false positive over all pairs?"""
    words: str = ""
    """What corrected p-values come from, given the test of one pair (``alone``) and the ``pairs``."""
    level: str = ""
    """How often any difference between equal means is found at the level 5%, by ``benchmarks/levels.py``."""
    source: str | None = None
    """What to cite, by its key in ``measures/naming/sources.bib``."""

    @property
    def resamples(self) -> bool:
        return self.of_scores is not None


def check_correction(correction: str) -> None:
    check_choice("correction", correction, list(CORRECTIONS), {"fdr": "bh", "maxt": "max-t", "max_t": "max-t"})


def correct_p_values(p_values: Floats, correction: str) -> Floats:
    """Correct p-values along the last axis for their number; corrections that resample scores cannot."""
    check_correction(correction)
    correct = CORRECTIONS[correction].of_ranked
    if correct is None:
        raise UsageError(f"The correction {correction} is a test of its own.")
    order = np.argsort(p_values, axis=-1, kind="stable")
    result = np.empty(p_values.shape)
    np.put_along_axis(result, order, correct(np.take_along_axis(p_values, order, axis=-1)), axis=-1)
    return np.clip(result, p_values, 1.0)


# ---- functions of p-values ----


def _falling(ranked: Floats) -> Ints:
    return np.arange(ranked.shape[-1], 0, -1)


def _holm(ranked: Floats) -> Floats:
    return np.maximum.accumulate(ranked * _falling(ranked), axis=-1)


def _benjamini_hochberg(ranked: Floats) -> Floats:
    scaled = ranked * ranked.shape[-1] / np.arange(1, ranked.shape[-1] + 1)
    return np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]


# ---- tests of their own, which resample scores ----


def over_all_pairs(scores: Floats, first: Ints, second: Ints, resampling: Resampling) -> Floats:
    """Test all pairs by paired randomised Tukey HSD: how often does chance alone give any two so large a difference?

    ``scores`` has axes measure, system, topic. Each resample shuffles the systems' scores within every topic and takes
    the largest difference of two means. The observed outcome counts as one resample (the +1). The measures share the
    shuffles. Systems are sorted before shuffling, so the order given does not matter.
    """
    orders = np.stack([np.lexsort(matrix.T[::-1]) for matrix in scores])
    values = np.stack([matrix[order].T for matrix, order in zip(scores, orders, strict=True)], axis=-1)
    measures = np.arange(len(scores))
    largest = np.empty((measures.size, resampling.resamples))
    begin = 0
    for means in _shuffled_means(values, resampling):
        largest[:, begin : begin + len(means)] = np.ptp(means, axis=-1).T
        begin += len(means)
    largest.sort(axis=-1)
    means = scores.mean(axis=-1)
    observed = np.abs(means[:, first] - means[:, second])
    # Means of the same numbers in another order differ in their last bits; such outcomes are equal.
    observed -= TOLERANCE * np.abs(scores).max(axis=(1, 2))[:, None]
    below = [np.searchsorted(noted, sizes) for noted, sizes in zip(largest, observed, strict=True)]
    return (resampling.resamples - np.stack(below) + 1) / (resampling.resamples + 1)


def _shuffled_means(values: Floats, resampling: Resampling) -> Iterator[Floats]:
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


def largest_t(centred: Floats, error: Floats, counts: Floats) -> Floats:
    """Return the largest t of any row of differences of mean 0 in each resample; rows without ``error`` are skipped.

    With M and Q for the drawn sums of n numbers and of their squares, the squared error is (n Q - M^2) / (n - 1).
    Single precision suffices: the smallest error that counts is a share of the usual one.
    """
    topics, varying = np.float32(centred.shape[-1]), error > 0
    units = (centred[varying] / topics / error[varying, None]).astype(np.float32)
    drawn = np.ascontiguousarray(counts.T, dtype=np.float32)
    largest = np.zeros(len(counts), dtype=np.float32)
    step = max(1, _T_AT_ONCE // len(counts))
    for start in range(0, len(units), step):
        unit = units[start : start + step]
        t = unit @ drawn
        moved = t * t
        variance = (topics / (topics - 1) * unit**2) @ drawn
        variance -= moved / (topics - 1)
        moved /= np.maximum(variance, np.float32(LEAST_ERROR**2), out=variance)
        np.maximum(largest, moved.max(axis=0), out=largest)
    return np.sqrt(largest.astype(np.float64))


def max_t(scores: Floats, first: Ints, second: Ints, resampling: Resampling) -> Floats:
    """Compare the t of each pair with the largest t of any pair in resampled topics, of differences moved to mean 0.

    ``scores`` has axes measure, system, topic; the measures share the drawn topics.
    """
    counts = topic_counts(scores.shape[-1], resampling)
    return np.stack([_max_t(matrix, first, second, counts) for matrix in scores])


def _max_t(scores: Floats, first: Ints, second: Ints, counts: Floats) -> Floats:
    apart = check_differences(differences(scores[first], scores[second]))
    topics, observed = apart.shape[-1], np.abs(t_statistic(apart))
    centred, error = apart - apart.mean(axis=-1, keepdims=True), deviation_of(apart) / np.sqrt(topics)
    largest = np.sort(largest_t(centred, error, counts))
    p = (largest.size - np.searchsorted(largest, observed - rounding(observed)) + 1) / (largest.size + 1)
    # Few differences, or equal ones, vary too little in resamples: their signs count, those of one of so many pairs.
    return np.maximum(p, np.minimum(1.0, first.size * least_of_signs(np.count_nonzero(apart, axis=-1))))


CORRECTIONS = {
    correction.name: correction
    for correction in (
        Correction("none", np.copy, family_wise=False, words="{alone}"),
        Correction("bonferroni", lambda p: p * p.shape[-1], words="{alone}, Bonferroni's correction for {pairs}"),
        Correction(
            "holm", _holm, words="{alone}, Holm's correction for {pairs}", level="0 to 7% of samples, on the t test",
            source="holm1979simple",
        ),
        Correction(
            "bh", _benjamini_hochberg, family_wise=False, words="{alone}, Benjamini and Hochberg's correction for "
            "{pairs}", source="benjamini1995controlling",
        ),
        Correction(
            "tukey", of_scores=over_all_pairs, words="randomised, paired Tukey HSD over {pairs}",
            level="0 to 14% of samples, with the least power where one system is far off",
            source="carterette2012multiple",
        ),
        Correction(
            "max-t", of_scores=max_t, words="largest t in resampled topics over {pairs}",
            level="0 to 8% of samples", source="romano2005exact",
        ),
    )
}  # fmt: skip


# ---- groups of systems ----


def group_letters(means: Floats, first: Ints, second: Ints, separated: Flags) -> Sequence[str | None]:
    """Letters that two systems share unless a test separates them (Piepho), the best first; None: too many letters."""
    order = np.argsort(-means, kind="stable")
    rank = np.argsort(order)
    separable = np.zeros((means.size, means.size), dtype=bool)
    separable[rank[first], rank[second]] = separable[rank[second], rank[first]] = separated
    # The systems of a letter are bits by rank: whole columns are compared at once.
    columns = _intervals(separable)
    if columns is None:
        columns = [(1 << order.size) - 1]
        for one, other in zip(*np.nonzero(np.triu(separable, 1)), strict=True):
            columns = _split(columns, 1 << int(one), 1 << int(other))
            if len(columns) > MOST_LETTERS:
                return [None] * means.size
    columns.sort(key=lambda column: [place for place in range(order.size) if column >> place & 1])
    return [
        "".join(_letter(number) for number, column in enumerate(columns) if column >> place & 1)
        for place in rank.tolist()
    ]


def _intervals(separable: Flags) -> list[int] | None:
    place = np.arange(len(separable))
    behind = np.triu(separable, 1)
    first = np.where(behind.any(axis=1), behind.argmax(axis=1), place.size)
    if (np.diff(first) < 0).any() or (behind != (place >= first[:, None])).any():
        return None
    new = np.diff(first, prepend=0) > 0
    return [(1 << end) - (1 << begin) for begin, end in zip(place[new].tolist(), first[new].tolist(), strict=True)]


def _split(columns: list[int], one: int, other: int) -> list[int]:
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
