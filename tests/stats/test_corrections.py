"""Corrections for several tests: p-values keep their order, and no number of other tests makes one smaller."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankbounds.stats.corrections import CORRECTIONS, correct_p_values

OF_P_VALUES = [name for name, correction in CORRECTIONS.items() if correction.of_ranked is not None]


@pytest.mark.parametrize("correction", OF_P_VALUES)
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=5).map(lambda few: np.array(few * 3)))
def test_corrected_p_values_are_never_below_those_alone_and_keep_their_order(correction, p):
    found = correct_p_values(p, correction)
    assert (found >= p).all()
    assert (found <= 1).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(found[order]) >= 0).all()


def test_corrections_work_along_the_last_axis():
    p = np.random.default_rng(0).random((4, 10)) ** 3
    for correction in OF_P_VALUES:
        assert np.array_equal(correct_p_values(p, correction), [correct_p_values(row, correction) for row in p])
    assert correct_p_values(p, "bh")[0] == pytest.approx(stats.false_discovery_control(p[0]))
