"""Where runs cross: roots that are known, a grid of scores, and the laws of regions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_residuals import collection

import rankbounds as rb
from rankbounds.rbp.crossings import sign_changes
from test_laws import LAW

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


def times(*factors):
    product = [1]
    for factor in factors:
        product = [
            sum(product[at] * factor[whole - at] for at in range(len(product)) if 0 <= whole - at < len(factor))
            for whole in range(len(product) + len(factor) - 1)
        ]
    return product


def root(numerator: int, denominator: int):
    """A polynomial that is 0 at numerator / denominator and positive before."""
    return [numerator, -denominator]


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ([root(1, 2)], [0.5]),
        ([root(1, 2), root(1, 2)], []),
        ([root(1, 2)] * 3, [0.5]),
        ([root(3, 10), root(5, 10), root(5, 10), root(7, 10)], [0.3, 0.7]),
        ([root(1, 3), root(1_004, 3_000)], [1 / 3, 1_004 / 3_000]),
        ([[0, 1], [0, 1], root(1, 4), [1, -1], [1, -1]], [0.25]),
        ([[1, 0, 1]], []),
        ([root(1, 2), root(2, 1)], [0.5]),
        ([[0]], []),
        ([[1, -1]], []),
    ],
)
def test_sign_changes_of_known_polynomials(factors, expected):
    sign, found = sign_changes(np.array(times(*factors), dtype=float))
    assert [place for place, _ in found] == pytest.approx(expected, abs=1e-10)
    assert all(one != other for one, other in itertools.pairwise([sign, *(after for _, after in found)]))


@settings(LAW, max_examples=40)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=5), st.integers(1, 19))
def test_every_root_of_odd_order_is_found_and_no_other(numerators, extra):
    polynomial = np.array(times(*(root(one, 20) for one in {*numerators, extra}), [3, 1, 4]), dtype=float)
    odd = sorted(one for one in {*numerators, extra} if 0 < one < 20)
    assert [place for place, _ in sign_changes(polynomial)[1]] == pytest.approx([one / 20 for one in odd], abs=1e-10)


def exact_sign(coefficients, place: Fraction) -> int:
    total = sum(one * place**at for at, one in enumerate(coefficients))
    return (total > 0) - (total < 0)


@LAW
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=25))
def test_signs_between_changes_are_those_of_a_fine_grid(coefficients):
    sign, changes = sign_changes(np.array(coefficients, dtype=float))
    for place in (Fraction(at, 200) for at in range(1, 200)):
        expected = next((after for at, after in reversed(changes) if at < place), sign)
        if not any(abs(at - place) < 1e-9 for at, _ in changes):
            assert exact_sign(coefficients, place) in (expected, 0), place


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("measure", [rb.RBP(), rb.RBP(graded=True), rb.RBP(rel=2, cutoff=6)])
def test_regions_are_what_a_fine_grid_of_scores_shows(seed, measure):
    qrels, runs = collection(seed, tied=seed % 2 == 0)
    names = ["run0", "run1"]
    grid = np.linspace(0.005, 0.995, 100)
    scores = rb.rbp.bounds_by_persistence(qrels, {name: runs[name] for name in names}, grid, measure=measure)
    found = rb.rbp.find_crossings(qrels, {name: runs[name] for name in names}, measure=measure, per_topic=True).regions
    for part in (scores, scores.mean()):
        for topic, query in enumerate(part.query_ids):
            mine = [region for region in found if region["query_id"] == query]
            assert (mine[0]["p_from"], mine[-1]["p_to"]) == (0, 1)
            assert all(one["p_to"] == other["p_from"] for one, other in itertools.pairwise(mine))
            for at, p in enumerate(grid):
                region = next(one for one in mine if one["p_from"] <= p <= one["p_to"])
                if min(abs(region["p_from"] - p), abs(region["p_to"] - p)) < 1e-9:
                    continue
                difference = part.value[0, topic, at] - part.value[1, topic, at]
                ahead = "tied" if abs(difference) < 1e-15 else names[int(difference < 0)]
                assert region["ahead"] == ahead or abs(difference) < 1e-12
                gap = max(
                    part.low[0, topic, at] - part.high[1, topic, at], part.low[1, topic, at] - part.high[0, topic, at]
                )
                assert region["sure"] == (gap > 0) or abs(gap) < 1e-12


def crossings_of(first, second, **options):
    """The crossings of two runs of which the gains are known, by topic and rank; None is unjudged."""
    qrels, runs = {}, {"a": {}, "b": {}}
    for name, topics in (("a", first), ("b", second)):
        for topic, gains in enumerate(topics):
            docs = [f"{name}{rank}" for rank in range(len(gains))]
            runs[name][str(topic)] = docs
            judged = {doc: gain for doc, gain in zip(docs, gains, strict=True) if gain is not None}
            qrels.setdefault(str(topic), {"elsewhere": 0}).update(judged)
    return rb.rbp.find_crossings(qrels, runs, **options)


def test_two_lists_cross_where_their_polynomials_do():
    # RBP of 1 0 0 0 and 0 1 1 1: the first is ahead while p + p^2 + p^3 < 1
    rows = crossings_of([[1, 0, 0, 0]], [[0, 1, 1, 1]]).rows()
    assert [list(row) for row in rows] == [["query_id", "p", "from", "to", "change"]] * 2
    assert rows[0] | {"p": None} == {
        "query_id": "all", "p": None, "from": "a surely", "to": "undecided", "change": "certainty",
    }  # fmt: skip
    assert rows[0]["p"] == 0.5  # 1 - p against p: what follows a list may be relevant
    assert (rows[1]["from"], rows[1]["to"], rows[1]["change"]) == ("a", "b", "winner")
    assert rows[1]["p"] == pytest.approx(0.5436890126920764, abs=1e-15)


def test_the_golden_ratio_comes_out_to_twelve_digits():
    (winner,) = [row for row in crossings_of([[1, 0, 0]], [[0, 1, 1]]).rows() if row["change"] == "winner"]
    assert winner["p"] == pytest.approx((5**0.5 - 1) / 2, abs=1e-12)


def test_unjudged_documents_leave_the_lead_undecided():
    assert crossings_of([[1, 0]], [[None, 0]]).regions[0]["sure"] is False
    assert crossings_of([[1, 0]], [[0, None]]).regions[0]["sure"] is True
    assert [region["ahead"] for region in crossings_of([[0, 1]], [[0, 1]]).regions] == ["tied"]
    graded = crossings_of([[1, 2]], [[2, 0]], measure=rb.RBP(graded=True)).rows()
    assert graded[-1]["p"] == pytest.approx(0.5)


def test_equal_gains_that_rounding_tells_apart_are_tied():
    topics = [[1, 2, 3], [3, 1, 2], [2, 3, 1]]  # thirds, summed in another order
    assert [region["ahead"] for region in crossings_of(topics, topics[::-1], measure=rb.RBP(graded=True)).regions] == [
        "tied"
    ]


def test_means_cross_elsewhere_than_topics():
    a, b = [[1, 0, 0], [0, 0, 1]], [[0, 1, 1], [0, 1, 0]]
    found = crossings_of(a, b, per_topic=True).rows()
    winners = {row["query_id"]: row["p"] for row in found if row["change"] == "winner"}
    assert winners["0"] == pytest.approx((5**0.5 - 1) / 2)
    assert winners["all"] == pytest.approx(0.5)
    assert "1" not in winners


def test_wrong_usage_is_told():
    with pytest.raises(rb.UsageError, match="one order"):
        rb.rbp.find_crossings({"q": {"a": 1}}, [{"q": {"a": 1.0}}, {"q": {"b": 1.0}}], ties="best")
    with pytest.raises(rb.UsageError, match="two runs"):
        rb.rbp.find_crossings({"q": {"a": 1}}, {"q": {"a": 1.0}})
