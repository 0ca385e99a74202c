"""Kappa, alpha, confusion and shares beside plain definitions that share no code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_labels import made, paired, plain_alpha, plain_kappa
from scipy import stats

import rankbounds as rb
from rankbounds.judging.judges.agreement import alpha, disagreement, kappa
from rankbounds.stats.significance import Resampling, topic_counts

COEFFICIENTS = ("kappa", "kappa_linear", "kappa_quadratic")


@pytest.mark.parametrize("seed", range(3))
def test_kappa_and_alpha_by_their_definitions(seed):
    people, models, _ = made(seed)
    row = rb.judging.compare_judges(people, {"model": models["one"]}, rel=2).agreement[0]
    pairs = paired(people, models["one"])
    relevant = (pairs >= 2).astype(float)
    assert row["pairs"] == len(pairs)
    assert row["kappa"] == pytest.approx(plain_kappa(relevant, lambda a, b: a != b))
    assert row["kappa_linear"] == pytest.approx(plain_kappa(pairs, lambda a, b: abs(a - b)))
    assert row["kappa_quadratic"] == pytest.approx(plain_kappa(pairs, lambda a, b: (a - b) ** 2))
    assert row["alpha"] == pytest.approx(plain_alpha(pairs))
    assert row["shift"] == pytest.approx(np.mean(pairs[:, 1] - pairs[:, 0]))
    assert row["shift_relevant"] == pytest.approx(np.mean(relevant[:, 1] - relevant[:, 0]))
    assert row["same"] == pytest.approx(np.mean(relevant[:, 0] == relevant[:, 1]))


def test_kappa_as_scikit_learn_has_it():
    metrics = pytest.importorskip("sklearn.metrics", reason="kappa is held against scikit-learn")
    for seed in range(4):
        people, models, _ = made(seed, grades=3 + seed % 2)
        for name, labels in models.items():
            row = rb.judging.compare_judges(people, {name: labels}, rel=1).agreement[0]
            trusted, other = paired(people, labels).T.astype(int)
            known = list(range(5))
            assert row["kappa"] == pytest.approx(metrics.cohen_kappa_score(trusted >= 1, other >= 1))
            for field, weights in (
                ("kappa_linear", "linear"),
                ("kappa_quadratic", "quadratic"),
            ):
                expected = metrics.cohen_kappa_score(trusted, other, labels=known, weights=weights)
                assert row[field] == pytest.approx(expected), field


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=25))
def test_coefficients_of_any_table(given_pairs):
    pairs = np.array(given_pairs, dtype=float)
    table = np.zeros((4, 4))
    for a, b in given_pairs:
        table[a, b] += 1
    grades = np.arange(4.0)
    found = alpha(table)
    if len(set(pairs.ravel().tolist())) == 1:
        assert np.isnan(found)
        assert np.isnan(kappa(table, disagreement(grades, 2)))
        return
    assert found == pytest.approx(plain_alpha(pairs))
    assert alpha(table.T) == pytest.approx(found)
    expected = np.mean([(a - b) ** 2 for a in pairs[:, 0] for b in pairs[:, 1]])
    if expected:
        assert kappa(table, disagreement(grades, 2)) == pytest.approx(plain_kappa(pairs, lambda a, b: (a - b) ** 2))


def test_intervals_are_standard_errors_over_topics_drawn_again():
    people, models, _ = made(4)
    row = rb.judging.compare_judges(
        people, {"model": models["two"]}, rel=1, resamples=60, seed=5, confidence=0.8
    ).agreement[0]
    topics = list(people)
    drawn = []
    for counts in topic_counts(len(topics), Resampling(60, 5)):
        chosen = [topic for topic, count in zip(topics, counts, strict=True) for _ in range(int(count))]
        pairs = paired(people, models["two"], chosen)
        drawn.append((
            plain_kappa(pairs, lambda a, b: abs(a - b)),
            plain_alpha(pairs),
            np.mean(pairs[:, 1] - pairs[:, 0]),
        ))  # fmt: skip
    for place, name in enumerate(("kappa_linear", "alpha", "shift")):
        half = stats.t.ppf(0.9, 8) * np.std(np.array(drawn)[:, place]) * np.sqrt(9 / 8)
        assert row[f"{name}_low"] == pytest.approx(row[name] - half)
        assert row[f"{name}_high"] == pytest.approx(row[name] + half)


def test_confusion_and_shares_by_grade():
    people, models, _ = made(2)
    found = rb.judging.compare_judges(people, models, rel=2)
    for name, labels in models.items():
        pairs = paired(people, labels)
        for row in found.confusion:
            if row["labels"] == name:
                expected = np.count_nonzero((pairs[:, 0] == row["trusted"]) & (pairs[:, 1] == row["by_labels"]))
                assert row["pairs"] == expected
        for row in found.by_grade:
            if row["labels"] == name:
                of_grade = pairs[pairs[:, 0] == row["trusted"], 1]
                assert (row["pairs"], row["relevant"]) == (len(of_grade), pytest.approx(np.mean(of_grade >= 2)))
    assert sum(row["pairs"] for row in found.confusion) == sum(row["pairs"] for row in found.agreement)
