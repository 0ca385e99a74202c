"""Pools, reduced judgments and what to judge next, against plain computations."""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.collection.order import ranks
from rankbounds.judging import pools
from real_data import archive
from shared_task import shared_task

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
QRELS, RUNS, GROUPS = shared_task()
JUDGMENTS = rb.Qrels.from_columns(*zip(*((q, d, g) for q, docs in QRELS.items() for d, g in docs.items()), strict=True))


def top(run, depth):
    return {(q, d) for q, docs in run.to_dict().items() for d in sorted(docs, key=lambda one: -docs[one])[:depth]}


@pytest.mark.parametrize("depth", [1, 3, 10, 99])
def test_a_pool_is_the_union_of_the_tops(depth):
    found = pools.pool(RUNS.values(), depth=depth)
    assert {(q, d) for q, d, _ in found} == set().union(*(top(run, depth) for run in RUNS.values()))
    assert set(found.grade) == {-1}


def test_a_budget_is_kept_topic_by_topic_and_takes_the_best_ranks_first():
    found = pools.pool(RUNS.values(), budget=7).to_dict()
    assert [len(docs) for docs in found.values()] == [7] * 6
    for query, docs in found.items():
        best = defaultdict(lambda: math.inf)
        for run in RUNS.values():
            scores = run.to_dict()[query]
            for rank, doc in enumerate(sorted(scores, key=lambda one: -scores[one]), 1):
                best[doc] = min(best[doc], rank)
        assert max(best[doc] for doc in docs) <= min(best[doc] for doc in best if doc not in docs)


def test_restricted_judgments_are_those_of_the_shallower_pool():
    shallow = pools.restrict(JUDGMENTS, pools.pool(RUNS.values(), depth=3)).to_dict()
    pooled = set().union(*(top(run, 3) for run in RUNS.values()))
    assert shallow == {q: {d: g for d, g in docs.items() if (q, d) in pooled} for q, docs in QRELS.items()}
    deep = pools.restrict(JUDGMENTS, pools.pool(RUNS.values(), depth=12)).to_dict()
    beyond = [(q, d) for q, docs in deep.items() for d, g in docs.items() if g == -1]
    assert beyond
    assert all(d not in QRELS[q] for q, d in beyond)


def test_leaving_a_group_out_removes_what_it_alone_found():
    left = pools.without_group(JUDGMENTS, list(RUNS.values()), GROUPS, "group3", depth=10)
    others = set().union(*(top(run, 10) for name, run in RUNS.items() if GROUPS[name] != "group3"))
    kept = {(q, d) for q, d, _ in left}
    assert kept == {(q, d) for q, docs in QRELS.items() for d in docs} & others
    assert len(kept) < len(JUDGMENTS)


@pytest.mark.parametrize(("order", "expected"), [("trec", "cba"), ("docid", "abc"), ("line", "bca")])
def test_ranks_of_tied_documents(order, expected):
    run = rb.Run.from_columns("1111", "bcaz", [1, 1, 1, 2])
    assert "".join(run.pairs.docs[int(row)] for row in np.argsort(ranks(run, order))) == "z" + expected
    found = rb.evaluate({"1": {"c": 1}}, run, "RR", ties=order).value[0, 0, 0]
    assert found == pytest.approx(1 / (2 + expected.index("c")))


def test_documents_with_the_same_key_are_told_apart(monkeypatch):
    runs = [rb.Run.from_columns("12", ["a", "b"], [1, 1]), rb.Run.from_columns("11", ["b", "a"], [2, 1])]
    for run in runs:
        monkeypatch.setattr(
            run,
            "_held",
            type(run.pairs)(
                *[getattr(run.pairs, n) for n in ("topics", "topic", "docs")],
                run.pairs.keys * np.uint64(0),
                run.pairs.source,
            ),
        )
    found = pools.pool(runs, depth=5)
    assert {(q, d) for q, d, _ in found} == {("1", "a"), ("1", "b"), ("2", "b")}


class TestReduction:
    qrels = rb.Qrels.from_columns(
        ["a"] * 57 + ["b"] * 30 + ["c"],
        [f"d{at}" for at in range(88)],
        [1] * 7 + [0] * 50 + [2] * 25 + [0] * 5 + [-1],
    )

    def counts(self, kept):
        told = [kept.to_dict().get(topic, {}).values() for topic in "abc"]
        return [(sum(grade >= 1 for grade in of), sum(grade == 0 for grade in of)) for of in told]

    def documents(self, **asked):
        kept = pools.reduce(self.qrels, **asked)
        return {rate: {(query, doc) for query, doc, _ in part} for rate, part in kept.items()}

    def test_keeps_the_numbers_of_the_paper(self):
        expected = {
            90: [(6, 45), (22, 5), (0, 0)],
            50: [(3, 25), (12, 5), (0, 0)],
            10: [(1, 10), (2, 5), (0, 0)],
            100: [(7, 50), (25, 5), (0, 0)],
        }
        kept = pools.reduce(self.qrels, expected, seed=1)
        assert {rate: self.counts(part) for rate, part in kept.items()} == expected

    def test_smaller_rates_are_subsets_and_seeds_differ(self):
        one, other = (self.documents(seed=seed) for seed in (1, 2))
        assert list(one) == list(pools.RATES)
        assert all(small <= large for large, small in itertools.pairwise(one.values()))
        assert one[10] != other[10]
        assert one[10] == self.documents(rates=[10], seed=1)[10]

    def test_every_document_is_as_likely(self):
        drawn = [self.documents(rates=[50], seed=seed)[50] for seed in range(400)]
        times = np.array([sum((query, doc) in kept for kept in drawn) for query, doc, _ in self.qrels])
        assert times[:7] / 400 == pytest.approx(3 / 7, abs=0.12)  # five standard errors
        assert times[7:57] / 400 == pytest.approx(0.5, abs=0.13)

    def test_a_rate_that_makes_no_sense_is_refused(self):
        with pytest.raises(rb.UsageError, match="percentage"):
            pools.reduce(self.qrels, [0], seed=1)


def weights_in_runs(names, p):
    """For every unjudged document, its RBP weight in each of these runs."""
    found = defaultdict(dict)
    for name in names:
        for query, docs in RUNS[name].to_dict().items():
            for rank, doc in enumerate(sorted(docs, key=lambda one: -docs[one])):
                if doc not in QRELS[query]:
                    found[query, doc][name] = (1 - p) * p**rank
    return found


class TestJudgeNext:
    p = 0.9

    def residual(self, extra=(), names=tuple(RUNS)):
        qrels = {query: dict(docs) for query, docs in QRELS.items()}
        for query, doc in extra:
            qrels[query][doc] = 0
        scores = rb.evaluate(qrels, {name: RUNS[name] for name in names}, f"RBP(p={self.p})")
        return scores.high - scores.low

    def test_the_largest_summed_weights_come_first(self):
        plan = rb.judge_next(JUDGMENTS, RUNS, budget=12, measure=f"RBP(p={self.p})")
        summed = {pair: sum(held.values()) for pair, held in weights_in_runs(RUNS, self.p).items()}
        assert plan.weight == pytest.approx(sorted(summed.values(), reverse=True)[:12])
        pairs = list(zip(plan.query_ids, plan.doc_ids, strict=True))
        assert plan.weight == pytest.approx([summed[pair] for pair in pairs])
        assert plan.residual_before == pytest.approx(self.residual().sum())
        for number in (1, 5, 12):
            assert plan.residual_after[number - 1] == pytest.approx(self.residual(pairs[:number]).sum())

    def test_other_measures_of_fixed_weights(self):
        plan = rb.judge_next(JUDGMENTS, RUNS, budget=3, measure="DCG@20")
        assert plan.weight[0] > 0
        scores = rb.evaluate(QRELS, RUNS, "DCG@20")
        assert plan.residual_before == pytest.approx((scores.high - scores.low).sum())

    def test_nothing_left_to_judge(self):
        qrels = {q: dict.fromkeys(docs, 1) for q, docs in RUNS["run0"].to_dict().items()}
        plan = rb.judge_next(qrels, {"run0": RUNS["run0"]}, budget=3, measure="P@5")
        assert (len(plan), plan.residual_before) == (0, 0)


@pytest.fixture
def files(tmp_path):
    JUDGMENTS.write(tmp_path / "qrels")
    (tmp_path / "runs").mkdir()
    for name, run in RUNS.items():
        run.write(tmp_path / "runs" / name)
    (tmp_path / "groups").write_text("".join(f"{run} {group}\n" for run, group in GROUPS.items()))
    return tmp_path


class TestCommands:
    @pytest.fixture
    def command(self, capfd):
        def call(*arguments):
            code = main([str(argument) for argument in arguments])
            return code, *capfd.readouterr()

        return call

    def test_pool(self, command, files):
        code, out, err = command("pool", files / "runs", "--depth", 2)
        assert code == 0
        assert all(line.split()[1::2] == ["0", "-1"] for line in out.splitlines())
        assert f"{len(out.splitlines())} documents for 6 topics from 8 runs: 0 judged" in err
        code, out, _ = command("pool", files / "runs", "--depth", 2, "--restrict", files / "qrels")
        assert {line.split()[3] for line in out.splitlines()} <= {"0", "1", "2"}

    def test_a_part_of_the_judgments(self, command, files):
        keep = ("--restrict", files / "qrels", "--keep", "50%", "--seed", 3)
        code, out, err = command("pool", *keep)
        assert (code, out) == (0, pools.reduce(JUDGMENTS, [50], seed=3)[50].text())
        assert "50% of each topic (seed 3): kept" in err
        code, out, _ = command("pool", files / "runs", "--depth", 2, *keep)
        pooled = pools.restrict(JUDGMENTS, pools.pool(RUNS, depth=2))
        assert (code, out) == (0, pools.reduce(pooled, [50], seed=3)[50].text())

    def test_judge_next(self, command, files):
        ask = ("judge-next", files / "qrels", files / "runs", "--budget", 4, "--for", "RBP(p=0.9)")
        code, out, err = command(*ask, "--format", "json")
        found = json.loads(out)
        assert code == 0
        assert [list(row) for row in found] == [["query_id", "doc_id", "weight", "residual_after"]] * 4
        plan = rb.judge_next(JUDGMENTS, RUNS, budget=4, measure="RBP(p=0.9)")
        assert found == plan.rows()
        assert "after 4 judgments" in err
        code, out, _ = command(*ask, "--format", "trec")
        assert out == plan.pool().text()
        code, out, _ = command(*ask)
        assert "after 4 judgments" in out.splitlines()[0]
        assert out.splitlines()[2].split() == ["topic", "document", "weight", "residual", "after"]

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["pool", "runs"], "needs a depth"),
            (["pool", "runs", "--depth", "0"], "at least 1"),
            (["pool", "runs", "--depth", "2", "--ties", "best"], "need one order"),
            (["pool"], "needs runs"),
            (["pool", "--keep", "10%"], "name them with --restrict"),
            (["pool", "--restrict", "qrels", "--keep", "half"], "0.01 or 1%"),
            (["pool", "--restrict", "qrels", "--keep", "200%"], "up to 100, not 200"),
            (["judge-next", "qrels", "runs", "--budget", "0"], "whole number from 1 on"),
            (["judge-next", "qrels", "runs", "--compare", "run0", "runX"], 'no run "runX"'),
            (["judge-next", "qrels", "runs", "--for", "Judged@10"], "does not depend"),
            (["judge-next", "qrels", "runs", "--until", "settled"], "needs a comparison"),
            (["judge-next", "qrels", "runs", "--compare", "run0", "run1", "--until", "0.4"], "between 0.5 and 1"),
            (["judge-next", "qrels", "runs", "--compare", "run0"], "two runs"),
        ],
    )
    def test_wrong_usage(self, command, files, monkeypatch, arguments, says):
        monkeypatch.chdir(files)
        code, out, err = command(*arguments)
        assert (code, out) == (2, "")
        assert says in err
        assert err.count("\n") == 1


def test_the_published_depth_10_judgments_of_trec8(unpacked):
    """Equal scores stand in the order of the lines there; then every line comes out."""
    folder = unpacked("trec8-adhoc.tar.xz") / "trec8-adhoc"
    runs = rb.read_runs(folder / "runs")
    qrels = rb.read_qrels(folder / "qrels.txt")
    found = pools.restrict(qrels, pools.pool(runs, depth=10, ties="line"))
    assert found.to_dict() == rb.read_qrels(folder / "qrels-depth10.txt").to_dict()
    groups = pools.read_groups(archive("trec8-adhoc.groups.txt"))
    assert set(pools.groups_of([run.name for run in runs], groups)) == set(groups.values())


def test_pools_need_ties_in_one_order():
    with pytest.raises(rb.UsageError, match="Pools need one order"):
        pools.pool(RUNS, depth=2, ties="best")
    with pytest.raises(rb.UsageError, match="Judgments are planned for one order"):
        rb.judge_next(JUDGMENTS, RUNS, budget=3, ties="best")
    with pytest.raises(TypeError, match="pool takes no unjudged="):
        pools.pool(RUNS, depth=2, unjudged="condensed")


def test_every_form_that_evaluate_takes_is_taken(tmp_path):
    nested = {name: run.to_dict() for name, run in RUNS.items()}
    JUDGMENTS.write(tmp_path / "qrels")
    for name, run in RUNS.items():
        run.write(tmp_path / f"{name}.run")
    expected = rb.judge_next(JUDGMENTS, RUNS, budget=5).rows()
    assert rb.judge_next(JUDGMENTS.to_dict(), nested, budget=5).rows() == expected
    assert rb.judge_next(tmp_path / "qrels", str(tmp_path / "*.run"), budget=5).rows() == expected
    assert pools.pool(str(tmp_path / "*.run"), depth=3).to_dict() == pools.pool(RUNS, depth=3).to_dict()
    assert pools.reduce(tmp_path / "qrels", [50])[50].to_dict() == pools.reduce(JUDGMENTS, [50])[50].to_dict()
    groups = dict.fromkeys(RUNS, "rest") | {"run0": "own"}
    expected = pools.without_group(JUDGMENTS, RUNS, groups, "own", depth=5).to_dict()
    assert pools.without_group(tmp_path / "qrels", nested, groups, "own", depth=5).to_dict() == expected
