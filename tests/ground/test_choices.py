"""Numbers that are none, or out of their range, end with one sentence wherever they are given."""

from __future__ import annotations

import pytest

import rankbounds as rb
from rankbounds.errors import DataError, UsageError

QRELS = {str(query): {"a": 1, "b": 0, "c": 2} for query in range(6)}
RUNS = {"x": {query: ["a", "b", "d"] for query in QRELS}, "y": {query: ["c", "e", "a"] for query in QRELS}}
COUNTS = {
    "The budget": lambda value: rb.judging.draw_sample(QRELS, RUNS, "P@2", budget=value),
    "The budget ": lambda value: rb.judge_next(QRELS, RUNS, budget=value),
    "The number of resamples": lambda value: rb.compare(QRELS, RUNS, "P@2", resamples=value),
    "A depth": lambda value: rb.similarity(RUNS, depths=[value]),
    "nDCG: the depth after @": lambda value: rb.nDCG @ value,
    "The number of systems": lambda value: rb.stats.plan_topics(deviation=0.2, difference=0.1, systems=value),
}
NUMBERS = {
    "alpha": lambda value: rb.compare(QRELS, RUNS, "P@2", alpha=value),
    "confidence": lambda value: rb.evaluate(QRELS, RUNS, "P@2").mean(confidence=value),
    "The probability q": lambda value: rb.evaluate(QRELS, RUNS, "P@2", unjudged="expected", q=value),
    "RBP: p": lambda value: rb.RBP(p=value),
    "A margin": lambda value: rb.compare(QRELS, RUNS, "P@2", margin=value),
    "The deviation": lambda value: rb.stats.plan_topics(deviation=value, difference=0.1),
}


@pytest.mark.parametrize("value", [2.5, 0, -1, "3", float("nan"), float("inf")])
@pytest.mark.parametrize("what", COUNTS)
def test_a_count_is_a_whole_number(what, value):
    with pytest.raises(UsageError, match=f"^{what.strip()} must be a whole number from"):
        COUNTS[what](value)


@pytest.mark.parametrize("value", [-1, "3", float("nan"), float("inf")])
@pytest.mark.parametrize("what", NUMBERS)
def test_a_number_is_one_within_its_range(what, value):
    with pytest.raises(UsageError, match=f"^{what}"):
        NUMBERS[what](value)


@pytest.mark.parametrize("value", [0, 2.5, True])
def test_other_things_than_expected_are_named(value):
    for call, words in [
        (lambda: rb.compare(QRELS, RUNS, "P@2", baseline=value), "There is no run"),
        (lambda: rb.compare(QRELS, RUNS, "P@2", clusters=value), "Clusters are a dict"),
        (lambda: rb.compare(QRELS, RUNS, "P@2").gate(value), "A gate takes conditions"),
    ]:
        with pytest.raises(UsageError, match=words):
            call()


def test_probabilities_that_are_none_get_the_shapes_expected():
    with pytest.raises(DataError, match=r"expected a path, \{query: \{document: \w+\}\}, a frame, or rows"):
        rb.uncertainty(QRELS, RUNS, "P@2", q=None)


@pytest.mark.parametrize("path", ["\ud800", "a\0b"])
def test_a_path_that_no_system_has_is_no_file(path):
    with pytest.raises(DataError):
        rb.evaluate(QRELS, path, "P@2")
