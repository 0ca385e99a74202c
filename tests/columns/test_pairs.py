"""Pairs that are repeated: the rows that a plain loop finds, whatever the keys, in the memory that columns take."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from rankbounds.columns import pairs as columns
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, Source

pytestmark = pytest.mark.usefixtures("both_ways")


def table(topics, docs):
    names = sorted(set(topics))
    return Pairs.numbered(names, np.array([names.index(t) for t in topics], np.int32), Ids.of(docs), Source("table"))


def repeated(topics, docs):
    seen = set()
    return [row for row, pair in enumerate(zip(topics, docs, strict=True)) if pair in seen or seen.add(pair)]


@pytest.mark.parametrize("keys", ["own", "few", "one"])
@pytest.mark.parametrize("order", ["grouped", "mixed"])
@pytest.mark.parametrize("slice_rows", [1 << 17, 10])
def test_repeats_are_those_of_a_loop(monkeypatch, keys, order, slice_rows):
    monkeypatch.setattr(columns, "SLICE_ROWS", slice_rows)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        topics = [f"t{number}" for number in rng.integers(0, 5, 90)]
        docs = [f"a-long-name-{number}" for number in rng.integers(0, 40 if seed % 2 else 10_000, 90)]
        if order == "grouped":
            topics.sort()
        pairs = table(topics, docs)
        if keys != "own":  # other documents, and other topics, share a key
            pairs = replace(pairs, keys=pairs.keys % np.uint64(3 if keys == "few" else 1))
        assert pairs.repeats().tolist() == repeated(topics, docs)


def test_many_repeats_take_the_memory_of_columns():
    topics, docs = ["1"] * 100_000, [f"document-{number}" for number in range(100_000)]
    pairs = table(topics * 2, docs * 2)
    tracemalloc.start()
    try:
        found = pairs.repeats()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.tolist() == list(range(100_000, 200_000))
    assert peak < 100 * len(pairs)
