"""Planning depths and judgments, choosing p, and contributions of documents."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_papers import LIST, collection
from test_residuals import collection as random_collection

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.rbp.planning import best_agreement
from test_laws import LAW

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


@pytest.mark.parametrize(
    ("p", "digits", "depth"),
    [(0.5, 4, 14), (0.8, 4, 42), (0.95, 4, 180), (0.1, 4, 5), (0, 4, 1), (0.01, 2, 2)],
)
def test_depths_of_section_4_4(p, digits, depth):
    assert rb.rbp.plan(p, digits)["depth"] == depth


@LAW
@given(st.integers(0, 990), st.integers(1, 6))
def test_planned_depth_is_the_smallest_that_will_do(thousandths, digits):
    p, goal = Fraction(thousandths, 1000), Fraction(1, 10**digits)
    depth = rb.rbp.plan(float(p), digits)["depth"]
    assert p**depth < goal
    assert depth == 1 or p ** (depth - 1) >= goal


def test_a_pool_of_100_supports_persistence_up_to_091():
    assert rb.rbp.plan(depth=100, digits=4)["p"] == pytest.approx(0.91, abs=0.005)
    for depth, digits in ((1, 1), (4, 4), (10, 2), (100, 4), (1000, 3)):
        p = rb.rbp.plan(depth=depth, digits=digits)["p"]
        assert rb.rbp.plan(p, digits)["depth"] <= depth < rb.rbp.plan(p + 2e-6, digits)["depth"]


def test_judgments_of_a_planned_depth_bring_every_residual_down():
    rng = np.random.default_rng(8)
    docs = [f"d{at}" for at in range(150)]
    runs = {
        f"r{n}": {f"t{t}": {d: -at for at, d in enumerate(rng.permutation(docs)[:80])} for t in range(3)}
        for n in range(3)
    }
    qrels = {f"t{t}": {d: int(rng.integers(0, 2)) for d in docs if rng.random() < 0.5} for t in range(3)}
    for p in (0.5, 0.8, 0.9):
        depth = rb.rbp.plan(p, 2)["depth"]
        wanted = {
            (topic, doc)
            for run in runs.values()
            for topic, ranked in run.items()
            for doc in sorted(ranked, key=lambda doc: -ranked[doc])[:depth]
            if doc not in qrels[topic]
        }
        pooled = rb.judging.pools.restrict(qrels, rb.judging.pools.pool(runs, depth=depth))
        assert (pooled.grade == -1).sum() == len(wanted)
        judged = {topic: qrels[topic] | {doc: 0 for of, doc in wanted if of == topic} for topic in qrels}
        scores = rb.evaluate(judged, runs, rb.RBP(p=p))
        assert (scores.high - scores.low).max() < 0.01


def test_contributions_of_tables_1_and_2():
    measures = ["AP", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)", "SP"]
    rows = rb.rbp.list_contributions(*collection(LIST), "q", measures)
    table = {(row["measure"], row["rank"]): row for row in rows if row["relevance"]}
    ranks = (1, 2, 6, 11, 17)
    assert [table["AP", rank]["contribution"] for rank in ranks] == pytest.approx(
        [0.3633, 0.1633, 0.0633, 0.0299, 0.0118], abs=5e-5
    )
    assert [round(100 * table["AP", rank]["share"]) for rank in ranks] == [58, 26, 10, 5, 2]
    assert [table["SP", rank]["contribution"] for rank in ranks] == pytest.approx(
        [1.8164, 0.8164, 0.3164, 0.1497, 0.0588], abs=5e-5
    )
    for p, column in (
        (0.5, [1, 0.5, 0.0313, 0.001, 0]),
        (0.8, [1, 0.8, 0.3277, 0.1074, 0.0281]),
        (0.95, [1, 0.95, 0.7738, 0.5987, 0.4401]),
    ):
        found = [table[f"RBP(p={p})", rank]["contribution"] / (1 - p) for rank in ranks]
        assert found == pytest.approx(column, abs=5.1e-5)


SUMS = ["RBP(p=0.8)", "RBP(p=0.7,graded=true)@4", "AP", "AP@5", "AP*", "SP", "P@5", "DCG", "nDCG@7", "Recall@6"]
SUMS += ["SDCG@9", "F@4"]


@pytest.mark.parametrize("measure", SUMS)
def test_contributions_sum_to_the_score(measure):
    qrels, runs = random_collection(9, tied=False)
    rows = rb.rbp.list_contributions(qrels, runs["run0"], "t0", measure)
    expected = rb.evaluate(qrels, runs["run0"], measure)
    assert sum(row["contribution"] for row in rows) == pytest.approx(expected.value[0, 0, 0])
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert [row["rank"] for row in rows] == list(range(1, len(runs["run0"]["t0"]) + 1))
    if measure == "RBP(p=0.8)":
        could = sum(row["could_add"] or 0 for row in rows)
        assert could == pytest.approx(expected.parts[0, 0, 0, 0])
        assert all((row["could_add"] is None) == (row["relevance"] is not None) for row in rows)


def test_contributions_name_what_is_missing():
    qrels, runs = random_collection(9)
    with pytest.raises(rb.DataError, match="no topic"):
        rb.rbp.list_contributions(qrels, runs["run0"], "t99")
    with pytest.raises(rb.UsageError, match="not a sum over documents"):
        rb.rbp.list_contributions(qrels, runs["run0"], "t0", "RR")


def log_likelihood(p, ended, unseen):
    return sum(n * (np.log(1 - p) + (rank - 1) * np.log(p)) for rank, n in ended) + sum(
        n * (rank - 1) * np.log(p) for rank, n in unseen
    )


def test_fitted_persistence_is_the_most_likely():
    counts = {1: 50, 2: 30, 3: 10, "4+": 25}
    found = rb.rbp.fit_persistence(counts)
    grid = np.linspace(0.001, 0.999, 9981)
    best = grid[np.argmax([log_likelihood(p, [(1, 50), (2, 30), (3, 10)], [(4, 25)]) for p in grid])]
    assert found["p"] == pytest.approx(best, abs=1e-4)
    assert found["ci_low"] < found["p"] < found["ci_high"]
    assert found["expected_examined"] == pytest.approx(1 / (1 - found["p"]))


def test_interval_holds_the_true_persistence_as_often_as_it_says():
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(300):
        ranks, counts = np.unique(rng.geometric(1 - 0.7, 40), return_counts=True)
        found = rb.rbp.fit_persistence(zip(ranks.tolist(), counts.tolist(), strict=True))
        held += found["ci_low"] <= 0.7 <= found["ci_high"]
    assert held >= 0.93 * 300


def test_a_plan_needs_two_of_three():
    for numbers in ({}, {"p": 0.5}, {"p": 0.5, "digits": 2, "depth": 9}):
        with pytest.raises(rb.UsageError, match="two of p, digits and depth"):
            rb.rbp.plan(**numbers)
    with pytest.raises(rb.UsageError, match="go with p and depth"):
        rb.rbp.plan(0.5, digits=2, rank=3)


def test_readers_who_never_go_on_have_no_persistence():
    assert rb.rbp.fit_persistence({1: 3})["p"] == 0


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ({}, "no counts"),
        ({"5+": 3}, "cannot be distinguished from 1"),
        ({0: 3}, "from 1 on"),
        ({1: -3}, "not negative"),
        ({"x": 3}, "not a rank"),
        ([(1, 2), (1, 3)], "twice"),
    ],
)
def test_counts_that_cannot_be(counts, told):
    with pytest.raises(rb.DataError, match=told):
        rb.rbp.fit_persistence(counts)


def test_agreement_is_kendalls_tau():
    from scipy.stats import kendalltau

    qrels, runs = random_collection(11, topics=6, runs=9)
    rows = rb.rbp.persistence_agreement(qrels, runs, ["AP", "P@10"], p=(0.2, 0.8, 0.95))
    for row in rows:
        both = rb.evaluate(qrels, runs, [row["measure"], rb.RBP(p=row["p"])]).mean().value[:, 0].round(12)
        assert row["tau"] == pytest.approx(kendalltau(both[:, 0], both[:, 1]).statistic)
    same = rb.rbp.persistence_agreement(qrels, runs, ["RBP(p=0.8)"], p=(0.2, 0.8, 0.95))
    (best,) = best_agreement(same)
    assert (best["measure"], best["p"], best["tau"]) == ("RBP(p=0.8)", 0.8, pytest.approx(1))
    with pytest.raises(rb.UsageError, match="three runs"):
        rb.rbp.persistence_agreement(qrels, {"one": runs["run0"]})


def test_a_measure_of_effort_agrees_with_rbp_when_the_same_runs_are_better():
    qrels = {"q": {"a": 1, "b": 0, "c": 0}}
    order = {"first": "abc", "second": "bac", "third": "bca"}
    runs = {name: {"q": {doc: 3.0 - rank for rank, doc in enumerate(docs)}} for name, docs in order.items()}
    rows = rb.rbp.persistence_agreement(qrels, runs, ["RankPower", "AP"], p=(0.5,))
    assert {row["measure"]: row["tau"] for row in rows} == {"RankPower": 1.0, "AP": 1.0}


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("depth", [1, 2, 4, 20, 100])
def test_a_residual_leaves_the_digits_that_its_depth_was_planned_for(p, depth):
    found = rb.rbp.plan(p, depth=depth, relevant=3, rank=depth + 1)
    assert found["residual"] == pytest.approx(p**depth)
    assert found["reaches"] == found["residual"]  # the chance to read on below the depth
    assert found["ceiling"] == pytest.approx((1 - p) * (1 + p + p**2))
    assert found["print_at_most"] == found["digits"] + 1
    if found["digits"]:
        assert rb.rbp.plan(p, found["digits"])["depth"] <= depth
    assert rb.rbp.plan(p, found["digits"] + 1)["depth"] > depth


def test_without_a_residual_every_digit_may_be_printed(capsys):
    found = rb.rbp.plan(0, depth=1)
    assert (found["residual"], found["digits"], found["print_at_most"]) == (0.0, None, None)
    assert main(["rbp", "depth", "--p", "0", "--depth", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["0", "any", "1", "0", "any", "1.0"]
    assert rb.rbp.plan(0.5, depth=10**7)["digits"] == 3010299  # at once


def test_residuals_on_the_command_line(capsys):
    assert main(["rbp", "depth", "--p", "0.8", "--depth", "20", "--digits", "3"]) == 2
    assert "give no --digits" in capsys.readouterr().err
    assert (
        main(["rbp", "depth", "--p", "0.8", "--depth", "20", "--relevant", "5", "--rank", "11", "--format", "json"])
        == 0
    )
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["digits"], row["print_at_most"]) == (1, 2)
    assert row["ceiling"] == pytest.approx(1 - 0.8**5)
    assert main(["rbp", "depth", "--p", "0.8", "--digits", "4", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["depth"], row["significant_ranks"]) == (42, 45)
    for wrong in (["--rank", "3"], ["--p", "0.8", "--depth", "0"], ["--depth", "5", "--relevant", "2"]):
        assert main(["rbp", "depth", *wrong]) == 2


def test_vectors_on_the_command_line(capsys):
    """R_G has a relevant document wherever the score allows one, R_L only where it must."""
    asked = ["rbp", "transfer", "0.40", "--p", "0.8", "--to", "0.5", "--vectors", "--format", "json"]
    assert main(asked) == 0
    greatest, least = json.loads(capsys.readouterr().out)
    for row in (greatest, least):
        assert row["score"] == pytest.approx(sum(0.2 * 0.8**at for at, one in enumerate(row["ranks"]) if one == "1"))
        assert row["score_there"] == pytest.approx(
            sum(0.5 ** (at + 1) for at, one in enumerate(row["ranks"]) if one == "1")
        )
        assert f"{row['score']:.2f}" == "0.40"
    assert greatest["ranks"] > least["ranks"]
    assert main([*asked, "--residual", "0.10"]) == 0
    rows = {row["vector"]: row["ranks"] for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == ["R_G", "R_L", "R'_G", "R'_L"]
    assert rows["R'_G"].replace("?", "0") == rows["R_G"]
