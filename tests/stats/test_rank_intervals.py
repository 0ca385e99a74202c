"""Places on a leaderboard: their intervals follow from pairs, hold for all systems together, and are told in words."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.stats.rank_intervals import places, words
from rankbounds.stats.significance import pairs_of


def scores_of(matrix, measure="P@10"):
    """Scores of systems by topics, as another tool may have given them."""
    value = np.asarray(matrix, dtype=float)[:, :, None]
    names = [f"s{number}" for number in range(len(value))]
    unknown = np.full(value.shape, np.nan)
    topics = [str(topic) for topic in range(value.shape[1])]
    judged = np.ones(value.shape[:2])
    return rb.Scores(names, topics, [rb.parse_measure(measure)], value, unknown, unknown, judged)


def plain_places(lead, separable):
    """System by system and pair by pair; ``separable`` is in the view of the first."""
    systems = range(len(lead))
    low = [1 + sum(separable[one][other] and lead[one][other] < 0 for other in systems) for one in systems]
    high = [len(lead) - sum(separable[one][other] and lead[one][other] > 0 for other in systems) for one in systems]
    return low, high


def random_pairs(seed):
    rng = np.random.default_rng(seed)
    systems = int(rng.integers(2, 9))
    means = rng.integers(0, 5, systems) / 4.0
    first, second = pairs_of(systems)
    return rng, systems, first, second, means[first] - means[second], means[:, None] - means


@pytest.mark.parametrize("seed", range(20))
def test_places_against_a_plain_loop(seed):
    rng, systems, first, second, lead, leads = random_pairs(seed)
    separated = rng.random(first.size) < 0.5
    table = np.zeros((systems, systems), dtype=bool)
    table[first, second] = table[second, first] = separated
    low, high = places(systems, first, second, lead, separated)
    assert (low.tolist(), high.tolist()) == plain_places(leads.tolist(), table.tolist())


@pytest.mark.parametrize("spread", [1.0, 4.0], ids=["alike", "unlike"])
def test_intervals_hold_for_all_systems_together(spread):
    """Of 300 leaderboards at most 5% (and what chance adds) may have any place outside of its interval."""
    rng = np.random.default_rng(7)
    truth = np.repeat([0.0, 0.7, 2.0], 3)
    least = 1 + np.array([np.count_nonzero(truth > mean) for mean in truth])
    most = np.array([np.count_nonzero(truth >= mean) for mean in truth])
    deviation = np.geomspace(1, spread, truth.size)[:, None]
    missed = narrow = 0
    for _ in range(300):
        scores = truth[:, None] + rng.normal(size=30) + deviation * rng.normal(size=(truth.size, 30))
        rows = rb.compare(scores_of(scores)).systems.rows()
        low, high = (np.array([row[name] for row in rows]) for name in ("rank_low", "rank_high"))
        missed += bool((low > least).any() or (high < most).any())
        narrow += int((high - low).sum() < truth.size * (truth.size - 1))
    assert missed <= 300 * 0.05 + 3 * np.sqrt(300 * 0.05 * 0.95)
    assert narrow > 250


def test_a_comparison_has_places_for_every_system():
    rng = np.random.default_rng(3)
    matrix = np.array([0.2, 0.5, 0.5, 0.8])[:, None] + 0.05 * rng.normal(size=(4, 40))
    comparison = rb.compare(scores_of(matrix))
    rows = {row["run"]: row for row in comparison.systems.rows()}
    assert (rows["s3"]["rank"], rows["s3"]["rank_low"], rows["s3"]["rank_high"]) == (1, 1, 1)
    assert (rows["s0"]["rank"], rows["s0"]["rank_low"], rows["s0"]["rank_high"]) == (4, 4, 4)
    assert {rows[run]["rank_high"] for run in ("s1", "s2")} == {3}
    assert "group" in comparison.table().header


def test_equal_runs_share_their_place():
    matrix = np.tile(np.linspace(0, 1, 12), (3, 1))
    for row in rb.compare(scores_of(matrix)).systems.rows():
        assert (row["rank"], row["rank_low"], row["rank_high"]) == (1, 1, 3)


def test_places_turn_with_the_direction_of_the_measure():
    matrix = np.array([[1.0] * 8, [2.0] * 8, [3.0] * 8]) + np.random.default_rng(0).normal(size=(3, 8)) * 0.01
    more, less = (rb.compare(scores_of(matrix, measure)).systems.rows() for measure in ("P@10", "ESL"))
    assert [row["rank"] for row in more] == [3, 2, 1]
    assert [row["rank"] for row in less] == [1, 2, 3]


def test_infinite_scores_have_places_by_the_test_alone():
    matrix = np.array([[1.0, 2, 3, 4, 5, 6, 7, 8], [2.0, 3, np.inf, 5, 6, 7, 8, 9], [3.0, 4, np.inf, 6, 7, 8, 9, 10]])
    comparison = rb.compare(scores_of(matrix, "ESL"), test="sign")
    assert [row["rank"] for row in comparison.systems.rows()] == [1, 2, 2]


def test_against_a_baseline_there_are_no_places():
    matrix = np.random.default_rng(0).normal(size=(3, 10))
    comparison = rb.compare(scores_of(matrix), baseline="s1")
    assert {row["rank"] for row in comparison.systems.rows()} == {None}


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
    code, out, _ = command("compare", tmp_path / "qrels", *(tmp_path / name for name in "abc"), "--format", "json")
    assert code == 0
    row = json.loads(out)["systems"][0]
    assert row["rank_low"] <= row["rank"] <= row["rank_high"]
