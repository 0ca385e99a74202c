"""Names of this namespace, one per line, loaded when first used."""

from rankbounds.interop.assistant_tools import tool_server as tool_server
from rankbounds.interop.haystack import haystack_evaluator as haystack_evaluator
from rankbounds.interop.inspect_ai import inspect_metric as inspect_metric
from rankbounds.interop.llama_index import llama_index_metric as llama_index_metric
from rankbounds.interop.mlflow import mlflow_metric as mlflow_metric
from rankbounds.interop.pyterrier import pyterrier_experiment as pyterrier_experiment
from rankbounds.interop.pyterrier import pyterrier_test as pyterrier_test
from rankbounds.interop.pytrec_eval import RelevanceEvaluator as RelevanceEvaluator
from rankbounds.interop.sentence_transformers import sentence_transformers_evaluator as sentence_transformers_evaluator

__all__: list[str]
