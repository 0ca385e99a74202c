"""The urn: exact moments against the published model, full enumeration and simulation; whole collections."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.probability.urn import sample_rankings
from rankbounds.studies import uncertainty_by_relevance_ratio

PAPER = {"p": 0.8, "judged_depth": 10, "topics": 50}


@pytest.mark.parametrize(
    ("q", "ratio", "mean", "sd"),
    [
        (0.05, 1, 0.005369, 0.001103), (0.2, 1, 0.021475, 0.002025), (0.35, 1, 0.037581, 0.002414),
        (0.5, 1, 0.053687, 0.002531), (0.5, 0.05, 0.100342, 0.001218), (0.5, 0.5, 0.068905, 0.002422),
        (0.2, 0.5, 0.032608, 0.002340), (0.05, 0.05, 0.014458, 0.002052),
    ],
)  # fmt: skip
def test_exact_moments(q, ratio, mean, sd):
    found = rb.probability.urn_moments(100, q=q, relevance_ratio=ratio, **PAPER)
    assert (found.mean, found.sd) == (pytest.approx(mean, abs=6e-7), pytest.approx(sd, abs=6e-7))


def probability(order, n, relevant, ratio):
    """Of drawing relevant (1) and other (0) documents in this order, one draw after the other."""
    left, others, total = relevant, n - relevant, 1.0
    for drawn in order:
        chance = left / (left + ratio * others)
        total *= chance if drawn else 1 - chance
        left, others = left - drawn, others - 1 + drawn
    return total


@pytest.mark.parametrize(
    ("relevant", "ratio", "judged"), [(0, 0.3, 1), (2, 0.3, 2), (3, 1.0, 0), (5, 2.5, 3), (6, 0.1, 1)]
)
def test_exact_moments_are_those_of_all_orders(relevant, ratio, judged):
    n, p = 6, 0.7
    mean = second = 0.0
    for order in set(itertools.permutations([1] * relevant + [0] * (n - relevant))):
        value = sum((1 - p) * p**rank * drawn for rank, drawn in enumerate(order) if rank >= judged)
        mean += probability(order, n, relevant, ratio) * value
        second += probability(order, n, relevant, ratio) * value**2
    found = rb.probability.urn_moments(n, relevant=relevant, relevance_ratio=ratio, p=p, judged_depth=judged, topics=4)
    assert found.mean == pytest.approx(mean, abs=1e-12)
    assert found.sd == pytest.approx(max(second - mean**2, 0) ** 0.5 / 2, abs=1e-9)


def test_sampled_rankings_have_the_exact_moments():
    weights = 0.2 * 0.8 ** np.arange(100)
    weights[:10] = 0
    for q, ratio in ((0.2, 0.2), (0.05, 0.05), (0.5, 0.7)):
        values = sample_rankings(100, 20_000, q=q, relevance_ratio=ratio, seed=3) @ weights
        exact = rb.probability.urn_moments(100, q=q, relevance_ratio=ratio)
        assert abs(values.mean() - exact.mean) < 4 * exact.sd / 20_000**0.5
        assert values.std() == pytest.approx(exact.sd, rel=0.03)


def test_the_mean_rises_as_the_ratio_falls():
    """Erratum of Park: the paper says that mean and sd fall with w. Under its model the mean rises."""
    result = uncertainty_by_relevance_ratio(simulations=200, seed=5)
    assert len(result.rows()) == 30
    by = {(row["q"], row["relevance_ratio"]): row for row in result.rows()}
    for row in result.rows():  # its own way of simulating agrees with the exact values
        assert abs(row["simulated_mean"] - row["mean"]) < 4.5 * row["standard_error"]
    for q in (0.1, 0.2, 0.3, 0.5):
        means = [by[q, ratio]["mean"] for ratio in (1.0, 0.7, 0.5, 0.2, 0.1, 0.05)]
        assert means == sorted(means)
    assert by[0.05, 0.05]["mean"] < by[0.05, 0.1]["mean"] > by[0.05, 1.0]["mean"]  # few relevant ones: it turns
    for q, falls in ((0.5, True), (0.2, False), (0.05, False)):
        assert (by[q, 0.05]["sd"] < by[q, 1.0]["sd"]) is falls
    assert "The mean rises as w falls (the better the system) for q = 0.1, 0.2, 0.3, 0.5." in result.answer
    assert "Not throughout for q = 0.05." in result.answer
    assert "rises" not in uncertainty_by_relevance_ratio(relevance_ratios=(1.0,)).answer  # one ratio shows no change


def test_many_pairs_at_once_are_each_pair_alone():
    together = rb.probability.urn_moments(
        50, q=np.array([[0.1], [0.4]]), relevance_ratio=np.array([0.2, 1.0]), topics=9
    )
    assert together.mean.shape == (2, 2)
    assert together.sd[1, 0] == pytest.approx(rb.probability.urn_moments(50, q=0.4, relevance_ratio=0.2, topics=9).sd)


@pytest.mark.parametrize(
    "wrong",
    [{"q": 2}, {"q": 0.1, "relevance_ratio": 0}, {}, {"q": 0.1, "relevant": 3}, {"relevant": 99}, {"q": 0.1, "p": 1}],
)
def test_urns_that_cannot_be(wrong):
    with pytest.raises(rb.UsageError):
        rb.probability.urn_moments(10, **wrong)


class TestSimulatedCollections:
    def test_the_same_seed_gives_the_same_files(self, tmp_path):
        for name in ("one", "two"):
            rb.studies.simulate(topics=5, runs=2, seed=4).write(tmp_path / name)
        files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
        assert [str(file) for file in files] == [
            "qrels-complete.txt", "qrels-pooled.txt", "runs/run1.txt", "runs/run2.txt",
        ]  # fmt: skip
        for file in files:
            assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()

    def test_written_files_are_what_was_drawn(self, tmp_path):
        drawn = rb.studies.simulate(3, 4, 60, 20, grades=3, seed=1)
        drawn.write(tmp_path / "c")
        assert rb.read_qrels(tmp_path / "c" / "qrels-pooled.txt").to_dict() == drawn.pooled.to_dict()
        assert rb.read_run(tmp_path / "c" / "runs" / "run2.txt").to_dict() == drawn.runs[1].to_dict()
        assert set(drawn.complete.grade) == {0, 1, 2, 3}

    def test_the_pool_holds_the_first_documents_and_tells_the_truth(self):
        drawn = rb.studies.simulate(4, 6, 200, 50, ties=0.3, pool_depth=7, seed=2)
        truth, pooled = drawn.complete.to_dict(), drawn.pooled.to_dict()
        assert all(truth[query][doc] == grade for query, docs in pooled.items() for doc, grade in docs.items())
        judged = rb.evaluate(drawn.pooled, drawn.runs, ["Judged@7", "Judged@50"]).mean().value[:, 0]
        assert judged[:, 0] == pytest.approx(1)
        assert (judged[:, 1] < 0.6).all()
        part = rb.studies.simulate(4, 6, 200, 50, ties=0.3, pool_depth=7, pooled_runs=1, seed=2)
        assert len(part.pooled) == 6 * 7

    def test_better_systems_score_better_and_each_is_a_draw_from_its_urn(self):
        drawn = rb.studies.simulate(
            2, 300, 100, 100, relevant=0.2, variation=0, best=0.2, worst=1, difficulty=0, agreement=0.8, ties=0, seed=3
        )
        values = rb.evaluate(drawn.complete, drawn.runs, "RBP(p=0.8)").value[:, :, 0]
        for scores, ratio in zip(values, (0.2, 1.0), strict=True):
            exact = rb.probability.urn_moments(100, q=0.2, relevance_ratio=ratio, judged_depth=0, topics=300)
            assert abs(scores.mean() - exact.mean) < 4 * exact.sd
            assert scores.std() == pytest.approx(exact.sd * 300**0.5, rel=0.15)

    def test_ties_difficulty_and_agreement_do_what_they_say(self):
        def tied(share):
            score = rb.studies.simulate(1, 20, 200, 100, ties=share, seed=4).runs[0].score.reshape(20, 100)
            return float((np.diff(score, axis=-1) == 0).mean())

        assert tied(0) < 0.02
        assert tied(0.3) == pytest.approx(0.3, abs=0.05)

        def scores(**options):
            drawn = rb.studies.simulate(2, 60, 200, 100, best=0.1, worst=0.1, seed=5, **options)
            return rb.evaluate(drawn.complete, drawn.runs, "RBP(p=0.8)").value[:, :, 0]

        assert (
            scores(difficulty=2.0, variation=0).std(axis=1).mean()
            > scores(difficulty=0, variation=0).std(axis=1).mean()
        )
        shared = [np.corrcoef(scores(agreement=a, difficulty=0, variation=0))[0, 1] for a in (0.0, 0.95)]
        assert shared[0] < 0.3 < 0.6 < shared[1]

    @pytest.mark.parametrize(
        ("options", "told"),
        [({"runs": 0}, "from 1 to"), ({"depth": 5000}, "cannot be drawn"), ({"best": 0}, "positive"),
         ({"relevant": 1}, "between 0 and 1"), ({"ties": 2}, "between 0 and 1"),
         ({"difficulty": -1}, "difficulty must be at least 0"), ({"variation": float("nan")}, "finite"),
         ({"best": float("inf")}, "finite"), ({"pooled_runs": 10**20}, "pooled"), ({"seed": -1}, "seed")],
    )  # fmt: skip
    def test_wrong_usage(self, options, told):
        with pytest.raises(rb.UsageError, match=told):
            rb.studies.simulate(**options)

    def test_nothing_is_overwritten(self, tmp_path):
        (tmp_path / "mine.txt").write_text("keep me")
        with pytest.raises(rb.DataError, match="name a new one"):
            rb.studies.simulate(topics=2, runs=1).write(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
