"""Our measures under other frameworks' names, against those frameworks; where they differ, the difference itself.

Each test needs its package and is skipped without it (``pip install rankbounds[adapters]`` has them).
"""

from __future__ import annotations

import math
import random
import sys
import types

import pytest

import rankbounds as rb
from rankbounds.measures.naming.elsewhere import DIFFERENT


def need(name, distribution=None):
    return pytest.importorskip(name, reason=f"{distribution or name} is not installed")


pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")]


def drawn(seed, questions=30):
    """Rows of ids: some lists are complete, some empty of hits, some shorter than what is expected."""
    rng = random.Random(seed)
    documents = [f"d{number}" for number in range(12)]
    return [
        {
            "id": f"q{number}",
            "retrieved_ids": rng.sample(documents, rng.randint(1, 10)),
            "expected_ids": rng.sample(documents, rng.randint(1, 5)),
        }
        for number in range(questions)
    ]


ROWS = drawn(1)


def ours(measure, rows=ROWS, **options):
    return rb.evaluate(rows, measures=measure, **options).value.ravel().tolist()


def differs(measure, tool):
    return any(ours == measure and tool in theirs.split(", ") for ours, theirs, _, _ in DIFFERENT)


# ---- llama-index ----


def llama(name, **settings):
    metrics = need("llama_index.core.evaluation.retrieval.metrics", "llama-index-core")
    metric = metrics.METRIC_REGISTRY[name](**settings)
    return lambda rows: [
        metric.compute(expected_ids=row["expected_ids"], retrieved_ids=row["retrieved_ids"]).score for row in rows
    ]


@pytest.mark.parametrize(
    ("theirs", "name"),
    [
        ("hit_rate", "hit@100"),
        ("mrr", "mrr"),
        ("precision", "SetP"),
        ("recall", "recall"),
        ("ap", "ap"),
        ("ndcg", "ndcg"),
    ],
)
def test_llama_index(theirs, name):
    assert ours(name) == pytest.approx(llama(theirs)(ROWS))


def test_llama_index_counts_repeats_again():
    row = {"id": "q", "retrieved_ids": ["a", "a", "a"], "expected_ids": ["a", "b"]}
    assert llama("ndcg")([row])[0] > 1 > ours("ndcg", [row])[0]
    assert llama("ap")([row])[0] > ours("ap", [row])[0] == 0.5
    assert differs("nDCG", "llama-index")
    assert differs("AP", "llama-index")


# ---- haystack ----


@pytest.mark.parametrize(
    ("theirs", "settings", "name"),
    [
        ("DocumentMAPEvaluator", {}, "document_map"),
        ("DocumentMRREvaluator", {}, "document_mrr"),
        ("DocumentNDCGEvaluator", {}, "document_ndcg"),
        ("DocumentRecallEvaluator", {"mode": "multi_hit"}, "document_recall_multi_hit"),
        ("DocumentRecallEvaluator", {"mode": "single_hit"}, "Success@100"),
    ],
)
def test_haystack(theirs, settings, name):
    evaluators = need("haystack.components.evaluators", "haystack-ai")
    document = need("haystack", "haystack-ai").Document
    made = getattr(evaluators, theirs)(**settings)
    expected, retrieved = (
        [[document(content=doc) for doc in row[key]] for row in ROWS] for key in ("expected_ids", "retrieved_ids")
    )
    found = made.run(ground_truth_documents=expected, retrieved_documents=retrieved)
    assert ours(name) == pytest.approx(found["individual_scores"])


# ---- torchmetrics ----


@pytest.mark.parametrize(
    ("theirs", "name"),
    [
        ("retrieval_average_precision", "retrieval_average_precision"),
        ("retrieval_reciprocal_rank", "retrieval_reciprocal_rank"),
        ("retrieval_precision", "SetP"),
        ("retrieval_r_precision", None),
        ("retrieval_normalized_dcg", None),
        ("retrieval_recall", None),
    ],
)
def test_torchmetrics_knows_the_scored_documents_only(theirs, name):
    torch = need("torch")
    function = getattr(need("torchmetrics.functional.retrieval", "torchmetrics"), theirs)
    found = [
        float(
            function(
                torch.arange(len(row["retrieved_ids"]), 0, -1).float(),
                torch.tensor([doc in row["expected_ids"] for doc in row["retrieved_ids"]]),
            )
        )
        for row in ROWS
    ]
    if name:
        assert ours(name) == pytest.approx(found, abs=1e-6)
    # Where only the scored documents are expected, all of them agree with ours.
    known = [{**row, "expected_ids": [d for d in row["expected_ids"] if d in row["retrieved_ids"]]} for row in ROWS]
    some = [row["id"] for row in known if row["expected_ids"]]
    values = dict(zip([row["id"] for row in ROWS], found, strict=True))
    scores = rb.evaluate(known, measures=name or theirs)
    assert scores.value.ravel().tolist() == pytest.approx([values[query] for query in some], abs=1e-6)
    assert {"retrieval_normalized_dcg": "nDCG", "retrieval_recall": "Recall"}.get(theirs) is None or differs(
        {"retrieval_normalized_dcg": "nDCG", "retrieval_recall": "Recall"}[theirs], "torchmetrics"
    )


# ---- sentence-transformers ----


def test_sentence_transformers():
    need("torch")
    module = need("sentence_transformers.sentence_transformer.evaluation", "sentence-transformers")
    relevant = {row["id"]: set(row["expected_ids"]) for row in ROWS}
    rng = random.Random(2)
    hits = [[{"corpus_id": doc, "score": float(rng.randint(0, 4))} for doc in row["retrieved_ids"]] for row in ROWS]
    evaluator = module.InformationRetrievalEvaluator(
        {query: query for query in relevant},
        {f"d{number}": "text" for number in range(12)},
        relevant,
        accuracy_at_k=[3],
        precision_recall_at_k=[5],
        mrr_at_k=[10],
        ndcg_at_k=[10],
        map_at_k=[3, 100],
    )
    found = evaluator.compute_metrics(hits)
    labels = ["cosine_accuracy@3", "dot_precision@5", "cosine_recall@5", "cosine_mrr@10", "cosine_ndcg@10"]
    scores = rb.evaluate(
        relevant, hits, [*labels, "cosine_map@100", "AP@3"], query_ids=evaluator.queries_ids, ties="docid"
    )
    mean = scores.mean().value.ravel().tolist()
    theirs = [found["accuracy@k"][3], found["precision@k"][5], found["recall@k"][5], found["mrr@k"][10]]
    theirs += [found["ndcg@k"][10], found["map@k"][100]]
    assert mean[:-1] == pytest.approx(theirs)
    assert mean[-1] < found["map@k"][3]  # it divides by k where more than k documents are relevant
    assert differs("AP", "sentence-transformers")


# ---- MLflow ----


@pytest.mark.parametrize(
    ("theirs", "name"), [("recall", "recall_at_3"), ("precision", "precision_at_3"), ("ndcg", "ndcg_at_3")]
)
def test_mlflow(theirs, name):
    definitions = need("mlflow.metrics.metric_definitions", "mlflow")
    pandas = need("pandas")
    function = getattr(definitions, f"_{theirs}_at_k_eval_fn")(3)
    predictions, targets = (pandas.Series([row[key] for row in ROWS]) for key in ("retrieved_ids", "expected_ids"))
    found = list(function(predictions, targets).scores)
    if theirs == "precision":  # a shorter list is divided by its length
        found = [score * min(3, len(row["retrieved_ids"])) / 3 for score, row in zip(found, ROWS, strict=True)]
        assert differs("P", "MLflow")
    if theirs == "ndcg":  # the ideal is cut at what was retrieved
        one = pandas.Series([["a"]]), pandas.Series([["a", "b", "c", "d", "e"]])
        assert list(function(*one).scores) == [1.0]
        whole = 1 / sum(1 / math.log2(rank + 1) for rank in (1, 2, 3))
        assert ours(name, [{"id": 1, "retrieved_ids": ["a"], "expected_ids": list("abcde")}])[0] == pytest.approx(whole)
        assert differs("nDCG", "MLflow")
        return
    assert ours(name) == pytest.approx(found)


# ---- trulens ----


@pytest.mark.parametrize(
    ("theirs", "k", "name"),
    [
        ("ndcg_at_k", 5, "ndcg_at_5"),
        ("recall_at_k", 5, "recall_at_5"),
        ("precision_at_k", 5, "precision_at_5"),
        ("mrr", None, "mrr"),
        ("ir_hit_rate", 3, "ir_hit_rate@3"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_trulens(theirs, k, name):
    agreement = need("trulens.feedback.groundtruth", "trulens-feedback").GroundTruthAgreement
    expected = {row["id"]: [(doc, 1) for doc in row["expected_ids"]] for row in ROWS}
    metric = getattr(agreement.model_construct(ground_truth_imp=expected.get), theirs)
    how = {} if k is None else {"k": k}
    found = [float(metric(row["id"], row["retrieved_ids"], **how)) for row in ROWS]
    if theirs == "precision_at_k":  # a shorter list is divided by its length
        found = [score * min(k, len(row["retrieved_ids"])) / k for score, row in zip(found, ROWS, strict=True)]
        assert differs("P", "trulens")
    assert ours(name) == pytest.approx(found)


def test_trulens_counts_what_is_tied_with_the_last():
    agreement = need("trulens.feedback.groundtruth", "trulens-feedback").GroundTruthAgreement
    made = agreement.model_construct(ground_truth_imp=lambda _: [("c", 1)])
    assert made.recall_at_k("q", ["a", "b", "c"], [1.0, 1.0, 1.0], k=1) == 1
    assert differs("Recall", "trulens")


# ---- ragas ----


def test_ragas_context_precision_is_ap_over_the_retrieved_plus_a_tiny_divisor(monkeypatch):
    chat = types.ModuleType("langchain_community.chat_models.vertexai")  # ragas imports it; newer packages lack it
    chat.ChatVertexAI = object
    monkeypatch.setitem(sys.modules, chat.__name__, chat)
    need("ragas")
    from ragas.metrics._context_precision import NonLLMContextPrecisionWithReference

    metric = NonLLMContextPrecisionWithReference(distance_measure=object())
    flags = [[int(doc in row["expected_ids"]) for doc in row["retrieved_ids"]] for row in ROWS]
    found = [metric._calculate_average_precision(verdicts) for verdicts in flags]
    found = [0.0 if math.isnan(score) else score for score in found]
    assert ours("context_precision") == pytest.approx(found, abs=1e-9)
    assert ours("context_precision") != found
    assert differs("AP*", "ragas")
