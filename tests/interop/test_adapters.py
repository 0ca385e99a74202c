"""Adapters for evaluation frameworks, each run inside of the real package; skipped where it is not installed."""

from __future__ import annotations

import asyncio
import random
import warnings

import numpy as np
import pandas as pd
import pytest

import rankbounds as rb
from rankbounds.interop.paired_lists import score_lists
from rankbounds.stats.significance import mean_interval

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")]
RNG = random.Random(7)
DOCS = [f"d{number}" for number in range(15)]
EXPECTED = [RNG.sample(DOCS, RNG.randint(1, 4)) for _ in range(20)]
RETRIEVED = [RNG.sample(DOCS, RNG.randint(2, 10)) for _ in range(20)]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    SCORES = rb.evaluate(
        {str(number): ids for number, ids in enumerate(EXPECTED, 1)},
        {str(number): ids for number, ids in enumerate(RETRIEVED, 1)},
        "nDCG@5",
    )
VALUES = SCORES.value[0, :, 0]
ENDS = [SCORES.mean().ci_low.item(), SCORES.mean().ci_high.item()]


def need(name, distribution=None):
    return pytest.importorskip(name, reason=f"{distribution or name} is not installed")


def test_lists_are_scored_as_evaluate_scores_them():
    values, summary = score_lists(EXPECTED, RETRIEVED, rb.nDCG @ 5)
    assert values == VALUES.tolist()
    assert [summary["ci_low"], summary["ci_high"]] == ENDS
    assert [summary["mean"], summary["low"], summary["high"]] == [
        array.item() for array in (SCORES.mean().value, SCORES.mean().low, SCORES.mean().high)
    ]
    with_empty, same = score_lists([[], *EXPECTED], [["d1"], *RETRIEVED], rb.nDCG @ 5)
    assert np.isnan(with_empty[0])
    assert same["mean"] == summary["mean"]
    assert set(score_lists([["a"]], [["a"]], rb.RR())[1]) == {"mean", "low", "high"}
    with pytest.raises(rb.UsageError, match="20 lists of expected ids, but 1 of retrieved"):
        score_lists(EXPECTED, RETRIEVED[:1], rb.RR())


def test_mlflow_metric_and_report(tmp_path, monkeypatch):
    mlflow = need("mlflow")
    from rankbounds.interop.mlflow import mlflow_metric

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("retrieval")
    frame = pd.DataFrame({"question": [str(n) for n in range(20)], "expected": EXPECTED, "retrieved": RETRIEVED})
    with mlflow.start_run() as run:
        result = mlflow.models.evaluate(
            data=frame,
            predictions="retrieved",
            targets="expected",
            model_type="retriever",
            evaluators="default",
            extra_metrics=[mlflow_metric("nDCG@5")],
            evaluator_config={"retriever_k": 5},
        )
        mlflow.log_text(rb.report({"q": {"a": 1}}, {"x": {"q": ["a"]}}, "RR").page, "reports/rankbounds.html")
    assert result.metrics["nDCG_5/mean"] == pytest.approx(VALUES.mean())
    assert result.metrics["nDCG_5/ci_low"] == pytest.approx(ENDS[0])
    assert result.metrics["nDCG_5/ci_high"] == pytest.approx(ENDS[1])
    assert result.tables["eval_results_table"]["nDCG_5/score"].tolist() == pytest.approx(VALUES.tolist())
    path = mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="reports/rankbounds.html")
    with open(path, encoding="utf-8") as file:
        assert "</html>" in file.read()


def test_llama_index_metric():
    need("llama_index.core", "llama-index-core")
    from llama_index.core.evaluation import RetrieverEvaluator
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    from rankbounds.interop.llama_index import llama_index_metric

    class Retriever(BaseRetriever):
        def _retrieve(self, query_bundle):
            ids = RETRIEVED[int(query_bundle.query_str)]
            return [NodeWithScore(node=TextNode(id_=doc, text=doc), score=1.0) for doc in ids]

    metric = llama_index_metric("nDCG@5")
    evaluator = RetrieverEvaluator.from_metric_names(["nDCG@5", "mrr"], retriever=Retriever())
    found = [asyncio.run(evaluator.aevaluate(str(n), expected_ids=EXPECTED[n])).metric_vals_dict for n in range(5)]
    assert [one["nDCG@5"] for one in found] == pytest.approx(VALUES[:5].tolist())
    assert metric().compute(expected_ids=["a", "b"], retrieved_ids=["a", "a", "a"]).score < 1
    with pytest.raises(ValueError, match="must be provided"):
        metric().compute(expected_ids=[], retrieved_ids=["a"])


def test_haystack_component():
    haystack = need("haystack", "haystack-ai")
    from rankbounds.interop.haystack import haystack_evaluator

    pipeline = haystack.Pipeline()
    pipeline.add_component("ndcg", haystack_evaluator("nDCG@5"))
    truth, retrieved = (
        [[haystack.Document(id=doc, content=doc) for doc in ids] for ids in several]
        for several in (EXPECTED, RETRIEVED)
    )
    found = pipeline.run({"ndcg": {"ground_truth_documents": truth, "retrieved_documents": retrieved}})["ndcg"]
    assert found["score"] == pytest.approx(VALUES.mean())
    assert found["individual_scores"] == pytest.approx(VALUES.tolist())
    assert [found["summary"]["ci_low"], found["summary"]["ci_high"]] == pytest.approx(ENDS)


def test_sentence_transformers_evaluator():
    torch = need("torch")
    need("sentence_transformers", "sentence-transformers")
    from rankbounds.interop.sentence_transformers import sentence_transformers_evaluator

    queries = {str(number): f"question {number}" for number in range(1, 21)}
    relevant = {str(number): set(ids) for number, ids in enumerate(EXPECTED, 1)}
    corpus = {doc: f"text {doc}" for doc in DOCS}

    class Constant:
        """A model whose embeddings are all the same, so that every document ties."""

        similarity_fn_name = "cosine"
        similarity = staticmethod(lambda one, other: one @ other.T)
        model_card_data = type("Card", (), {"set_evaluation_metrics": lambda *_: None})()

        def encode(self, sentences, **_):
            return torch.ones((len(sentences), 4)) / 2

        encode_query = encode_document = encode

    evaluator = sentence_transformers_evaluator(
        queries, corpus, relevant, accuracy_at_k=[1, 5], precision_recall_at_k=[5], mrr_at_k=[10], ndcg_at_k=[10],
        map_at_k=[100], write_csv=False, score_functions={"cosine": Constant.similarity}, corpus_chunk_size=100,
    )  # fmt: skip
    found = evaluator(Constant())
    chance = np.mean([len(ids) / 15 for ids in EXPECTED])
    assert found["cosine_accuracy@1"] == pytest.approx(chance)
    assert found["cosine_precision@5"] == pytest.approx(chance)
    assert found["cosine_accuracy@1_ci_low"] < chance < found["cosine_accuracy@1_ci_high"]
    hits = [[{"corpus_id": doc, "score": 1 / rank} for rank, doc in enumerate(ids, 1)] for ids in RETRIEVED]
    evaluator.ndcg_at_k = [5]
    ours = evaluator.compute_metrics(hits)
    theirs = super(type(evaluator), evaluator).compute_metrics(hits)
    assert ours["ndcg@k"][5] == pytest.approx(theirs["ndcg@k"][5]) == pytest.approx(VALUES.mean())
    assert ours["map@k"][100] == pytest.approx(theirs["map@k"][100])
    assert ours["mrr@k"][10] == pytest.approx(theirs["mrr@k"][10])
    assert (ours["ndcg@k_ci_low"][5], ours["ndcg@k_ci_high"][5]) == pytest.approx(tuple(ENDS))


def frames():
    topics = pd.DataFrame({"qid": [str(n) for n in range(1, 21)], "query": "text"})
    qrels = pd.DataFrame([{"qid": str(n), "docno": d, "label": 1} for n, ids in enumerate(EXPECTED, 1) for d in ids])
    made = []
    for seed in (1, 2):
        rng = random.Random(seed)
        rows = [
            {"qid": str(n), "query": "text", "docno": doc, "score": 10.0 - rank, "rank": rank}
            for n in range(1, 21)
            for rank, doc in enumerate(rng.sample(DOCS, 8))
        ]
        made.append(pd.DataFrame(rows))
    return topics, qrels, made


def test_pyterrier_experiment_and_test():
    pt = need("pyterrier", "pyterrier")
    from rankbounds.interop.pyterrier import pyterrier_experiment, pyterrier_test

    topics, qrels, (one, other) = frames()
    systems = {"a": pt.Transformer.from_df(one), "b": pt.Transformer.from_df(other)}
    compared = pyterrier_experiment(systems, topics, qrels, ["nDCG@5"], test="t")
    assert compared.pairs.rows() == rb.compare(qrels, {"a": one, "b": other}, "nDCG@5", test="t").pairs.rows()
    per_query = pt.Experiment([one, other], topics, qrels, ["ndcg_cut_5"], names=["a", "b"], perquery=True)
    theirs = rb.compare(rb.read_scores(per_query), test="t").pairs.rows()[0]
    ours = compared.pairs.rows()[0]
    assert theirs["difference"] == pytest.approx(ours["difference"])
    assert theirs["p_value"] == pytest.approx(ours["p_value"])
    tested = pt.Experiment(
        [one, other], topics, qrels, ["ndcg_cut_5"], names=["a", "b"], baseline=0, test=pyterrier_test("t")
    )
    plain = pt.Experiment([one, other], topics, qrels, ["ndcg_cut_5"], names=["a", "b"], baseline=0, test="t")
    assert tested["ndcg_cut_5 p-value"][1] == pytest.approx(plain["ndcg_cut_5 p-value"][1])
    assert pyterrier_experiment([one, other], topics[:10], qrels, "RR", names=["x", "y"]).settings["topics"] == 10
    with pytest.raises(rb.UsageError, match="need as many names that differ"):
        pyterrier_experiment([one, other], topics, qrels, "RR", names=["x", "x"])


def test_inspect_metric(tmp_path):
    inspect_ai = need("inspect_ai", "inspect-ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import SampleScore, Score, scorer
    from inspect_ai.solver import solver

    from rankbounds.interop.inspect_ai import inspect_metric

    scores = [SampleScore(score=Score(value=value), sample_id=number) for number, value in enumerate(VALUES.tolist())]
    found = inspect_metric()(scores)
    plain = [float(end[0]) for end in mean_interval(VALUES[None], 0.95)]
    assert (found["mean"], found["ci_low"], found["ci_high"]) == pytest.approx((VALUES.mean(), *plain))
    assert inspect_metric()([*scores, *scores]) == pytest.approx(found)  # a second epoch is no further sample
    assert set(inspect_metric()(scores[:1])) == {"mean"}

    @scorer(metrics=[inspect_metric()])
    def found_it():
        async def score(state, target):
            return Score(value="C" if state.sample_id in (1, 2) else "I")

        return score

    @solver
    def nothing():
        async def solve(state, generate):
            return state

        return solve

    samples = [Sample(id=number, input="x", target="y") for number in (1, 2, 3, 4)]
    task = inspect_ai.Task(dataset=samples, solver=nothing(), scorer=found_it())
    (log,) = inspect_ai.eval(task, model="mockllm/model", log_dir=str(tmp_path), display="none")
    metrics = {name: value.value for name, value in log.results.scores[0].metrics.items()}
    assert metrics["mean"] == 0.5
    assert metrics["ci_low"] < 0.5 < metrics["ci_high"]
