"""Figures of published scores over all persistences, rendered and read back."""

from __future__ import annotations

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.rbp.published_score import accumulate, greedy_vectors

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


def test_panel_says_what_cannot_occur():
    axes = rb.plots.range_panel(persistences=(0.2, 0.8), scores=(0.5, 0.8), methods=("relaxed",), digits=2)
    axes[0, 0].get_figure().canvas.draw()
    assert axes.shape == (2, 2)
    assert [text.get_text() for text in axes[1, 0].texts] == ["cannot occur"]
    assert not axes[1, 0].collections
    assert axes[1, 1].get_title() == "RBP 0.50 at p=0.8"
    assert axes[0, 1].get_title() == "RBP 0.80 at p=0.8"
    assert len(axes[0, 1].collections) == 1


def test_draws_on_given_axes():
    from matplotlib.figure import Figure

    mine = Figure().add_subplot()
    published = rb.rbp.Published(0.5, 0.8)
    assert rb.plots.range_over_persistence(published, mine, persistences=GRID, methods=("relaxed",)) is mine
