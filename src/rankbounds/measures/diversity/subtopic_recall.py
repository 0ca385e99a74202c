"""Subtopic recall."""

from __future__ import annotations

from rankbounds.measures.diversity.intent_aware import IntentAware
from rankbounds.measures.measure import Measure
from rankbounds.measures.success import Success

ALL_RANKS = 10**15


class StRec(IntentAware):
    """The share of the topic's subtopics for which one of the first k documents is relevant.

    A reader of these k documents has met so many of the things that the query may be about. Subtopics that no judged
    document is relevant to do not count. ``low`` and ``high`` say what the retrieved unjudged documents could change:
    each may be relevant to every subtopic, or to one that nobody has found yet.

    Sources: Zhai, Cohen and Lafferty, SIGIR 2003; as in ndeval (strec).

    Examples
    --------
    >>> import rankbounds as rb
    >>> judgments = {"query_id": ["q"] * 3, "subtopic": [1, 1, 2], "doc_id": ["a", "b", "b"], "relevance": [1, 1, 1]}
    >>> scores = rb.evaluate(judgments, {"q": ["a", "b", "c"]}, ["StRec@1", "StRec@2"])
    >>> scores.value.ravel().tolist()
    [0.5, 1.0]
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "StRec"
    value_range = (0.0, 1.0)
    aliases = ("S-Recall", "I-rec")
    examples = ("StRec@2", "StRec(rel=2)")
    sources = ("zhai2003beyond",)

    def of_subtopic(self) -> Measure:
        return Success(rel=self.rel, cutoff=self.cutoff or ALL_RANKS)
