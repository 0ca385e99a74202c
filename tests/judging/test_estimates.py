"""Estimates of audits: weighted sums against plain loops, and what has no variation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from made_samples import collection, judged, pool_of
from test_audit import MEASURES

import rankbounds as rb
from rankbounds.judging.audits import estimates
from rankbounds.judging.audits.estimates import CalibratedPool
from rankbounds.judging.audits.labelled_pool import JudgedSample
from rankbounds.measures import parse_measure


class TestWeightedSum:
    def test_estimate_and_variance_by_the_formulas(self):
        """One draw after the other: what is judged, what labels stand for, and the drawn document over its chance."""
        people, labels, runs = collection(8)
        sample = judged(rb.judging.draw_sample(labels, runs, "RBP(p=0.8,rel=2)", budget=40, seed=2), people)
        rows = rb.audit(labels, sample, runs, "RBP(p=0.8,rel=2)").rows()
        pool, measure = pool_of(labels, runs), parse_measure("RBP(p=0.8,rel=2)")
        calibrated = CalibratedPool.of(pool, JudgedSample.of(sample, pool), measure)
        pairs = [(q, d) for q, docs in labels.items() for d in docs]
        before = {}  # what labels stood for before each draw
        for start, end, chance in calibrated.stages():
            before |= {number: dict(zip(pairs, chance[0].tolist(), strict=True)) for number in range(start, end)}
        assert len({chance[pairs[0]] for chance in before.values()}) > 4
        weights = {
            name: {
                (topic, doc): 0.2 * 0.8**place / len(labels)
                for topic, docs in run.items()
                for place, doc in enumerate(sorted(docs, key=docs.get, reverse=True))
            }
            for name, run in runs.items()
        }
        stage_start = [start for start, end, _ in calibrated.stages() for _ in range(start, end)]
        share = []
        for number, start in enumerate(stage_start):
            counts = {pair: np.sqrt(np.mean([w.get(pair, 0) ** 2 for w in weights.values()])) for pair in pairs}
            unsure = sum(counts[pair] * np.sqrt(f * (1 - f)) for pair, f in before[start].items()) / sum(
                counts.values()
            )
            left = np.prod([1 - row["probability"] for row in sample[:number]])
            share.append((left * unsure) ** -2)
        share = np.array(share) / np.sum(share)
        (found,) = rb.audit(labels, sample, runs, "RBP(p=0.8,rel=2)").estimates
        for row in rows:
            weight, singles, reaches = weights[row["run"]], [], []
            for number, one in enumerate(sample):
                known = {(r["query_id"], r["doc_id"]): float(r["relevance"] >= 2) for r in sample[:number]}
                expected = before[number] | known
                single = sum(weight.get(pair, 0) * expected[pair] for pair in pairs)
                drawn, chance = (one["query_id"], one["doc_id"]), one["probability"]
                f = before[number][drawn]
                single += weight.get(drawn, 0) * ((one["relevance"] >= 2) - f) / chance
                singles.append(single)
                reaches.append(weight.get(drawn, 0) * max(f, 1 - f) / chance)
            estimate = share @ singles
            size = 1 / np.square(share).sum()
            variance = np.square(share * (np.array(singles) - estimate)).sum() * size / (size - 1)
            assert row["estimate"] == pytest.approx(estimate)
            assert row["sd"] == pytest.approx(variance**0.5)
            assert row["method"] == "design"
            assert found.reach[list(runs).index(row["run"])] == pytest.approx(reaches)

    @pytest.mark.parametrize("kind", ["inverted", "alike", "right"])
    def test_every_draw_is_unbiased_over_all_orders(self, kind, monkeypatch):
        """All 120 orders of five documents, each with its probability; labels are calibrated after two judgments."""
        monkeypatch.setattr(estimates, "FIRST_FIT", 2)
        people = {"q": {"a": 1, "b": 0, "c": 0}, "r": {"d": 1, "e": 1}}
        grade = {"inverted": lambda g: 1 - g, "alike": lambda g: 1, "right": lambda g: g}[kind]
        labels = {topic: {doc: grade(g) for doc, g in docs.items()} for topic, docs in people.items()}
        run, size = {"q": ["b", "a", "c"], "r": ["e", "d"]}, dict(zip("abcde", (5, 1, 2, 3, 1.5), strict=True))
        truth = rb.evaluate(people, {"run": run}, "RBP(p=0.7)").value.mean()
        topic_of = {doc: topic for topic, docs in people.items() for doc in docs}
        mean, total = np.zeros(5), 0.0
        for order in itertools.permutations("abcde"):
            left, rows, chance_of_order = dict(size), [], 1.0
            for place, doc in enumerate(order, 1):
                chance = left.pop(doc) / (sum(left.values()) + size[doc])
                chance_of_order *= chance
                topic = topic_of[doc]
                row = {"query_id": topic, "doc_id": doc, "order": place, "probability": chance}
                rows.append(row | {"relevance": people[topic][doc]})
            (found,) = rb.audit(labels, rows, {"run": run}, "RBP(p=0.7)").estimates
            mean += chance_of_order * found.single[0]
            total += chance_of_order
        assert total == pytest.approx(1)
        assert mean == pytest.approx([truth] * 5)

    def test_a_prefix_says_what_it_said_before_more_was_judged(self):
        people, labels, runs = collection(9)
        sample = judged(rb.judging.draw_sample(labels, runs, "P(rel=2)@5", budget=60, seed=1), people)
        few, many = (rb.audit(labels, sample[:size], runs, "P(rel=2)@5").estimates[0] for size in (25, 60))
        assert many.single[:, :24] == pytest.approx(few.single[:, :24])
        assert many.weight[:24] == pytest.approx(few.weight[:24])


class TestWithoutVariation:
    """All documents of the sample judged alike: no spread, and yet others may be otherwise."""

    def one_run(self, relevance, docs=100, drawn=20, relevant=()):
        names = [f"d{number:02}" for number in range(docs)]
        labels = {"q": dict.fromkeys(names, 1)}
        sample = [
            {"query_id": "q", "doc_id": doc, "order": place + 1, "probability": 1 / (docs - place)}
            | {"relevance": relevance}
            for place, doc in enumerate(names[:: docs // drawn])
        ]
        sample[0]["relevance"] = 1 - relevance if relevant else relevance
        return labels, sample, {"run": {"q": names}}

    @pytest.mark.parametrize("relevance", [0, 1])
    @pytest.mark.parametrize("sequential", [False, True])
    def test_the_interval_holds_what_a_binomial_without_an_exception_does(self, relevance, sequential):
        """Clopper and Pearson: 0 of 20 leaves shares up to 1 - 0.025^(1/20) open, of the 80 that nobody judged."""
        (row,) = rb.audit(*self.one_run(relevance), "P@100", sequential=sequential).rows()
        open_part = 0.8 * (1 - 0.025 ** (1 / 20))
        if relevance:
            assert row["ci_high"] == pytest.approx(1.0)
            assert 0.2 <= row["ci_low"] <= 1 - open_part
        else:
            assert row["ci_low"] == 0.0
            assert open_part <= row["ci_high"] <= 0.8

    @pytest.mark.parametrize("measure", ["P@10", "RBP(p=0.8)", "RBP(p=0.9,graded=true)", "DCG@10", "nDCG@10", "AP"])
    @pytest.mark.parametrize("relevance", [0, 1])
    def test_no_measure_has_an_interval_of_no_width(self, measure, relevance):
        _, labels, runs = collection(17)
        sample = [
            row | {"relevance": relevance} for row in rb.judging.draw_sample(labels, runs, measure, budget=20).rows()
        ]
        found = rb.audit(labels, sample, runs, measure)
        for row in found.rows():
            assert row["ci_high"] - row["ci_low"] > 0.03
            assert row["ci_low"] <= row["estimate"] <= row["ci_high"]
            assert relevance or row["ci_low"] == 0

    def test_it_covers(self):
        """One document in thirty is relevant; most samples of 20 see none of them."""
        rng = np.random.default_rng(5)
        names = [f"d{number:03}" for number in range(300)]
        labels, runs = {"q": dict.fromkeys(names, 1)}, {"run": {"q": names}}
        covered = []
        for _ in range(40):
            people = dict(zip(names, (rng.permutation(300) < 10).astype(int).tolist(), strict=True))
            sample = [
                {"query_id": "q", "doc_id": doc, "order": place + 1, "probability": 1 / (300 - place)}
                | {"relevance": people[doc]}
                for place, doc in enumerate(rng.choice(names, 20, replace=False).tolist())
            ]
            (row,) = rb.audit(labels, sample, runs, "P@300").rows()
            covered.append(row["ci_low"] <= 10 / 300 <= row["ci_high"])
        assert np.mean(covered) >= 0.93

    def test_two_runs_that_differ_by_documents_outside_the_sample(self):
        labels, sample, runs = self.one_run(0, relevant=True)  # d01 to d04 are not in it
        swapped = {"q": ["d00", "d02", "d01", *runs["run"]["q"][3:]]}
        for sequential in (False, True):
            same, other = (
                rb.audit(
                    labels, sample, {"a": runs["run"], "b": run}, "RBP(p=0.5)", difference=True, sequential=sequential
                ).rows()[0]
                for run in (runs["run"], swapped)
            )
            assert (same["ci_low"], same["ci_high"]) == (0, 0)
            assert other["ci_low"] <= -0.125
            assert other["ci_high"] >= 0.125

    @pytest.mark.parametrize("measure", ["P@10", "AP"])
    @pytest.mark.parametrize("sequential", [False, True])
    def test_one_judgment_leaves_everything_open(self, measure, sequential):
        labels, sample, runs = self.one_run(1)
        (row,) = rb.audit(labels, sample[:1], runs, measure, sequential=sequential).rows()
        assert np.isnan(row["sd"])
        assert row["ci_low"] <= 0.1
        assert row["ci_high"] == pytest.approx(1)

    @pytest.mark.filterwarnings("ignore:.*no relevant document")
    @pytest.mark.parametrize("measure", MEASURES)
    @pytest.mark.parametrize("difference", [False, True])
    def test_nothing_lies_outside_what_the_measure_can_be(self, measure, difference):
        for seed in range(8):
            people, labels, runs = collection(20 + seed, topics=3)
            sample = judged(rb.judging.draw_sample(labels, runs, measure, budget=8, seed=seed), people)
            known = {(row["query_id"], row["doc_id"]): row["relevance"] for row in sample}
            most = {"DCG@10": 3 * sum(1 / np.log2(rank + 1) for rank in range(1, 11))}.get(measure, 1.0)
            for row in rb.audit(labels, sample, runs, measure, difference=difference).rows():
                assert (-most if difference else 0.0) <= row["ci_low"] <= row["estimate"] <= row["ci_high"] <= most
                if not difference and measure == "P@5":  # what is judged is known
                    lists = {topic: sorted(docs, key=docs.get)[::-1][:5] for topic, docs in runs[row["run"]].items()}
                    grades = [
                        known.get((topic, doc)) for topic, docs in lists.items() for doc in docs if doc != "unlabelled"
                    ]
                    sure, unknown = sum((grade or 0) >= 1 for grade in grades) / 15, grades.count(None) / 15
                    assert sure - 1e-12 <= row["ci_low"] <= row["ci_high"] <= sure + unknown + 1e-12

    def test_a_measure_without_spread_beside_one_with(self):
        """No document reaches grade 9: that leaves other measures as they are."""
        people, labels, runs = collection(19)
        sample = judged(rb.judging.draw_sample(labels, runs, "nDCG@5", budget=40, seed=1), people)
        alone = rb.audit(labels, sample, runs, ["nDCG@5", "RBP(p=0.9,graded=true)"]).rows()
        beside = rb.audit(labels, sample, runs, ["nDCG@5", "RBP(p=0.9,graded=true)", "P(rel=9)@5"]).rows()
        assert [row["estimate"] for row in beside[:6]] == pytest.approx([row["estimate"] for row in alone])
        assert all(row["ci_low"] == 0 and row["ci_high"] > 0.03 for row in beside[6:])
