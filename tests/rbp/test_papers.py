"""Worked examples of the papers."""

from __future__ import annotations

import numpy as np
import pytest

import rankbounds as rb

LIST = "$$---$----$-----$---"


def collection(ranking: str, relevant_elsewhere: int = 0):
    """A run whose documents are relevant ($), not (-) or unjudged (?), and judgments to match."""
    run = {"q": {f"d{at:03d}": -at for at in range(len(ranking))}}
    judged = {f"d{at:03d}": int(sign == "$") for at, sign in enumerate(ranking) if sign != "?"}
    return {"q": judged | {f"x{at}": 1 for at in range(relevant_elsewhere)}}, run


def score(ranking: str, measure: str, relevant_elsewhere: int = 0, **options):
    scores = rb.evaluate(*collection(ranking, relevant_elsewhere), measure, **options)
    return scores.value[0, 0, 0], scores.low[0, 0, 0], scores.high[0, 0, 0]


@pytest.mark.parametrize(("elsewhere", "expected"), [(0, 0.63155), (1, 0.52629), (2, 0.45111)])
def test_average_precision_falls_as_more_relevant_documents_are_known(elsewhere, expected):
    assert score(LIST, "AP", elsewhere)[0] == pytest.approx(expected, abs=6e-6)


@pytest.mark.parametrize(("p", "expected"), [(0.5, 0.7661), (0.8, 0.4526), (0.95, 0.1881)])
def test_rank_biased_precision_of_table_2(p, expected):
    assert score(LIST, f"RBP(p={p})")[0] == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("p", "low", "high"), [(0.5, 0.76611, 0.76630), (0.8, 0.44701, 0.48891), (0.95, 0.16613, 0.59930)]
)
def test_rank_biased_precision_with_unjudged_documents(p, low, high):
    found = score("$$---$----$-??--?---", f"RBP(p={p})")
    assert found[1:] == pytest.approx((low, high), abs=6e-6)


def test_rank_biased_precision_of_a_short_list():
    assert score("$$-$---$", "RBP(p=0.5)")[0] == pytest.approx(0.8164, abs=5e-5)


def test_what_lies_beyond_the_list_is_unknown():
    value, low, high = score("$-$", "RBP(p=0.8)")
    assert (value, high - low) == (pytest.approx(low), pytest.approx(0.8**3))
    value, low, high = score("$-$-$", "RBP(p=0.8)@2")
    assert (value, high - low) == (pytest.approx(0.2), pytest.approx(0.8**2))


@pytest.mark.parametrize(("depth", "expected"), [(100, 21.788), (1000, 123.991)])
def test_discounted_gain_has_no_limit(depth, expected):
    qrels = {"q": {f"d{at}": 1 for at in range(depth)}}
    run = {"q": {f"d{at}": -at for at in range(depth)}}
    assert rb.evaluate(qrels, run, "DCG(base=2)").value[0, 0, 0] == pytest.approx(expected, abs=5e-4)


def test_average_over_retrieved_falls_when_more_is_found():
    assert score(LIST, "AP*")[0] == pytest.approx(0.63155, abs=6e-6)
    assert score("$$---$----$-----$$$$", "AP*")[0] == pytest.approx(0.5324, abs=5e-5)


def test_average_precision_with_unjudged_documents_can_rise_and_fall():
    value, low, high = score("$--$------??????????", "AP")
    assert value == pytest.approx(0.75)
    assert high == pytest.approx(0.75)
    assert low < 0.5909


class TestTiedRun:
    """Figure 1 of Yang, Moffat and Turpin: gains 0 | 0 1 1 | 0 1 | 1 | 0 0 1, five relevant documents."""

    groups = ((0,), (0, 1, 1), (0, 1), (1,), (0, 0, 1))
    run = {"q": {f"d{at}{place}": -at for at, group in enumerate(groups) for place in range(len(group))}}  # noqa: RUF012
    qrels = {"q": {f"d{at}{place}": gain for at, group in enumerate(groups) for place, gain in enumerate(group)}}  # noqa: RUF012

    def range_of(self, measure):
        scores = rb.evaluate(self.qrels, self.run, measure, bounds="ties")
        return scores.low[0, 0, 0], scores.high[0, 0, 0]

    @pytest.mark.parametrize(
        ("measure", "low", "high"),
        [("RBP(p=0.5)", 0.2119141, 0.4179688), ("RR", 1 / 3, 1 / 2), ("AP", 0.4809524, 0.5926190), ("P@5", 0.4, 0.6)],
    )
    def test_range_over_orders(self, measure, low, high):
        assert self.range_of(measure) == pytest.approx((low, high), abs=5e-8)

    @pytest.mark.parametrize(
        ("measure", "expected"),
        [("RBP(p=0.5)", 0.3251953), ("P@5", 0.5), ("RR", 4 / 9), ("AP", 0.5363228)],
    )
    def test_mean_over_orders(self, measure, expected):
        scores = rb.evaluate(self.qrels, self.run, measure, ties="expected")
        assert scores.value[0, 0, 0] == pytest.approx(expected, abs=5e-8)


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_zero_persistence_is_precision_at_one():
    rng = np.random.default_rng(5)
    for _ in range(20):
        ranking = "".join(rng.choice(list("$-?"), 6))
        assert score(ranking, "RBP(p=0)") == pytest.approx(score(ranking, "P@1"))
