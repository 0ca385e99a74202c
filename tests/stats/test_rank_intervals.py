"""Places on a leaderboard: their intervals follow from pairs, hold for all systems together, and are told in words."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.stats.rank_intervals import (
    places,
    resampled_places,
    separated_by_bootstrap,
    words,
)
from rankbounds.stats.significance import Resampling, pairs_of, topic_counts


def scores_of(matrix, measure="P@10"):
    """Scores of systems by topics, as another tool may have given them."""
    value = np.asarray(matrix, dtype=float)[:, :, None]
    names = [f"s{number}" for number in range(len(value))]
    unknown = np.full(value.shape, np.nan)
    topics = [str(topic) for topic in range(value.shape[1])]
    judged = np.ones(value.shape[:2])
    return rb.Scores(names, topics, [rb.parse_measure(measure)], value, unknown, unknown, judged)


def plain_places(means, separable):
    """System by system and pair by pair."""
    rank, low, high = [], [], []
    for system, mean in enumerate(means):
        rank.append(1 + sum(other > mean for other in means))
        low.append(1 + sum(separable[system][other] and means[other] > mean for other in range(len(means))))
        high.append(len(means) - sum(separable[system][other] and means[other] < mean for other in range(len(means))))
    return rank, low, high


@pytest.mark.parametrize("seed", range(20))
def test_places_against_a_plain_loop(seed):
    rng = np.random.default_rng(seed)
    systems = int(rng.integers(2, 9))
    means = rng.integers(0, 5, systems) / 4.0
    first, second = pairs_of(systems)
    separated = rng.random(first.size) < 0.5
    table = np.zeros((systems, systems), dtype=bool)
    table[first, second] = table[second, first] = separated
    found = places(means, first, second, separated)
    assert [part.tolist() for part in found] == [list(part) for part in plain_places(means.tolist(), table.tolist())]


@pytest.mark.parametrize("seed", range(5))
def test_resampled_places_against_a_plain_loop(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (5, 6)) / 3.0
    resampling = Resampling(200, seed)
    best, expected = resampled_places(scores, topic_counts(6, resampling))
    first_in, place_sum = [0.0] * 5, [0.0] * 5
    for counts in topic_counts(6, resampling):
        means = [round(sum(count * value for count, value in zip(counts, row, strict=True)), 9) for row in scores]
        leaders = [system for system in range(5) if means[system] == max(means)]
        for system in range(5):
            first_in[system] += (system in leaders) / len(leaders)
            above = sum(other > means[system] for other in means)
            place_sum[system] += above + (sum(other == means[system] for other in means) + 1) / 2
    assert best == pytest.approx(np.array(first_in) / 200)
    assert expected == pytest.approx(np.array(place_sum) / 200)
    assert best.sum() == pytest.approx(1)


def test_systems_that_are_level_share_a_place():
    means = np.array([3.0, 1.0, 3.0, 0.0])
    best, place = resampled_places(np.stack([means, means], axis=-1), np.ones((1, 2)))
    assert (best.tolist(), place.tolist()) == ([0.5, 0.0, 0.5, 0.0], [1.5, 3.0, 1.5, 4.0])


@pytest.mark.parametrize("spread", [1.0, 4.0], ids=["alike", "unlike"])
def test_intervals_hold_for_all_systems_together(spread):
    """Of 300 leaderboards at most 5% (and what chance adds) may have any place outside of its interval."""
    rng = np.random.default_rng(7)
    truth = np.repeat([0.0, 0.7, 2.0], 3)
    first, second = pairs_of(truth.size)
    least = 1 + np.array([np.count_nonzero(truth > mean) for mean in truth])
    most = np.array([np.count_nonzero(truth >= mean) for mean in truth])
    deviation = np.geomspace(1, spread, truth.size)[:, None]
    missed = narrow = 0
    for seed in range(300):
        scores = truth[:, None] + rng.normal(size=30) + deviation * rng.normal(size=(truth.size, 30))
        separated = separated_by_bootstrap(scores, 0.05, Resampling(300, seed))
        _, low, high = places(scores.mean(axis=1), first, second, separated)
        missed += bool((low > least).any() or (high < most).any())
        narrow += int((high - low).sum() < truth.size * (truth.size - 1))
    assert missed <= 300 * 0.05 + 3 * np.sqrt(300 * 0.05 * 0.95)
    assert narrow > 250


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
def test_separated_pairs_are_those_of_a_plain_loop(scale):
    """Runs that are copies, and one that is better by the same on every topic, are among them."""
    rng = np.random.default_rng(4)
    scores = rng.random((6, 1)) + rng.normal(size=(6, 12))
    scores = np.round(scores * 1024) / 1024  # so that differences are exact
    scores[1], scores[2] = scores[0], scores[0] + 0.25
    scores *= scale
    counts = topic_counts(12, Resampling(400, 3))
    apart = np.array([scores[a] - scores[b] for a, b in zip(*pairs_of(6), strict=True)])
    error = np.array([0.0 if np.ptp(row) < 1e-12 * scale else row.std(ddof=1) / np.sqrt(12) for row in apart])
    largest = np.zeros(400)
    for row, own in zip(apart, error, strict=True):
        for number, drawn in enumerate(counts):
            sample = np.repeat(row - row.mean(), drawn.astype(int))
            least = max(sample.std(ddof=1) / np.sqrt(12), own / 2)  # of a mean over n drawn topics: n - 1 and n
            t = abs(sample.mean()) / least if own else 0.0
            largest[number] = max(largest[number], t)
    expected = []
    for row, own in zip(apart, error, strict=True):
        t = abs(row.mean()) / own if own else np.inf if row.any() else 0.0
        expected.append(bool((np.count_nonzero(largest >= t) + 1) / 401 < 0.2))
    assert separated_by_bootstrap(scores, 0.2, Resampling(400, 3)).tolist() == expected
    assert 0 < sum(expected) < len(expected)


def test_runs_that_are_nearly_alike_do_not_hide_the_others():
    """A resample may hold none of the topics on which two runs differ; that says nothing about the other runs."""
    rng = np.random.default_rng(1)
    good = 0.8 + 0.05 * rng.normal(size=30)
    copy = good.copy()
    copy[0] += 0.01
    scores = np.stack([good, copy, 0.2 + 0.05 * rng.normal(size=30), 0.25 + 0.05 * rng.normal(size=30)])
    first, second = pairs_of(4)
    separated = separated_by_bootstrap(scores, 0.05, Resampling(1000, 0))
    assert dict(zip(zip(first.tolist(), second.tolist(), strict=True), separated.tolist(), strict=True)) == {
        (0, 1): False, (0, 2): True, (0, 3): True, (1, 2): True, (1, 3): True, (2, 3): True,
    }  # fmt: skip


def test_a_comparison_has_places_for_every_system():
    rng = np.random.default_rng(3)
    matrix = np.array([0.2, 0.5, 0.5, 0.8])[:, None] + 0.05 * rng.normal(size=(4, 40))
    comparison = rb.compare(scores_of(matrix), resamples=1000)
    rows = {row["run"]: row for row in comparison.systems.rows()}
    assert (rows["s3"]["rank"], rows["s3"]["rank_low"], rows["s3"]["rank_high"]) == (1, 1, 1)
    assert (rows["s0"]["rank"], rows["s0"]["rank_low"], rows["s0"]["rank_high"]) == (4, 4, 4)
    assert {rows[run]["rank_high"] for run in ("s1", "s2")} == {3}
    assert rows["s3"]["probability_best"] == 1
    assert "rank" in comparison.table().header


def test_by_the_test_intervals_are_what_it_separates():
    matrix = np.random.default_rng(0).normal(size=(5, 20)) + np.arange(5)[:, None]
    comparison = rb.compare(scores_of(matrix), ranks="test", resamples=500)
    means = {row["run"]: row["mean"] for row in comparison.systems.rows()}
    separated = [(row["run"], row["against"]) for row in comparison.pairs.rows() if row["p_adjusted"] < 0.05]
    for row in comparison.systems.rows():
        rivals = [a if b == row["run"] else b for a, b in separated if row["run"] in (a, b)]
        assert row["rank_low"] == 1 + sum(means[rival] > row["mean"] for rival in rivals)
        assert row["rank_high"] == 5 - sum(means[rival] < row["mean"] for rival in rivals)


def test_equal_runs_share_their_place():
    matrix = np.tile(np.linspace(0, 1, 12), (3, 1))
    for row in rb.compare(scores_of(matrix), resamples=300).systems.rows():
        assert (row["rank"], row["rank_low"], row["rank_high"]) == (1, 1, 3)
        assert row["probability_best"] == pytest.approx(1 / 3)


def test_places_turn_with_the_direction_of_the_measure():
    matrix = np.array([[1.0] * 8, [2.0] * 8, [3.0] * 8]) + np.random.default_rng(0).normal(size=(3, 8)) * 0.01
    more, less = (rb.compare(scores_of(matrix, measure), resamples=300).systems.rows() for measure in ("P@10", "ESL"))
    assert [row["rank"] for row in more] == [3, 2, 1]
    assert [row["rank"] for row in less] == [1, 2, 3]


def test_infinite_scores_have_places_by_the_test_alone():
    matrix = np.array([[1.0, 2, 3, 4, 5, 6, 7, 8], [2.0, 3, np.inf, 5, 6, 7, 8, 9], [3.0, 4, np.inf, 6, 7, 8, 9, 10]])
    comparison = rb.compare(scores_of(matrix, "ESL"), test="sign", resamples=100)
    assert [row["probability_best"] for row in comparison.systems.rows()] == [None] * 3
    assert [row["rank"] for row in comparison.systems.rows()] == [1, 2, 2]


def test_against_a_baseline_there_are_no_places():
    matrix = np.random.default_rng(0).normal(size=(3, 10))
    comparison = rb.compare(scores_of(matrix), baseline="s1", resamples=100)
    assert {row["rank"] for row in comparison.systems.rows()} == {None}


def test_an_unknown_way():
    with pytest.raises(rb.UsageError, match="bootstrap"):
        rb.compare(scores_of(np.random.default_rng(0).normal(size=(3, 10))), ranks="guess")


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [(3, 9, "between 3rd and 9th"), (1, 1, "1st"), (11, 12, "between 11th and 12th"), (2, 21, "between 2nd and 21st")],
)
def test_words(low, high, told):
    assert words(low, high) == told


def test_the_command_gives_places(command, tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 d{topic % 5} 1\n" for topic in range(12)))
    for name in "abc":
        lines = [
            f"{topic} Q0 d{place} 0 {score} {name}\n"
            for topic in range(12)
            for place, score in enumerate(rng.random(5))
        ]
        (tmp_path / name).write_text("".join(lines))
    code, out, _ = command(
        "compare", tmp_path / "qrels", *(tmp_path / name for name in "abc"), "--format", "json", "--resamples", "200"
    )
    assert code == 0
    row = json.loads(out)["systems"][0]
    assert row["rank_low"] <= row["rank"] <= row["rank_high"]
    assert 0 <= row["probability_best"] <= 1
    assert 1 <= row["expected_rank"] <= 3
