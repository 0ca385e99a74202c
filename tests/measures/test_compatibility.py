"""Compatibility against its authors' program, and levels from preferences against plain counting and fitting."""

from __future__ import annotations

import csv
import itertools
import math
import random

import numpy as np
import pytest
from scipy.optimize import minimize

import rankbounds as rb
from rankbounds.errors import DataError, UsageError

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


def test_levels_by_copeland_are_wins_less_losses():
    chance = random.Random(5)
    rows = [(query, *chance.sample("abcdef", 2)) for query in ("q1", "q2") for _ in range(chance.randint(5, 25))]
    found = rb.Qrels.from_preferences(rows)
    for query in ("q1", "q2"):
        stated = [row[1:] for row in rows if row[0] == query]
        documents = {document for pair in stated for document in pair}
        score = {}
        for document in documents:
            net = [stated.count((document, other)) - stated.count((other, document)) for other in documents]
            score[document] = sum(np.sign(net))
        distinct = sorted(set(score.values()))
        assert found[query] == {document: distinct.index(score[document]) + 1 for document in score}
    level = found.to_dict()
    counts = found.preferences
    assert counts.violated == sum(level[query][better] < level[query][worse] for query, better, worse in rows)
    assert counts.tied == sum(level[query][better] == level[query][worse] for query, better, worse in rows)
    assert counts.violated_share == counts.violated / len(rows)


def test_levels_by_bradley_terry_order_the_most_likely_strengths():
    chance = random.Random(9)
    rows = [("q", *chance.sample("abcde", 2)) for _ in range(30)]
    documents = sorted({document for row in rows for document in row[1:]})

    def surprise(strength):
        of = dict(zip(documents, strength, strict=True))
        total = sum(math.log1p(math.exp(of[worse] - of[better])) for _, better, worse in rows)
        return total + sum(math.log1p(math.exp(-own)) / 2 + math.log1p(math.exp(own)) / 2 for own in strength)

    best = minimize(surprise, np.zeros(len(documents)), tol=1e-12).x
    level = rb.Qrels.from_preferences(rows, method="bradley-terry")["q"]
    expected = [document for _, document in sorted(zip(-best, documents, strict=True))]
    assert sorted(level, key=level.get, reverse=True) == expected


def test_preferences_that_agree_are_all_kept():
    rows = [("q", better, worse) for better, worse in itertools.combinations("abcd", 2)]
    for method in ("copeland", "bradley-terry"):
        found = rb.Qrels.from_preferences(rows, method=method)
        assert found["q"] == {"a": 4, "b": 3, "c": 2, "d": 1}
        assert (found.preferences.stated, found.preferences.violated, found.preferences.tied) == (6, 0, 0)
    cycle = rb.Qrels.from_preferences([("q", "a", "b"), ("q", "b", "c"), ("q", "c", "a")])
    assert (set(cycle["q"].values()), cycle.preferences.tied_share) == ({1.0}, 1.0)


def test_the_command_writes_judgments_and_says_what_they_violate(command, tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("# asked twice\nq a b\nq a b\nq b a\nq  b\tc\n")
    code, out, err = command("preferences", path)
    assert (code, out) == (0, "q 0 a 3\nq 0 b 2\nq 0 c 1\n")
    assert "Copeland" in err
    assert "1 (25.0%) violated" in err
    target = tmp_path / "levels.csv"
    assert command("preferences", path, "--method", "bradley-terry", "-o", target)[0] == 0
    assert rb.read_qrels(target)["q"] == {"a": 3, "b": 2, "c": 1}
    assert command("preferences", path, "-o", path)[0] == 2
    assert command("preferences", path, "--method", "borda")[0] == 2


@pytest.mark.parametrize(
    ("text", "problem"), [("q a\n", "three fields"), ("q a a\n", "itself"), ("# none\n", "no pref")]
)
def test_bad_preferences_are_named_with_their_line(command, tmp_path, text, problem):
    path = tmp_path / "pairs.txt"
    path.write_text(text)
    code, out, err = command("preferences", path)
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert problem in err
    with pytest.raises(DataError):
        rb.Qrels.from_preferences([("q", "a", "a")])


@pytest.mark.parametrize("names", list(itertools.permutations("abc")))
def test_bounds_over_orders_do_not_depend_on_names(names):
    """Two relevant documents and an unjudged one share a score: in whichever order their names put them, 1 at most."""
    one, other, unjudged = names
    qrels = {"q": {one: 1, other: 1, "elsewhere": 1}}
    run = {"q": dict.fromkeys(names, 1.0)}
    scores = rb.evaluate(qrels, run, "Compatibility(p=0.6)", bounds="both")
    last = rb.evaluate({"q": {**qrels["q"], unjudged: 1}}, {"q": [one, other, unjudged]}, "Compatibility(p=0.6)")
    assert scores.high.item() == pytest.approx(last.value.item(), abs=1e-12)
