"""Engines give the cells of evaluation in memory and other people's numbers: as a stream of small pieces, on Spark.

Evaluation in memory obeys the laws (``test_laws``) and has the golden numbers (``test_golden``). Each engine scores
random small topics with ties, holes and grades under every choice of assumptions, and must give the same cells.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
import test_golden

import rankbounds as rb
import test_laws

pytestmark = pytest.mark.filterwarnings("ignore")  # Spark's own warnings are not ours to turn into errors
trec8 = test_golden.trec8

SCALE = {"scale": {"one": 1, "two": 2, "three": 3}}
"""A topic that no run has: with it all collections have the same grades."""
ASSUMED = [
    {},
    {"bounds": "none", "ties": "docid"},
    {"bounds": "both"},
    {"unjudged": "relevant"},
    {"unjudged": "expected", "q": 0.3, "ties": "expected"},
    {"unjudged": "expected", "q": 0.5},
    *({"ties": ties} for ties in ("best", "worst", "expected")),
    *({"ties": ties, "bounds": "ties"} for ties in ("best", "worst")),
    *({"ties": ties, "unjudged": "condensed"} for ties in ("trec", "best", "worst", "expected")),
]


def as_a_stream(folder):
    """Files in pieces of a few lines."""

    def evaluate(qrels, runs, measures, **options):
        if not isinstance(qrels, dict):
            return LOCAL(qrels, runs, measures, engine="stream", memory="1M", **options)
        (folder / "qrels").write_text("".join(f"{t} 0 {d} {g}\n" for t, docs in qrels.items() for d, g in docs.items()))
        lines = [f"{t} Q0 {d} 0 {s} run\n" for t, docs in runs.items() for d, s in docs.items()]
        (folder / "run").write_text("".join(lines))
        return LOCAL(folder / "qrels", folder / "run", measures, engine="stream", memory=1 << 16, **options)

    return evaluate


def on_spark(session):
    """Dicts as frames with their rows in any order, files as files."""

    def evaluate(qrels, runs, measures, **options):
        frames = (frame(qrels, "relevance"), frame(runs, "score")) if isinstance(qrels, dict) else (qrels, runs)
        return LOCAL(*frames, measures, engine="spark", **options)

    def frame(nested, value):
        rows = [(topic, doc, float(one)) for topic, docs in nested.items() for doc, one in docs.items()]
        return session.createDataFrame(rows, f"query_id string, doc_id string, {value} double").repartition(2)

    return evaluate


LOCAL = rb.evaluate


@pytest.fixture(params=["stream", "spark"])
def engine(request, tmp_path):
    """``rankbounds.evaluation.evaluate`` by each of the engines."""
    if request.param == "spark":
        return on_spark(request.getfixturevalue("spark_session"))
    return as_a_stream(tmp_path)


def drawn(draw, scale):
    """A topic of up to six documents, some unjudged and some tied."""
    grades, table = scale
    ranking = tuple(draw.choice([None, *grades, *grades]) for _ in range(draw.randint(1, 6)))
    scores = tuple(100 - sorted(draw.choices(range(5), k=len(ranking)))[at] for at in range(len(ranking)))
    unretrieved = tuple(draw.choices(grades, k=draw.randint(1, 3)))
    return test_laws.Example(ranking, scores, unretrieved, table)


def fitting(measure, assumed):
    """Is what the assumptions ask for known of the measure, and can engines for large files read what it needs?"""
    ties, plain = assumed.get("ties", "trec"), test_laws.plain(measure)
    if assumed.get("unjudged") in ("relevant", "expected") and measure.judged_only:
        return False
    if assumed.get("unjudged") == "expected" and (not measure.multilinear or plain.as_retrieved):
        return False
    if assumed.get("unjudged") == "expected" and ties == "expected" and plain.name in test_laws.NO_MEAN_OVER_BOTH:
        return False
    return test_laws.averaged(measure, ties) and test_laws.extreme(measure, ties) and not measure.reads_judgments


def test_cells_are_those_of_evaluation_in_memory(engine):
    draw = random.Random(7)
    every = 17 if "spark" in engine.__qualname__ else 5  # a job of Spark's takes seconds
    asked = [(assumed, scale) for assumed in ASSUMED for scale in test_laws.SCALES][::every]
    assert len({str(scale) for _, scale in asked}) == len(test_laws.SCALES)
    for assumed, scale in asked:
        examples = {f"t{number}": drawn(draw, scale) for number in range(12)}
        qrels = {topic: example.qrels["t"] for topic, example in examples.items()} | SCALE
        runs = {topic: example.run["t"] for topic, example in examples.items()}
        rule, largest = examples["t0"].rule, max(3, *scale[1].values(), 3)
        measures = [measure for measure in test_laws.MEASURES if fitting(measure, assumed)]
        measures = [one for one in measures if (getattr(test_laws.plain(one), "max_grade", None) or largest) >= largest]
        assert len(measures) > (35 if assumed.get("unjudged") == "expected" else 50)  # primed ones are refused there
        expected = LOCAL(qrels, runs, measures, gain=rule, **assumed)
        scores = engine(qrels, runs, measures, gain=rule, **assumed)
        rows = [scores.query_ids.index(topic) for topic in expected.query_ids]
        for name in ("value", "low", "high"):
            cells = getattr(scores, name)[:, rows], getattr(expected, name)
            np.testing.assert_allclose(*cells, rtol=1e-11, atol=1e-12, err_msg=f"{name} {assumed} {rule}")


CASES = next(mark for mark in test_golden.test_trec_eval_prints_the_same.pytestmark if mark.name == "parametrize").args[
    1
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_trec_eval_prints_the_same(engine, unpacked, monkeypatch, case):
    monkeypatch.setattr(rb, "evaluate", engine)
    test_golden.test_trec_eval_prints_the_same(unpacked, *case)


def test_trec8_values_are_those_of_trec_eval(engine, trec8):
    folder, expected = trec8
    names = ["map", "rbp", "recip_rank", "P_10", "ndcg", "ndcg_cut_10", "unj_10", "bpref"]
    runs = sorted((folder / "runs").iterdir())[::20]
    scores = engine(folder / "qrels.txt", runs, names)
    test_golden.assert_is_trec8(scores, names, expected, len(runs))


def test_trec_covid_official_rbp(engine, unpacked, monkeypatch):
    monkeypatch.setattr(rb, "evaluate", engine)
    test_golden.test_trec_covid_official_rbp_follows_single_precision(unpacked)
