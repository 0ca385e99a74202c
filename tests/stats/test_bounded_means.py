"""Bounded means: a gambler by the definition, levels for rare losses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

import rankbounds as rb
from rankbounds.stats.equivalence import (
    betting_p_values,
    least_topics,
    p_of_bounded_margin,
    p_of_margin,
)

LIMITS = (-1.0, 1.0)
SHARES = st.lists(st.floats(0, 1, width=32), min_size=1, max_size=12)


@given(SHARES, st.floats(0.05, 0.95))
@settings(max_examples=40, deadline=None)
def test_betting_by_its_definition(shares, limit):
    """The capital is the integral over all shares of it that are bet, from none to all that cannot be lost."""

    def capital(bet):
        return math.prod(1 + bet / limit * (share - limit) for share in shares)

    mean = integrate.quad(capital, 0, 1, limit=200)[0]
    assert betting_p_values(np.array([shares]), limit) == pytest.approx([min(1.0, 1 / mean)], rel=1e-3)


def test_laws():
    """Better changes and wider margins lower p; the order of topics does not matter; mirrored changes swap sides."""
    generator = np.random.default_rng(2)
    changes = np.clip(generator.normal(0, 0.2, (20, 40)), -1, 1)

    def p(values, margin, **how):
        return p_of_bounded_margin(values, margin, LIMITS, **how)

    assert (p(changes, 0.2, losses_only=True) <= p(changes, 0.1, losses_only=True) + 1e-12).all()
    assert (p(np.clip(changes + 0.1, -1, 1), 0.1, losses_only=True) <= p(changes, 0.1, losses_only=True) + 1e-12).all()
    assert p(changes[:, ::-1], 0.1) == pytest.approx(p(changes, 0.1))
    assert p(-changes, 0.1) == pytest.approx(p(changes, 0.1))
    both = np.maximum(p(changes, 0.1, losses_only=True), p(-changes, 0.1, losses_only=True))
    assert p(changes, 0.1) == pytest.approx(both)
    assert (p(changes, 0.1) <= 1).all()


@pytest.mark.parametrize(("share", "loss"), [(0.02, 0.5), (0.1, 0.1), (0.5, 0.02), (0.01, 1.0)])
def test_levels_where_losses_are_rare(share, loss):
    """The true loss is the margin, .01: it is ruled out in 5% of samples at most, where a t test fails."""
    generator = np.random.default_rng(6)
    for topics in (24, 300):
        changes = -loss * (generator.random((600, topics)) < share)
        assert (p_of_bounded_margin(changes, 0.01, LIMITS, losses_only=True) < 0.05).mean() <= 0.065
    if share < 0.1:  # (a t test passes those with five such topics or more, which do not know the rarer ones)
        few = np.where(generator.random((600, 24)) < share, -loss, generator.choice([-1e-3, 1e-3], (600, 24)))
        assert (p_of_margin(few, 0.01, "t", losses_only=True) < 0.05).mean() > 0.5


@pytest.mark.parametrize("margin", [0.01, 0.05, 0.3])
def test_topics_without_a_change(margin):
    least = least_topics(margin, LIMITS, 0.05)
    for topics, is_enough in ((least, True), (least - 1, False)):
        found = p_of_bounded_margin(np.zeros((1, topics)), margin, LIMITS, losses_only=True)
        assert bool(found[0] < 0.05) is is_enough


def test_a_range_must_be_known():
    with pytest.raises(rb.UsageError, match="range"):
        p_of_bounded_margin(np.zeros((1, 5)), 0.1, (-np.inf, np.inf))


# ---- the gate ----

QRELS = {str(topic): {"r": 1, "n": 0} for topic in range(80)}
OLD = {query: ["r", "n"] for query in QRELS}
NEW = {**OLD, "0": ["n", "r"]}


def test_the_gate_takes_it():
    compared = rb.compare(QRELS, {"old": OLD, "new": NEW}, "RR")
    (outcome,) = compared.gate("RR worse by 0.1", margin_test="betting").outcomes
    changes = np.array([-0.5] + [0.0] * 79)
    assert outcome.p_pass == pytest.approx(p_of_bounded_margin(changes, 0.1, LIMITS, losses_only=True)[0])
    assert outcome.answer == "pass"
    assert "one-sided betting test" in outcome.why
    (narrow,) = compared.gate("RR worse by 0.02", margin_test="betting").outcomes
    assert narrow.answer == "undecided"
    assert "needs at least 224 topics" in narrow.decide
    (both,) = compared.gate("RR different by 0.1", margin_test="betting").outcomes
    assert "two one-sided betting tests" in both.why


def test_the_default_says_where_it_may_not_hold():
    (outcome,) = rb.compare(QRELS, {"old": OLD, "new": NEW}, "RR").gate("RR worse by 0.02").outcomes
    assert "Only 1 of 80 topics changed" in outcome.why
    assert "--margin-test betting allows for them" in outcome.why


def test_runs_that_are_the_same_pass_with_enough_topics_only():
    compared = rb.compare(QRELS, {"old": OLD, "again": OLD}, "RR")
    assert compared.gate("RR worse by 0.02").answer == "pass"
    assert compared.gate("RR worse by 0.02", margin_test="betting").answer == "undecided"
    assert compared.gate("RR worse by 0.1", margin_test="betting").answer == "pass"
    with pytest.raises(rb.UsageError, match="margin_test"):
        compared.gate("RR worse", margin_test="beting")


def test_the_command_takes_it(tmp_path, capsys):
    from rankbounds.cli import main

    paths = []
    for name, run in (("old", OLD), ("new", NEW)):
        paths.append(str(tmp_path / name))
        rb.Run(run).write(paths[-1])
    qrels = str(tmp_path / "qrels")
    rb.Qrels(QRELS).write(qrels)
    asked = ["compare", qrels, *paths, "-m", "RR", "--fail-if", "RR worse", "--margin", "0.1", "--format", "json"]
    assert main([*asked, "--margin-test", "betting"]) == 0
    assert "betting" in json.loads(capsys.readouterr().out)["gate"]["conditions"][0]["why"]
