"""Bias towards families of runs: the contrast beside its definition, what is planted, bad inputs, real labels."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from made_labels import made
from scipy import stats

import rankbounds as rb

FAMILIES = {"run0": "a", "run1": "a", "run2": "b", "run3": "b", "run4": "b", "run5": "alone"}


def plain_contrast(people, model, runs, families, family, measure):
    """By topic: the mean bias over the family minus that over all other runs, one score after the other."""
    bias = {
        name: [
            rb.evaluate({topic: model[topic]}, {name: {topic: lists[topic]}}, measure).value[0, 0, 0]
            - rb.evaluate({topic: people[topic]}, {name: {topic: lists[topic]}}, measure).value[0, 0, 0]
            for topic in people
        ]
        for name, lists in runs.items()
    }
    inside = [bias[name] for name in runs if families.get(name) == family]
    outside = [bias[name] for name in runs if families.get(name) != family]
    return [np.mean([of[at] for of in inside]) - np.mean([of[at] for of in outside]) for at in range(len(people))]


@pytest.mark.parametrize(("seed", "measure"), [(1, "AP"), (2, "RBP(p=0.8)"), (3, "nDCG@5")])
def test_the_contrast_is_its_definition(seed, measure):
    people, models, runs = made(seed, topics=12, runs=7)
    found = rb.judging.compare_judges(people, models, runs, measure, families=FAMILIES)
    assert [(row["labels"], row["family"], row["runs"]) for row in found.families] == [
        (judge, family, size) for judge in models for family, size in (("a", 2), ("b", 3))
    ]
    assert found.rows() == found.families
    for judge, labels in models.items():
        rows = [row for row in found.families if row["labels"] == judge]
        tests = []
        for row in rows:
            contrast = plain_contrast(people, labels, runs, FAMILIES, row["family"], measure)
            test = stats.ttest_1samp(contrast, 0)
            low, high = test.confidence_interval(0.95)
            assert (row["excess"], row["p_value"]) == pytest.approx((np.mean(contrast), test.pvalue))
            assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))
            tests.append(test.pvalue)
        small, large = sorted(tests)
        holm = {small: min(1, 2 * small), large: max(min(1, 2 * small), large)}
        assert [row["p_adjusted"] for row in rows] == pytest.approx([holm[p] for p in tests])


def test_runs_that_gain_together_show_it_where_none_does_alone():
    """A small gift to every run of a family, less than what varies between its runs: the family is favoured, no run."""
    people, _, runs = made(5, topics=25, runs=12, grades=2, documents=30)
    generator = np.random.default_rng(5)
    families = {name: "own" if number < 6 else f"other{number % 2}" for number, name in enumerate(runs)}
    model = {topic: dict(of) for topic, of in people.items()}
    for topic, of in model.items():
        for name in runs:
            top = sorted(runs[name][topic], key=runs[name][topic].get, reverse=True)[:5]
            for doc in top:
                if generator.random() < (0.22 if families[name] == "own" else 0.02):
                    of[doc] = 1
    found = rb.judging.compare_judges(people, {"model": model}, runs, "P@5", families=families)
    assert {row["flag"] for row in found.systems} == {None}
    flags = {row["family"]: row["flag"] for row in found.families}
    assert flags["own"] == "favoured"
    assert "compared with all other runs, model favours own (+" in found.words()


def test_a_judge_that_errs_in_no_way_favours_nobody():
    people, _, runs = made(2, runs=6)
    found = rb.judging.compare_judges(people, {"same": people}, runs, "AP", families=FAMILIES)
    assert {(row["excess"], row["p_adjusted"], row["flag"]) for row in found.families} == {(0.0, 1.0, None)}
    assert "no family is shown to be favoured by same" in found.words()


def test_families_from_names_files_and_a_mapping_are_the_same(tmp_path):
    people, models, runs = made(4, runs=6)
    runs = {f"{FAMILIES[name]}-{name}": lists for name, lists in runs.items()}
    of_run = {name: name.partition("-")[0] for name in runs}
    (tmp_path / "families.txt").write_text("".join(f"{run} {family}\n" for run, family in of_run.items()))
    by_mapping, *others = (
        rb.judging.compare_judges(people, models, runs, "AP", families=given).families
        for given in (of_run, "-", tmp_path / "families.txt", str(tmp_path / "families.txt"))
    )
    assert len(by_mapping) == 4
    assert all(rows == by_mapping for rows in others)


@pytest.mark.parametrize(
    ("families", "said"),
    [
        ({"run0": "a", "run1": "b"}, "No family has two runs or more"),
        (dict.fromkeys(("run0", "run1", "run2"), "a"), 'All runs are of the family "a"'),
        ({"elsewhere": "a"}, "None of the runs belongs to a group"),
        ("missing.txt", "missing.txt"),
    ],
)
def test_families_that_say_nothing_are_refused(families, said):
    people, models, runs = made(0, runs=3)
    with pytest.raises(rb.RankboundsError, match=said):
        rb.judging.compare_judges(people, models, runs, "AP", families=families)


def test_families_need_runs():
    people, models, _ = made(0)
    with pytest.raises(rb.UsageError, match="give runs too"):
        rb.judging.compare_judges(people, models, families={"run0": "a"})


def test_a_family_of_real_runs(unpacked, command, monkeypatch):
    """On real labels no run stands out alone; three runs of one team gain a tenth together."""
    monkeypatch.chdir(unpacked("dl21-half.tar.xz") / "dl21-half")
    asked = ("judges", "human.qrels", "binary-llama3.2.qrels", "--runs", "runs", "-m", "RBP(p=0.8,rel=2)")
    code, out, _ = command(*asked, "--families", "5")
    assert code == 0
    assert "binary-llama3.2 favours watpr (+0.1040)" in out.splitlines()[1]
    assert "no run is shown to be favoured" in out
    code, out, _ = command(*asked, "--families", "5", "--format", "csv")
    (row,) = (row for row in csv.DictReader(out.splitlines()) if row["family"] == "watpr")
    assert float(row["p_value"]) == pytest.approx(0.0018571, abs=1e-6)
