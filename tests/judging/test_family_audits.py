"""Audits of families of runs: means over their runs, in samples, estimates, words and the command."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from made_labels import made

import rankbounds as rb

FAMILIES = {"run0": "own", "run1": "own", "run2": "others", "run3": "others", "run4": "others"}


def judged_by(people, sample, first=None):
    rows = [row | {"relevance": people[row["query_id"]][row["doc_id"]]} for row in sample.rows()]
    return rows[:first]


@pytest.mark.parametrize("measure", ["RBP(p=0.8)", "nDCG@5", "AP"])
def test_a_family_is_the_mean_of_its_runs(measure):
    people, models, runs = made(3, topics=6, runs=6)
    sample = rb.judging.draw_sample(models["one"], runs, measure, budget=30)
    judged = judged_by(people, sample)
    by_run = {row["run"]: row for row in rb.audit(models["one"], judged, runs, measure).rows()}
    families = rb.audit(models["one"], judged, runs, measure, families=FAMILIES).rows()
    assert [row["run"] for row in families] == ["own", "others"]
    for row in families:
        members = [by_run[run] for run, family in FAMILIES.items() if family == row["run"]]
        assert row["by_labels"] == pytest.approx(np.mean([one["by_labels"] for one in members]))
        if measure == "RBP(p=0.8)":  # weighted alike, estimates are linear; each is cut at what its score can be
            assert row["estimate"] == pytest.approx(np.mean([one["estimate"] for one in members]), abs=0.02)
        assert row["ci_low"] <= row["estimate"] <= row["ci_high"]


def test_all_judged_the_bias_is_that_of_judges():
    """An audit of every document has no interval left, and tells the contrast that complete labels do."""
    people, models, runs = made(4, topics=8, runs=5)
    sample = rb.judging.draw_sample(
        models["one"], runs, "RBP(p=0.8,rel=2)", budget=96, families=FAMILIES, compare=("own", "others")
    )
    audit = rb.audit(
        models["one"], judged_by(people, sample), runs, "RBP(p=0.8,rel=2)", difference=True, families=FAMILIES
    )
    (row,) = audit.rows()
    found = rb.judging.compare_judges(people, models["one"], runs, "RBP(p=0.8,rel=2)", families=FAMILIES)
    contrast = {one["family"]: one["excess"] for one in found.families}
    assert contrast["own"] == pytest.approx(-contrast["others"])
    assert row["by_labels"] - row["estimate"] == pytest.approx(contrast[row["run"]])
    assert row["ci_low"] == pytest.approx(row["ci_high"])
    assert not audit.doubts()


def test_estimates_of_a_family_have_no_bias_over_all_orders_of_drawing():
    """The first draw of three documents, over all of them: its mean is the true contrast, whatever the labels are."""
    people = {"q": {"a": 1, "b": 0, "c": 1}}
    labels = {"q": {"a": 0, "b": 1, "c": 1}}
    runs = {"one": {"q": ["a", "b", "c"]}, "two": {"q": ["b", "a", "c"]}, "three": {"q": ["c", "b", "a"]}}
    families = {"one": "x", "two": "x", "three": "y"}
    scores = {name: rb.evaluate(people, {name: run}, "RBP(p=0.5)").mean().value[0, 0, 0] for name, run in runs.items()}
    truth = scores["three"] - (scores["one"] + scores["two"]) / 2
    chance = {"a": 0.2, "b": 0.3, "c": 0.5}
    total = 0.0
    for order in itertools.permutations("abc"):
        rows, left = [], 1.0
        for place, doc in enumerate(order, 1):
            rows.append({
                "query_id": "q", "doc_id": doc, "order": place, "probability": chance[doc] / left,
                "relevance": people["q"][doc],
            })  # fmt: skip
            left -= chance[doc]
        probability = np.prod([row["probability"] for row in rows])
        audit = rb.audit(labels, rows[:1], runs, "RBP(p=0.5)", difference=True, families=families)
        first, second = (audit.runs.index(name) for name in ("y", "x"))
        single = audit.estimates[0].single
        total += probability * (single[first, 0] - single[second, 0])
    assert total == pytest.approx(truth)


def test_documents_that_move_both_families_alike_are_not_drawn_first():
    """Within a family runs may differ: only what the means weigh differently is worth a judgment."""
    labels = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}
    runs = {
        "one": {"q": ["a", "c"]}, "two": {"q": ["b", "c"]}, "three": {"q": ["a", "d"]}, "four": {"q": ["b", "d"]},
    }  # fmt: skip
    families = {"one": "x", "two": "x", "three": "y", "four": "y"}
    for seed in range(5):
        sample = rb.judging.draw_sample(labels, runs, "P@2", budget=2, compare=("x", "y"), families=families, seed=seed)
        assert {row["doc_id"] for row in sample.rows()} == {"c", "d"}
        assert sample.counting == 2


def test_the_words_say_whether_a_bias_is_shown():
    """A model that calls everything relevant that one family has first, and people who do not."""
    generator = np.random.default_rng(0)
    topics, documents = [str(topic) for topic in range(20)], [f"d{number}" for number in range(12)]
    people = {topic: {doc: int(generator.random() < 0.3) for doc in documents} for topic in topics}
    runs = {name: {topic: generator.permutation(documents).tolist() for topic in topics} for name in FAMILIES}
    model = {topic: dict(of) for topic, of in people.items()}
    for topic, name in itertools.product(topics, ("run0", "run1")):
        model[topic][runs[name][topic][0]] = 1
    for labels, verdict in ((model, "Shown"), (people, "Not shown")):
        sample = rb.judging.draw_sample(
            labels, runs, "RBP(p=0.5)", budget=150, families=FAMILIES, compare=("own", "others")
        )
        audit = rb.audit(labels, judged_by(people, sample), runs, "RBP(p=0.5)", difference=True, families=FAMILIES)
        assert audit.words().startswith(f"{verdict}: that the labels favour one family by RBP(p=0.5).")


def test_the_command(command, tmp_path):
    people, models, runs = made(1, runs=5)
    for name, labels in (("people", people), ("model", models["one"])):
        rows = [(topic, doc, grade) for topic, of in labels.items() for doc, grade in of.items()]
        rb.Qrels.from_columns(*zip(*rows, strict=True)).write(tmp_path / f"{name}.qrels")
    (tmp_path / "runs").mkdir()
    for name, run in runs.items():
        lines = [f"{topic} Q0 {doc} 0 {score} {name}\n" for topic, of in run.items() for doc, score in of.items()]
        (tmp_path / "runs" / f"{name}.txt").write_text("".join(lines))
    (tmp_path / "families.txt").write_text("".join(f"{run} {family}\n" for run, family in FAMILIES.items()))
    asked = ("-m", "RBP(p=0.8)", "--families", tmp_path / "families.txt")
    drawn = tmp_path / "sample.csv"
    code, _, err = command(
        "sample", tmp_path / "model.qrels", tmp_path / "runs", "--budget", "40", "--compare", "own", "others",
        *asked, "-o", drawn,
    )  # fmt: skip
    assert code == 0, err
    header, *lines = drawn.read_text().splitlines()
    filled = [line + str(people[line.split(",")[0]][line.split(",")[1]]) for line in lines]
    drawn.write_text("\n".join([header, *filled]) + "\n")
    code, out, err = command("audit", tmp_path / "model.qrels", drawn, tmp_path / "runs", "--difference", *asked)
    assert code == 0, err
    assert "that the labels favour one family by RBP(p=0.8)" in out.splitlines()[0]
    code, _, err = command(
        "sample", tmp_path / "model.qrels", tmp_path / "runs", "--budget", "4", "--compare", "own", "nobody", *asked
    )
    assert code == 2
    assert "nobody" in err
