"""Expected scores against enumeration, and calibration against a general optimiser."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from made_samples import collection, pool_of
from scipy.optimize import minimize

import rankbounds as rb
from rankbounds.judging.audits.expected_scores import Features, Steps, counts_reaching, expected_scores
from rankbounds.measures import parse_measure
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.stats.logistic import fit_logistic


class TestExpectedScores:
    """Against the mean over all judgments that documents may get, each with its probability."""

    @pytest.mark.filterwarnings("ignore:.*no relevant document")
    @pytest.mark.parametrize("measure", ["AP", "AP@3", "Recall@2", "RBP(p=0.7)", "P@3"])
    def test_binary(self, measure):
        rng = np.random.default_rng(3)
        docs = [f"d{number}" for number in range(7)]
        labels = {"q": dict.fromkeys(docs, 1)}
        run = {"q": ["d3", "d0", "d6", "x", "d1", "d5"]}
        chance = rng.random(7)
        chance[:2] = 0.0, 1.0
        pool = pool_of(labels, run)
        steps = Steps(np.array([1.0]), TopicFacts(pool.labels))
        ((value,), slope) = next(expected_scores(parse_measure(measure), pool, steps, chance[None, :]))

        def mean(given):
            total = 0.0
            for grades in itertools.product((0, 1), repeat=7):
                weight = np.prod([c if grade else 1 - c for c, grade in zip(given, grades, strict=True)])
                if weight:
                    qrels = {"q": dict(zip(docs, grades, strict=True))}
                    total += weight * rb.evaluate(qrels, run, measure, bounds="none").value.item()
            return total

        assert value == pytest.approx(mean(chance))
        for doc in (0, 1, 3, 4):
            surely, surely_not = chance.copy(), chance.copy()
            surely[doc], surely_not[doc] = 1.0, 0.0
            assert slope[0, doc] == pytest.approx(mean(surely) - mean(surely_not), abs=1e-9)

    def test_numbers_that_reach_a_level(self):
        rng = np.random.default_rng(5)
        topic, chance = np.array([0, 1, 0, 0, 1]), rng.random(5)
        found = counts_reaching(topic, chance, 3, 2)
        expected = np.zeros((3, 3))
        expected[2, 0] = 1
        for number in (0, 1):
            mine = chance[topic == number]
            for reached in itertools.product((0, 1), repeat=mine.size):
                weight = np.prod(np.where(reached, mine, 1 - mine))
                expected[number, min(2, sum(reached))] += weight
        assert found == pytest.approx(expected)

    def test_ndcg_is_exact_where_everything_is_certain(self):
        people, _, runs = collection(2)
        pool = pool_of(people, runs)
        steps = Steps.of(pool.labels.grade, TopicFacts(pool.labels), parse_measure("nDCG@5"))
        certain = steps.reached(pool.labels.grade)
        found = [value for value, _ in expected_scores(parse_measure("nDCG@5"), pool, steps, certain)]
        assert np.stack(found) == pytest.approx(rb.evaluate(people, runs, "nDCG@5").value[:, :, 0])


class TestCalibration:
    def test_coefficients_are_the_most_plausible_ones(self):
        """Against a general optimiser."""
        _, labels, runs = collection(4)
        pool = pool_of(labels, runs)
        features = Features(pool)
        rows = np.arange(0, 60, 2)
        outcome = (np.random.default_rng(0).random(rows.size) < 0.4).astype(float)
        matrix = features.design(rows)
        sds = np.array([3.0] * (1 + features.labels) + [0.3] * (1 + 2 * features.topics))

        def implausibility(coefficient):
            logit = matrix @ coefficient
            return -(outcome @ logit - np.logaddexp(0, logit).sum()) + 0.5 * np.square(coefficient / sds).sum()

        expected = minimize(implausibility, np.zeros(matrix.shape[1]), tol=1e-10).x
        assert features.fit(rows, outcome, (0.3,)).coefficient == pytest.approx(expected, abs=1e-3)


def test_the_logistic_fit_is_where_the_posterior_is_flat():
    generator = np.random.default_rng(7)
    features = np.column_stack([np.ones(60), generator.normal(size=(60, 2))])
    outcome = (generator.random(60) < 0.3).astype(float)
    penalty = np.array([0.01, 1.0, 4.0])
    coefficients, curvature = fit_logistic(features, outcome, penalty)

    def slope(at):
        return features.T @ (outcome - 1 / (1 + np.exp(-features @ at))) - penalty * at

    assert slope(coefficients) == pytest.approx(np.zeros(3), abs=1e-9)
    steps = 1e-5 * np.eye(3)
    numeric = [(slope(coefficients - step) - slope(coefficients + step)) / 2e-5 for step in steps]
    assert curvature == pytest.approx(np.array(numeric), rel=1e-6)
