"""The residual and its parts, and bounds over grids of persistence and depth."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbounds as rb
from plain import Topic, greatest, value
from rankbounds.evaluation.scores import FIELDS, PARTS
from rankbounds.measures import REGISTRY, parse_measure
from test_laws import LAW, close, examples, untied

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
# Of others, nothing is known of orders of ties.
KINDS = [kind for kind in REGISTRY.values() if kind.has_residual and kind.promotable]
SPLIT = [parse_measure(example) for kind in KINDS for example in kind.examples]
OLDER = ("RRn", "Shaw", "F", "ESL", "RankPower")


def numbers(scores):
    return scores.low[0, 0], scores.high[0, 0], scores.parts[:, 0, 0]


def test_some_measures_have_a_residual():
    nearly_err = {f"NERR{number}" for number in (8, 9, 10, 11)}
    others = {"RBP", "RBP2", "INST", "SDCG", "INSQ", "TBG", "UMeasure"}
    assert {measure.name for measure in SPLIT} == nearly_err | others


@settings(LAW, max_examples=10)
@given(examples())
def test_parts_add_up_to_the_width_of_the_bounds(example):
    for bounds, covered in (("unjudged", [1, 1, 0]), ("ties", [0, 0, 1]), ("both", [1, 1, 1])):
        for ties in ("trec", "best", "worst"):
            low, high, parts = numbers(rb.evaluate(example.qrels, example.run, SPLIT, bounds=bounds, ties=ties))
            assert (parts >= -1e-12).all()
            if bounds == "unjudged" and ties != "trec":  # bounds of treated ties may be outer ones, over all orders
                assert (parts[:2].sum(axis=0) <= high - low + 1e-12).all()
            else:
                assert np.allclose(np.array(covered) @ parts, high - low, atol=1e-12, rtol=0), (bounds, ties)


@LAW
@given(examples())
def test_parts_of_rbp_are_what_the_paper_adds_up(example):
    measure = rb.RBP(p=0.8)
    _, _, (unjudged, tail, ties) = numbers(rb.evaluate(example.qrels, example.run, measure))
    holes = [at for at, grade in enumerate(example.ranking) if grade is None]
    values = [value(example.topic(order), measure) for order in example.orders(example.ranking)]
    assert close(unjudged[0], sum(0.2 * 0.8**at for at in holes))
    assert close(tail[0], 0.8 ** len(example.ranking))
    assert close(ties[0], max(values) - min(values))


@LAW
@given(examples(), st.data())
def test_a_judgment_moves_weight_out_of_the_residual(example, data):
    holes = [at for at, grade in enumerate(example.ranking) if grade is None]
    if not holes:
        return
    ranking = list(example.ranking)
    at = data.draw(st.sampled_from(holes))
    ranking[at] = data.draw(st.sampled_from([0, 1]))
    before, after = (
        numbers(rb.evaluate(one.qrels, one.run, "RBP(p=0.7)"))
        for one in (untied(example), untied(replace(example, ranking=tuple(ranking))))
    )
    assert close(before[2][0][0] - after[2][0][0], 0.3 * 0.7**at)
    assert close(after[0][0] - before[0][0], ranking[at] * 0.3 * 0.7**at)


def collection(seed: int, topics: int = 5, runs: int = 3, depth: int = 30, tied: bool = True):
    """Random runs with ties, unjudged documents, and topics that a run lacks."""
    rng = np.random.default_rng(seed)
    docs = [f"d{at}" for at in range(60)]
    qrels = {
        f"t{topic}": {doc: int(rng.integers(0, 4)) for doc in rng.permutation(docs)[:40]} for topic in range(topics)
    }
    made = {}
    for number in range(runs):
        lists = {}
        for topic in range(topics):
            if rng.random() < 0.9 or topic == 0:
                chosen = rng.permutation(docs)[: rng.integers(1, depth)]
                step = rng.integers(0 if tied else 1, 2, chosen.size)
                lists[f"t{topic}"] = dict(zip(chosen.tolist(), (-np.cumsum(step)).tolist(), strict=True))
        made[f"run{number}"] = lists
    return qrels, made


def test_frames_hold_the_parts_and_nulls_for_other_measures():
    qrels, runs = collection(5)
    scores = rb.evaluate(qrels, runs, ["RBP(p=0.8)", "AP"])
    frame = scores.to_polars()
    assert frame.columns == [*FIELDS, *PARTS, "judged_at_10", "certain"]
    assert frame.filter(frame["measure"] == "AP")["residual_tail"].null_count() == frame.height / 2
    assert list(scores.to_pandas().columns) == scores.to_arrow().column_names == frame.columns
    assert rb.evaluate(qrels, runs, "AP").to_polars().columns == [*FIELDS, "judged_at_10", "certain"]


@LAW
@given(examples())
def test_mean_over_orders_of_the_older_measures(example):
    measures = [m for name in OLDER for m in map(parse_measure, REGISTRY[name].examples)]
    scores = rb.evaluate(example.qrels, example.run, measures, ties="expected")
    for measure, found in zip(measures, scores.value[0, 0], strict=True):
        values = [value(example.topic(order), measure) for order in example.orders(example.ranking)]
        assert close(found, sum(values) / len(values)), measure


def test_cooper_counts_ties_by_his_formula():
    run = {"q": {"a": 5, **{f"r{at}": 4 for at in range(3)}, **{f"n{at}": 4 for at in range(4)}}}
    qrels = {"q": {"a": 0, **{f"r{at}": 1 for at in range(3)}, **{f"n{at}": 0 for at in range(4)}}}
    found = rb.evaluate(qrels, run, ["ESL(n=1)", "ESL(n=2)", "ESL(n=3)"], ties="expected").value[0, 0]
    assert found == pytest.approx([1 + wanted * 4 / (3 + 1) for wanted in (1, 2, 3)])


def test_a_search_that_does_not_end_is_infinite_not_free():
    qrels, run = {"q": {"a": 0, "b": 1}}, {"q": {"a": 1.0}}
    scores = rb.evaluate(qrels, run, ["ESL(n=1)", "RankPower", "ESL(n=1,collection=11)"])
    assert scores.value[0, 0].tolist() == [np.inf, np.inf, 1 + 9 / 2]
    assert [row["value"] for row in scores.rows()] == [np.inf, np.inf, 5.5]
    assert "inf" in repr(scores)


class TestUserModels:
    """RBP, P@k, RR and scaled DCG as members of one family, declared by the probability of going on."""

    qrels, runs = collection(6, tied=False)

    def values(self, *measures):
        return rb.evaluate(self.qrels, self.runs, list(measures)).value

    def test_equal_persistences_are_rbp(self):
        both = self.values(rb.measures.RBP2(p_relevant=0.8, p_nonrelevant=0.8), rb.RBP(p=0.8))
        assert np.allclose(both[..., 0], both[..., 1])
        scores = rb.evaluate(
            self.qrels, self.runs, [rb.measures.RBP2(p_relevant=0.8, p_nonrelevant=0.8), rb.RBP(p=0.8)]
        )
        assert np.allclose(scores.high[..., 0], scores.high[..., 1])

    def test_members_of_the_family(self):
        from dataclasses import dataclass

        @dataclass(frozen=True)
        class Geometric(rb.measures.Continuing):
            def continuation(self, n):
                return np.full(n, 0.8)

            def __str__(self):
                return "geometric"

        @dataclass(frozen=True)
        class Fixed(rb.measures.Continuing):
            cutoff: int = 7

            def continuation(self, n):
                return (np.arange(1, n + 1) < self.cutoff).astype(float)

            def __str__(self):
                return "fixed"

        @dataclass(frozen=True)
        class UntilFound(rb.measures.ContinuingByRelevance):
            def continuation(self, relevant):
                return 1 - relevant

            def examined_beyond(self, relevant, *, relevant_beyond):
                return np.full(relevant.shape[0], np.inf)

            def __str__(self):
                return "until found"

        both = self.values(Geometric(), Fixed(), UntilFound(), rb.RBP(p=0.8), rb.P(cutoff=7), rb.RR())
        assert np.allclose(both[..., :3], both[..., 3:])
        assert Geometric().expected_depth() == pytest.approx(5)
        assert Fixed().expected_depth() == pytest.approx(7)
        assert np.allclose(Geometric().tail(np.array([0, 3])), [1, 0.8**3])

    def test_users_who_never_stop_must_declare_their_depth(self):
        from dataclasses import dataclass

        @dataclass(frozen=True)
        class Endless(rb.measures.Continuing):
            def continuation(self, n):
                return np.ones(n)

            def __str__(self):
                return "endless"

        with pytest.raises(rb.UsageError, match="expected depth"):
            Endless().weights(5)

    @pytest.mark.parametrize(
        "measure",
        [
            "RBP2(p_relevant=0.2,p_nonrelevant=0.9)",
            "RBP2(p_relevant=0.9,p_nonrelevant=0.2)",
            "INST(T=1)",
            "INST(T=3)",
        ],
    )
    def test_relevance_never_lowers_the_rate(self, measure):
        """Full enumeration of lists of eight: no list falls when one of its documents turns relevant."""
        one = parse_measure(measure)
        rates = {
            vector: (value(Topic(list(vector), [], 1), one), greatest(Topic(list(vector), [], 1), one))
            for vector in itertools.product((0, 1), repeat=8)
        }
        for vector, (low, high) in rates.items():
            for at in range(8):
                if not vector[at]:
                    turned = rates[(*vector[:at], 1, *vector[at + 1 :])]
                    assert turned[0] >= low - 1e-12
                    assert turned[1] >= high - 1e-12

    def test_scaled_discounted_gain_of_relevant_documents_is_one(self):
        qrels = {"q": {f"d{at}": 1 for at in range(100)}}
        run = {"q": {f"d{at}": -at for at in range(100)}}
        scores = rb.evaluate(qrels, run, ["SDCG(base=2)@100", "SDCG(base=2)@1000", "DCG(base=2)"])
        assert scores.value[0, 0] == pytest.approx([1, 21.788 / 123.991, 21.788], abs=5e-4)
        assert scores.high[0, 0, 1] == pytest.approx(1)
