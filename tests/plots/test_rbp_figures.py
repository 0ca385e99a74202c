"""Figures of published scores over all persistences, and of uncertainty: what is drawn is read back."""

from __future__ import annotations

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.rbp.published_score import accumulate, greedy_vectors
from rankbounds.studies import uncertainty_by_relevance_ratio

matplotlib = pytest.importorskip("matplotlib")
GRID = (0.2, 0.5, 0.9)


def drawn(axes):
    """Bands as {label: (p, low, high)} and lines as {label: (p, value)}."""
    axes.get_figure().canvas.draw()
    bands = {}
    for band in axes.collections:
        corners = band.get_paths()[0].vertices
        persistences = np.unique(corners[:, 0])
        ends = [corners[corners[:, 0] == p, 1] for p in persistences]
        bands[band.get_label()] = persistences, [one.min() for one in ends], [one.max() for one in ends]
    return bands, {line.get_label(): line.get_data() for line in axes.lines}


def test_range_over_persistence():
    axes = rb.plots.range_over_persistence(rb.rbp.Published(0.5105, 0.9), persistences=(0.855, 0.5))
    bands, lines = drawn(axes)
    persistences, low, high = bands["exact"]
    assert persistences.tolist() == [0.5, 0.855, 0.9]
    expected = rb.rbp.transfer(0.5105, 0.9, 0.855)
    assert (low[1], high[1]) == pytest.approx((expected.low, expected.high), abs=1e-6)
    assert bands["relaxed"][2][1] > high[1] > lines["greedy $R_G$"][1][1] == pytest.approx(0.645577, abs=1e-6)
    assert [float(value[0]) for value in lines["published"]] == pytest.approx([0.9, 0.5105])
    assert axes.get_xlabel() == "persistence p"
    assert "0.5105 at p=0.9" in axes.get_title()


def test_range_with_residual():
    axes = rb.plots.range_over_persistence(
        rb.rbp.Published(0.4, 0.8, 0.15, digits=4), persistences=GRID, methods=("relaxed", "greedy")
    )
    bands, lines = drawn(axes)
    expected = [rb.rbp.transfer(0.4, 0.8, to, residual=0.15, digits=4, method="relaxed") for to in (0.2, 0.5, 0.8, 0.9)]
    assert bands["relaxed"][1] == pytest.approx([one.low for one in expected])
    assert bands["relaxed"][2] == pytest.approx([one.high for one in expected])
    vectors = greedy_vectors(0.4, 0.8, residual=0.15)
    open_ = accumulate(vectors.greatest + vectors.unjudged_greatest, 0.5)
    assert lines["greedy $R'_G$"][1][1] == pytest.approx(float(open_))
    assert {"greedy $R_G$", "greedy $R_L$", "greedy $R'_L$"} <= set(lines)


def test_draws_on_given_axes():
    from matplotlib.figure import Figure

    mine = Figure().add_subplot()
    published = rb.rbp.Published(0.5, 0.8)
    assert rb.plots.range_over_persistence(published, mine, persistences=GRID, methods=("relaxed",)) is mine


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
    axes = rb.plots.rbp_uncertainty(q=[0.0])
    assert area(axes.get_lines()[0]) == pytest.approx(1)


@pytest.mark.parametrize(("what", "most"), [("mean", 0.10034), ("sd", 0.00281)])
def test_contours_of_the_urn(what, most):
    panels = uncertainty_by_relevance_ratio.draw(uncertainty_by_relevance_ratio(relevance_ratios=(0.5,), shares=(0.2,)))
    axes = panels.flat[("mean", "sd").index(what)]
    (contours,) = axes.collections
    levels = contours.levels
    inside = [level for level, paths in zip(levels, contours.get_paths(), strict=True) if paths.vertices.size]
    assert 0.7 * most < max(inside) <= most
    assert axes.get_title() == {"mean": "mean", "sd": "standard deviation"}[what]
    assert "w" in axes.get_xlabel()
