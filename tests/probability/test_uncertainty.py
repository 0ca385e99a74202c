"""Means under unjudged documents: the paper's closed forms, enumeration, models of relevance, coverage, the command."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import rankbounds as rb
from plain import Topic, value
from rankbounds.cli import main
from rankbounds.collection.inputs import as_run
from rankbounds.collection.qrels import as_qrels
from rankbounds.columns.pairs import Pairs, number_pairs
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.scoring import join_lists
from rankbounds.probability import distribution as score_distribution
from rankbounds.probability.distribution import distribution_of_sum
from rankbounds.probability.documents import find_unjudged
from rankbounds.probability.models.estimates import GroupedRanks, estimate
from rankbounds.probability.models.probabilities import as_relevance_probability
from rankbounds.probability.probable_differences import differences
from rankbounds.probability.urn import sample_rankings
from rankbounds.rankings.join import join
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.studies import coverage_by_relevance_ratio

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
LAW = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def paper_collection(topics=50, depth=100, judged=10):
    """Lists whose first ranks are judged non-relevant and whose others are unjudged."""
    run = {f"t{at}": {f"d{rank:03d}": -rank for rank in range(depth)} for at in range(topics)}
    return {query: dict.fromkeys(list(docs)[:judged], 0) for query, docs in run.items()}, run


@pytest.fixture
def command(capfd):
    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return call


@pytest.fixture
def files(tmp_path):
    qrels, run = paper_collection()
    as_qrels(qrels).write(tmp_path / "qrels")
    as_run(run, "mine").write(tmp_path / "run")
    return tmp_path / "qrels", tmp_path / "run"


PAPER = [(0.05, 0.005369, 0.001103), (0.2, 0.021475, 0.002025), (0.35, 0.037581, 0.002414), (0.5, 0.053687, 0.002531)]


@pytest.mark.parametrize(("q", "mean", "sd"), PAPER)
def test_closed_form_of_the_paper(command, files, q, mean, sd):
    code, out, err = command("uncertainty", *files, "-m", "RBP(p=.8)", "--q", q, "--format", "json")
    (row,) = json.loads(out)
    assert code == 0
    assert list(row) == [
        "run", "query_id", "measure", "pooled", "judged_to", "base", "mean", "sd", "ci_low", "ci_high", "low", "high",
    ]  # fmt: skip
    assert (row["run"], row["query_id"], row["measure"], row["base"]) == ("mine", "all", "RBP(p=0.8)", 0)
    assert (row["mean"], row["sd"]) == (pytest.approx(mean, abs=6e-7), pytest.approx(sd, abs=6e-7))
    assert row["ci_high"] - row["mean"] == pytest.approx(1.959964 * row["sd"], rel=1e-6)
    assert (row["low"], row["high"]) == (0, pytest.approx(0.8**10))
    assert f"q={q:g}" in err


def test_few_topics_are_told(command, tmp_path):
    qrels, run = paper_collection(topics=3)
    with pytest.warns(rb.RankboundsWarning, match="at least 30 topics, not 3: its probabilities are rough"):
        rb.uncertainty(qrels, run, "RBP(p=0.8)", q=0.2)


@pytest.mark.parametrize("q", [0.2, 1.0])
def test_beyond_the_list_counts_in_mean_only_with_tail(q):
    qrels, run = paper_collection(topics=40, depth=12, judged=10)
    inside, beyond = 0.2 * (0.8**10 + 0.8**11), 0.8**12
    for tail, extra, squares in ((False, 0.0, 0.0), (True, beyond, 0.8**24 * 0.2 / 1.8)):
        row = rb.uncertainty(qrels, run, "RBP(p=0.8)", q=q, tail=tail).rows()[0]
        assert row["mean"] == pytest.approx(q * (inside + extra))
        variance = q * (1 - q) * (0.04 * (0.8**20 + 0.8**22) + squares)
        assert row["sd"] == pytest.approx(math.sqrt(variance / 40))
        assert (row["low"], row["high"]) == (0, pytest.approx(0.8**10))


def test_beyond_the_list_a_document_gains_no_more_than_any_can():
    """Of a table whose gains are all below 1, nothing is relevant in full: q = 1 leaves the certain upper bound."""
    qrels, run = paper_collection(topics=4, depth=12, judged=10)
    asked = {"gain": {1: 0.25, 2: 0.5}, "q": 1.0, "tail": True}
    row = rb.uncertainty(qrels, run, "RBP(p=0.8,graded=true)", **asked).rows()[0]
    assert row["mean"] == pytest.approx(0.5 * 0.8**10)
    assert row["mean"] == pytest.approx(row["high"])


rankings = st.lists(st.sampled_from([None, None, 0, 1, 2]), min_size=1, max_size=7)


@LAW
@given(
    st.lists(rankings, min_size=1, max_size=2),
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=7, max_size=7),
)
def test_moments_and_distribution_are_those_of_all_judgments(several, chances):
    """Every measure that is a weighted sum, every completion of the judgments with its probability."""
    run = {f"t{at}": {f"d{rank}": -rank for rank in range(len(one))} for at, one in enumerate(several)}
    qrels = {
        f"t{at}": {"x": 2} | {f"d{rank}": grade for rank, grade in enumerate(one) if grade is not None}
        for at, one in enumerate(several)
    }
    measures = [rb.parse_measure(name) for name in ("RBP(p=0.6)", "RBP(p=0.8,graded=true)@4", "P@3", "DCG@5")]
    found = rb.uncertainty(qrels, run, measures, q=lambda unjudged: np.array(chances)[unjudged.rank - 1])
    bounds = rb.evaluate(qrels, run, measures).mean()
    for at, (measure, score) in enumerate(zip(measures, found.scores, strict=True)):
        outcomes = [(0.0, 1.0)]
        for one in several:
            holes = [rank for rank, grade in enumerate(one) if grade is None]
            mine = []
            for turned in itertools.product((0, 1), repeat=len(holes)):
                full = list(one)
                for rank, relevant in zip(holes, turned, strict=True):
                    full[rank] = 2 * relevant
                weight = math.prod(chances[r] if t else 1 - chances[r] for r, t in zip(holes, turned, strict=True))
                mine.append((value(Topic(full, [*full, 2], 2), measure) / len(several), weight))
            outcomes = [(a + b, p * q) for a, p in outcomes for b, q in mine]
        mean = sum(one * weight for one, weight in outcomes)
        sd = math.sqrt(max(0, sum(one**2 * weight for one, weight in outcomes) - mean**2))
        row = replace(found, scores=[score]).rows()[0]
        assert row["mean"] == pytest.approx(mean, abs=1e-9)
        assert row["sd"] == pytest.approx(sd, abs=1e-7)
        assert row["low"] == pytest.approx(bounds.low[0, 0, at], abs=1e-12)
        assert row["high"] == pytest.approx(bounds.high[0, 0, at], abs=1e-12)


@LAW
@given(
    st.lists(st.tuples(st.floats(-1, 1), st.sampled_from([0.0, 0.02, 0.3, 0.5, 1.0])), min_size=1, max_size=13),
    st.floats(-1, 1),
)
@example([(-1.0, 0.02)] * 3, 0.0)
def test_the_grid_is_within_its_stated_error_of_enumeration(parts, base):
    weight, chance = np.array([w for w, _ in parts]), np.array([q for _, q in parts])
    exact = distribution_of_sum(weight, chance, base)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score_distribution, "ENUMERATED", 0)
        grid = distribution_of_sum(weight, chance, base)
    assert grid.mean == pytest.approx(exact.mean, abs=1e-9)
    x = np.linspace(-8, 8, 500)
    slack = grid.error + 1e-9
    assert (grid.cdf(x) <= exact.cdf(x + slack) + 2e-9).all()
    assert (grid.cdf(x) >= exact.cdf(x - slack) - 2e-9).all()


def test_fifteen_weights_are_enumerated_exactly():
    found = distribution_of_sum(0.2 * 0.8 ** np.arange(15), np.full(15, 0.3))
    assert found.error == 0
    values = sorted(
        (sum(0.2 * 0.8**rank for rank in range(15) if bits >> rank & 1), 0.3**count * 0.7 ** (15 - count))
        for bits in range(1 << 15)
        for count in [bits.bit_count()]
    )
    assert found.value == pytest.approx([one for one, _ in values], abs=1e-12)
    assert found.probability.sum() == pytest.approx(1)
    assert found.quantile(0.5) == pytest.approx(values[np.searchsorted(np.cumsum([p for _, p in values]), 0.5)][0])


def test_draws_agree_with_enumeration_for_other_measures():
    ranking = [1, None, 0, None, None]
    qrels = {"t": {"d0": 1, "d2": 0, "x": 1}}
    run = {"t": {f"d{rank}": -rank for rank in range(5)}}
    found = rb.uncertainty(qrels, run, ["AP", "nDCG@4", "RR"], q=0.4, samples=4000, seed=1)
    for score in found.scores:
        mean = second = 0.0
        for turned in itertools.product((0, 1), repeat=3):
            full = list(ranking)
            for rank, relevant in zip((1, 3, 4), turned, strict=True):
                full[rank] = relevant
            weight = 0.4 ** sum(turned) * 0.6 ** (3 - sum(turned))
            one = value(Topic(full, [*full, 1], 1), score.measure)
            mean, second = mean + weight * one, second + weight * one**2
        sd = math.sqrt(max(second - mean**2, 0))
        row = replace(found, scores=[score]).rows()[0]
        assert abs(row["mean"] - mean) <= 4 * sd / 4000**0.5 + 1e-12
        assert row["sd"] == pytest.approx(sd, rel=0.08, abs=1e-9)
        assert row["low"] - 1e-12 <= row["ci_low"] <= row["ci_high"] <= row["high"] + 1e-12
    assert "4000 draws (seed 1)" in found.notes()[-1]
    again = rb.uncertainty(qrels, run, ["AP", "nDCG@4", "RR"], q=0.4, samples=4000, seed=1)
    assert [one.sd() for one in again.scores] == [one.sd() for one in found.scores]


def test_expected_ties_use_the_mean_weight_of_a_group():
    qrels, run = {"t": {"a": 1}}, {"t": {"a": 2.0, "b": 1.0, "c": 1.0}}
    row = rb.uncertainty(qrels, run, "RBP(p=0.8)", q=0.5, ties="expected").rows()[0]
    assert row["mean"] == pytest.approx(0.2 + 0.5 * (0.16 + 0.128))
    assert row["sd"] == pytest.approx(math.sqrt(2 * 0.25 * 0.144**2))
    for ties in ("best", "worst"):
        with pytest.raises(rb.UsageError, match="depends on the missing judgments"):
            rb.uncertainty(qrels, run, "RBP(p=0.8)", q=0.5, ties=ties)


class TestModels:
    qrels = {"1": {"a": 1}, "2": {"a": 0}}  # noqa: RUF012
    runs = {  # noqa: RUF012
        "A": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"b": 1.0}},
        "B": {"1": {"b": 3.0, "a": 2.0}, "2": {"c": 2.0}},
    }

    def means(self, q, **options):
        found = rb.uncertainty(self.qrels, self.runs, "P@1", q=q, **options)
        return [row["mean"] for row in found.rows()]

    def test_each_kind(self):
        assert self.means({"1": {"b": 0.9}, "2": {"b": 0.3}}, otherwise=0.7) == pytest.approx([0.65, 0.8])
        assert self.means(lambda holes: 1.0 / holes.rank) == pytest.approx([1, 1])

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("query_id,doc_id,probability\n1,b,0.9\n2,b,0.3\n2,c,0.7\n1,c,0\n", [0.65, 0.8]),
            ("1 b 0.9\n2 b 0.3\n2 c 0.7\n1 c 0\n", [0.65, 0.8]),
            ("1 0 b 0.9\n2 0 b 0.3\n2 0 c 0.7\n1 0 c 0\n", [0.65, 0.8]),
        ],
    )
    def test_files(self, tmp_path, content, expected):
        (tmp_path / "q").write_text(content)
        assert self.means(str(tmp_path / "q")) == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            ("query_id,doc_id,probability\n1,b,high\n", "not a finite number"),
            ("query_id,doc_id,probability\n1,b,1.5\n", "between 0 and 1"),
            ("query_id,probability\n1,0.5\n", "no column for the document id"),
            ("colour,probability\nred,0.5\n", "this table has colour, probability"),
            ("1 b 0.9\n", 'such as document "b" of topic "2"'),
            ("1 b 7\n", "between 0 and 1"),
            ("1 b\n", "has 2"),
        ],
    )
    def test_bad_files_are_one_clear_message(self, tmp_path, content, told):
        (tmp_path / "q").write_text(content)
        with pytest.raises(rb.RankboundsError, match=told.replace("(", r"\(")):
            rb.uncertainty(self.qrels, self.runs, "P@3", q=str(tmp_path / "q"))

    def test_numbers_out_of_range(self):
        for given_q in (-0.1, 1.1, {"q": {"a": 2}}, float("nan")):
            with pytest.raises(rb.UsageError, match="between 0 and 1"):
                as_relevance_probability(given_q)


@pytest.fixture(scope="module")
def simulated():
    return rb.studies.simulate(runs=5, topics=40, pooled_runs=3, seed=11)


class TestEstimates:
    def test_estimates_come_nearer_the_truth_than_a_constant(self, simulated):
        truth = rb.evaluate(simulated.complete, simulated.runs, "RBP(p=0.8)").mean().value[:, 0, 0]

        def miss(q):
            rows = rb.uncertainty(simulated.pooled, simulated.runs, "RBP(p=0.8)", q=q).rows()
            return np.abs([row["mean"] - one for row, one in zip(rows, truth, strict=True)])

        notes = rb.uncertainty(simulated.pooled, simulated.runs, "RBP(p=0.8)", q="logistic").notes()
        assert "run1, run5: fewer than 95% of the first 5 documents are judged" in notes[1]
        none, share, logistic = miss(0.0), miss(0.05), miss("logistic")
        assert logistic.mean() < 0.4 * share.mean() < 0.4 * none.mean()

    def test_a_document_has_one_probability_in_all_runs(self, simulated):
        facts = TopicFacts(simulated.pooled)
        lists = [list(join_lists(run, facts, Assumptions()).batches) for run in simulated.runs]
        fit = estimate(GroupedRanks.of(simulated.runs, lists), facts)
        holes = [find_unjudged(run, facts, rb.RBP(), Assumptions()) for run in simulated.runs]
        numbers = np.concatenate(number_pairs([one.pairs for one in holes]))
        chance = np.concatenate([fit(one) for one in holes])
        first = np.zeros(numbers.max() + 1)
        first[numbers] = chance
        assert first[numbers] == pytest.approx(chance)
        # a good rank in the best run says more than one in the worst
        group = fit.ranks.group
        assert fit.coefficients[3 + group["run1"]] > fit.coefficients[3 + group["run5"]]

    @pytest.mark.parametrize("measure", ["DCG@3", "RBP(graded=true)", "nDCG@3", "ERR@3", "Q", "AP", "P@3"])
    @pytest.mark.parametrize("grades", [(1, 1), (1, 2)])
    def test_with_certainly_relevant_documents_drawn_grades_alone_are_open(self, measure, grades):
        qrels = {"t": {"a": grades[0], "b": grades[1], "c": 0}}
        run = {"t": ["a", "x", "b", "y"]}
        (row,) = rb.uncertainty(qrels, run, measure, q=1, samples=50).rows()
        grade_is_drawn = grades == (1, 2) and measure in ("nDCG@3", "ERR@3", "Q")
        assert (row["sd"] > 0) is grade_is_drawn
        if not grade_is_drawn:
            assert row["mean"] == pytest.approx(rb.evaluate(qrels, run, measure, unjudged="relevant").value.item())

    def test_graded_measures_expect_a_share_of_the_largest_gain(self):
        drawn = rb.studies.simulate(runs=3, topics=30, grades=3, seed=12)
        graded, binary = (
            rb.uncertainty(drawn.pooled, drawn.runs, measure, q="logistic").rows()[0]
            for measure in ("RBP(p=0.8,graded=true)", "RBP(p=0.8)")
        )
        assert graded["mean"] - graded["base"] < 0.8 * (binary["mean"] - binary["base"])
        truth = rb.evaluate(drawn.complete, drawn.runs[:1], "RBP(p=0.8,graded=true)").mean().value[0, 0, 0]
        assert abs(graded["mean"] - truth) < 0.5 * (truth - graded["base"])

    def test_none_relevant_can_be_fitted(self):
        runs = {name: {"t": {f"d{rank}": -rank for rank in range(9)}} for name in "ab"}
        for row in rb.uncertainty({"t": {"d0": 0, "d1": 0}}, runs, "RBP(p=0.8)", q="logistic").rows():
            assert 0 < row["mean"] - row["base"] < 0.5 * (row["high"] - row["base"])
        with pytest.raises(rb.UsageError, match="no data to estimate"):
            rb.uncertainty({"t": {"x": 1}}, runs, "RBP(p=0.8)", q="logistic")


class TestBothSources:
    def test_parts_add_up_and_the_interval_is_wider(self, simulated):
        rows = {
            which: rb.uncertainty(simulated.pooled, simulated.runs[:1], "RBP(p=0.8)", q=0.2, sources=which).rows()[0]
            for which in ("documents", "topics", "both")
        }
        both = rows["both"]
        assert list(both)[-2:] == ["sd_documents", "sd_topics"]
        assert both["sd"] ** 2 == pytest.approx(both["sd_documents"] ** 2 + both["sd_topics"] ** 2)
        assert both["sd_documents"] == pytest.approx(rows["documents"]["sd"])
        assert both["sd_topics"] == rows["topics"]["sd"]
        assert both["ci_high"] - both["ci_low"] > rows["topics"]["ci_high"] - rows["topics"]["ci_low"]

    @pytest.mark.parametrize("sources", ["topics", "both"])
    @pytest.mark.parametrize("measure", ["P@10", "RR", "nDCG@10", "DCG@10"])
    def test_without_holes_it_is_the_interval_of_evaluate(self, simulated, sources, measure):
        mean = rb.evaluate(simulated.complete, simulated.runs[:1], measure).mean()
        row = rb.uncertainty(simulated.complete, simulated.runs[:1], measure, q=0.1, sources=sources).rows()[0]
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((mean.ci_low.item(), mean.ci_high.item()))

    @pytest.mark.parametrize("sources", ["topics", "both"])
    def test_no_interval_leaves_the_range_or_has_no_width(self, sources):
        qrels = {topic: {"r": 1, "n": 0} for topic in ("1", "2")}
        run = {"apart": {"1": ["r", "u"], "2": ["n"]}, "level": {"1": ["r"], "2": ["r"]}}
        apart, level = rb.uncertainty(qrels, run, "P@1", q=0.5, sources=sources).rows()
        assert 0 <= apart["ci_low"] < 0.01  # t intervals of two topics reach far beyond
        assert 0.99 < apart["ci_high"] <= 1
        assert (level["ci_low"], level["ci_high"]) == pytest.approx((0.025**0.5, 1))  # Clopper and Pearson's


def test_no_interval_is_infinite():
    """Too few groups to calibrate by, and a measure without bounds: then there is none."""
    rng = np.random.default_rng(1)
    pooled, other = ({str(q): [f"d{d}" for d in rng.permutation(9)] for q in range(8)} for _ in range(2))
    qrels = {q: {doc: int(rng.random() < 0.5) for doc in found[:4]} for q, found in pooled.items()}
    runs = {"pooled": pooled, "other": other}
    rows = rb.uncertainty(qrels, runs, "RnDCG", samples=20).rows()
    rows += differences(qrels, runs, "RnDCG", samples=20).rows()
    assert any(row["mean" if "mean" in row else "difference"] is not None for row in rows)
    assert not any(np.isinf([row[end] or 0 for end in ("ci_low", "ci_high")]).any() for row in rows)


def test_coverage_where_the_assumption_holds_and_where_it_fails():
    found = coverage_by_relevance_ratio(collections=60, relevance_ratios=(1.0, 0.2), seed=1)
    coverage = {(row["relevance_ratio"], row["way"]): row["coverage"] for row in found.rows()}
    assert coverage[1.0, "true share"] >= 0.85
    assert coverage[0.2, "true share"] < 0.1


@pytest.mark.parametrize("way", ["judged rate", "true share"])
def test_coverage_takes_the_intervals_that_uncertainty_gives(way):
    """One collection: its width and bias are those of the interval around the true mean."""
    depth, share, chosen = 6, 0.3, {"n_documents": 40, "topics": 35}
    found = coverage_by_relevance_ratio(
        collections=1, relevance_ratios=(0.4,), ways=(way,), q=share, judged_depth=depth, seed=2, **chosen
    )
    rng = np.random.default_rng(2)
    relevant = sample_rankings(*chosen.values(), q=share, relevance_ratio=0.4, seed=rng).astype(int)
    run = {f"t{topic}": [f"d{rank}" for rank in range(40)] for topic in range(35)}
    qrels = {query: dict(zip(docs[:depth], grades.tolist(), strict=False))
             for (query, docs), grades in zip(run.items(), relevant, strict=True)}  # fmt: skip
    q = share if way == "true share" else relevant[:, :depth].mean()
    row = rb.uncertainty(qrels, run, "RBP(p=0.8)", q=q).rows()[0]
    truth = (relevant @ rb.RBP(p=0.8).weights(40)).mean()
    (mine,) = found.rows()
    assert mine["width"] == pytest.approx(row["ci_high"] - row["ci_low"], abs=1e-12)
    assert mine["bias"] == pytest.approx((row["ci_low"] + row["ci_high"]) / 2 - truth, abs=1e-12)


def test_rows_say_which_document_stands_in_a_cell():
    drawn = rb.studies.simulate(1, 6, 80, 30, ties=0.4, seed=3)
    run, facts = drawn.runs[0], TopicFacts(drawn.pooled)
    shuffled = run.take(np.random.default_rng(0).permutation(len(run)))
    judged = drawn.pooled.to_dict()
    for order in ("trec", "run", "docid"):
        for rankings in join(shuffled, facts, order=order, keep_rows=True).batches:
            for list_rankings in (rankings, rankings.condensed()):
                for line, topic in enumerate(list_rankings.topic.tolist()):
                    query = facts.query_ids[topic]
                    rows = list_rankings.row[line, : list_rankings.length[line]].tolist()
                    for row, grade in zip(rows, list_rankings.grade[line].tolist(), strict=False):
                        assert shuffled.query_ids[shuffled.pairs.topic[row]] == query
                        known = judged[query].get(shuffled.pairs.docs[row])
                        assert math.isnan(grade) if known is None else grade == known


def test_pairs_are_numbered_alike_even_when_hashes_collide():
    tables = [
        as_run({"1": {"a": 1, "b": 2}, "2": {"a": 3}}).pairs,
        as_run({"2": {"a": 3, "a-rather-long-document-id": 1}, "1": {"b": 9}}).pairs,
    ]
    same = [Pairs(t.topics, t.topic, t.docs, np.zeros_like(t.keys), t.source) for t in tables]
    for some in (tables, same):
        first, second = (one.tolist() for one in number_pairs(some))
        assert len(set(first)) == 3
        assert (second[0], second[2]) == (first[2], first[1])
        assert second[1] not in first


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--q", "1.5"], "between 0 and 1"),
        (["--q", "nonsense"], "neither a number, nor a file"),
        (["--confidence", "95"], "between 0 and 1"),
        (["--sources", "topic"], 'Did you mean "topics"?'),
        (["--sources", "exact"], "not a choice"),
        (["-m", "AP'"], "does not depend"),
        (["-m", "NumRelRet"], "a count"),
        (["-m", "AP", "--tail"], "beyond the end"),
        (["-m", "AP", "--ties", "expected"], "one order"),
        (["-m", "RPB"], "Did you mean"),
        (["--samples", "1", "-m", "AP"], "two samples"),
        (["--difference"], "needs two runs"),
        (["--format", "trec"], "no format"),
    ],
)
def test_wrong_usage_is_one_clear_message(command, files, arguments, told):
    given_q = [] if "--q" in arguments else ["--q", "0.2"]
    code, out, err = command("uncertainty", *files, *given_q, *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1


def test_command_per_topic_and_formats(command, files, tmp_path):
    _, out, _ = command("uncertainty", *files, "--q", ".2", "-m", "RBP", "-q", "--format", "json")
    rows = json.loads(out)
    assert len(rows) == 51
    assert rows[0]["mean"] == pytest.approx(0.021475, abs=6e-7)
    assert rows[0]["sd"] == pytest.approx(0.002025 * 50**0.5, rel=1e-3)
    assert rows[0]["ci_low"] == 0  # a normal interval would begin below what is possible
    for kind in ("table", "csv", "tsv", "jsonl", "markdown", "latex", "html"):
        code, out, _ = command("uncertainty", *files, "--q", ".2", "--format", kind)
        assert code == 0
        assert "mine" in out
    code, out, _ = command("uncertainty", *files, "--q", ".2", "-m", "RBP", "--tail", "-o", tmp_path / "out.txt")
    assert (code, out) == (0, "")
    assert "0.0215" in (tmp_path / "out.txt").read_text()


def test_the_order_of_runs_of_equal_quality_changes_nothing():
    runs = {}
    for number in range(7):
        shared = [f"d{each}" for each in np.random.default_rng(number).permutation(20)]
        runs[f"run{number}"] = {"q": [f"r{number}", f"n{number}", *shared]}
    qrels = {"q": {f"{kind}{number}": int(kind == "r") for kind in "rn" for number in range(7)}}
    found = [
        {row["run"]: row["mean"] for row in rb.uncertainty(qrels, runs, "DCG@10", q="logistic").rows()}
        for runs in (runs, dict(reversed(runs.items())))
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_differences_have_a_public_name(capsys, tmp_path):
    qrels, runs = {"q": {"a": 1, "b": 0}}, {"A": {"q": ["x", "a"]}, "B": {"q": ["b", "x"]}}
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 0\n")
    for name, ranked in runs.items():
        lines = [f"q Q0 {document} {at} {9 - at} {name}\n" for at, document in enumerate(ranked["q"])]
        (tmp_path / name).write_text("".join(lines))
    files = [str(tmp_path / name) for name in ("qrels", "A", "B")]
    assert main(["uncertainty", *files, "--difference", "--q", "0.5", "-m", "P@2", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == rb.probability.differences(qrels, runs, "P@2", q=0.5).rows()


def test_the_answer_comes_first_and_assumptions_on_request(command, tmp_path):
    """The run that was not pooled, or how many were not; which of two is better."""
    rb.studies.simulate(runs=25, pooled_runs=24, best=0.05, worst=0.12, seed=3).write(tmp_path / "made")
    files = (tmp_path / "made" / "qrels-pooled.txt", tmp_path / "made" / "runs")
    ask = ("uncertainty", *files, "-m", "RBP(p=0.8)", "--q", "0.2")
    code, out, told = command(*ask)
    answer, blank, heading, *_ = out.splitlines()
    assert (code, blank, told) == (0, "", "")
    assert answer.startswith("run07 was not pooled: its RBP(p=0.8) is probably 0.4642 [0.4436, 0.4848]")
    assert "95% (unjudged)" in heading
    _, again, told = command(*ask, "--explain")
    assert again == out
    assert "q=0.2" in told
    assert "95% (topics)" in command(*ask, "--sources", "topics")[1]
    assert command(*ask, "--top", "1")[1].startswith("1 of 25 runs was not pooled; run01 is the best shown: its")
    two = (files[0], files[1] / "run01.txt", files[1] / "run07.txt", "-m", "RBP(p=0.8)", "--q", "0.2", "--difference")
    assert command("uncertainty", *two)[1].startswith(
        "run01 is better than run07 in RBP(p=0.8): run07 minus run01 is -0.0"
    )
