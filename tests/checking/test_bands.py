"""Ties on purpose: bands by exact arithmetic, worst differences, rounded scores."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.checking.bands import band_starts

RUN = rb.Run.from_columns(["q"] * 12, [f"d{at:02d}" for at in range(12)], [100 - at for at in range(12)], name="mine")


@pytest.mark.parametrize(
    ("rho", "starts"),
    [
        ("2", [1, 2, 4, 8, 16]),
        ("1.62", [1, 2, 4, 7, 12, 20]),
        (1.1, [*range(1, 12), 13, 15, 17, 19]),
        (1, list(range(1, 21))),
        (3.5, [1, 4, 14]),
        (Fraction(3, 2), [1, 2, 3, 5, 8, 12, 18]),
    ],
)
def test_bands_begin_where_the_paper_has_them(rho, starts):
    assert band_starts(rho, 20).tolist() == starts


def test_golden_bands_are_fibonacci_numbers_only_at_first():
    widths = np.diff(band_starts("1.62", 1000)).tolist()
    assert widths[:12] == [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 234]


def test_at_most_half_of_a_band_is_relevant_in_the_worst_case():
    for rho in ("1.4", "2", "3"):
        starts = band_starts(rho, 100)
        for start, after in itertools.pairwise(starts.tolist()):
            weights = 0.85 ** np.arange(start, after)
            lost = np.cumsum(weights) - np.arange(1, weights.size + 1) * weights.mean()
            assert np.argmax(lost) + 1 <= (weights.size + 1) / 2


def test_rho_is_the_decimal_that_was_written():
    # 1.1 * 10 is 11.000000000000002 in floating point, and its ceiling 12 would make ranks 10 and 11 one band.
    assert 11 in band_starts(1.1, 20)
    assert rb.checking.rank_safe_depth(1.1) == rb.checking.rank_safe_depth("1.1") == 10


@pytest.mark.parametrize("rho", ["1.01", "1.1", "1.2", "1.4", "1.5", "1.7", "2.0", "2.5", "7"])
def test_rank_safe_depth_is_the_last_rank_before_a_band_of_several(rho):
    starts = band_starts(rho, 400)
    width = np.diff(starts)
    assert rb.checking.rank_safe_depth(rho) == starts[np.argmax(width > 1)] - 1
    assert rb.checking.rank_safe_depth(1) is None


TABLE_2 = {
    "1.1": (0.0038, 0.0002, 0.0087),
    "1.2": (0.0119, 0.0052, 0.0231),
    "1.4": (0.0417, 0.0429, 0.0482),
    "1.7": (0.0833, 0.0945, 0.0777),
    "2.0": (0.0833, 0.1016, 0.0971),
}


@pytest.mark.parametrize("rho", TABLE_2)
def test_worst_differences_of_table_2(rho):
    found = [rb.checking.worst_difference(measure, rho) for measure in ("RR", "RBP(p=0.5)", "RBP(p=0.85)")]
    assert [round(one, 4) for one in found] == list(TABLE_2[rho])


@pytest.mark.parametrize("measure", ["RR@8", "RR", "P@3", "P@5", "P@7", "DCG@6", "RBP(p=0.6)@7"])
@pytest.mark.parametrize("rho", ["1.4", "2", "3"])
def test_worst_difference_is_the_largest_over_all_runs(measure, rho):
    """All lists with relevant documents among the first eight, long enough to hold the bands whole."""
    exact = rb.Run.from_columns(["q"] * 16, [f"d{at:02d}" for at in range(16)], range(16, 0, -1))
    gains = list(itertools.product((0, 1), repeat=8))[1:]
    qrels = {f"{number}": {f"d{at:02d}": gain for at, gain in enumerate(one)} for number, one in enumerate(gains)}
    before, after = (
        rb.evaluate(qrels, dict.fromkeys(qrels, run.to_dict()["q"]), measure, ties="expected", bounds="none").value
        for run in (exact, rb.Run(exact).banded(rho))
    )
    largest = float((before - after).max())
    assert rb.checking.worst_difference(measure, rho) == pytest.approx(largest, abs=1e-9)


@pytest.mark.parametrize(
    ("measure", "told"), [("AP", "not a sum over ranks"), ("nDCG@5", "not a sum"), ("DCG", "give it a depth")]
)
def test_measures_without_a_worst_difference(measure, told):
    with pytest.raises(rb.UsageError, match=told):
        rb.checking.worst_difference(measure, 1.4)


@pytest.mark.parametrize("rho", ["0.9", "x", "nan", "inf", "1/0", -1])
def test_bad_rhos(rho):
    with pytest.raises(rb.UsageError, match="rho must be"):
        band_starts(rho, 10)


def test_banded_run():
    found = rb.Run(RUN).banded("1.4")
    assert found.name == "mine"
    bands = [1, 2, 3, 3, 4, 4, 5, 5, 5, 6, 6, 6]
    assert found.score.tolist() == [1 / band for band in bands]
    assert found.stated_rank.tolist() == list(range(1, 13))
    assert RUN.score[0] == 100  # the run given is never changed


def test_topics_are_banded_apart_and_ranked_first():
    run = rb.Run.from_columns(["a", "b", "a", "b", "a"], ["x", "x", "y", "y", "z"], [1, 5, 3, 6, 2])
    found = rb.Run(run).banded(2).to_dict()
    assert found == {"a": {"y": 1.0, "z": 0.5, "x": 0.5}, "b": {"y": 1.0, "x": 0.5}}
    in_line_order = rb.Run(run).banded(2, ties="run").to_dict()
    assert in_line_order == {"a": {"x": 1.0, "y": 0.5, "z": 0.5}, "b": {"x": 1.0, "y": 0.5}}


def one_score(value):
    return rb.Run.from_columns(["q", "q", "q"], ["a", "b", "c"], [value, 0.0, 255.0])


@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        (1 + 2**-9, {"bits": "float16"}, 1 + 2**-9),
        (1 + 2**-12, {"bits": "float16"}, 1.0),
        (1 + 2**-8, {"bits": "bfloat16"}, 1.0),  # half way: to the even neighbour
        (1 + 3 * 2**-8, {"bits": "bfloat16"}, 1 + 2**-6),
        (1 + 2**-7, {"bits": "bfloat16"}, 1 + 2**-7),
        (-1 - 2**-6, {"bits": "bfloat16"}, -1 - 2**-6),
        (1 + 2**-30, {"bits": "float32"}, 1.0),
        (100.4, {"bits": 8}, 100.0),
        (100.6, {"bits": "8"}, 101.0),
        (12345.6, {"digits": 2}, 12000.0),
        (0.0012345, {"digits": 3}, 0.00123),
        (12.3456, {"decimals": 2}, 12.35),
    ],
)
def test_rounded_scores(value, options, expected):
    if options.get("bits") in (8, "8"):
        assert rb.Run(one_score(value)).rounded(**options).score[0] == pytest.approx(expected)
    else:
        assert rb.Run(one_score(value)).rounded(**options).score[0] == expected


def test_rounding_never_changes_an_order():
    rng = np.random.default_rng(3)
    score = np.sort(rng.normal(size=2000) * 10.0 ** rng.integers(-4, 4, 2000))
    run = rb.Run.from_columns(["q"] * 2000, [f"d{at}" for at in range(2000)], score)
    for options in ({"bits": "float16"}, {"bits": "bfloat16"}, {"bits": 5}, {"digits": 2}, {"decimals": 1}):
        assert (np.diff(rb.Run(run).rounded(**options).score) >= 0).all(), options


def test_rounding_errors():
    with pytest.raises(rb.DataError, match="does not fit float16"):
        rb.Run(one_score(1e6)).rounded(bits="float16")
    for options in ({}, {"bits": 8, "digits": 2}, {"bits": "float15"}, {"bits": 0}, {"digits": 0}, {"decimals": -1}):
        with pytest.raises(rb.UsageError):
            rb.Run(RUN).rounded(**options)


@pytest.mark.parametrize("rho", ["0.5", "nan", "1/0", "1e999999999", "1e-999999999", "99999999999999999999"])
def test_growth_that_cannot_be(rho):
    with pytest.raises(rb.UsageError):
        rb.checking.worst_difference("RR", rho)
    with pytest.raises(rb.UsageError):
        rb.Run(RUN).banded(rho)


def test_no_limit_is_known_for_average_precision():
    with pytest.raises(rb.UsageError, match="no known worst difference"):
        rb.checking.worst_difference("AP", "1.4")


def test_bands_take_what_evaluate_takes():
    nested = RUN.to_dict()
    assert rb.Run(nested).banded(2).to_dict() == rb.Run(RUN).banded(2).to_dict()
    assert rb.Run(nested).rounded(digits=1).to_dict() == rb.Run(RUN).rounded(digits=1).to_dict()
    with pytest.raises(rb.UsageError, match='"expected" is not a choice for ties'):
        rb.Run(RUN).banded(2, ties="expected")
