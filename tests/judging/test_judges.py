"""Labels held against trusted ones, beside plain definitions that share no code: agreement, bias, orders, votes."""

from __future__ import annotations

import itertools
import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankbounds as rb
from rankbounds.judging.judges.agreement import alpha, disagreement, kappa
from rankbounds.stats.significance import Resampling, topic_counts

COEFFICIENTS = ("kappa", "kappa_grades", "kappa_linear", "kappa_quadratic")


def made(seed=0, topics=9, documents=12, runs=5, grades=4, judges=("one", "two")):
    """People's grades, models that are sometimes wrong, and runs of different quality, as plain dicts."""
    generator = np.random.default_rng(seed)
    people, models, lists = {}, {name: {} for name in judges}, {f"run{number}": {} for number in range(runs)}
    for topic in map(str, range(topics)):
        grade = np.minimum(generator.geometric(0.5, documents) - 1, grades - 1)
        people[topic] = {f"d{place}": int(value) for place, value in enumerate(grade)}
        for number, labels in enumerate(models.values()):
            moved = np.clip(grade + generator.integers(-1, 2 + number, documents), 0, grades - 1)
            labels[topic] = {f"d{place}": int(value) for place, value in enumerate(moved)}
        for number, ranking in enumerate(lists.values()):
            score = grade * number / runs + generator.normal(size=documents)
            ranking[topic] = {f"d{place}": float(value) for place, value in enumerate(score)}
    return people, models, lists


def paired(people, labels, topics=None):
    """The two grades of every pair that both have."""
    chosen = people if topics is None else topics
    return np.array([
        (people[topic][doc], labels[topic][doc])
        for topic in chosen for doc in people[topic] if doc in labels.get(topic, {})
    ], dtype=float)  # fmt: skip


# ---- plain definitions ----


def plain_kappa(pairs, weight):
    """Cohen: observed over expected disagreement, from two lists of grades."""
    observed = np.mean([weight(a, b) for a, b in pairs])
    expected = np.mean([weight(a, b) for a in pairs[:, 0] for b in pairs[:, 1]])
    return 1 - observed / expected


def plain_alpha(pairs, level):
    """Krippendorff: disagreement within units over that of any two of all values."""
    values = pairs.ravel().tolist()
    below = {grade: sum(value < grade for value in values) for grade in values}
    count = {grade: values.count(grade) for grade in values}

    def distance(a, b):
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = below[high] + count[high] - below[low]
        return 0.0 if low == high else (between - (count[low] + count[high]) / 2) ** 2

    observed = np.mean([distance(a, b) for a, b in pairs])
    expected = np.mean([distance(a, b) for a, b in itertools.permutations(values, 2)])
    return 1 - observed / expected


@pytest.mark.parametrize("seed", range(3))
def test_kappa_and_alpha_by_their_definitions(seed):
    people, models, _ = made(seed)
    row = rb.judges(people, {"model": models["one"]}, rel=2).agreement[0]
    pairs = paired(people, models["one"])
    relevant = (pairs >= 2).astype(float)
    assert row["pairs"] == len(pairs)
    assert row["kappa"] == pytest.approx(plain_kappa(relevant, lambda a, b: a != b))
    assert row["kappa_grades"] == pytest.approx(plain_kappa(pairs, lambda a, b: a != b))
    assert row["kappa_linear"] == pytest.approx(plain_kappa(pairs, lambda a, b: abs(a - b)))
    assert row["kappa_quadratic"] == pytest.approx(plain_kappa(pairs, lambda a, b: (a - b) ** 2))
    for level in ("nominal", "ordinal", "interval"):
        assert row[f"alpha_{level}"] == pytest.approx(plain_alpha(pairs, level))
    assert row["alpha"] == row["alpha_ordinal"]
    assert row["shift"] == pytest.approx(np.mean(pairs[:, 1] - pairs[:, 0]))
    assert row["shift_relevant"] == pytest.approx(np.mean(relevant[:, 1] - relevant[:, 0]))
    assert row["same"] == pytest.approx(np.mean(relevant[:, 0] == relevant[:, 1]))


def test_kappa_as_scikit_learn_has_it():
    metrics = pytest.importorskip("sklearn.metrics", reason="kappa is held against scikit-learn")
    for seed in range(4):
        people, models, _ = made(seed, grades=3 + seed % 2)
        for name, labels in models.items():
            row = rb.judges(people, {name: labels}, rel=1).agreement[0]
            trusted, other = paired(people, labels).T.astype(int)
            known = list(range(5))
            assert row["kappa"] == pytest.approx(metrics.cohen_kappa_score(trusted >= 1, other >= 1))
            for field, weights in (
                ("kappa_grades", None),
                ("kappa_linear", "linear"),
                ("kappa_quadratic", "quadratic"),
            ):
                expected = metrics.cohen_kappa_score(trusted, other, labels=known, weights=weights)
                assert row[field] == pytest.approx(expected), field


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=25),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_coefficients_of_any_table(given_pairs, level):
    pairs = np.array(given_pairs, dtype=float)
    table = np.zeros((4, 4))
    for a, b in given_pairs:
        table[a, b] += 1
    grades = np.arange(4.0)
    found = alpha(table, grades, level)
    if len(set(pairs.ravel().tolist())) == 1:
        assert np.isnan(found)
        assert np.isnan(kappa(table, disagreement(grades, 2)))
        return
    assert found == pytest.approx(plain_alpha(pairs, level))
    assert alpha(table.T, grades, level) == pytest.approx(found)
    expected = np.mean([(a - b) ** 2 for a in pairs[:, 0] for b in pairs[:, 1]])
    if expected:
        assert kappa(table, disagreement(grades, 2)) == pytest.approx(plain_kappa(pairs, lambda a, b: (a - b) ** 2))


def test_intervals_are_standard_errors_over_topics_drawn_again():
    people, models, _ = made(4)
    row = rb.judges(people, {"model": models["two"]}, rel=1, resamples=60, seed=5, confidence=0.8).agreement[0]
    topics = list(people)
    drawn = []
    for counts in topic_counts(len(topics), Resampling(60, 5)):
        chosen = [topic for topic, count in zip(topics, counts, strict=True) for _ in range(int(count))]
        pairs = paired(people, models["two"], chosen)
        drawn.append((
            plain_kappa(pairs, lambda a, b: abs(a - b)),
            plain_alpha(pairs, "ordinal"),
            np.mean(pairs[:, 1] - pairs[:, 0]),
        ))  # fmt: skip
    for place, name in enumerate(("kappa_linear", "alpha", "shift")):
        half = stats.t.ppf(0.9, 8) * np.std(np.array(drawn)[:, place]) * np.sqrt(9 / 8)
        assert row[f"{name}_low"] == pytest.approx(row[name] - half)
        assert row[f"{name}_high"] == pytest.approx(row[name] + half)


def test_confusion_and_shares_by_grade():
    people, models, _ = made(2)
    found = rb.judges(people, models, rel=2)
    for name, labels in models.items():
        pairs = paired(people, labels)
        for row in found.confusion:
            if row["labels"] == name:
                expected = np.count_nonzero((pairs[:, 0] == row["trusted"]) & (pairs[:, 1] == row["by_labels"]))
                assert row["pairs"] == expected
        for row in found.by_grade:
            if row["labels"] == name:
                of_grade = pairs[pairs[:, 0] == row["trusted"], 1]
                assert (row["pairs"], row["relevant"]) == (len(of_grade), pytest.approx(np.mean(of_grade >= 2)))
    assert sum(row["pairs"] for row in found.confusion) == sum(row["pairs"] for row in found.agreement)


# ---- scores ----


@pytest.mark.parametrize("measure", ["AP", "nDCG@5", "ESL(n=1,collection=50)"])
def test_scores_are_those_of_evaluate_and_bias_their_difference(measure):
    people, models, runs = made(1)
    found = rb.judges(people, models, runs, measure)
    for row in found.systems:
        trusted, other = (
            rb.evaluate(labels, {row["run"]: runs[row["run"]]}, measure).value[0, :, 0]
            for labels in (people, models[row["labels"]])
        )
        assert row["trusted"] == pytest.approx(trusted.mean())
        assert row["by_labels"] == pytest.approx(other.mean())
        assert row["bias"] == pytest.approx((other - trusted).mean())
        half = stats.t.ppf(0.975, len(trusted) - 1) * (other - trusted).std(ddof=1) / len(trusted) ** 0.5
        ends = (pytest.approx(row["bias"] - half), pytest.approx(row["bias"] + half)) if half else (None, None)
        assert (row["ci_low"], row["ci_high"]) == ends


def test_a_favourite_is_found_and_only_it():
    """One model calls everything relevant that stands first in the favourite's lists."""
    people, _, runs = made(7, topics=16, runs=6, grades=2)
    model = {topic: dict(grades) for topic, grades in people.items()}
    for topic in model:
        ranked = sorted(runs["run0"][topic], key=runs["run0"][topic].get, reverse=True)
        model[topic] |= dict.fromkeys(ranked[:2], 1)
    found = rb.judges(people, {"model": model}, runs, "RBP(p=0.5)")
    assert [row["run"] for row in found.systems if row["flag"] == "favoured"] == ["run0"]
    assert [row["run"] for row in found.systems if row["flag_beyond_scale"] == "favoured"] == ["run0"]
    assert "likes run0" in found.words()
    by_topic = np.stack([
        rb.evaluate(labels, runs, "RBP(p=0.5)").value[:, :, 0] for labels in (model, people)
    ])  # fmt: skip
    excess = by_topic[0] - by_topic[1] - (by_topic[0] - by_topic[1]).mean(axis=0)
    flips = np.array(list(itertools.product([-1, 1], repeat=16)))
    p = [np.mean(np.abs(flips @ row) >= abs(row.sum()) - 1e-12) for row in excess]
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
    found = rb.judges(people, {"careless": model}, runs, "P@10")
    assert found.orderings[0]["slope_high"] < 0.9
    flags = {row["run"]: row["flag"] for row in found.systems}
    assert flags["run7"] == "punished"
    assert flags["run0"] == "favoured"
    assert {row["flag_beyond_scale"] for row in found.systems} == {None}
    assert "squeezes all differences explains this" in found.words()
    trusted, other = (rb.evaluate(labels, runs, "P@10").value[:, :, 0] for labels in (people, model))
    slope, level = np.polyfit(trusted.mean(axis=1), other.mean(axis=1), 1)
    for row in found.systems:
        assert row["beyond_scale"] == pytest.approx(row["by_labels"] - level - slope * row["trusted"], abs=1e-12)


def test_one_label_makes_no_favourite():
    """A line through runs' scores that one topic bends says nothing of the other runs."""
    people, _, runs = made(3, topics=30, runs=8, grades=2)
    model = {topic: dict(of) for topic, of in people.items()}
    model["4"]["d1"] = 1 - model["4"]["d1"]
    found = rb.judges(people, {"model": model}, runs, "P@3")
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
    found = rb.judges(people, models, runs, ["AP", "nDCG@5"], resamples=50)
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
    found = rb.judges(people, {"one": models["one"]}, runs, "AP", resamples=40, seed=2, confidence=0.9)
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
    found = rb.judges(people, models, runs, ["AP", "RR"])
    for row in found.orderings:
        before, after = (
            {(pair["a"], pair["b"]): pair for pair in rb.compare(rb.evaluate(labels, runs, row["measure"])).pairs}
            for labels in (people, models[row["labels"]])
        )
        shown = [pair for pair in before if before[pair]["p_adjusted"] < 0.05]
        turned = [pair for pair in shown if before[pair]["difference"] * after[pair]["difference"] < 0]
        kept = [pair for pair in shown if pair not in turned and after[pair]["p_adjusted"] < 0.05]
        new = [pair for pair in after if after[pair]["p_adjusted"] < 0.05 and pair not in shown]
        counts = [row[name] for name in ("pairs", "separated", "kept", "lost", "reversed", "only_by_labels")]
        assert counts == [10, len(shown), len(kept), len(shown) - len(kept) - len(turned), len(turned), len(new)]
    assert any(row["separated"] for row in found.orderings)


def test_winners_that_change_are_named():
    people, _, runs = made(5, topics=20, runs=3, grades=2)
    upside_down = {topic: {doc: 1 - grade for doc, grade in of.items()} for topic, of in people.items()}
    found = rb.judges(people, {"contrary": upside_down}, runs, "P@3")
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
    found = rb.judges(people, {"contrary": contrary}, runs, "P@1")
    assert (found.agreement[0]["kappa"], found.orderings[0]["tau"], found.orderings[0]["mean_bias"]) == (-1, -1, 0)
    told = found.words()
    assert "nothing speaks against them" not in told
    assert "For the scores themselves: no, that its labels agree with trusted by more than chance is not shown" in told
    # Labels that agree well enough, by which clear differences turn around all the same.
    others = {f"d{number}": number % 2 for number in range(40)}
    mostly = {topic: {**people[topic], **others} for topic in people}
    turning = {
        topic: {**mostly[topic], "a": int(int(topic) % 4 == 0), "b": int(int(topic) % 4 > 0)} for topic in people
    }
    told = rb.judges(mostly, {"turning": turning}, runs, "P@1").words()
    assert "For the scores themselves: no, by P@1 they turn clear differences around" in told


def test_with_two_runs_both_coefficients_are_one_number():
    people = {str(topic): {"a": 1, "b": 0, "c": 0} for topic in range(2)}
    labels = {"0": {"a": 1, "b": 0, "c": 0}, "1": {"a": 0, "b": 0, "c": 1}}
    runs = {"one": {"0": ["a"], "1": ["a"]}, "two": {"0": ["b"], "1": ["b"]}}
    row = rb.judges(people, {"model": labels}, runs, "P@1").orderings[0]
    coefficients = [[row[name + end] for end in ("", "_low", "_high")] for name in ("tau", "tau_ap")]
    assert coefficients == [[1.0, -1.0, 1.0]] * 2
    alike = rb.judges(people, {"model": people}, runs, "P@1").orderings[0]
    assert [alike[name] for name in ("tau", "tau_low", "tau_ap", "tau_ap_low")] == [1.0, None, 1.0, None]
    level = rb.judges(people, {"model": {topic: dict.fromkeys("abc", 1) for topic in people}}, runs, "P@1").orderings[0]
    assert (level["tau"], level["tau_ap"]) == (None, None)


def test_no_bias_is_greater_than_a_measure_can_be():
    people = {str(topic): {"a": 1, "b": 0} for topic in range(2)}
    labels = {"0": {"a": 1, "b": 1}, "1": {"a": 0, "b": 0, "z": 1}}
    runs = {"one": {topic: ["a", "b"] for topic in people}, "two": {topic: ["b", "c"] for topic in people}}
    found = rb.judges(people, {"model": labels}, runs, "P@2")
    assert {row["ci_low"] for row in found.systems} == {-1.0}
    assert {row["ci_high"] for row in found.systems} == {1.0}
    assert (found.orderings[0]["mean_bias_low"], found.orderings[0]["mean_bias_high"]) == (-1.0, 1.0)


# ---- laws ----


def test_the_same_labels_agree_in_everything():
    people, _, runs = made(6)
    found = rb.judges(people, {"again": people}, runs, ["AP", "nDCG@5"])
    row = found.agreement[0]
    assert [row[name] for name in (*COEFFICIENTS, "alpha", "same")] == pytest.approx([1.0] * 6)
    assert (row["shift"], row["missing"], row["extra"]) == (0, 0, 0)
    assert {(s["bias"], s["flag"]) for s in found.systems} == {(0.0, None)}
    for ordering in found.orderings:
        assert [ordering[name] for name in ("tau", "tau_ap", "tau_top10", "slope")] == pytest.approx([1.0] * 4)
        assert [ordering[name] for name in ("tau_low", "tau_high", "slope_low", "mean_bias_low")] == [None] * 4
    assert all(o["lost"] == o["reversed"] == o["only_by_labels"] == 0 for o in found.orderings)


@pytest.mark.parametrize("seed", range(3))
def test_orders_of_inputs_do_not_matter(seed):
    people, models, runs = made(seed)
    shuffled = np.random.default_rng(seed)

    def mixed(table):
        topics = shuffled.permutation(list(table)).tolist()
        return {topic: {doc: table[topic][doc] for doc in shuffled.permutation(list(table[topic]))} for topic in topics}

    found = rb.judges(people, models, runs, "AP", resamples=20)
    again = rb.judges(people, {name: mixed(labels) for name, labels in models.items()}, runs, "AP", resamples=20)
    assert found.rows() == again.rows()
    assert found.agreement == again.agreement
    turned = rb.judges(people, models, dict(reversed(runs.items())), "AP", resamples=20)
    by_name = {(row["labels"], row["run"]): row for row in turned.systems}
    for row in found.systems:
        assert by_name[row["labels"], row["run"]] == pytest.approx(row)


# ---- scales ----


def test_zero_one_labels_beside_grades():
    people, models, runs = made(8)
    model = {topic: {doc: int(grade >= 2) for doc, grade in of.items()} for topic, of in models["one"].items()}
    found = rb.judges(people, {"binary": model, "graded": models["one"]}, runs, ["RBP(p=0.8,rel=2)", "nDCG@5"])
    binary, graded = found.agreement
    assert (binary["scale"], binary["rel"], graded["scale"], graded["rel"]) == ("0/1", 1, "0 to 3", 2)
    assert binary["kappa"] == graded["kappa"]
    assert [binary[name] for name in ("kappa_linear", "kappa_quadratic", "shift")] == [None, None, None]
    assert "scale" in binary["reason"]
    assert graded["reason"] is None
    relevant = (paired(people, models["one"]) >= 2).astype(float)
    assert binary["alpha"] == pytest.approx(plain_alpha(relevant, "nominal"))
    by_measure = {
        (row["labels"], row["run"]): row["by_labels"] for row in found.systems if row["measure"] == "RBP(p=0.8,rel=2)"
    }
    assert all(by_measure["binary", run] == pytest.approx(by_measure["graded", run]) for run in runs)
    expected = rb.evaluate(model, runs, "nDCG@5").mean().value[:, 0, 0]
    told = {r["run"]: r["by_labels"] for r in found.systems if (r["labels"], r["measure"]) == ("binary", "nDCG@5")}
    assert list(map(told.get, runs)) == pytest.approx(expected.tolist())


def test_other_scales_are_not_guessed():
    people, models, runs = made(8, grades=3)
    ten = {topic: {doc: 5 * grade for doc, grade in of.items()} for topic, of in models["one"].items()}
    with pytest.raises(rb.DataError, match="grades 0 to 10, the trusted ones 0 to 2") as told:
        rb.judges(people, {"ten": ten}, runs)
    assert "--labels-rel ten=GRADE" in str(told.value)
    said = rb.judges(people, {"ten": ten}, runs, labels_rel={"ten": 5})
    same = rb.judges(people, {"one": models["one"]}, runs)
    assert said.agreement[0]["kappa"] == same.agreement[0]["kappa"]
    assert said.agreement[0]["kappa_linear"] is None
    assert [row["by_labels"] for row in said.systems] == [row["by_labels"] for row in same.systems]
    without_top = {topic: {doc: min(grade, 1) for doc, grade in of.items()} for topic, of in models["one"].items()}
    assert rb.judges(people, {"low": without_top}, same_scale=True).agreement[0]["kappa_linear"] is not None


def test_rel_is_for_kappa_and_for_measures_that_name_none():
    people, models, runs = made(8)
    found = rb.judges(people, {"one": models["one"]}, runs, ["AP", "RBP(p=0.8,rel=3)", "nDCG@5"], rel=2)
    assert found.measures == ["AP(rel=2)", "RBP(p=0.8,rel=3)", "nDCG@5"]
    assert found.settings["rel"] == 2
    assert rb.judges(people, {"one": models["one"]}, runs, ["nDCG@5", "AP(rel=3)"]).settings["rel"] == 3


# ---- missing labels, votes ----


def test_missing_labels_are_counted_and_said():
    people, models, runs = made(1)
    model = {topic: dict(of) for topic, of in models["one"].items()}
    del model["3"]["d4"], model["5"]["d0"]
    model["2"]["elsewhere"] = 1
    people["4"]["d2"] = -1  # pooled, and not judged
    found = rb.judges(people, {"model": model}, runs, "AP")
    row = found.agreement[0]
    assert (row["pairs"], row["missing"], row["extra"]) == (9 * 12 - 3, 2, 2)
    assert "no label for 2 pairs" in found.words()
    shared = rb.judges(people, {"model": model}, runs, "AP", pairs="shared")
    kept = {topic: {doc: grade for doc, grade in of.items() if doc in model[topic] and grade >= 0}
            for topic, of in people.items()}  # fmt: skip
    both = {topic: {doc: model[topic][doc] for doc in of} for topic, of in kept.items()}
    again = rb.judges(kept, {"model": both}, runs, "AP")
    assert shared.systems == again.systems
    assert shared.systems != found.systems
    del model["7"]
    with pytest.warns(rb.RankboundsWarning, match=r"1 of 9 topics of trusted are left out.*\(7\)"):
        assert rb.judges(people, {"model": model}, runs, "AP").settings["topics"] == 8


def test_votes_of_one_scale():
    people, models, runs = made(2, judges=("one", "two", "three"))
    found = rb.judges(people, models, runs, "AP(rel=2)", votes=True)
    assert found.labels == ["one", "two", "three", "majority", "mean grade"]
    majority, mean = {}, {}
    for topic, of in people.items():
        given = {doc: [labels[topic][doc] for labels in models.values()] for doc in of}
        majority[topic] = {doc: int(sum(grade >= 2 for grade in grades) >= 2) for doc, grades in given.items()}
        mean[topic] = {doc: sum(grades) / 3 for doc, grades in given.items()}
    alone = rb.judges(people, {"majority": majority, "mean grade": mean}, runs, "AP(rel=2)", same_scale=None,
                      labels_rel={"majority": 1, "mean grade": 2})  # fmt: skip
    for name in ("kappa", "same", "relevant"):
        assert [row[name] for row in found.agreement[3:]] == pytest.approx([row[name] for row in alone.agreement])
    told = {(row["labels"], row["run"]): row["by_labels"] for row in alone.systems}
    for row in found.systems:
        if row["labels"] in ("majority", "mean grade"):
            assert row["by_labels"] == pytest.approx(told[row["labels"], row["run"]])
    assert found.agreement[4]["kappa_linear"] == pytest.approx(
        plain_kappa(paired(people, mean), lambda a, b: abs(a - b))
    )


def test_votes_of_different_scales_and_of_few():
    people, models, runs = made(2)
    binary = {topic: {doc: int(grade >= 2) for doc, grade in of.items()} for topic, of in models["one"].items()}
    del binary["0"]["d0"]
    found = rb.judges(people, {"binary": binary, "graded": models["two"]}, runs, "AP(rel=2)", votes=True)
    assert found.labels[2:] == ["majority", "share of votes"]
    assert found.agreement[2]["missing"] == 0
    with pytest.raises(rb.UsageError, match="at least two"):
        rb.judges(people, {"binary": binary}, votes=True)


def test_votes_of_zero_one_labels_count_half():
    people = {str(q): {"a": 1, "b": 0, "c": 1} for q in range(4)}
    one = {str(q): {"a": 1, "b": 1, "c": 0} for q in range(4)}
    two = {str(q): {"a": 1, "b": 0, "c": 0} for q in range(4)}
    found = rb.judges(people, {"one": one, "two": two}, {q: ["b", "a"] for q in people}, "P@1", votes=True)
    scores = {row["labels"]: row["by_labels"] for row in found.systems}
    assert scores == {"one": 1, "two": 0, "majority": 0, "mean grade": 1}


# ---- one way in, and the command ----


def test_labels_in_every_form(tmp_path):
    people, models, runs = made(0)
    expected = rb.judges(people, {"one": models["one"]}, runs, "AP")
    qrels = rb.read_qrels
    for name, labels in (("people", people), ("one", models["one"]), ("two", models["two"])):
        rows = [(topic, doc, grade) for topic, of in labels.items() for doc, grade in of.items()]
        rb.Qrels.from_columns(*zip(*rows, strict=True)).write(tmp_path / f"{name}.qrels")
    forms = [
        tmp_path / "one.qrels", [str(tmp_path / "one.qrels")], str(tmp_path / "o*.qrels"), models["one"],
        [models["one"]], qrels(tmp_path / "one.qrels"), qrels(tmp_path / "one.qrels").to_polars(),
        list(qrels(tmp_path / "one.qrels").rows()), {"one": str(tmp_path / "one.qrels")},
        {"one": qrels(tmp_path / "one.qrels").to_pandas()},
        qrels(tmp_path / "one.qrels").to_polars().to_dict(as_series=False),
    ]  # fmt: skip
    for form in forms:
        found = rb.judges(tmp_path / "people.qrels", form, runs, "AP")
        assert len(found.labels) == 1
        assert [row | {"labels": "one"} for row in found.rows()] == expected.rows()
    assert rb.judges(people, [tmp_path / "one.qrels", tmp_path / "two.qrels"]).labels == ["one", "two"]
    assert rb.judges(people, [models["one"], models["two"]]).labels == ["labels1", "labels2"]
    assert rb.judges(people, models["one"]).rows() == rb.judges(people, models["one"]).agreement
    for nothing in ({}, []):
        with pytest.raises(rb.UsageError, match="No labels"):
            rb.judges(people, nothing)


@pytest.fixture
def files(tmp_path):
    people, models, runs = made(0)
    (tmp_path / "runs").mkdir()
    for name, labels in {"people": people, **models}.items():
        (tmp_path / f"{name}.qrels").write_text(
            "".join(f"{topic} 0 {doc} {grade}\n" for topic, of in labels.items() for doc, grade in of.items())
        )
    for name, of_run in runs.items():
        (tmp_path / "runs" / name).write_text(
            "".join(f"{topic} Q0 {doc} 0 {score} {name}\n" for topic, of in of_run.items() for doc, score in of.items())
        )
    sources = "".join(
        f"{topic},{doc},{grade},{source}\n"
        for source, labels in {"human": people, **models}.items()
        for topic, of in labels.items()
        for doc, grade in of.items()
    )  # fmt: skip
    (tmp_path / "labels.csv").write_text(f"query_id,doc_id,relevance,source\n{sources}")
    return tmp_path


def test_json_of_the_command_is_what_python_returns(command, files):
    people, models, runs = made(0)
    code, out, err = command(
        "judges", files / "people.qrels", f"1st={files / 'one.qrels'}", files / "two.qrels", "--runs", files / "runs",
        "-m", "AP", "-m", "nDCG@5", "--rel", "2", "--format", "json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    told = json.loads(out)
    expected = rb.judges(people, {"1st": models["one"], "two": models["two"]}, runs, ["AP", "nDCG@5"], rel=2)
    assert told["agreement"] == json.loads(json.dumps(expected.agreement))
    assert told["systems"] == json.loads(json.dumps(expected.systems))
    assert {"labels", "pairs", "kappa", "kappa_linear", "kappa_quadratic", "alpha"} <= set(told["agreement"][0])
    wanted = {"labels", "run", "measure", "by_labels", "trusted", "bias", "ci_low", "ci_high"}
    assert wanted <= set(told["systems"][0])
    assert {"labels", "measure", "tau", "tau_ap", "tau_top10"} <= set(told["orderings"][0])
    assert {"labels", "trusted", "by_labels", "pairs"} == set(told["confusion"][0])
    assert told["settings"]["trusted"] == "people"


def test_sources_of_one_file(command, files):
    arguments = ("--runs", files / "runs", "-m", "AP", "--format", "csv")
    code, out, err = command("judges", files / "labels.csv", "--labels", "human", *arguments)
    assert (code, err) == (0, "")
    code, apart, _ = command("judges", files / "people.qrels", files / "one.qrels", files / "two.qrels", *arguments)
    assert (code, apart) == (0, out)
    mixed = command("judges", files / "labels.csv", files / "one.qrels", "--labels", "human", *arguments)[1]
    assert mixed.splitlines()[1] == apart.splitlines()[1]
    assert command("judges", files / "labels.csv", *arguments)[0] == 2
    assert command("judges", files / "people.qrels", "--labels", "human", *arguments)[0] == 3


@pytest.mark.parametrize("kind", ["table", "markdown", "latex", "html"])
def test_tables_hold_verdict_and_numbers(command, files, kind):
    code, out, _ = command(
        "judges", files / "people.qrels", files / "one.qrels", files / "two.qrels", "--runs", files / "runs",
        "-m", "AP", "--votes", "--format", kind,
    )  # fmt: skip
    assert code == 0
    assert out.count("May it be trusted?") == 4
    assert all(name in out for name in ("majority", "mean grade", "kappa", "run0"))


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--rel", "0"], 2, "positive"),
        (["--labels-rel", "x=1"], 2, 'no labels "x"'),
        (["--labels-rel", "one=high"], 2, "takes a grade"),
        (["--labels-rel", "-1"], 2, "positive"),
        (["--labels-rel", "1", "--labels-rel", "one=2"], 2, "one grade for all"),
        (["--pairs", "some"], 2, 'no choice "some"'),
        (["--confidence", "2"], 2, "between 0 and 1"),
        (["--alpha", "0"], 2, "alpha"),
        (["-m", "ESL(n=11)"], 3, "infinite"),
    ],
)
def test_what_cannot_be_is_one_sentence(command, files, arguments, code, told):
    found = command("judges", files / "people.qrels", files / "one.qrels", "--runs", files / "runs", *arguments)
    assert found[:2] == (code, "")
    assert found[2].count("\n") == 1
    assert told in found[2]


def test_labels_that_share_nothing_are_told(command, files):
    (files / "elsewhere.qrels").write_text("x 0 a 1\ny 0 b 0\n")
    (files / "other_docs.qrels").write_text("".join(f"{topic} 0 x 3\n" for topic in range(9)))
    (files / "scores.qrels").write_text("".join(f"{t} 0 d{d} {t}.{d}1\n" for t in range(9) for d in range(12)))
    for name, told in (
        ("elsewhere", "share 0 topics"),
        ("other_docs", "share no pair"),
        ("scores", "different scales"),
    ):
        code, out, err = command("judges", files / "people.qrels", files / f"{name}.qrels")
        assert (code, out, err.count("\n")) == (3, "", 1)
        assert told in err
        assert f"{name}.qrels" in err
    code, _, err = command("judges", files / "people.qrels", files / "scores.qrels", "--labels-rel", "2")
    assert (code, "different grades" in err) == (3, True)


def test_figures(command, files):
    pytest.importorskip("matplotlib", reason="figures are drawn by matplotlib: pip install 'rankbounds[report]'")
    arguments = ("judges", files / "people.qrels", files / "one.qrels", "--runs", files / "runs", "-m", "AP")
    assert command(*arguments, "--figure", files / "figure.svg")[0] == 0
    assert (files / "figure.svg").read_bytes()[:5] == b"<?xml"
    found = rb.judges(*made(0)[:2], made(0)[2], ["AP", "RR"])
    axes = rb.plots.bias_by_run(found, "RR")
    rows = [row for row in found.systems if row["measure"] == "RR"]
    assert [label.get_text() for label in axes.get_xticklabels()] == [row["run"] for row in rows[:5]]
    assert axes.lines[0].get_ydata().tolist() == [row["bias"] for row in rows if row["labels"] == "one"]
    with pytest.raises(rb.UsageError, match="not compared by"):
        rb.plots.bias_by_run(found, "P@3")
    with pytest.raises(rb.UsageError, match="needs runs"):
        rb.plots.bias_by_run(rb.judges(*made(0)[:2]))
    assert command(*arguments, "--figure", files / "people.qrels")[0] == 2


def test_notebooks_show_it_and_frames_hold_it():
    people, models, runs = made(0)
    found = rb.judges(people, models, runs, "AP")
    shown = found._repr_html_()
    assert shown.count("<table ") == len(found.parts())
    assert found.to_polars().height == found.to_pandas().shape[0] == len(found.systems) == 10
    with pytest.raises(rb.UsageError, match="no labels"):
        found.words("three")


# ---- real labels ----


def test_the_judges_of_a_track(unpacked):
    """TREC Deep Learning 2021: four models, 63 runs."""
    folder = unpacked("dl21-half.tar.xz") / "dl21-half"
    names = ("binary-gpt4", "binary-gpt4o", "binary-llama3.2", "umbrela-gpt4")
    began = time.process_time()
    found = rb.judges(
        folder / "human.qrels", [folder / f"{name}.qrels" for name in names], folder / "runs",
        ["RBP(p=0.8,rel=2)", "nDCG@10"],
    )  # fmt: skip
    assert time.process_time() - began < 60
    assert found.labels == list(names)
    assert [(row["pairs"], row["missing"]) for row in found.agreement] == [(5590, 6), (5593, 3), (5596, 0), (5596, 0)]
    kappas = {row["labels"]: row["kappa"] for row in found.agreement}
    assert min(kappas, key=kappas.get) == "binary-llama3.2"
    expected = rb.evaluate(folder / "umbrela-gpt4.qrels", folder / "runs", "RBP(p=0.8,rel=2)", bounds="none")
    means = dict(zip(expected.runs, expected.mean().value[:, 0, 0].tolist(), strict=True))
    for row in found.systems:
        if (row["labels"], row["measure"]) == ("umbrela-gpt4", "RBP(p=0.8,rel=2)"):
            assert row["by_labels"] == pytest.approx(means[row["run"]])
    assert all(row["mean_bias_low"] > 0 for row in found.orderings)
    metrics = pytest.importorskip("sklearn.metrics", reason="kappa is held against scikit-learn")
    human, model = (rb.read_qrels(folder / f"{name}.qrels").to_dict() for name in ("human", "umbrela-gpt4"))
    trusted, other = paired(human, model).T.astype(int)
    row = found.agreement[3]
    assert row["kappa"] == pytest.approx(metrics.cohen_kappa_score(trusted >= 2, other >= 2))
    assert row["kappa_linear"] == pytest.approx(metrics.cohen_kappa_score(trusted, other, weights="linear"))
    assert row["kappa_quadratic"] == pytest.approx(metrics.cohen_kappa_score(trusted, other, weights="quadratic"))
