"""Figures of uncertainty: what is drawn is read back."""

from __future__ import annotations

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.probability.distribution import distribution_of_sum
from rankbounds.probability.models.estimates import reliability
from rankbounds.rankings.topic_facts import TopicFacts


def area(line):
    x, y = line.get_xdata(), line.get_ydata()
    return float(np.sum(np.diff(x) * y[:-1]))


@pytest.mark.parametrize(("q", "mean"), [(0.05, 0.005369), (0.2, 0.021475), (0.35, 0.037581), (0.5, 0.053687)])
def test_the_mean_of_fifty_topics_with_its_normal_curve(q, mean):
    weights = np.tile(0.2 * 0.8 ** np.arange(10, 100), 50) / 50  # below rank 10 of each topic
    axes = rb.plots.score_distribution(distribution_of_sum(weights, np.full(weights.size, q)), normal=True)
    step, bell = axes.get_lines()
    assert area(step) == pytest.approx(1, abs=1e-4)
    x, y = step.get_xdata(), step.get_ydata()
    assert float(np.sum((x[1:] + x[:-1]) / 2 * np.diff(x) * y[:-1])) == pytest.approx(mean, rel=0.01)
    assert bell.get_xdata()[np.argmax(bell.get_ydata())] == pytest.approx(mean, rel=0.02)
    axes.get_figure().canvas.draw()


def test_a_certain_score_can_be_drawn():
    axes = rb.plots.score_distribution(distribution_of_sum(np.empty(0), np.empty(0), 0.5), normal=True)
    assert area(axes.get_lines()[0]) == pytest.approx(1)


def test_reliability_shows_the_bins():
    drawn = rb.simulate(runs=3, topics=20, seed=1)
    found = reliability("logistic", drawn.runs, TopicFacts(drawn.pooled), bins=5)
    axes = rb.plots.reliability(found)
    points = axes.get_lines()[1]
    assert points.get_xdata() == pytest.approx(found.predicted)
    assert points.get_ydata() == pytest.approx(found.observed)
    assert "5 random parts" in axes.get_title()
