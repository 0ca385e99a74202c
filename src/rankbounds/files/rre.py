"""Ratings of the Rated Ranking Evaluator: topics with groups of queries that share their relevant documents.

A query is known by its text, the placeholder ``$query``; a query without one by its group's name. Queries of the same
text that differ in other placeholders (a language, a filter) get these behind the text: ``fender ($lang=eng)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankbounds.errors import DataError
from rankbounds.files.named_columns import Columns

WHAT = "ratings of the Rated Ranking Evaluator"


def recognises(content: Any) -> bool:
    """Has it topics, groups or queries with relevant documents?"""
    return isinstance(content, dict) and any("relevant_documents" in group for group in _groups(content))


def judgments(content: Any, name: str) -> Columns:
    """Each query of a group with the group's documents; only relevant ones are listed in this format."""
    rows: list[tuple[Any, ...]] = []
    seen: set[str] = set()
    for number, group in enumerate(_groups(content), 1):
        rated = list(_rated(group.get("relevant_documents", {}), name))
        # A group of one query that is written without a list holds its own placeholders.
        inner = group.get("queries") or [group]
        for query in dict.fromkeys(_query_id(one, group, number) for one in inner):
            if query in seen:
                raise DataError(name, f'the query "{query}" has relevant documents in two groups.')
            seen.add(query)
            rows += [(query, doc, gain) for doc, gain in rated]
    return Columns.of_rows(rows, "gain", name, "no relevant document was found here.")


def _groups(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for topic in _objects(content.get("topics") or [content]):
        yield from _objects(topic.get("query_groups") or topic.get("queries"))


def _objects(several: Any) -> Iterator[dict[str, Any]]:
    """The objects in a list; none in anything else."""
    return (one for one in several if isinstance(one, dict)) if isinstance(several, list) else iter(())


def _query_id(query: dict[str, Any], group: dict[str, Any], number: int) -> str:
    given = dict(query.get("placeholders") or {key: one for key, one in query.items() if key.startswith("$")})
    text = given.pop("$query", None)
    if text is None:
        return str(group.get("name") or f"group {number}")
    rest = ", ".join(f"{key}={value}" for key, value in sorted(given.items()))
    return f"{text} ({rest})" if rest else str(text)


def _rated(relevant: Any, name: str) -> Iterator[tuple[Any, Any]]:
    """``{document: {"gain": 3}}``, a list of such, or ``{gain: [documents]}``."""
    for part in relevant if isinstance(relevant, list) else [relevant]:
        if not isinstance(part, dict):
            raise DataError(name, f'"relevant_documents" must be an object, not {part!r}.')
        for key, value in part.items():
            if isinstance(value, list):
                yield from ((doc, key) for doc in value)
            elif isinstance(value, dict):
                yield key, value.get("gain")
            else:
                yield key, value
