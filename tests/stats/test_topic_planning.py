"""How many topics: power by SciPy's distributions for one number after the other, integrals, made topics, commands."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankbounds as rb
from array_scores import scores_of
from rankbounds.cli import main
from rankbounds.stats.equivalence import p_of_margin
from rankbounds.stats.significance import Resampling, p_values


def power_of_two(topics, difference, deviation, alpha):
    """The power of an analysis of variance of two systems with topics as blocks, whose F is the square of t."""
    degrees = 1, topics - 1
    return stats.ncf.sf(stats.f.isf(alpha, *degrees), *degrees, topics * (difference / deviation) ** 2)


def least(enough):
    return next(topics for topics in range(2, 10_000) if enough(topics))


@given(st.floats(0.02, 0.5), st.floats(0.05, 0.4), st.sampled_from([0.5, 0.8, 0.95]))
@settings(max_examples=30, deadline=None)
def test_topics_one_number_after_the_other(difference, deviation, power):
    expected = least(lambda topics: power_of_two(topics, difference, deviation, 0.05) >= power)
    assert rb.stats.topics_needed(difference, deviation, 0.05, power) == max(6, expected)


@pytest.mark.parametrize("level", [0.05, 0.05 / 45])
@pytest.mark.parametrize("effect", [1.2, 2.0, 5.0, 1000.0])
def test_so_many_topics_find_the_difference_as_often_as_planned(effect, level):
    """Also few of them, of which the test asks that their signs show something."""
    topics = rb.stats.topics_needed(effect, 1.0, level, 0.8)
    drawn = np.random.default_rng(1).normal(effect, 1.0, (4000, topics))
    assert (p_values(drawn, "t") < level).mean() >= 0.78
    assert topics == 2 or not (p_values(drawn[:, : topics - 1], "t") < level).mean() > 0.82
    rows = rb.stats.plan_topics(deviation=1.0, margin=effect, alpha=level).rows()
    equal = np.random.default_rng(2).normal(0.0, 1.0, (4000, rows[0]["topics"]))
    assert (p_of_margin(equal, effect, "t", Resampling(), rb.AP()) < level).mean() >= 0.75


def pilot(runs=3, topics=10):
    generator = np.random.default_rng(5)
    value = np.clip(0.5 + generator.normal(0, 0.15, topics) + generator.normal(0, 0.1, (runs, topics)), 0, 1)
    nothing = np.full((runs, topics, 1), np.nan)
    names = [f"r{run}" for run in range(runs)], [str(topic) for topic in range(topics)]
    return rb.Scores(*names, [rb.AP()], value[:, :, None], nothing, nothing, nothing[:, :, 0], bounds="none")


def test_a_pilot_pools_the_deviations_of_all_pairs():
    scores = pilot()
    plan = rb.stats.plan_topics(scores, difference=0.05, margin=0.05, systems=3)
    value = scores.value[:, :, 0]
    pairs = [value[a] - value[b] for a, b in ((0, 1), (0, 2), (1, 2))]
    pooled = np.sqrt(np.mean([pair.var(ddof=1) for pair in pairs]))
    rows = {row["goal"]: row for row in plan.rows()}
    assert rows["difference"]["deviation"] == pytest.approx(pooled)
    assert rows["difference"]["topics"] == rb.stats.topics_needed(0.05, pooled)
    upper = pooled * np.sqrt(9 / stats.chi2.ppf(0.2, 9))
    assert rows["difference"]["topics_safe"] == rb.stats.topics_needed(0.05, upper)
    assert rows["difference among several"]["topics"] == rb.stats.topics_needed(0.05, pooled, 0.05 / 3)
    assert len(plan.rows()) == 3
    with pytest.raises(rb.UsageError, match="two runs"):
        rb.stats.plan_topics(pilot(1), difference=0.1)
    assert "10 topics estimate it only roughly" in repr(plan)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"difference": 0.1}, "pilot"),
        ({"deviation": 0.1}, "What should the topics show"),
        ({"deviation": 0.1, "difference": -1.0}, "above 0"),
        ({"deviation": 0.1, "margin": 0.1, "systems": 1}, "number of systems must be a whole number from 2 on"),
        ({"deviation": 0.1, "margin": 0.1, "power": 2.0}, "power"),
    ],
)
def test_what_cannot_be_planned(asked, problem):
    with pytest.raises(rb.UsageError, match=problem):
        rb.stats.plan_topics(**asked)


def test_too_small_for_any_number():
    (row,) = rb.stats.plan_topics(deviation=1.0, difference=1e-9).rows()
    assert row["topics"] is None


def test_pairs_at_hand_answer_the_same():
    scores = pilot()
    compared = rb.compare(scores, test="t", correction="holm")
    for row in compared.power().rows():
        assert row["topics_needed"] == rb.stats.topics_needed(row["difference"], row["deviation"])


def test_a_pilot_in_clusters_plans_clusters():
    """The deviation is that of what clusters add up to, and so many clusters make the test succeed."""
    generator, number = np.random.default_rng(4), np.repeat(np.arange(12), 3)
    value = np.clip(0.5 + generator.normal(0, 0.1, (2, 12))[:, number] + generator.normal(0, 0.02, (2, 36)), 0, 1)
    scores = scores_of(value[..., None], measures=("P@10",))
    clusters = dict(zip(scores.query_ids, map(str, number.tolist()), strict=True))
    plan = rb.stats.plan_topics(scores, difference=0.05, margin=0.1, clusters=clusters)
    sums = (value[1] - value[0]).reshape(12, 3).mean(axis=1)
    assert [row["deviation"] for row in plan.rows()] == pytest.approx([sums.std(ddof=1)] * 2)
    assert plan.rows()[0]["topics"] == rb.stats.topics_needed(0.05, sums.std(ddof=1))
    assert "clusters" in plan.table().header
    assert "because 12 clusters estimate it only roughly" in plan.notes()[0]
    with pytest.raises(rb.UsageError, match="Clusters are those of a pilot"):
        rb.stats.plan_topics(deviation=0.1, difference=0.05, clusters=clusters)


def test_the_command(tmp_path, capsys):
    scores = pilot()
    path = tmp_path / "scores.csv"
    path.write_text(scores.render("csv", per_topic=True))
    assert main(["topics", "--scores", str(path), "-m", "AP", "--difference", "5%", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == rb.stats.plan_topics(scores, difference=0.05).rows()
    assert main(["topics", "--deviation", "0.2", "--difference", "0.05", "--systems", "10"]) == 0
    out = capsys.readouterr().out
    assert ["difference among several", "0.05", "10", "0.2000", "275"] in [
        re.split(r" {2,}", x.strip()) for x in out.splitlines()
    ]
    assert main(["topics", "--deviation", "0.2"]) == 2
