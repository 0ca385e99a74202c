"""Differences under probabilities of relevance, for measures that are not weighted sums: draws against enumeration,
completed collections against judgments that are really there, and intervals against truths drawn from the same
probabilities."""

from __future__ import annotations

import itertools
import json
import math
import warnings

import numpy as np
import pytest
from test_differences import differences

import rankbounds as rb
from plain import Topic, value
from rankbounds.cli import main
from rankbounds.collection.inputs import Reading
from rankbounds.comparison import Evidence
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.scoring import join_lists
from rankbounds.measures import REGISTRY
from rankbounds.probability.completions import OpenCollection
from rankbounds.probability.drawn_scores import DrawnCompletions, draw_differences, error_of_share
from rankbounds.probability.models.probabilities import Constant
from rankbounds.probability.models.relevant_grades import RelevantGrades
from rankbounds.rankings.topic_facts import TopicFacts

EXAMPLES = [
    measure
    for measure in (rb.parse_measure(name) for kind in REGISTRY.values() for name in kind.examples)
    if measure.total == "mean" and not measure.as_retrieved and not measure.reads_judgments
]


def open_collection(qrels, runs, **assumed):
    assumptions = Assumptions(**assumed)
    facts = TopicFacts(Reading().judgments(qrels), assumptions.gain)
    read = Reading().runs(runs)
    batches = [list(join_lists(run, facts, assumptions).batches) for run in read]
    return OpenCollection(read, facts, assumptions, batches)


def random_collection(rng, topics=4, grades=3):
    """Judgments with holes and two runs that share some of them; documents of one topic are others than the next's."""
    qrels, runs = {}, {"one": {}, "other": {}}
    for topic in map(str, range(topics)):
        pool = [f"{topic}d{at}" for at in range(12)]
        judged = rng.random(12) < 0.6
        qrels[topic] = {
            doc: float(rng.integers(0, grades)) for doc, is_judged in zip(pool, judged, strict=True) if is_judged
        } | {f"{topic}x": 1.0, f"{topic}y": 0.0}
        for run in runs.values():
            chosen = rng.permutation(pool)[: int(rng.integers(1, 11))]
            run[topic] = {str(doc): float(-rank) for rank, doc in enumerate(chosen)}
    return qrels, runs


@pytest.mark.parametrize("measure", EXAMPLES, ids=str)
@pytest.mark.parametrize("gain", [None, {0: 0.5, 1: 1.0, 2: 4.0}], ids=["grades", "table"])
def test_a_completed_collection_scores_as_one_that_is_judged(measure, gain):
    rng = np.random.default_rng(3)
    qrels, runs = random_collection(rng)
    qrels["0"]["0x"] = 2.0  # the largest grade is judged, so that gains are on one scale
    collection = open_collection(qrels, runs, gain=gain)
    drawn = DrawnCompletions(collection, measure, Constant(0.4), 5, 7)
    names = collection.retrieved.doc_ids(np.arange(len(collection)))
    for _, topics, scores in drawn.scores([(0, 1)]):
        completed = drawn.completed(topics)
        whole = {(draw, topic): dict(judged) for draw in range(5) for topic, judged in qrels.items()}
        for draw in range(5):
            for document, doc in enumerate(names):
                whole[draw, str(collection.topic[document])][doc] = 0.0
            mine = completed.completion == draw
            for document, grade in zip(completed.document[mine], completed.grade[mine], strict=True):
                whole[draw, str(collection.topic[document])][names[document]] = float(grade)
        lists = {name: {f"{draw} {topic}": run[topic] for draw, topic in whole} for name, run in runs.items()}
        judgments = {f"{draw} {topic}": judged for (draw, topic), judged in whole.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rb.RankboundsWarning)
            truth = rb.evaluate(judgments, lists, measure, gain=gain, bounds="none").value[:, :, 0]
        truth = truth.reshape(len(runs), 5, len(qrels))[:, :, topics].swapaxes(1, 2)
        np.testing.assert_allclose(scores, truth, rtol=1e-12, atol=1e-14, err_msg=str(measure))


def enumerated(qrels, runs, measure, q, grades):
    """Mean, sd and P(first better) of the mean difference, from all gradings of the documents of either run."""
    per_topic = []
    for topic, judged in qrels.items():
        holes = sorted({doc for run in runs.values() for doc in run[topic]} - set(judged))
        options = [(0.0, 1 - q), *((grade, q * share) for grade, share in grades.items())]
        outcomes = []
        for given in itertools.product(options, repeat=len(holes)):
            known = judged | {doc: grade for doc, (grade, _) in zip(holes, given, strict=True)}
            scores = [
                value(Topic([known[doc] for doc in run[topic]], list(known.values()), max(grades)), measure)
                for run in runs.values()
            ]
            outcomes.append((scores[0] - scores[1], math.prod(chance for _, chance in given)))
        per_topic.append(outcomes)
    mean = second = better = 0.0
    for together in itertools.product(*per_topic):
        difference = sum(outcome for outcome, _ in together) / len(per_topic)
        chance = math.prod(part for _, part in together)
        mean, second = mean + chance * difference, second + chance * difference**2
        better += chance * (difference > 1e-12)
    return mean, math.sqrt(max(second - mean**2, 0.0)), better


@pytest.mark.parametrize(
    "name", ["nDCG@3", "nDCG", "nDCG(gain=exp)@2", "AP", "AP(rel=2)@4", "Recall@2", "RR", "Q", "ERR"]
)
def test_draws_agree_with_enumeration(name):
    measure = rb.parse_measure(name)
    qrels = {"1": {"a": 2, "b": 0, "c": 1, "x": 1}, "2": {"a": 1, "d": 0, "z": 2}}
    runs = {
        "one": {"1": ["a", "u", "b", "v"], "2": ["u", "a", "w"]},
        "other": {"1": ["v", "c", "u"], "2": ["d", "v", "u"]},
    }
    grades = {1.0: 3 / 5, 2.0: 2 / 5} if measure.graded else {2.0: 1.0}
    mean, sd, better = enumerated(qrels, runs, measure, 0.3, grades)
    (pair,) = differences(qrels, runs, measure, q=0.3, samples=4000, seed=5).pairs
    assert abs(pair.difference - mean) <= 4 * sd / 4000**0.5 + 1e-12
    assert pair.sd == pytest.approx(sd, rel=0.08, abs=1e-9)
    assert abs(pair.probability_better - better) <= 4 * error_of_share(better, 4000)
    assert pair.ci_low <= pair.difference <= pair.ci_high
    assert 0 < pair.error < 0.01
    turned = differences(qrels, dict(reversed(runs.items())), measure, q=0.3, samples=4000, seed=5).pairs[0]
    assert turned.difference == pytest.approx(-mean, abs=4 * sd / 4000**0.5 + 1e-12)
    assert abs(turned.probability_worse - better) <= 4 * error_of_share(better, 4000)


@pytest.mark.parametrize("name", ["RBP(p=0.8)", "P@20", "DCG@30"])
def test_drawn_weighted_sums_agree_with_exact_ones(name):
    simulated = rb.studies.simulate(2, 20, 60, 40, seed=2)
    exact = differences(simulated.pooled, simulated.runs, name, q=0.3).pairs[0]
    assumptions, facts = Assumptions(), TopicFacts(simulated.pooled)
    batches = [list(join_lists(run, facts, assumptions).batches) for run in simulated.runs]
    collection = OpenCollection(simulated.runs, facts, assumptions, batches)
    drawn = DrawnCompletions(collection, rb.parse_measure(name), Constant(0.3), 4000, 1)
    difference = draw_differences(drawn, [(0, 1)])
    assert 0 < abs(difference.mean - exact.difference) <= 4 * difference.sd / 4000**0.5
    assert difference.sd == pytest.approx(exact.sd, rel=0.06)
    assert abs(difference.better[0] - exact.probability_better) <= 4 * difference.error


def test_estimated_probabilities_widen_drawn_differences_as_they_do_exact_ones():
    simulated = rb.studies.simulate(3, 25, 200, 80, pool_depth=8, seed=4)
    exact = differences(simulated.pooled, simulated.runs[:2], "P@20", q="logistic").pairs[0]
    assumptions, facts = Assumptions(), TopicFacts(simulated.pooled)
    batches = [list(join_lists(run, facts, assumptions).batches) for run in simulated.runs[:2]]
    from rankbounds.probability.models.chosen import ChosenModels

    models = ChosenModels("logistic", None, simulated.runs[:2], facts, assumptions, batches)
    collection = OpenCollection(simulated.runs[:2], facts, assumptions, batches)
    measure = rb.parse_measure("P@20")
    drawn = draw_differences(DrawnCompletions(collection, measure, models.model_of(measure), 3000, 1), [(0, 1)])
    assert drawn.sd == pytest.approx(exact.sd, rel=0.15)
    assert drawn.mean == pytest.approx(exact.difference, abs=exact.sd)


@pytest.mark.parametrize("name", ["nDCG@10", "AP"])
def test_intervals_hold_the_truth_as_often_as_they_say(name):
    """Truths are drawn from the same probabilities: about 95 of 100 lie in the interval."""
    simulated = rb.studies.simulate(2, 30, 100, 40, pool_depth=3, grades=2, seed=11)
    assumptions, facts = Assumptions(), TopicFacts(simulated.pooled)
    batches = [list(join_lists(run, facts, assumptions).batches) for run in simulated.runs]
    collection = OpenCollection(simulated.runs, facts, assumptions, batches)
    measure = rb.parse_measure(name)
    told = draw_differences(DrawnCompletions(collection, measure, Constant(0.2), 2000, 1), [(0, 1)])
    low, high = told.interval(0.95)
    truth = draw_differences(DrawnCompletions(collection, measure, Constant(0.2), 2000, 2), [(0, 1)])
    held = np.mean((truth.draws >= low) & (truth.draws <= high))
    assert told.sd > 0.001
    assert 0.93 <= held <= 0.97
    normal = (told.mean - 1.96 * told.sd, told.mean + 1.96 * told.sd)
    assert 0.93 <= np.mean((truth.draws >= normal[0]) & (truth.draws <= normal[1])) <= 0.97


def test_a_given_seed_gives_the_same_draws_whatever_else_is_asked():
    simulated = rb.studies.simulate(3, 12, 80, 30, seed=6)
    alone = differences(simulated.pooled, simulated.runs[:2], "nDCG@10", q=0.2, seed=3).pairs[0]
    again = differences(simulated.pooled, simulated.runs[:2], ["AP", "nDCG@10"], q=0.2, seed=3).pairs[1]
    assert alone == again
    other = differences(simulated.pooled, simulated.runs[:2], "nDCG@10", q=0.2, seed=4).pairs[0]
    assert alone.difference != other.difference
    among = differences(simulated.pooled, simulated.runs, "nDCG@10", q=0.2, seed=3).pairs[0]
    assert abs(among.difference - alone.difference) <= 5 * alone.sd / 1000**0.5


def test_grades_of_relevant_documents_are_those_that_are_judged():
    facts = TopicFacts(Reading().judgments({"q": {"a": 1, "b": 1, "c": 3, "d": 0, "e": 1}}))
    graded = RelevantGrades.of(rb.parse_measure("nDCG"), facts)
    assert graded.grade.tolist() == [1.0, 3.0]
    assert graded.reached.tolist() == [1.0, 0.25]
    assert graded.drawn(np.array([0.0, 0.24, 0.26, 0.99])).tolist() == [3.0, 3.0, 1.0, 1.0]
    assert RelevantGrades.of(rb.parse_measure("AP(rel=2)"), facts).grade.tolist() == [2.0]


def test_all_draws_alike_are_no_certainty():
    assert error_of_share(1.0, 1000) == pytest.approx(0.001, rel=0.01)
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(10)}
    runs = {"good": {q: ["r", "u"] for q in qrels}, "bad": {q: ["n", "v"] for q in qrels}}
    (pair,) = differences(qrels, runs, "AP", q=0.01, samples=200).pairs
    assert pair.probability_better == 1.0
    assert pair.error > 0.004


def test_effort_is_better_when_lower():
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(6)}
    runs = {"late": {q: ["u", "n", "r"] for q in qrels}, "early": {q: ["r", "n", "u"] for q in qrels}}
    (pair,) = differences(qrels, runs, "ESL(n=1)", q=0.3).pairs
    assert pair.difference > 0
    assert pair.probability_worse > 0.9
    assert pair.probability_better < 0.1


def test_compare_tells_how_likely_the_first_run_is_better(tmp_path, capfd):
    shallow = rb.studies.simulate(
        3, 15, 100, 40, pool_depth=4, seed=9
    )  # of the first five documents some are not judged
    for row in Evidence(shallow.pooled, shallow.runs).compare(["nDCG@10", "AP", "RBP(p=0.8)"]).pairs.rows():
        assert row["probability_better_if_judged"] in (None, 0.0, 1.0)
        assert row["probability_better_if_judged"] is None or row["certain_low"] * row["certain_high"] > 0
    simulated = rb.studies.simulate(3, 15, 100, 40, pool_depth=6, seed=9)
    evidence = Evidence(simulated.pooled, simulated.runs)
    compared = evidence.compare(["nDCG@10", "AP", "RBP(p=0.8)"])
    for row in compared.pairs.rows():
        assert 0 <= row["probability_better_if_judged"] <= 1
    simulated.pooled.write(tmp_path / "qrels")
    for run in simulated.runs:
        run.write(tmp_path / run.name)
    files = [str(tmp_path / run.name) for run in simulated.runs]
    assert main(["compare", str(tmp_path / "qrels"), *files, "-m", "nDCG@10", "--format", "json"]) == 0
    told = json.loads(capfd.readouterr().out)["pairs"]
    known = [row["probability_better_if_judged"] for row in compared["nDCG@10"].pairs.rows()]
    assert [row["probability_better_if_judged"] for row in told] == known
    judged = rb.compare(rb.evaluate(simulated.complete, simulated.runs, "nDCG@10"))
    assert {row["probability_better_if_judged"] for row in judged.pairs.rows()} == {None}


def test_too_many_pairs_are_refused_before_hours_pass(capfd, tmp_path):
    simulated = rb.studies.simulate(2, 20, 200, 150, seed=1)
    with pytest.raises(rb.UsageError, match="hours"):
        differences(simulated.pooled, simulated.runs, "AP", q=0.1, samples=50_000_000)


@pytest.mark.parametrize("measure", ["AP", "nDCG@5", "RBP(p=0.8)"])
def test_the_order_of_the_runs_turns_the_difference_and_changes_nothing_else(measure):
    rng = np.random.default_rng(4)
    documents = [f"d{number}" for number in range(40)]
    topics = [str(topic) for topic in range(12)]
    runs = {name: {topic: rng.permutation(documents)[:15].tolist() for topic in topics} for name in ("one", "other")}
    qrels = {topic: {document: int(rng.random() < 0.4) for document in documents[:25]} for topic in topics}
    [forth] = differences(qrels, runs, [measure], q="logistic").rows()
    [back] = differences(qrels, dict(reversed(runs.items())), [measure], q="logistic").rows()
    assert forth["probability_better"] == pytest.approx(back["probability_worse"])
    assert forth["difference"] == pytest.approx(-back["difference"])
    assert forth["sd"] == pytest.approx(back["sd"])


def test_words_never_make_an_estimate_a_certainty():
    qrels = {str(topic): {"r1": 1, "r2": 1, "n1": 0, "n2": 0, "n3": 0} for topic in range(12)}
    good = {key: ["r1", "r2", "n1", "n2", "n3", "x", "y"] for key in qrels}
    bad = {key: ["n1", "r1", "n2", "r2", "n3", "w", "z"] for key in qrels}
    comparison = Evidence.read(qrels, {"bad": bad, "good": good}).compare(["AP"], resamples=100)
    shown = comparison.pair_words.numbers["probability"]
    assert np.nanmax(shown) <= 0.99
    assert np.nanmin(shown) >= 0.01
    assert comparison.pairs.rows()[0]["probability_better_if_judged"] == np.nanmax(shown) == 0.99
