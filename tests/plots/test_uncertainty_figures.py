"""Figures of uncertainty: what is drawn is read back."""

from __future__ import annotations

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.probability.distribution import distribution_of_sum


def area(line):
    x, y = line.get_xdata(), line.get_ydata()
    return float(np.sum(np.diff(x) * y[:-1]))


def test_distributions_by_probability():
    axes = rb.plots.rbp_uncertainty()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["q = 0.05", "q = 0.2", "q = 0.35", "q = 0.5"]
    assert "ranks 11 to 100 (p = 0.8)" in axes.get_xlabel()
    for line in axes.get_lines():
        assert area(line) == pytest.approx(1, abs=1e-4)
    axes.get_figure().canvas.draw()


def test_means_over_topics_with_their_normal_curves():
    axes = rb.plots.rbp_uncertainty(topics=50)
    steps, bells = axes.get_lines()[::2], axes.get_lines()[1::2]
    assert len(bells) == 4
    for step, bell, mean in zip(steps, bells, (0.005369, 0.021475, 0.037581, 0.053687), strict=True):
        x, y = step.get_xdata(), step.get_ydata()
        middle = (x[1:] + x[:-1]) / 2
        assert float(np.sum(middle * np.diff(x) * y[:-1])) == pytest.approx(mean, rel=0.01)
        assert bell.get_xdata()[np.argmax(bell.get_ydata())] == pytest.approx(mean, rel=0.02)


def test_a_certain_score_can_be_drawn():
    axes = rb.plots.score_distribution(distribution_of_sum(np.empty(0), np.empty(0), 0.5), normal=True)
    assert area(axes.get_lines()[0]) == pytest.approx(1)


@pytest.mark.parametrize(("what", "most"), [("mean", 0.10034), ("sd", 0.00281)])
def test_contours_of_the_urn(what, most):
    axes = rb.plots.urn_contours(what=what)
    (contours,) = axes.collections
    levels = contours.levels
    inside = [level for level, paths in zip(levels, contours.get_paths(), strict=True) if paths.vertices.size]
    assert 0.7 * most < max(inside) <= most
    assert ("sd of" if what == "sd" else "mean of") in axes.get_title()
    assert "w" in axes.get_xlabel()
