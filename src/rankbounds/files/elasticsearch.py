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
    rows: list[tuple[Any, Any, str, Any]] = []
    if _is_response(content):
        for query, detail in content["details"].items():
            for hit in detail.get("hits", []):
                if hit.get("rating") is not None:
                    rows.append((query, *_place(hit["hit"], name), hit["rating"]))
    else:
        for number, request in enumerate(content.get("requests", []), 1):
            query = number if request.get("id") is None else request["id"]
            for rated in request.get("ratings", []):
                rows.append((query, *_place(rated, name), rated.get("rating")))
    return _columns(rows, "rating", name)


def run(content: Any, name: str) -> Columns:
    """The hits of a response, in their order; where hits have no score, the first counts highest."""
    content = _unwrapped(content)
    if not _is_response(content):
        raise DataError(name, "this is a request to _rank_eval, which holds judgments; a run is in the response to it.")
    rows: list[tuple[Any, Any, str, Any]] = []
    ranks: list[int] = []
    for query, detail in content["details"].items():
        hits = [one["hit"] for one in detail.get("hits", [])]
        scored = all(hit.get("_score") is not None for hit in hits)
        for rank, hit in enumerate(hits, 1):
            rows.append((query, *_place(hit, name), hit["_score"] if scored else float(len(hits) - rank + 1)))
            ranks.append(rank)
    return _columns(rows, "_score", name, ranks)


def _unwrapped(content: dict[str, Any]) -> dict[str, Any]:
    """Some versions put the response under ``rank_eval``."""
    inner = content.get("rank_eval")
    return inner if isinstance(inner, dict) else content


def _is_response(content: dict[str, Any]) -> bool:
    return isinstance(content.get("details"), dict)


def _place(hit: Any, name: str) -> tuple[Any, str]:
    if not isinstance(hit, dict) or "_id" not in hit:
        raise DataError(name, f'a document has no "_id": {hit!r}.')
    return hit["_id"], str(hit.get("_index", ""))


def _columns(
    rows: list[tuple[Any, Any, str, Any]], value_name: str, name: str, ranks: list[int] | None = None
) -> Columns:
    if not rows:
        raise DataError(name, f"no {value_name.strip('_')} of a document was found here.")
    home: dict[tuple[str, str], str] = {}
    for query, doc, index, _ in rows:
        first = home.setdefault((str(query), str(doc)), index)
        if first != index:
            raise DataError(
                name,
                f'the _id "{doc}" of query "{query}" comes from two indices ("{first}" and '
                f'"{index}"). Documents are known by their _id; evaluate the indices apart.',
            )
    queries, docs, _, values = zip(*rows, strict=True)
    return Columns.of(queries, docs, values, value_name=value_name, source=name, ranks=ranks, unit="entry")
