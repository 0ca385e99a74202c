"""A gate on every slice: held against Holm's definition, the plain gate, its mirror, and its own promises."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankbounds as rb
from rankbounds.commands.demo import DATA

QRELS, DENSE, RERANKED = DATA / "qrels.txt", DATA / "runs/dense.txt", DATA / "runs/reranked.txt"
ALPHA = 0.05


def compared(old, new, **how):
    rows = [
        (run, str(topic), "AP", value)
        for run, values in (("old", old), ("new", new))
        for topic, value in enumerate(values)
    ]
    import pandas

    frame = pandas.DataFrame(rows, columns=["run", "query_id", "measure", "value"])
    return rb.compare(rb.read_scores(frame), **how)


def holm(p_values):
    """Holm's corrected p-values, from his definition: the largest so far of p times the hypotheses that are left."""
    left, corrected, most = len(p_values), {}, 0.0
    for place in sorted(range(len(p_values)), key=lambda at: p_values[at]):
        most = max(most, min(1.0, left * p_values[place]))
        corrected[place], left = most, left - 1
    return [corrected[place] for place in range(len(p_values))]


def two_sided(change):
    """The t test, whose p is never below that of all signs being alike."""
    return max(float(stats.ttest_1samp(change, 0.0).pvalue), 2.0 ** (1 - len(change)))


def plain_answer(changes, margin):
    """The gate by its definition, from the changes of each slice."""
    lost = holm(list(map(two_sided, changes)))
    passes, fails = [], []
    for each, p in zip(changes, lost, strict=True):
        ruled_out = margin > 0 and stats.ttest_1samp(each, -margin, alternative="greater").pvalue < ALPHA
        gained = two_sided(each) < ALPHA and np.mean(each) > 0
        passes.append(bool(ruled_out or gained))
        fails.append(p < ALPHA and np.mean(each) < 0 and not passes[-1])
    return "fail" if any(fails) else "pass" if all(passes) else "undecided"


@st.composite
def changes_by_slice(draw):
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shifts = draw(st.lists(st.sampled_from([-0.15, -0.05, 0.0, 0.02, 0.1]), min_size=1, max_size=4))
    return [np.clip(generator.normal(shift, 0.05, draw(st.integers(6, 15))), -0.5, 0.5) for shift in shifts]


def labels_of(changes):
    return {str(at): f"s{number}" for at, number in enumerate(np.repeat(range(len(changes)), list(map(len, changes))))}


@given(changes_by_slice(), st.sampled_from([0.0, 0.02, 0.1]))
def test_the_answer_is_that_of_the_definition(changes, margin):
    old = np.full(sum(map(len, changes)), 0.5)
    gate = compared(old, old + np.concatenate(changes)).gate("AP worse", margin=margin, by=labels_of(changes))
    assert gate.answer == plain_answer(changes, margin)
    told = gate.slices().rows()
    assert [row["p_fail"] for row in told] == pytest.approx(holm(list(map(two_sided, changes))))


@given(changes_by_slice(), st.sampled_from([0.0, 0.05]), st.sampled_from(["worse", "different"]))
def test_one_slice_of_all_topics_is_the_plain_gate(changes, margin, relation):
    change = np.concatenate(changes)
    comparison = compared(np.full(change.size, 0.5), 0.5 + change)
    by = dict.fromkeys(map(str, range(change.size)), "all")
    plain, sliced = (comparison.gate(f"AP {relation}", margin=margin, **how) for how in ({}, {"by": by}))
    assert sliced.answer == plain.answer
    assert sliced.outcomes[0].p_fail == pytest.approx(plain.outcomes[0].p_fail)


@given(changes_by_slice())
def test_swapped_runs_mirror(changes):
    change, by = np.concatenate(changes), labels_of(changes)
    old = np.full(change.size, 0.5)
    there, back = (compared(*pair).gate("AP worse", by=by) for pair in ((old, old + change), (old + change, old)))
    for one, other in zip(there.slices().rows(), back.slices().rows(), strict=True):
        assert one["difference"] == pytest.approx(-other["difference"])
        assert one["p_fail"] == pytest.approx(other["p_fail"])
        assert (one["answer"], other["answer"]) != ("fail", "fail")


def test_slices_that_share_topics_are_all_held():
    change = np.tile([-0.1, -0.12, 0.1, 0.12], 8)
    by = {"all": dict.fromkeys(map(str, range(32)), "x"), "kind": {str(at): "ab"[at % 4 // 2] for at in range(32)}}
    gate = compared(np.full(32, 0.5), 0.5 + change).gate("AP worse", margin=0.2, by=by)
    assert gate.answer == "pass"  # of a margin so wide
    gate = compared(np.full(32, 0.5), 0.5 + change).gate("AP worse", margin=0.02, by=by)
    assert {row["slice"]: row["answer"] for row in gate.slices().rows()} == {
        "all=x": "undecided", "kind=a": "fail", "kind=b": "pass",
    }  # fmt: skip


def test_a_slice_of_one_topic_is_open_and_one_without_judged_topics_is_named():
    change = np.linspace(-0.01, 0.01, 12)
    by = {str(at): "many" for at in range(11)} | {"11": "single", "99": "unseen"}
    gate = compared(np.full(12, 0.5), 0.5 + change).gate("AP worse", margin=0.1, by=by)
    assert gate.answer == "undecided"
    assert "on 1 of 2 slices: single +0.0100 (1 topic)" in repr(gate)
    assert "no topic is judged in unseen" in repr(gate)
    same = compared([0.5] * 12, [0.5] * 12).gate("AP worse", margin=0.1, by=by)
    assert same.answer == "pass"


def test_the_output_names_open_slices_the_topics_they_need_and_the_power(command, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("query_id,kind\n" + "".join(f"{at},{'ab'[at % 2]}\n" for at in range(1, 25)))
    asked = ["--by", labels, "--fail-if", "nDCG@10 worse on any slice", "--margin", "0.1"]
    code, out, said = command("compare", QRELS, RERANKED, DENSE, *asked)
    assert code == 4
    first = out.splitlines()[0]
    assert first.startswith("UNDECIDED: dense may be worse than reranked by nDCG@10 (margin 0.1) on 2 of 2 slices: a ")
    assert "needed)" in first
    assert "a change without effect passes" in first
    assert "The gate is about all" not in said
    content = json.loads(command("compare", QRELS, RERANKED, DENSE, *asked, "--format", "json")[1])
    assert [row["slice"] for row in content["gate"]["slices"]] == ["a", "b"]
    assert "| a | dense |" in command("compare", QRELS, RERANKED, DENSE, *asked, "--format", "markdown")[1]
    assert "2 of 2 slices: a " in command("compare", QRELS, RERANKED, DENSE, *asked, "--format", "junit")[1]
    _, _, said = command("compare", QRELS, RERANKED, DENSE, "--by", labels, "--fail-if", "nDCG@10 worse")
    assert "The gate is about all 24 topics together" in said
    code, out, said = command("topics", QRELS, RERANKED, DENSE, "--by", labels, "--margin", "0.1")
    assert code == 0
    assert "topics needed" in out
    assert "passes on all 2 slices" in said


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["compare", QRELS, RERANKED, DENSE, "--fail-if", "AP worse on any slice"], "needs the slices: --by FILE"),
        (["topics", QRELS, RERANKED, DENSE, "--by", "LABELS"], "and --margin"),
        (["topics", "--deviation", ".1", "--margin", ".1", "--by", "LABELS"], "--by plans a gate on slices"),
    ],
)
def test_mistakes(command, tmp_path, asked, told):
    labels = tmp_path / "labels.csv"
    labels.write_text("query_id,kind\n" + "".join(f"{at},a\n" for at in range(1, 25)))
    code, _, said = command(*(labels if word == "LABELS" else word for word in asked))
    assert (code, told in said) == (2, True)


def test_topics_as_planned_pass_as_often_as_planned():
    """With the topics that are planned, 80% of changes without effect pass on all slices."""
    from rankbounds.comparison.gate.sliced import _passing, plan_slices

    generator = np.random.default_rng(3)
    pilot = compared(np.full(40, 0.5), np.clip(0.5 + generator.normal(0, 0.1, 40), 0, 1)).scores
    by = {"kind": {str(at): "ab"[at % 2] for at in range(40)}}
    needed = [row["topics_needed"] for row in plan_slices(pilot, by, 0.05).rows()]
    deviations = np.array([row["deviation"] for row in plan_slices(pilot, by, 0.05).rows()])
    assert 0.8 <= _passing(deviations, np.array(needed), 0.05, ALPHA) < 0.85
    drawn = [generator.normal(0, deviation, (4000, size)) for deviation, size in zip(deviations, needed, strict=True)]
    passed = [stats.ttest_1samp(each, -0.05, axis=1, alternative="greater").pvalue < ALPHA for each in drawn]
    assert np.mean(passed[0] & passed[1]) == pytest.approx(0.82, abs=0.03)
