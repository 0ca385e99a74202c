"""Ties on purpose: bands by exact arithmetic, rounded scores."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.collection.bands import band_starts

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


def test_rho_is_the_decimal_that_was_written():
    # 1.1 * 10 is 11.000000000000002 in floating point, and its ceiling 12 would make ranks 10 and 11 one band.
    assert 11 in band_starts(1.1, 20)


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
        (12345.6, {"digits": 2}, 12000.0),
        (0.0012345, {"digits": 3}, 0.00123),
    ],
)
def test_rounded_scores(value, options, expected):
    assert rb.Run(one_score(value)).rounded(**options).score[0] == expected


def test_rounding_never_changes_an_order():
    rng = np.random.default_rng(3)
    score = np.sort(rng.normal(size=2000) * 10.0 ** rng.integers(-4, 4, 2000))
    run = rb.Run.from_columns(["q"] * 2000, [f"d{at}" for at in range(2000)], score)
    for options in ({"bits": "float16"}, {"bits": "bfloat16"}, {"digits": 2}):
        assert (np.diff(rb.Run(run).rounded(**options).score) >= 0).all(), options


def test_rounding_errors():
    with pytest.raises(rb.DataError, match="does not fit float16"):
        rb.Run(one_score(1e6)).rounded(bits="float16")
    for options in ({}, {"bits": "float16", "digits": 2}, {"bits": "float15"}, {"bits": 8}, {"digits": 0}):
        with pytest.raises(rb.UsageError):
            rb.Run(RUN).rounded(**options)


@pytest.mark.parametrize("rho", ["0.5", "nan", "1/0", "1e999999999", "1e-999999999", "99999999999999999999"])
def test_growth_that_cannot_be(rho):
    with pytest.raises(rb.UsageError):
        rb.Run(RUN).banded(rho)


def test_bands_take_what_evaluate_takes():
    nested = RUN.to_dict()
    assert rb.Run(nested).banded(2).to_dict() == rb.Run(RUN).banded(2).to_dict()
    assert rb.Run(nested).rounded(digits=1).to_dict() == rb.Run(RUN).rounded(digits=1).to_dict()
    with pytest.raises(rb.UsageError, match='"expected" is not a choice for ties'):
        rb.Run(RUN).banded(2, ties="expected")
