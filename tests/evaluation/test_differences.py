"""Differences between runs that share unjudged documents: enumeration, soundness beyond the lists, the command."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.collection.inputs import as_run
from rankbounds.probability import probable_differences as run_differences
from rankbounds.probability.probable_differences import differences as candidate_minus_baseline


def differences(*given, **how):
    """Of two runs the first minus the second, which is what these tests enumerate."""
    found = candidate_minus_baseline(*given, **how)
    two = len({name for pair in found.pairs for name in (pair.run, pair.against)}) == 2
    return replace(found, pairs=[turned(pair) for pair in found.pairs]) if two else found


def turned(pair):
    """The same, had the two runs been named the other way round."""
    return replace(
        pair,
        run=pair.against,
        against=pair.run,
        difference=0.0 - pair.difference,
        probability_better=pair.probability_worse,
        probability_worse=pair.probability_better,
        certain_low=0.0 - pair.certain_high,
        certain_high=0.0 - pair.certain_low,
        ci_low=0.0 - pair.ci_high,
        ci_high=0.0 - pair.ci_low,
    )


pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
LAW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
DOCS = "abcdefgh"


def rbp(ranking, relevance, p=0.7):
    return sum((1 - p) * p**rank * relevance[doc] for rank, doc in enumerate(ranking))


@st.composite
def pairs_of_runs(draw, topics=2):
    """Two runs over the same documents, some judged, each run with a list of its own length."""
    several = []
    for _ in range(draw(st.integers(1, topics))):
        orders = [draw(st.permutations(DOCS)) for _ in range(2)]
        lengths = [draw(st.integers(1, 5)) for _ in range(2)]
        judged = draw(st.dictionaries(st.sampled_from(DOCS), st.sampled_from([0, 1]), min_size=1))
        several.append((orders, lengths, judged))
    return several


def inputs(several):
    qrels = {f"t{at}": judged for at, (_, _, judged) in enumerate(several)}
    runs = {
        name: {
            f"t{at}": {doc: -rank for rank, doc in enumerate(orders[which][: lengths[which]])}
            for at, (orders, lengths, _) in enumerate(several)
        }
        for which, name in enumerate("AB")
    }
    return qrels, runs


def all_differences(several, q, *, whole_lists=False):
    """Every way to judge the unjudged retrieved documents: the mean difference and its probability.

    With ``whole_lists`` the documents go on in their full order, every unjudged document is either, and A and B are
    scored to the end.
    """
    outcomes = [(0.0, 1.0)]
    for orders, lengths, judged in several:
        lists = orders if whole_lists else [order[:length] for order, length in zip(orders, lengths, strict=True)]
        holes = [doc for doc in DOCS if doc not in judged and any(doc in one for one in lists)]
        mine = []
        for turned in itertools.product((0, 1), repeat=len(holes)):
            relevance = judged | dict(zip(holes, turned, strict=True))
            weight = math.prod(q if t else 1 - q for t in turned)
            mine.append(((rbp(lists[0], relevance) - rbp(lists[1], relevance)) / len(several), weight))
        outcomes = [(a + b, p * r) for a, p in outcomes for b, r in mine]
    return outcomes


@LAW
@given(pairs_of_runs(), st.sampled_from([0.1, 0.5, 0.8]))
def test_moments_and_probabilities_are_those_of_all_judgments(several, q):
    (found,) = differences(*inputs(several), "RBP(p=0.7)", q=q).pairs
    outcomes = all_differences(several, q)
    mean = sum(value * weight for value, weight in outcomes)
    variance = sum(value**2 * weight for value, weight in outcomes) - mean**2
    assert found.difference == pytest.approx(mean, abs=1e-12)
    assert found.sd == pytest.approx(math.sqrt(max(0, variance)), abs=1e-7)
    better = sum(weight for value, weight in outcomes if value > 1e-9)
    worse = sum(weight for value, weight in outcomes if value < -1e-9)
    assert found.probability_better == pytest.approx(better, abs=1e-9)
    assert found.probability_worse == pytest.approx(worse, abs=1e-9)


@LAW
@given(pairs_of_runs())
def test_certain_bounds_are_attained_and_never_violated(several):
    (found,) = differences(*inputs(several), "RBP(p=0.7)", q=0.5).pairs
    values = [value for value, _ in all_differences(several, 0.5)]
    tails = [np.mean([0.7 ** lengths[which] for _, lengths, _ in several]) for which in range(2)]
    assert found.certain_high == pytest.approx(max(values) + tails[0], abs=1e-9)
    assert found.certain_low == pytest.approx(min(values) - tails[1], abs=1e-9)
    # the lists go on in their full order, so that documents beyond one list's end stand in the other
    if len(several) == 1:
        for value, _ in all_differences(several, 0.5, whole_lists=True):
            assert found.certain_low - 1e-9 <= value <= found.certain_high + 1e-9


@LAW
@given(pairs_of_runs())
def test_certain_bounds_are_within_the_difference_of_the_intervals(several):
    qrels, runs = inputs(several)
    (found,) = differences(qrels, runs, "RBP(p=0.7)", q=0.5).pairs
    a, b = (row for row in rb.uncertainty(qrels, runs, "RBP(p=0.7)", q=0.5).rows())
    assert found.certain_low >= a["low"] - b["high"] - 1e-9
    assert found.certain_high <= a["high"] - b["low"] + 1e-9


@pytest.fixture(scope="module")
def simulated():
    return rb.studies.simulate(runs=4, topics=20, pooled_runs=2, seed=21)


@pytest.mark.parametrize("q", [0.2, "logistic", lambda unjudged: 1 / (unjudged.rank + 1)])
def test_a_rungainst_itself_differs_by_nothing(simulated, q):
    run = simulated.runs[3]
    (found,) = differences(simulated.pooled, [run, run], "RBP(p=0.8)", q=q).pairs
    assert (found.difference, found.sd, found.certain_low, found.certain_high) == (0, 0, 0, 0)
    assert (found.probability_better, found.probability_worse) == (0, 0)
    twin = as_run(run.to_dict(), "twin")  # another system with the same lists may go on differently
    (found,) = differences(simulated.pooled, [run, twin], "RBP(p=0.8)", q=q).pairs
    assert (found.difference, found.sd, found.probability_better) == (0, 0, 0)
    assert found.certain_high == -found.certain_low == pytest.approx(0.8**100)


def test_shared_documents_make_the_difference_surer(simulated):
    alike = rb.studies.simulate(
        runs=2, topics=30, agreement=0.99, best=0.2, worst=0.25, pooled_runs=1, pool_depth=2, seed=3
    )
    (found,) = differences(alike.pooled, alike.runs, "RBP(p=0.8)", q=0.3).pairs
    apart = [row["sd"] for row in rb.uncertainty(alike.pooled, alike.runs, "RBP(p=0.8)", q=0.3).rows()]
    assert found.sd < 0.7 * math.hypot(*apart)


def test_many_pairs_agree_with_few(simulated, monkeypatch):
    for q in (0.2, "logistic"):
        few = differences(simulated.pooled, simulated.runs, "RBP(p=0.8)", q=q)
        assert few.exact
        monkeypatch.setattr(run_differences, "MANY_PAIRS", 0)
        many = differences(simulated.pooled, simulated.runs, "RBP(p=0.8)", q=q)
        monkeypatch.undo()
        assert not many.exact
        assert "normal approximation" in many.notes()[0]
        for one, other in zip(few.pairs, many.pairs, strict=True):
            assert (one.difference, one.sd) == (other.difference, other.sd)
            assert one.probability_better == pytest.approx(other.probability_better, abs=0.03)
        truth = rb.evaluate(simulated.complete, simulated.runs, "RBP(p=0.8)").mean().value[:, 0, 0]
        names = [run.name for run in simulated.runs]
        for one in few.pairs:
            true = truth[names.index(one.run)] - truth[names.index(one.against)]
            assert one.certain_low <= true <= one.certain_high
            pair = [simulated.runs[names.index(name)] for name in (one.run, one.against)]
            alone = differences(simulated.pooled, pair, "RBP(p=0.8)", q=0.2)
            assert alone.pairs[0].certain_low == pytest.approx(one.certain_low)


def test_shared_topics_are_those_of_all_runs():
    qrels = {"1": {"a": 1}, "2": {"a": 1}}
    runs = {"A": {"1": {"a": 1.0}, "2": {"b": 1.0}}, "B": {"1": {"b": 1.0}}}
    (found,) = differences(qrels, runs, "P@1", q=0.5, topics="shared").pairs
    assert (found.difference, found.certain_low, found.certain_high) == (0.5, 0, 1)
    (found,) = differences(qrels, runs, "P@1", q=0.5).pairs
    assert found.difference == pytest.approx(0.5)  # (1 - 0.5)/2 + (0.5 - 0)/2
    assert found.certain_high == pytest.approx(1)


def write(tmp_path, name, lines):
    (tmp_path / name).write_text("".join(f"1 Q0 {doc} {rank} {-rank} {name}\n" for rank, doc in enumerate(lines, 1)))
    return str(tmp_path / name)


def test_command(tmp_path, capfd):
    (tmp_path / "qrels").write_text("".join(f"1 0 r{at} 1\n1 0 n{at} 0\n" for at in range(30)))
    good = write(tmp_path, "good", [f"r{at}" for at in range(30)])
    bad = write(tmp_path, "bad", [f"n{at}" for at in range(30)])
    open_ = write(tmp_path, "open", [f"u{at}" for at in range(30)])
    half = write(tmp_path, "half", ["u0", "n1", "u2", "n3", "u4", "n5", *(f"u{at}" for at in range(6, 30))])

    def difference(*runs, q=0.2):
        code = main(["uncertainty", str(tmp_path / "qrels"), *runs, "--difference", "--q", str(q), "--format", "json"])
        out, err = capfd.readouterr()
        assert code == 0
        assert "Unjudged documents are relevant with probability q" in err
        return json.loads(out)[0]

    row = difference(good, bad)
    assert {"difference", "sd", "probability_better", "certain_low", "certain_high"} <= set(row)
    assert (row["run"], row["against"], row["certain_high"] < 0) == ("bad", "good", True)
    assert (row["probability_better"], row["probability_worse"]) == (0, 1)
    row = difference(bad, good)
    assert (row["run"], row["certain_low"] > 0, row["probability_better"], row["probability_worse"]) == (
        "good", True, 1, 0,
    )  # fmt: skip
    row = difference(good, open_)
    assert row["certain_low"] < 0 <= row["certain_high"]
    assert row["probability_worse"] > 0.999
    assert max(difference(open_, half)[name] for name in ("probability_better", "probability_worse")) < 0.8
    assert difference(open_, half, q=0.5)["probability_worse"] > 0.8
    row = difference(good, good)
    assert {row[name] for name in ("certain_low", "certain_high", "probability_better", "probability_worse")} == {0}
    for arguments in (["--tail"], ["-q"], ["--sources", "both"], ["-m", "Judged@10"], ["-m", "AP", "--samples", "1"]):
        assert main(["uncertainty", str(tmp_path / "qrels"), good, bad, "--difference", "--q", "0.2", *arguments]) == 2
        assert len(capfd.readouterr().err.splitlines()) == 1


def test_no_probability_decides_for_a_run_that_is_hardly_judged():
    """A note names the run; what is certain stays certain."""
    qrels = {str(query): {f"d{doc}": doc % 3 == 0 for doc in range(20)} for query in range(6)}
    runs = {
        "judged": {query: {f"d{doc}": 20.0 - doc for doc in range(20)} for query in qrels},
        "other": {query: {f"d{19 - doc}": 20.0 - doc for doc in range(20)} for query in qrels},
        "stranger": {query: {f"x{doc}": 20.0 - doc for doc in range(20)} for query in qrels},
    }
    found = differences(qrels, runs, "RBP(p=0.8)", q="logistic")
    (note,) = (note for note in found.notes() if "are judged, so" in note)
    assert note.startswith("stranger: fewer than 95% of the first 5 documents are judged")
    assert note.endswith("Rely on the certain bounds instead of the probabilities.")
    for one in found.pairs:
        assert 0 <= one.probability_better <= 1
        assert 0 <= one.probability_worse <= 1


def test_a_variance_that_is_nothing_but_rounding_is_none():
    qrels = {"t0": {"d0": -1, "301": 1}}
    runs = {
        "tag": {"t0": {"true": 5.0, "d8": 4.0, "d1": 3.0, "301": 3.0, "d9": 2.0}},
        "other": {"t0": {"d8": 0.8, "true": 0.7, "d9": 0.6, "301": 0.5, "d1": 0.1}},
    }
    (pair,) = differences(qrels, runs, "RBP(p=0.8)", q=1 - 1e-12).pairs
    assert pair.difference == pytest.approx(0, abs=1e-9)
    assert pair.sd > 0


def hits_of(topics, of_a, of_b):
    """Judgments and two runs with a judged relevant document a topic, and then unjudged ones of their own."""
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(topics)}
    runs = {
        name: {topic: ["r", *(f"{name}{at}" for at in range(count(int(topic))))] for topic in qrels}
        for name, count in (("A", of_a), ("B", of_b))
    }
    return qrels, runs


@pytest.mark.parametrize("depth", [5, 7, 10])
@pytest.mark.parametrize("q", [0.5, 0.3])
@pytest.mark.parametrize("topics", [7, 10, 13])
def test_many_equal_weights_make_equal_scores(topics, q, depth):
    """As many hits on both sides are no lead, by binomial distributions; a rounded grid once missed it by a tenth."""
    qrels, runs = hits_of(topics, lambda topic: 1 + topic % 3, lambda _: 2)
    opened = [sum(len(docs) - 1 for docs in run.values()) for run in runs.values()]
    chance = [[math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)] for n in opened]
    sides = {-1: 0.0, 0: 0.0, 1: 0.0}
    for (a, of_a), (b, of_b) in itertools.product(*map(enumerate, chance)):
        sides[(a > b) - (a < b)] += of_a * of_b
    (pair,) = differences(qrels, runs, f"P@{depth}", q=q).pairs
    assert pair.probability_better == pytest.approx(sides[1], abs=1e-9)
    assert pair.probability_worse == pytest.approx(sides[-1], abs=1e-9)


def test_nobody_is_better_beyond_the_bounds():
    """P@1 and Success@1 are one measure; where B cannot be better, estimating probabilities makes it no likelier."""
    qrels = {str(topic): {"r": int(topic % 2 == 0), "s": 1, "n": 0} for topic in range(12)}
    good, bad = {q: ["r", "s", "n"] for q in qrels}, {q: ["r", "n", "s"] for q in qrels}
    runs = {"A": {**good, "3": ["u", "s", "n"]}, "B": bad}
    of_precision, of_success = differences(qrels, runs, ["P@1", "Success@1"], q="logistic").pairs
    assert (of_precision.certain_low, of_success.certain_low) == (0, 0)
    assert (of_precision.probability_worse, of_success.probability_worse) == (0, 0)
    assert of_precision.probability_better == pytest.approx(of_success.probability_better, abs=0.1)
    assert 0.1 < of_precision.probability_better < 0.9


def test_a_difference_is_candidate_minus_baseline(simulated):
    """The second run minus the first of two, the better minus the worse among many, as ``compare`` has it."""
    for pair in (simulated.runs[:2], simulated.runs[1::-1]):
        (found,) = candidate_minus_baseline(simulated.pooled, pair, "RBP(p=0.8)", q=0.2).pairs
        assert (found.run, found.against) == (pair[1].name, pair[0].name)
        (compared,) = rb.compare(simulated.pooled, pair, "RBP(p=0.8)", unjudged="expected", q=0.2).pairs.rows()
        assert (compared["run"], compared["difference"]) == (found.run, pytest.approx(found.difference))
    many = candidate_minus_baseline(simulated.pooled, simulated.runs, "RBP(p=0.8)", q=0.2).pairs
    assert len(many) == 6
    assert all(one.difference >= 0 for one in many)
