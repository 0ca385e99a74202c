"""Small random collections, their files in every format, and their scores by definition.

Nothing here is taken from the package: what a format looks like is written down a second time.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

import polars
import zstandard

MEASURES = ("RBP(p=0.8)", "P@5")
PLAIN_IDS = ("301", "07", "1e5", "nan", "null", "true", "-1", "FT911-3", "q.1", "a,b", 'x"y', "o'k", "日本", "né", "🦀")
WILD_IDS = (
    *PLAIN_IDS, "red shoes", "#x", "a\nb", "a\rb", "a\tb", " a", "a ", "\ufeffa", "{a", "[a", "=1+1", "@a", "+a",
    "a\u2028b",
    "a\x85b", "\x01a", "a\x00b", "a\x1bb", "qid:1", "query_id,doc_id", "topics", "scores", "\ud800", "\udce9",
    "x" * 5000,
)  # fmt: skip
"""Ids that not every format can hold."""


@dataclass(frozen=True)
class Collection:
    """Grades and scores by topic and document."""

    grades: dict[str, dict[str, float]]
    scores: dict[str, dict[str, float]]

    def ranking(self, topic: str) -> list[str]:
        """Documents by score, tied ones by their names downwards, as trec_eval has them."""
        found = self.scores.get(topic, {})
        return sorted(found, key=lambda doc: (found[doc], doc.encode("utf-8", "surrogateescape")), reverse=True)

    def expected(self) -> dict[str, dict[str, float]]:
        """``MEASURES`` of every judged topic, by their definitions."""
        found: dict[str, dict[str, float]] = {measure: {} for measure in MEASURES}
        for topic, grades in self.grades.items():
            relevant = [float(grades.get(doc, 0) >= 1) for doc in self.ranking(topic)]
            found[MEASURES[0]][topic] = 0.2 * sum(one * 0.8**rank for rank, one in enumerate(relevant))
            found[MEASURES[1]][topic] = sum(relevant[:5]) / 5
        return found


def random_collection(rng: Random, *, ids: tuple[str, ...] = PLAIN_IDS, topics: int = 5, docs: int = 10) -> Collection:
    """Topics with judgments, some without documents, some that nobody judged; scores with ties."""
    names = _ids(rng, ids, rng.randint(1, topics), "t")
    documents = _ids(rng, ids, docs + 5, "d")
    draw_score: Callable[[], float] = rng.choice(
        [lambda: float(rng.randint(-2, 5)), rng.random, lambda: rng.uniform(-1e6, 1e6), lambda: rng.random() * 1e-300]
    )
    grades = {
        topic: {doc: float(rng.choice((0, 0, 1, 1, 2, 3, -1))) for doc in rng.sample(documents, rng.randint(1, docs))}
        for topic in names
    }
    scores = {topic: {doc: draw_score() for doc in rng.sample(documents, rng.randint(1, docs))} for topic in names}
    for topic in names[1:]:
        if rng.random() < 0.2:
            scores[topic] = {}
        elif rng.random() < 0.1:
            del scores[topic]
        elif rng.random() < 0.1:
            del grades[topic]
    return Collection(grades, scores)


def _ids(rng: Random, pool: tuple[str, ...], count: int, prefix: str) -> list[str]:
    odd = rng.sample(pool, min(len(pool), rng.randint(0, count)))
    return [*odd, *(f"{prefix}{number}" for number in range(count - len(odd)))]


Nested = dict[str, dict[str, float]]


def _rows(nested: Nested) -> list[tuple[str, str, float]]:
    return [(topic, doc, value) for topic, docs in nested.items() for doc, value in docs.items()]


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else repr(value)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _delimited(header: Iterable[str], rows: Iterable[Iterable[Any]], separator: str = ",") -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return _encoded(out.getvalue())


def _table(nested: Nested, value: str, separator: str) -> bytes:
    rows = ((topic, doc, _number(one)) for topic, doc, one in _rows(nested))
    return _delimited(("query_id", "doc_id", value), rows, separator)


def _json(content: Any) -> bytes:
    try:
        return json.dumps(content, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:  # lone surrogates
        return json.dumps(content).encode("ascii")


def _records(nested: Nested, value: str) -> list[dict[str, Any]]:
    return [{"query_id": topic, "doc_id": doc, value: one} for topic, doc, one in _rows(nested)]


def _json_lines(nested: Nested, value: str) -> bytes:
    return b"".join(_json(row) + b"\n" for row in _records(nested, value))


def frame(nested: Nested, value: str) -> polars.DataFrame:
    """The three columns as a polars frame."""
    rows = _rows(nested)
    columns = {
        "query_id": [row[0] for row in rows],
        "doc_id": [row[1] for row in rows],
        value: [row[2] for row in rows],
    }
    return polars.DataFrame(columns, schema={"query_id": polars.String, "doc_id": polars.String, value: polars.Float64})


def _parquet(nested: Nested, value: str) -> bytes:
    out = io.BytesIO()
    frame(nested, value).write_parquet(out, compression="snappy")
    return out.getvalue()


def _trec_run(collection: Collection, line: str = "{topic} Q0 {doc} {rank} {score} tag\n") -> bytes:
    lines = []
    for topic, docs in collection.scores.items():
        for rank, doc in enumerate(collection.ranking(topic), 1):
            lines.append(line.format(topic=topic, doc=doc, rank=rank, score=_number(docs[doc])))
    return _encoded("".join(lines))


def _trec_without_q0(collection: Collection) -> bytes:
    """The tag is a number, unless a whole score in the first line would make it one of those without a tag."""
    first = next((max(docs.values()) for docs in collection.scores.values() if docs), 0.0)
    return _trec_run(collection, f"{{topic}} {{doc}} {{rank}} {{score}} {'tag' if first == int(first) else 2024}\n")


def _trec_scores(collection: Collection) -> bytes:
    return _encoded("".join(f"{topic}\t{doc}\t{_number(one)}\r\n" for topic, doc, one in _rows(collection.scores)))


def _elasticsearch_request(nested: Nested) -> bytes:
    requests = [
        {"id": topic, "ratings": [{"_index": "i", "_id": doc, "rating": one} for doc, one in docs.items()]}
        for topic, docs in nested.items()
    ]
    return _json({"requests": requests, "metric": {"precision": {"k": 10}}})


def _elasticsearch_response(collection: Collection) -> bytes:
    details = {
        topic: {
            "hits": [
                {"hit": {"_index": "i", "_id": doc, "_score": found[doc]}, "rating": None}
                for doc in collection.ranking(topic)
            ]
        }
        for topic, found in collection.scores.items()
    }
    return _json({"metric_score": 0.5, "details": details})


def _searches(collection: Collection) -> bytes:
    answers = {
        topic: {"took": 1, "hits": {"hits": [{"_id": doc, "_score": found[doc]} for doc in collection.ranking(topic)]}}
        for topic, found in collection.scores.items()
    }
    return _json(answers)


def _unnamed(nested: Nested) -> bytes:
    return _table(nested, "value", ";").partition(b"\n")[2]


def _opensearch(nested: Nested) -> bytes:
    ratings = [
        {"query": topic, "ratings": [{"docId": doc, "rating": _number(one)} for doc, one in docs.items()]}
        for topic, docs in nested.items()
    ]
    return _json({"name": "n", "type": "IMPORT_JUDGMENT", "judgmentRatings": ratings})


def _quepid_snapshot(collection: Collection) -> bytes:
    header = ("Query Text", "Doc ID", "Doc Position", "Rating")
    rows = (
        (topic, doc, place, "") for topic in collection.scores for place, doc in enumerate(collection.ranking(topic), 1)
    )
    return _delimited(header, rows)


JUDGMENTS: dict[str, Callable[[Collection], bytes]] = {
    "trec": lambda one: _encoded("".join(f"{t} 0 {d} {_number(g)}\n" for t, d, g in _rows(one.grades))),
    "csv": lambda one: _table(one.grades, "relevance", ","),
    "tsv": lambda one: _table(one.grades, "relevance", "\t"),
    "jsonl": lambda one: _json_lines(one.grades, "relevance"),
    "json": lambda one: _json(_records(one.grades, "relevance")),
    "beir.json": lambda one: _json(one.grades),
    "beir.tsv": lambda one: _delimited(
        ("query-id", "corpus-id", "score"), ((t, d, _number(g)) for t, d, g in _rows(one.grades)), "\t"
    ),
    "csv.quepid": lambda one: _delimited(
        ("query", "docid", "rating"), ((t, d, _number(g)) for t, d, g in _rows(one.grades))
    ),
    "csv.unnamed": lambda one: _unnamed(one.grades),
    "elasticsearch.json": lambda one: _elasticsearch_request(one.grades),
    "opensearch.json": lambda one: _opensearch(one.grades),
    "parquet": lambda one: _parquet(one.grades, "relevance"),
}
RUNS: dict[str, Callable[[Collection], bytes]] = {
    "trec": _trec_run,
    "scores.trec": _trec_scores,
    "untagged.trec": lambda one: _trec_run(one, "{topic} Q0 {doc} {rank} {score}\n"),
    "tagged.trec": _trec_without_q0,
    "csv": lambda one: _table(one.scores, "score", ","),
    "tsv": lambda one: _table(one.scores, "score", "\t"),
    "jsonl": lambda one: _json_lines(one.scores, "score"),
    "json": lambda one: _json(_records(one.scores, "score")),
    "beir.json": lambda one: _json(one.scores),
    "mteb.json": lambda one: _json({"mteb_model_meta": {"name": "m"}, "default": {"test": one.scores}}),
    "csv.quepid": _quepid_snapshot,
    "csv.unnamed": lambda one: _unnamed(one.scores),
    "elasticsearch.json": _elasticsearch_response,
    "elasticsearch.search.json": _searches,
    "parquet": lambda one: _parquet(one.scores, "score"),
}
IN_TREC = ("trec", "scores.trec", "untagged.trec", "tagged.trec")
"""Formats whose ids hold no blank."""
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 1),
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": lambda data: zstandard.ZstdCompressor(1, write_checksum=len(data) % 2 == 0).compress(data),
}
