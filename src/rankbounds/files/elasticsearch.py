"""Elasticsearch's ranking evaluation: requests hold judgments, responses hold what was retrieved, with ratings.

Documents are known by ``_id``. The same ``_id`` from two indices in one query is an error, since nothing tells which
is meant.
"""

from __future__ import annotations

from typing import Any

from rankbounds.errors import DataError
from rankbounds.files.named_columns import Columns

WHAT = "_rank_eval requests and responses"


def recognises(content: Any) -> bool:
    """Has it rated requests, or the details of a response?"""
    if not isinstance(content, dict):
        return False
    content = _unwrapped(content)
    return isinstance(content.get("requests"), list) or _is_response(content)


def judgments(content: Any, name: str) -> Columns:
    """The ratings of a request; of a response the ratings beside its hits, which leaves out what was not retrieved."""
    content = _unwrapped(content)
    rated: list[tuple[Any, Any, Any]] = []
    if _is_response(content):
        for query, detail in content["details"].items():
            hits = [hit for hit in detail.get("hits", []) if hit.get("rating") is not None]
            rated += [(query, hit["hit"], hit["rating"]) for hit in hits]
    else:
        for number, request in enumerate(content.get("requests", []), 1):
            query = number if request.get("id") is None else request["id"]
            rated += [(query, hit, _checked(hit, name).get("rating")) for hit in request.get("ratings", [])]
    return Columns.of_rows(_by_id(rated, name), "rating", name, "no rating of a document was found here.")


def run(content: Any, name: str) -> Columns:
    """The hits of a response, in their order; where hits have no score, the first counts highest."""
    content = _unwrapped(content)
    if not _is_response(content):
        raise DataError(name, "this is a request to _rank_eval, which holds judgments; a run is in the response to it.")
    found: list[tuple[Any, Any, Any, int]] = []
    for query, detail in content["details"].items():
        hits = [one["hit"] for one in detail.get("hits", [])]
        scored = all(hit.get("_score") is not None for hit in hits)
        for rank, hit in enumerate(hits, 1):
            found.append((query, hit, hit["_score"] if scored else float(len(hits) - rank + 1), rank))
    return Columns.of_rows(_by_id(found, name), "_score", name, "no score of a document was found here.")


def _unwrapped(content: dict[str, Any]) -> dict[str, Any]:
    """Some versions put the response under ``rank_eval``."""
    inner = content.get("rank_eval")
    return inner if isinstance(inner, dict) else content


def _is_response(content: dict[str, Any]) -> bool:
    return isinstance(content.get("details"), dict)


def _checked(hit: Any, name: str) -> dict[str, Any]:
    if not isinstance(hit, dict) or "_id" not in hit:
        raise DataError(name, f'a document has no "_id": {hit!r}.')
    return hit


def _by_id(rows: list[Any], name: str) -> list[tuple[Any, ...]]:
    """The rows with the ``_id`` of each hit for the hit itself."""
    home: dict[tuple[str, str], str] = {}
    for query, hit, *_ in rows:
        doc, index = _checked(hit, name)["_id"], str(hit.get("_index", ""))
        first = home.setdefault((str(query), str(doc)), index)
        if first != index:
            raise DataError(
                name,
                f'the _id "{doc}" of query "{query}" comes from two indices ("{first}" and '
                f'"{index}"). Documents are known by their _id; evaluate the indices apart.',
            )
    return [(query, hit["_id"], *rest) for query, hit, *rest in rows]
