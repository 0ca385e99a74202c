"""Judgments and runs in the JSON of other tools: BEIR, MTEB, Elasticsearch, OpenSearch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rankbounds.errors import DataError
from rankbounds.files.id_lists import answers_in, by_id, id_checked, is_hit
from rankbounds.files.named_columns import QRELS_COLUMNS, RUN_COLUMNS, Columns
from rankbounds.files.objects import columns_of


@dataclass(frozen=True)
class Format:
    """A format of files: what it holds, how it is recognised, and its readers of judgments or runs.

    JSON formats get the parsed contents and the file's name, others (``parsed=False``) the text. Other packages declare
    theirs as an entry point ``rankbounds.formats``.
    """

    what: str
    recognises: Callable[[Any], bool]
    judgments: Callable[..., Columns] | None = None
    run: Callable[..., Columns] | None = None
    parsed: bool = True


# ---- BEIR, ranx and others: {query: {document: score}}; BEIR's judgments are TSV with named columns ----


def is_nested(content: Any) -> bool:
    if not isinstance(content, dict) or not content:
        return False
    few = list(content.values())[:20]
    return all(isinstance(one, dict) and not any(isinstance(v, dict | list) for v in one.values()) for one in few)


def _nested_run(content: Any, name: str) -> Columns:
    return columns_of(content, RUN_COLUMNS, source=name)


# ---- {query: [document, ...]}, also with scores; llama-index's data sets hold such lists of relevant documents ----


def _is_lists(content: Any) -> bool:
    if not isinstance(content, dict) or not content:
        return False
    few = list(content.values())[:20]
    return all(isinstance(one, list) and all(isinstance(v, str | int) or is_hit(v) for v in one[:20]) for one in few)


def _nested_judgments(content: Any, name: str) -> Columns:
    return columns_of(content, QRELS_COLUMNS, source=name)


# ---- MTEB's predictions: {subset: {split: {query: {document: score}}}}, perhaps with a note on the model ----

_MTEB_NOTES = ("mteb_model_meta", "mteb_version", "task_name", "dataset_revision")


def is_mteb_scores(content: Mapping[str, Any]) -> bool:
    return "scores" in content and ("task_name" in content or "mteb_version" in content)


def _is_mteb(content: Any) -> bool:
    if not isinstance(content, dict):
        return False
    subsets = [value for key, value in content.items() if key not in _MTEB_NOTES]
    return is_mteb_scores(content) or (
        bool(subsets) and all(isinstance(one, dict) and one and all(map(is_nested, one.values())) for one in subsets)
    )


def _mteb_run(content: Any, name: str) -> Columns:
    if is_mteb_scores(content):
        raise DataError(
            name,
            "these are MTEB's scores, not rankings, so they cannot be evaluated again. Have MTEB save its predictions "
            "(prediction_folder=...) and use that file.",
        )
    parts = {
        f"{subset}/{split}/": queries
        for subset, splits in content.items()
        if subset not in _MTEB_NOTES
        for split, queries in splits.items()
    }
    if len(parts) == 1:
        return _nested_run(next(iter(parts.values())), name)
    return _nested_run({part + query: docs for part, queries in parts.items() for query, docs in queries.items()}, name)


# ---- Elasticsearch's ranking evaluation: requests hold judgments, responses hits with ratings, known by _id ----


def _ranking_evaluation(content: dict[str, Any]) -> dict[str, Any]:
    inner = content.get("rank_eval")
    return inner if isinstance(inner, dict) else content


def _is_elasticsearch(content: Any) -> bool:
    if not isinstance(content, dict) or answers_in(content) is not None:
        return answers_in(content) is not None
    content = _ranking_evaluation(content)
    return isinstance(content.get("requests"), list) or isinstance(content.get("details"), dict)


def _elasticsearch_judgments(content: Any, name: str) -> Columns:
    """The ratings of a request, or those beside the hits of a response, which leaves out what was not retrieved."""
    if answers_in(content) is not None:
        raise DataError(name, "these are answers to searches, which hold a run, but judgments were expected.")
    content = _ranking_evaluation(content)
    rated: list[tuple[Any, Any, Any]] = []
    if isinstance(content.get("details"), dict):
        for query, detail in content["details"].items():
            hits = [hit for hit in detail.get("hits", []) if hit.get("rating") is not None]
            rated += [(query, hit["hit"], hit["rating"]) for hit in hits]
    else:
        for number, request in enumerate(content.get("requests", []), 1):
            query = number if request.get("id") is None else request["id"]
            rated += [(query, hit, id_checked(hit, name).get("rating")) for hit in request.get("ratings", [])]
    return Columns.of_rows(by_id(rated, name), "rating", name, "no rating of a document was found here.")


def _elasticsearch_run(content: Any, name: str) -> Columns:
    if answers_in(content) is not None:
        return _nested_run(content, name)
    content = _ranking_evaluation(content)
    if not isinstance(content.get("details"), dict):
        raise DataError(name, "this holds judgments; a run is in a response to _rank_eval, or in answers to searches.")
    found: list[tuple[Any, Any, Any, int]] = []
    for query, detail in content["details"].items():
        hits = [one["hit"] for one in detail.get("hits", [])]
        scored = all(hit.get("_score") is not None for hit in hits)
        for rank, hit in enumerate(hits, 1):
            found.append((query, hit, hit["_score"] if scored else float(len(hits) - rank + 1), rank))
    return Columns.of_rows(by_id(found, name), "_score", name, "no score of a document was found here.")


# ---- OpenSearch's Search Relevance Workbench: judgment lists as they are imported, or as the plugin returns them ----

_MADE_BY = {"UBI_JUDGMENT": "click", "LLM_JUDGMENT": "llm", "IMPORT_JUDGMENT": "imported"}


def _judgment_lists(content: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(content, dict):
        return
    if isinstance(content.get("judgmentRatings"), list):
        yield content
    for inner in ("_source", "hits"):
        value = content.get(inner)
        for entry in value if isinstance(value, list) else [value]:
            yield from _judgment_lists(entry)


def _opensearch_judgments(content: Any, name: str) -> Columns:
    rows = []
    for listed in _judgment_lists(content):
        made_by = _MADE_BY.get(str(listed.get("type")), str(listed.get("type") or "imported").lower())
        if listed.get("status", "COMPLETED") != "COMPLETED":
            raise DataError(name, f'the judgment list "{listed.get("name")}" is not complete: {listed["status"]}.')
        for query in listed["judgmentRatings"]:
            for rated in query.get("ratings", []):
                rows.append((query.get("query"), rated.get("docId"), rated.get("rating"), made_by))
    return Columns.of_rows(rows, "rating", name, "these judgment lists hold no rating.", "label_sources")


IN_JSON = {
    "opensearch": Format(
        "judgment lists of the Search Relevance Workbench, answers to searches",
        lambda content: next(_judgment_lists(content), None) is not None,
        _opensearch_judgments,
        _elasticsearch_run,
    ),
    "elasticsearch": Format(
        "_rank_eval requests and responses, answers to searches",
        _is_elasticsearch,
        _elasticsearch_judgments,
        _elasticsearch_run,
    ),
    "mteb": Format("predictions or scores saved by MTEB", _is_mteb, run=_mteb_run),
    "beir": Format("{query: {document: value}} in JSON", is_nested, _nested_judgments, _nested_run),
    "llama-index": Format(
        "data sets of questions with relevant_docs",
        lambda content: isinstance(content, dict) and isinstance(content.get("relevant_docs"), dict),
        _nested_judgments,
    ),
    "lists": Format("{query: [document, ...]} in JSON, also with scores", _is_lists, _nested_judgments, _nested_run),
}
"""In the order in which they are tried: what looks most special first."""
