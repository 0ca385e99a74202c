"""Scales of labels, and missing labels."""

from __future__ import annotations

import pytest
from made_labels import made, paired, plain_alpha

import rankbounds as rb


def test_zero_one_labels_beside_grades():
    people, models, runs = made(8)
    model = {topic: {doc: int(grade >= 2) for doc, grade in of.items()} for topic, of in models["one"].items()}
    found = rb.judging.compare_judges(
        people, {"binary": model, "graded": models["one"]}, runs, ["RBP(p=0.8,rel=2)", "nDCG@5"]
    )
    binary, graded = found.agreement
    assert (binary["scale"], binary["rel"], graded["scale"], graded["rel"]) == ("0/1", 1, "0 to 3", 2)
    assert binary["kappa"] == graded["kappa"]
    assert [binary[name] for name in ("kappa_linear", "kappa_quadratic", "shift")] == [None, None, None]
    assert "scale" in binary["reason"]
    assert graded["reason"] is None
    relevant = (paired(people, models["one"]) >= 2).astype(float)
    assert binary["alpha"] == pytest.approx(plain_alpha(relevant))
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
        rb.judging.compare_judges(people, {"ten": ten}, runs)
    assert "--labels-rel ten=GRADE" in str(told.value)
    said = rb.judging.compare_judges(people, {"ten": ten}, runs, "RBP(p=0.8)", labels_rel={"ten": 5})
    same = rb.judging.compare_judges(people, {"one": models["one"]}, runs, "RBP(p=0.8)")
    assert said.agreement[0]["kappa"] == same.agreement[0]["kappa"]
    assert said.agreement[0]["kappa_linear"] is None
    assert [row["by_labels"] for row in said.systems] == [row["by_labels"] for row in same.systems]
    without_top = {topic: {doc: min(grade, 1) for doc, grade in of.items()} for topic, of in models["one"].items()}
    assert (
        rb.judging.compare_judges(people, {"low": without_top}, same_scale=True).agreement[0]["kappa_linear"]
        is not None
    )


def test_rel_is_for_kappa_and_for_measures_that_name_none():
    people, models, runs = made(8)
    found = rb.judging.compare_judges(people, {"one": models["one"]}, runs, ["AP", "RBP(p=0.8,rel=3)", "nDCG@5"], rel=2)
    assert found.measures == ["AP(rel=2)", "RBP(p=0.8,rel=3)", "nDCG@5"]
    assert found.settings["rel"] == 2
    assert rb.judging.compare_judges(people, {"one": models["one"]}, runs, ["nDCG@5", "AP(rel=3)"]).settings["rel"] == 3


def test_missing_labels_are_counted_and_said():
    people, models, runs = made(1)
    model = {topic: dict(of) for topic, of in models["one"].items()}
    del model["3"]["d4"], model["5"]["d0"]
    model["2"]["elsewhere"] = 1
    people["4"]["d2"] = -1  # pooled, and not judged
    found = rb.judging.compare_judges(people, {"model": model}, runs, "AP")
    row = found.agreement[0]
    assert (row["pairs"], row["missing"], row["extra"]) == (9 * 12 - 3, 2, 2)
    assert "no label for 2 pairs that trusted has, and labels 2 pairs that trusted does not;" in found.words()
    del model["2"]["elsewhere"]
    model["4"].pop("d2")
    few = rb.judging.compare_judges(people, {"model": model}, runs, "AP")
    assert (few.agreement[0]["extra"], "labels" in few.words().partition("no label for 2 pairs")[2]) == (0, False)
    del model["7"]
    with pytest.warns(rb.RankboundsWarning, match=r"1 of 9 topics of trusted are left out.*\(7\)"):
        assert rb.judging.compare_judges(people, {"model": model}, runs, "AP").settings["topics"] == 8
