"""Precision and average precision for several subtopics."""

from __future__ import annotations

from rankbounds.measures.average_precision import AP
from rankbounds.measures.diversity.intent_aware import IntentAware
from rankbounds.measures.measure import Measure
from rankbounds.measures.precision import P


class P_IA(IntentAware):  # noqa: N801 (the name everybody knows it by)
    """The precision at k of each subtopic, averaged: how relevant the first k documents are to one who wants any of
    the query's subtopics. It does not reward novelty; a list for the most popular subtopic does well.

    Sources: Agrawal et al., WSDM 2009; as in ndeval (P-IA).

    Examples
    --------
    >>> import rankbounds as rb
    >>> judgments = {"query_id": ["q"] * 3, "subtopic": [1, 1, 2], "doc_id": ["a", "b", "b"], "relevance": [1, 1, 1]}
    >>> rb.evaluate(judgments, {"q": ["a", "b", "c"]}, "P_IA@2").value.item()
    0.75
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "P_IA"
    value_range = (0.0, 1.0)
    aliases = ("P-IA",)
    examples = ("P_IA@3",)
    sources = ("agrawal2009diversifying",)
    needs_cutoff = True

    def of_subtopic(self) -> Measure:
        return P(rel=self.rel, cutoff=self.cutoff)


class AP_IA(IntentAware):  # noqa: N801 (the name everybody knows it by)
    """The average precision of each subtopic, averaged (MAP-IA).

    Sources: Agrawal et al., WSDM 2009; as in ndeval (MAP-IA).

    Examples
    --------
    >>> import rankbounds as rb
    >>> judgments = {"query_id": ["q"] * 3, "subtopic": [1, 1, 2], "doc_id": ["a", "b", "b"], "relevance": [1, 1, 1]}
    >>> rb.evaluate(judgments, {"q": ["a", "b", "c"]}, "AP_IA").value.item()
    0.75
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "AP_IA"
    value_range = (0.0, 1.0)
    aliases = ("AP-IA", "MAP-IA", "MAP_IA")
    examples = ("AP_IA", "AP_IA@3")
    sources = ("agrawal2009diversifying",)

    def of_subtopic(self) -> Measure:
        return AP(rel=self.rel, cutoff=self.cutoff)
