"""Scores shuffled within every topic: the twin of what ``comparison.corrections`` does with NumPy's ``permuted``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.columns import native
from rankbounds.columns.native.addresses import address_of


def shuffled_means_by_kernel(
    values: Floats, generator: np.random.Generator, resamples: int, step: int
) -> Iterator[Floats] | None:
    """For ``step`` resamples after the other the means over topics, by measure and system; None: left to NumPy.

    ``values`` lie by topic, system and measure. The shuffles are those of ``permuted``, as long as the generator is a
    new one of NumPy's default kind.
    """
    if native.kernel is None or type(generator.bit_generator) is not np.random.PCG64:
        return None
    return _means(np.ascontiguousarray(values), generator, resamples, step)


def _means(values: Floats, generator: np.random.Generator, resamples: int, step: int) -> Iterator[Floats]:
    topics, systems, measures = values.shape
    random = np.zeros(native.built.RANDOM_WORDS, dtype=np.uint64)  # words that were drawn, and are not used up yet
    scratch, sums = np.empty(2 * systems, dtype=np.int32), np.empty(systems * measures)
    for begin in range(0, resamples, step):
        means = np.empty((min(step, resamples - begin), measures, systems))
        native.built.shuffled_means(
            generator.bit_generator.capsule,
            address_of(random, np.uint64, random.size),
            address_of(values, np.float64, values.size),
            topics,
            systems,
            measures,
            len(means),
            address_of(scratch, np.int32, scratch.size),
            address_of(sums, np.float64, sums.size),
            address_of(means, np.float64, means.size),
        )
        yield means
