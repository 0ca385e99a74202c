"""What judgments hold: topics, judged and relevant documents per topic by grade.

Source of the table: Sakai, Alternatives to Bpref, SIGIR 2007, Table 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Flags
from rankbounds.collection.inputs import Reading
from rankbounds.collection.qrels import POOLED_NOT_JUDGED
from rankbounds.collection.shapes import QrelsLike
from rankbounds.phrases import some
from rankbounds.results import Column, Result, count
from rankbounds.tables import number

MOST_GRADES = 12
"""Of more grades than these, as of probabilities, no table is made."""
FEW = 5
"""With fewer relevant documents than this, a topic's scores move by large steps."""


@dataclass(frozen=True, eq=False, repr=False)
class DescribedJudgments(Result):
    """How many documents of each kind a topic has."""

    kinds: list[dict[str, Any]]
    topics: int
    without_relevant: list[str]
    """Topics that have no relevant document."""
    with_few: int
    """How many topics have relevant documents, but fewer than five."""

    columns = (
        Column("documents", left=True, importance=3),
        count("topics", "topics with any"),
        count("least", "min", importance=2),
        Column("mean", "mean per topic", lambda row: number(row["mean"], 1), importance=2),
        Column("median", cell=lambda row: f"{row['median']:g}"),
        count("most", "max", importance=2),
        count("total", importance=1),
    )
    words_beside = "below"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per kind of document: ``least``, ``mean``, ``median`` and ``most`` per topic, and ``total``."""
        return self.kinds

    def words(self) -> str:
        by_kind = {row["documents"]: row for row in self.kinds}
        relevant, judged = by_kind["relevant"], by_kind["judged"]
        share = f" ({relevant['total'] / judged['total']:.1%})" if judged["total"] else ""
        sentences = [
            f"{self.topics:,} topics have {judged['total']:,} judgments, {relevant['total']:,} of them{share} relevant."
        ]
        if self.without_relevant:
            sentences.append(f"Topics without a relevant document: {some(self.without_relevant)}.")
        if self.with_few:
            have = "topic has" if self.with_few == 1 else "topics have"
            sentences.append(f"{self.with_few:,} {have} fewer than {FEW} relevant documents.")
        return " ".join(sentences)


def describe(qrels: QrelsLike, *, rel: float = 1.0) -> DescribedJudgments:
    """Describe judgments: documents per topic that are judged, relevant, and of each grade.

    Parameters
    ----------
    qrels
        In any form that ``evaluate`` takes.
    rel
        The lowest relevant grade.

    Returns
    -------
    DescribedJudgments
        A ``Result`` with a row per kind of document (judged, relevant, each grade, non-relevant, pooled but not
        judged): ``topics`` with any, ``least``, ``mean``, ``median`` and ``most`` per topic, ``total``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> found = rb.checking.describe({"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "b": 0}})
    >>> [(row["documents"], row["least"], row["mean"], row["most"]) for row in found.rows()]  # doctest: +ELLIPSIS
    [('judged', 2, 2.5, 3), ('relevant', 0, 1.0, 2), ('grade 2', 0, 0.5, 1), ...]
    >>> found.without_relevant
    ['2']
    """
    judgments = Reading().judgments(qrels)
    grade, topic = judgments.grade, judgments.pairs.topic
    judged, relevant = grade != POOLED_NOT_JUDGED, grade >= rel
    kinds: dict[str, Flags] = {"judged": judged, "relevant": relevant}
    grades = np.unique(grade[relevant])[::-1].tolist()
    if 1 < len(grades) <= MOST_GRADES:
        kinds |= {f"grade {each:g}": grade == each for each in grades}
    kinds["non-relevant"] = judged & ~relevant
    if not judged.all():
        kinds["pooled, not judged"] = ~judged
    topics = len(judgments.query_ids)
    counts = {name: np.bincount(topic[flags], minlength=topics) for name, flags in kinds.items()}
    rows = [
        {"documents": name, "topics": int(np.count_nonzero(each)), "least": int(each.min()), "mean": float(each.mean())}
        | {"median": float(np.median(each)), "most": int(each.max()), "total": int(each.sum())}
        for name, each in counts.items()
    ]
    number_relevant = counts["relevant"]
    without = [judgments.query_ids[at] for at in np.flatnonzero(number_relevant == 0).tolist()]
    few = int(np.count_nonzero((number_relevant > 0) & (number_relevant < FEW)))
    return DescribedJudgments(rows, topics, without, few, settings={"rel": rel})
