"""What other labels do to runs: bias, orders and winners, beside definitions and other packages."""

from __future__ import annotations

import numpy as np
import pytest
from made_labels import made
from scipy import stats

import rankbounds as rb
from rankbounds.stats.significance import Resampling, topic_counts


@pytest.mark.parametrize("measure", ["AP", "nDCG@5", "ESL(n=1,collection=50)"])
def test_scores_are_those_of_evaluate_and_bias_their_difference(measure):
    people, models, runs = made(1)
    found = rb.judging.compare_judges(people, models, runs, measure)
    for row in found.systems:
        trusted, other = (
            rb.evaluate(labels, {row["run"]: runs[row["run"]]}, measure).value[0, :, 0]
            for labels in (people, models[row["labels"]])
        )
        assert row["trusted"] == pytest.approx(trusted.mean())
        assert row["by_labels"] == pytest.approx(other.mean())
        assert row["bias"] == pytest.approx((other - trusted).mean())
        half = stats.t.ppf(0.975, len(trusted) - 1) * (other - trusted).std(ddof=1) / len(trusted) ** 0.5
        ends = pytest.approx(row["bias"] - half), pytest.approx(row["bias"] + half)
        ends = ends if np.count_nonzero(other - trusted) > 5 else (None, None)
        assert (row["ci_low"], row["ci_high"]) == ends


def test_a_favourite_is_found_and_only_it():
    """One model calls everything relevant that stands first in the favourite's lists."""
    people, _, runs = made(7, topics=16, runs=6, grades=2)
    model = {topic: dict(grades) for topic, grades in people.items()}
    for topic in model:
        ranked = sorted(runs["run0"][topic], key=runs["run0"][topic].get, reverse=True)
        model[topic] |= dict.fromkeys(ranked[:2], 1)
    found = rb.judging.compare_judges(people, {"model": model}, runs, "RBP(p=0.5)")
    assert [row["run"] for row in found.systems if row["flag"] == "favoured"] == ["run0"]
    assert [row["run"] for row in found.systems if row["flag_beyond_scale"] == "favoured"] == ["run0"]
    assert "favours run0" in found.words()
    by_topic = np.stack([
        rb.evaluate(labels, runs, "RBP(p=0.5)").value[:, :, 0] for labels in (model, people)
    ])  # fmt: skip
    excess = by_topic[0] - by_topic[1] - (by_topic[0] - by_topic[1]).mean(axis=0)
    p = np.maximum(stats.ttest_1samp(excess, 0, axis=-1).pvalue, 2 * 0.5 ** np.count_nonzero(excess, axis=-1))
    order = np.argsort(p)
    holm = np.maximum.accumulate([min(1, p[at] * (6 - place)) for place, at in enumerate(order)])
    rows = {row["run"]: row for row in found.systems}
    for place, at in enumerate(order):
        row = rows[f"run{at}"]
        assert row["p_value"] == pytest.approx(p[at])
        assert row["p_adjusted"] == pytest.approx(holm[place])
        assert row["excess"] == pytest.approx(excess[at].mean())


def test_a_careless_judge_squeezes_differences_but_likes_nobody():
    """Random mistakes cost good runs and help poor ones; beside runs of like score, none stands out."""
    people, _, _ = made(3, topics=30, grades=2, documents=40)
    generator = np.random.default_rng(0)
    runs = {
        f"run{number}": {
            topic: {doc: number * grade / 2 + generator.normal() for doc, grade in of.items()}
            for topic, of in people.items()
        }
        for number in range(8)
    }
    model = {
        topic: {doc: 1 - grade if generator.random() < 0.3 else grade for doc, grade in of.items()}
        for topic, of in people.items()
    }
    found = rb.judging.compare_judges(people, {"careless": model}, runs, "P@10")
    assert found.orderings[0]["slope_high"] < 0.9
    flags = {row["run"]: row["flag"] for row in found.systems}
    assert flags["run7"] == "penalised"
    assert flags["run0"] == "favoured"
    assert {row["flag_beyond_scale"] for row in found.systems} == {None}
    assert "it shrinks all differences" in found.words()
    trusted, other = (rb.evaluate(labels, runs, "P@10").value[:, :, 0] for labels in (people, model))
    slope, level = np.polyfit(trusted.mean(axis=1), other.mean(axis=1), 1)
    for row in found.systems:
        assert row["beyond_scale"] == pytest.approx(row["by_labels"] - level - slope * row["trusted"], abs=1e-12)


def test_one_label_makes_no_favourite():
    """A line through runs' scores that one topic bends says nothing of the other runs."""
    people, _, runs = made(3, topics=30, runs=8, grades=2)
    model = {topic: dict(of) for topic, of in people.items()}
    model["4"]["d1"] = 1 - model["4"]["d1"]
    found = rb.judging.compare_judges(people, {"model": model}, runs, "P@3")
    assert any(row["bias"] for row in found.systems)
    assert {(row["flag"], row["flag_beyond_scale"]) for row in found.systems} == {(None, None)}


def plain_tau_ap(observed, reference):
    """For orders without ties."""
    ranked = sorted(observed, key=observed.get, reverse=True)
    shares = [
        sum(reference[above] > reference[run] for above in ranked[:place]) / place
        for place, run in enumerate(ranked)
        if place
    ]
    return 2 * np.mean(shares) - 1


def test_orders_beside_scipy_and_the_definition():
    people, models, runs = made(3, topics=14, runs=12)
    found = rb.judging.compare_judges(people, models, runs, ["AP", "nDCG@5"], resamples=50)
    for row in found.orderings:
        of_row = [s for s in found.systems if (s["labels"], s["measure"]) == (row["labels"], row["measure"])]
        trusted, other = ({s["run"]: s[side] for s in of_row} for side in ("trusted", "by_labels"))
        assert row["tau"] == pytest.approx(stats.kendalltau(list(trusted.values()), list(other.values())).statistic)
        both_ways = (plain_tau_ap(trusted, other) + plain_tau_ap(other, trusted)) / 2
        assert row["tau_ap"] == pytest.approx(both_ways)
        best = sorted(trusted, key=trusted.get, reverse=True)[:10]
        of_best = stats.kendalltau([trusted[run] for run in best], [other[run] for run in best]).statistic
        assert row["tau_top10"] == pytest.approx(of_best)
        assert row["slope"] == pytest.approx(np.polyfit(list(trusted.values()), list(other.values()), 1)[0])
        for name in ("tau", "tau_ap", "tau_top10"):
            assert -1 <= row[f"{name}_low"] <= row[name] <= row[f"{name}_high"] <= 1


def test_intervals_of_orders_are_the_deviation_over_topics_drawn_again():
    people, models, runs = made(3, topics=14, runs=6)
    found = rb.judging.compare_judges(people, {"one": models["one"]}, runs, "AP", resamples=40, seed=2, confidence=0.9)
    trusted, other = (rb.evaluate(labels, runs, "AP").value[:, :, 0] for labels in (people, models["one"]))
    drawn = [
        stats.kendalltau(trusted @ counts, other @ counts).statistic for counts in topic_counts(14, Resampling(40, 2))
    ]
    row = found.orderings[0]
    half = stats.t.ppf(0.95, 13) * np.std(drawn) * np.sqrt(14 / 13)
    assert row["tau_low"] == pytest.approx(max(row["tau"] - half, -1))
    assert row["tau_high"] == pytest.approx(min(row["tau"] + half, 1))


def test_pairs_are_separated_as_compare_separates_them():
    people, models, runs = made(9, topics=20, runs=5)
    found = rb.judging.compare_judges(people, models, runs, ["AP", "RR"])
    for row in found.orderings:
        before, after = (
            {
                frozenset((pair["run"], pair["against"])): pair
                for pair in rb.compare(rb.evaluate(labels, runs, row["measure"])).pairs.rows()
            }
            for labels in (people, models[row["labels"]])
        )
        shown = [pair for pair in before if before[pair]["p_adjusted"] < 0.05]
        turned = [pair for pair in shown if before[pair]["run"] != after[pair]["run"]]
        kept = [pair for pair in shown if pair not in turned and after[pair]["p_adjusted"] < 0.05]
        new = [pair for pair in after if after[pair]["p_adjusted"] < 0.05 and pair not in shown]
        counts = [row[name] for name in ("pairs", "separated", "kept", "lost", "reversed", "only_by_labels")]
        assert counts == [10, len(shown), len(kept), len(shown) - len(kept) - len(turned), len(turned), len(new)]
    assert any(row["separated"] for row in found.orderings)


def test_winners_that_change_are_named():
    people, _, runs = made(5, topics=20, runs=3, grades=2)
    upside_down = {topic: {doc: 1 - grade for doc, grade in of.items()} for topic, of in people.items()}
    found = rb.judging.compare_judges(people, {"contrary": upside_down}, runs, "P@3")
    row = found.orderings[0]
    assert row["reversed"] == row["separated"] == len(found.changes) > 0
    assert all(change["trusted"] > 0 > change["by_labels"] for change in found.changes)
    assert found.changes[0]["better"] == "run2"
    assert found.agreement[0]["kappa"] < 0
    assert "To say which of two runs is better: no" in found.words()


def test_the_opposite_of_people_is_not_trusted():
    """Two runs, of which the one gains what the other loses: the bias is 0 on average, and nothing else is right."""
    people = {str(topic): {"a": 1, "b": 0} for topic in range(12)}
    contrary = {topic: {"a": 0, "b": 1} for topic in people}
    runs = {"good": {topic: ["a", "b"] for topic in people}, "poor": {topic: ["b", "a"] for topic in people}}
    found = rb.judging.compare_judges(people, {"contrary": contrary}, runs, "P@1")
    assert (found.agreement[0]["kappa"], found.orderings[0]["tau"], found.orderings[0]["mean_bias"]) == (-1, -1, 0)
    told = found.words()
    assert "no problem was found" not in told
    assert "For the scores themselves: no, its labels are not shown to agree with trusted more than by chance" in told
    # Labels that agree well enough, by which clear differences turn around all the same.
    others = {f"d{number}": number % 2 for number in range(40)}
    mostly = {topic: {**people[topic], **others} for topic in people}
    turning = {
        topic: {**mostly[topic], "a": int(int(topic) % 4 == 0), "b": int(int(topic) % 4 > 0)} for topic in people
    }
    told = rb.judging.compare_judges(mostly, {"turning": turning}, runs, "P@1").words()
    assert "For the scores themselves: no, by P@1 they reverse clear differences" in told


def test_with_two_runs_both_coefficients_are_one_number():
    people = {str(topic): {"a": 1, "b": 0, "c": 0} for topic in range(2)}
    labels = {"0": {"a": 1, "b": 0, "c": 0}, "1": {"a": 0, "b": 0, "c": 1}}
    runs = {"one": {"0": ["a"], "1": ["a"]}, "two": {"0": ["b"], "1": ["b"]}}
    row = rb.judging.compare_judges(people, {"model": labels}, runs, "P@1").orderings[0]
    coefficients = [[row[name + end] for end in ("", "_low", "_high")] for name in ("tau", "tau_ap")]
    assert coefficients == [[1.0, -1.0, 1.0]] * 2
    alike = rb.judging.compare_judges(people, {"model": people}, runs, "P@1").orderings[0]
    assert [alike[name] for name in ("tau", "tau_low", "tau_ap", "tau_ap_low")] == [1.0, None, 1.0, None]
    tied = rb.judging.compare_judges(people, {"model": people}, runs | {"two again": runs["two"]}, "P@1").orderings[0]
    assert [tied[name] for name in ("tau", "tau_low", "tau_ap", "tau_ap_low")] == [1.0, None, 1.0, None]
    level = rb.judging.compare_judges(
        people, {"model": {topic: dict.fromkeys("abc", 1) for topic in people}}, runs, "P@1"
    ).orderings[0]
    assert (level["tau"], level["tau_ap"]) == (None, None)


def test_no_bias_is_greater_than_a_measure_can_be():
    sides = {"a": 0, "b": 0, "z": 1}, {"a": 1, "b": 1}
    people, labels = ({str(topic): sides[(topic + turn) % 2] for topic in range(6)} for turn in (0, 1))
    runs = {"one": {topic: ["a", "b"] for topic in people}, "two": {topic: ["b", "a"] for topic in people}}
    found = rb.judging.compare_judges(people, {"model": labels}, runs, "P@2")
    assert {row["ci_low"] for row in found.systems} == {-1.0}
    assert {row["ci_high"] for row in found.systems} == {1.0}
    assert (found.orderings[0]["mean_bias_low"], found.orderings[0]["mean_bias_high"]) == (-1.0, 1.0)
