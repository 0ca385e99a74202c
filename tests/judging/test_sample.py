"""Samples for judging: probabilities that are kept, budgets that are met, and what they are proportional to."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.judging.audits.sample import draw_in_order

RNG = np.random.default_rng(7)
LABELS = {f"q{topic}": {f"d{doc}": int(RNG.integers(0, 4)) for doc in range(12)} for topic in range(4)}
RUNS = {
    f"run{number}": {
        topic: {doc: float(score) for doc, score in zip(docs, RNG.permutation(len(docs)), strict=True)}
        for topic, docs in LABELS.items()
    }
    for number in range(3)
}


def plain_probability(sizes, order):
    """Of an order: one document after the other is drawn from those that are left, in proportion to its size."""
    left, chances = dict(enumerate(sizes)), []
    for doc in order:
        chances.append(left[doc] / sum(left.values()))
        del left[doc]
    return chances


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=30), st.integers(0, 10_000))
def test_the_probability_is_that_of_being_next_among_those_left(size, seed):
    order, probability = draw_in_order([np.array(size)], np.random.default_rng(seed))
    assert sorted(order.tolist()) == list(range(len(size)))
    assert probability == pytest.approx(plain_probability(size, order.tolist()), rel=1e-9)
    assert probability[-1] == 1.0


@given(st.lists(st.floats(0, 10), min_size=1, max_size=40), st.integers(0, 10_000))
def test_documents_without_a_size_come_last(size, seed):
    sizes = np.array(size)
    order, probability = draw_in_order([sizes], np.random.default_rng(seed))
    counting = np.count_nonzero(sizes)
    assert (sizes[order[:counting]] > 0).all()
    assert ((probability > 0) & (probability <= 1)).all()


@pytest.mark.parametrize("unit", [5e-324, 2.2e-311, 1.0, 1e308])
def test_sizes_may_be_as_small_or_large_as_numbers_are(unit):
    _, probability = draw_in_order([np.array([unit] * 4)], np.random.default_rng(0))
    assert probability == pytest.approx([1 / 4, 1 / 3, 1 / 2, 1])


def test_every_order_comes_up_as_often_as_its_probability_says():
    size, rng, draws = [3.0, 2.0, 1.0, 0.5], np.random.default_rng(1), 20_000
    found = Counter(tuple(draw_in_order([np.array(size)], rng)[0].tolist()) for _ in range(draws))
    for order in itertools.permutations(range(4)):
        expected = np.prod(plain_probability(size, order))
        assert abs(found[order] / draws - expected) < 4 * np.sqrt(expected / draws)


def test_a_larger_budget_adds_documents_at_the_end():
    few, many = (rb.judging.draw_sample(LABELS, RUNS, budget=budget, seed=3).rows() for budget in (12, 30))
    assert many[:12] == few
    assert [row["order"] for row in many] == list(range(1, 31))


def test_a_seed_draws_the_same_documents_and_another_seed_others():
    one, again, other = (rb.judging.draw_sample(LABELS, RUNS, budget=12, seed=seed).rows() for seed in (1, 1, 2))
    assert one == again != other
    assert [list(row) for row in one] == [["query_id", "doc_id", "order", "probability"]] * 12


def test_weights_of_a_pair_are_the_difference_of_the_runs():
    """With labels that are all alike, RBP's probabilities are proportional to the net weights."""
    labels = {topic: dict.fromkeys(docs, 1) for topic, docs in LABELS.items()}
    drawn = rb.judging.draw_sample(labels, RUNS, "RBP(p=0.8)", budget=8, compare=("run0", "run1"), seed=3).rows()

    def weight(run, topic, doc):
        ranking = sorted(RUNS[run][topic], key=RUNS[run][topic].get, reverse=True)
        return 0.2 * 0.8 ** ranking.index(doc)

    net = {
        (topic, doc): abs(weight("run0", topic, doc) - weight("run1", topic, doc))
        for topic, docs in labels.items()
        for doc in docs
    }
    place = {pair: number for number, pair in enumerate(net)}
    order = [place[row["query_id"], row["doc_id"]] for row in drawn]
    assert [row["probability"] for row in drawn] == pytest.approx(plain_probability(list(net.values()), order))


def test_unsure_labels_are_more_probable_than_sure_ones():
    labels = {"q": {"a": 0, "b": 3}}
    runs = {"one": {"q": ["a"]}, "two": {"q": ["b"]}}
    probability = {
        row["doc_id"]: row["probability"]
        for seed in range(8)
        for row in rb.judging.draw_sample(labels, runs, "P@1", budget=1, seed=seed).rows()
    }
    assert 0.3 < probability["a"] < 0.5 < probability["b"]  # sure labels are drawn too
    assert sum(probability.values()) == pytest.approx(1)


def test_documents_without_weight_fill_up_a_budget():
    runs = {"one": {"q": ["a", "b"]}, "two": {"q": ["a", "c"]}}
    labels = {"q": {"a": 1, "b": 0, "c": 1, "d": 0}}
    drawn = {
        size: rb.judging.draw_sample(labels, runs, "P@2", budget=size, compare=("one", "two")) for size in (2, 3, 4)
    }
    assert {row["doc_id"] for row in drawn[2].rows()} == {"b", "c"}
    assert {row["doc_id"] for row in drawn[3].rows()} == {"a", "b", "c"}  # before one that no run has
    assert {row["doc_id"] for row in drawn[4].rows()} == {"a", "b", "c", "d"}
    assert drawn[4].counting == 2


@pytest.mark.parametrize("measure", ["RBP(p=0.8,rel=2)", "P@5", "DCG@10", "nDCG@5", "AP(rel=2)", "Recall@5"])
@pytest.mark.parametrize("compare", [None, "all", ("run0", "run2")])
def test_every_measure_and_question_draws_its_budget(measure, compare):
    drawn = rb.judging.draw_sample(LABELS, RUNS, measure, budget=15, compare=compare, seed=5)
    assert len(drawn) == 15
    assert ((drawn.probability > 0) & (drawn.probability <= 1)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget": 0}, "whole number from 1 on"),
        ({"budget": 49}, "larger than the pool"),
        ({"compare": ("run0", "runX")}, 'no run "runX"'),
        ({"compare": ("run0", "run0")}, "Two different runs"),
        ({"compare": "some"}, '"all"'),
        ({"measure": "RR"}, "cannot be audited"),
        ({"ties": "expected"}, "one order"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_a_sentence(change, message):
    with pytest.raises(rb.UsageError, match=message):
        rb.judging.draw_sample(LABELS, RUNS, **{"measure": "RBP(p=0.8)", "budget": 10} | change)


@pytest.fixture
def files(tmp_path):
    rb.Qrels.from_columns(*zip(*[(q, d, g) for q, docs in LABELS.items() for d, g in docs.items()], strict=True)).write(
        tmp_path / "labels"
    )
    for name, topics in RUNS.items():
        lines = [f"{q} Q0 {d} 1 {score} {name}\n" for q, docs in topics.items() for d, score in docs.items()]
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


def test_command(command, files):
    asked = ("sample", files / "labels", *(files / name for name in RUNS), "--budget", 10, "--seed", 4)
    code, out, err = command(*asked)
    rows = list(csv.DictReader(io.StringIO(out)))
    expected = rb.judging.draw_sample(LABELS, RUNS, budget=10, seed=4).rows()
    assert code == 0
    assert [(row["query_id"], row["doc_id"], int(row["order"]), float(row["probability"])) for row in rows] == [
        tuple(row.values()) for row in expected
    ]
    assert {row["relevance"] for row in rows} == {""}
    assert err.startswith("rankbounds: 10 of 48 labelled documents")
    code, out, _ = command(*asked, "--compare", "run0", "run1", "--format", "json", "-m", "nDCG@5")
    assert [row["relevance"] for row in json.loads(out)] == [None] * 10
    code, out, _ = command(*asked, "--format", "trec")
    assert [line.split()[3] for line in out.splitlines()] == ["-1"] * 10
    code, _, err = command(*asked, "--compare", "run0", "run1", "run2")
    assert (code, err.count("\n")) == (2, 1)
    assert "names of two runs" in err
