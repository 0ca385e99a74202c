"""Compatibility against its authors' program, and its bounds against enumeration."""

from __future__ import annotations

import csv
import itertools
import random

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.errors import UsageError

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


@pytest.mark.parametrize("run", ["run0", "run1", "run2"])
@pytest.mark.parametrize("p", ["0.80", "0.95"])
def test_the_authors_program_says_the_same(unpacked, run, p):
    folder = unpacked("references.tar.xz") / "references"
    with open(folder / f"{run}.compatibility-{p}.txt", encoding="utf-8") as file:
        *rows, mean = csv.DictReader(file)
    label = f"Compatibility(p={p})"
    scores = rb.evaluate(folder / "graded.qrels", folder / f"{run}.txt", label, ties="docid", topics="shared")
    for row in rows:
        value = scores.value[0, scores.query_ids.index(row["topic"]), 0]
        assert value == pytest.approx(float(row["compatibility"]), rel=1e-12)
    assert np.nanmean(scores.value) == pytest.approx(float(mean["compatibility"]), rel=1e-12)


def test_a_list_without_an_inversion_is_ideal_whatever_order_equals_have():
    qrels = {"q": {"a": 2, "b": 2, "c": 1, "d": 0}}
    for ranking in (["a", "b", "c"], ["b", "a", "c"], ["b", "a", "c", "d", "x"]):
        assert rb.evaluate(qrels, {"q": ranking}, "Compatibility").value.item() == pytest.approx(1.0)
    assert rb.evaluate(qrels, {"q": ["c", "a", "b"]}, "Compatibility").value.item() < 1


def test_bounds_contain_every_completion_over_several_levels():
    chance = random.Random(3)
    for _ in range(40):
        ranking = [f"d{number}" for number in range(chance.randint(1, 7))]
        grades = {document: chance.choice([0, 1, 2, None]) for document in ranking} | {"x": 2, "y": 1}
        holes = [document for document, grade in grades.items() if grade is None][:4]
        judged = {document: grade or 0 for document, grade in grades.items() if document not in holes}
        scores = rb.evaluate({"q": judged}, {"q": ranking}, "Compatibility(p=0.8)")
        for completed in itertools.product((0, 1, 2), repeat=len(holes)):
            full = judged | dict(zip(holes, completed, strict=True))
            value = rb.evaluate({"q": full}, {"q": ranking}, "Compatibility(p=0.8)").value.item()
            assert scores.low.item() - 1e-12 <= value <= scores.high.item() + 1e-12


def test_p_must_be_a_share():
    for p in ("0", "1", "1.2"):
        with pytest.raises(UsageError, match="p must lie"):
            rb.parse_measure(f"Compatibility(p={p})")


@pytest.mark.parametrize("names", list(itertools.permutations("abc")))
def test_bounds_over_orders_do_not_depend_on_names(names):
    """Two relevant documents and an unjudged one share a score: in whichever order their names put them, 1 at most."""
    one, other, unjudged = names
    qrels = {"q": {one: 1, other: 1, "elsewhere": 1}}
    run = {"q": dict.fromkeys(names, 1.0)}
    scores = rb.evaluate(qrels, run, "Compatibility(p=0.6)", bounds="both")
    last = rb.evaluate({"q": {**qrels["q"], unjudged: 1}}, {"q": [one, other, unjudged]}, "Compatibility(p=0.6)")
    assert scores.high.item() == pytest.approx(last.value.item(), abs=1e-12)
