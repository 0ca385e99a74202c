"""Documents that are judged or retrieved, but that the corpus does not hold: no system can retrieve the former."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rankbounds.collection.qrels import Qrels
from rankbounds.columns.ids import Ids
from rankbounds.errors import DataError
from rankbounds.files.opening import read_text


class Corpus(frozenset[bytes]):
    """The ids of the documents that can be retrieved."""


@dataclass(frozen=True)
class JudgedOutside:
    """Judged documents that the corpus lacks."""

    judged: int
    """How many judgments there are."""
    documents: list[tuple[str, str, float]]
    """Topic, document and grade of those whose document the corpus lacks."""

    @property
    def relevant(self) -> int:
        """How many of them are relevant."""
        return sum(grade >= 1 for _, _, grade in self.documents)

    def __str__(self) -> str:
        if not self.documents:
            return f"Corpus: it holds the documents of all {self.judged:,} judgments."
        topic, document, _ = self.documents[0]
        are = "is" if len(self.documents) == 1 else "are"
        return (
            f"Corpus: {len(self.documents):,} of {self.judged:,} judgments {are} of documents that it does not hold, "
            f'{self.relevant:,} of them relevant (topic {topic}, "{document}"): no system can retrieve them.'
        )


def corpus_ids(given: str | os.PathLike[str] | Iterable[str] | Corpus) -> Corpus:
    """The ids of a corpus: of a file, the first field of every line; or as they are given."""
    if isinstance(given, Corpus):
        return given
    if not isinstance(given, str | os.PathLike):
        return Corpus(document.encode("utf-8", "surrogateescape") for document in given)
    path = os.fspath(given)
    ids = Corpus(line.split(None, 1)[0] for line in read_text(path).tobytes().splitlines() if line.strip())
    if any(document.startswith((b"{", b"[")) for document in list(ids)[:1]):
        raise DataError(path, "this is JSON; a corpus is given as a file with a document's id in front of every line.")
    return ids


def outside(documents: Ids, corpus: Corpus) -> list[int]:
    """The rows of documents that the corpus lacks."""
    return [row for row, document in enumerate(documents.raw_list()) if document not in corpus]


def judged_outside(qrels: Qrels, corpus: Corpus) -> JudgedOutside:
    """Which judged documents the corpus lacks."""
    rows = outside(qrels.pairs.docs, corpus)
    topics = np.asarray(qrels.pairs.topic)[rows].tolist()
    return JudgedOutside(
        len(qrels),
        [
            (qrels.pairs.topics[topic], qrels.pairs.docs[row], float(qrels.grade[row]))
            for topic, row in zip(topics, rows, strict=True)
        ],
    )
