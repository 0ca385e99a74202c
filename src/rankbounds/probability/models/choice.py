"""Which probabilities were asked for: given ones as they are, estimated ones fitted once for each kind of relevance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankbounds.collection.run import Run
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.probability.drawn_scores import lowest_relevant_grade
from rankbounds.probability.models.estimates import estimate
from rankbounds.probability.models.probabilities import RelevanceProbability, as_relevance_probability
from rankbounds.probability.models.urn_estimates import UrnEstimate, estimate_urn
from rankbounds.probability.retrieved_documents import POOLED, RetrievedDocuments, retrieved_documents
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts

KINDS = ("logistic", "isotonic", "urn")
"""The ways to estimate probabilities from the judgments at hand."""


class ChosenModels:
    """The probabilities asked for; those estimated from judgments are fitted once for each kind of relevance."""

    def __init__(
        self,
        given: Any,
        otherwise: float | None,
        runs: list[Run],
        facts: TopicFacts,
        assumptions: Assumptions,
        rankings_of_runs: Sequence[list[Rankings]] | None = None,
    ) -> None:
        self.runs, self.facts, self.assumptions, self.rankings_of_runs = runs, facts, assumptions, rankings_of_runs
        self.kind = given if isinstance(given, str) and given in KINDS else None
        self.given = None if self.kind else as_relevance_probability(given, otherwise)
        self._fitted: dict[Any, RelevanceProbability] = {}
        self._documents: RetrievedDocuments | None = None

    def of(self, measure: Measure) -> RelevanceProbability:
        """The model for documents relevant to this measure."""
        if self.given is not None:
            return self.given
        return self._fitted_once(measure, measure.rel)

    def of_grades(self, measure: Measure) -> RelevanceProbability:
        """The model for documents that have a grade which is relevant to this measure, however relevant it is."""
        if self.given is not None:
            return self.given
        return self._fitted_once(None, lowest_relevant_grade(measure, self.facts))

    def _fitted_once(self, measure: Measure | None, rel: float) -> RelevanceProbability:
        graded = measure is not None and measure.graded
        if (graded, rel) not in self._fitted:
            self._fitted[graded, rel] = self._fit(measure if graded else None, rel)
        return self._fitted[graded, rel]

    def unpooled(self) -> list[str]:
        """Runs whose first documents are not judged, where probabilities were estimated from documents at all."""
        known = dict(self._documents.pooled) if self._documents else {}
        for urn in self._urns():
            known |= urn.pooled
        return [name for name, pooled in known.items() if not pooled]

    def _urns(self) -> list[UrnEstimate]:
        return [model for model in self._fitted.values() if isinstance(model, UrnEstimate)]

    def remarks(self) -> list[str]:
        """What a reader of estimated probabilities must know, in sentences."""
        told = list(dict.fromkeys(remark for urn in self._urns() for remark in urn.remarks()))
        apart = self.unpooled()
        if not apart:
            return told
        some = ", ".join(apart[:5]) + (f" and {len(apart) - 5} more" if len(apart) > 5 else "")
        return [
            *told,
            f"{some}: fewer than {POOLED} are judged, so that the estimate rests on what other runs found; trust the "
            "certain bounds, not the probabilities.",
        ]

    def _fit(self, measure: Measure | None, rel: float) -> RelevanceProbability:
        if self.kind == "urn":
            return estimate_urn(self.runs, self.facts, self.assumptions, rel=rel)
        self._documents = self._documents or retrieved_documents(
            self.runs, self.facts, self.assumptions, self.rankings_of_runs
        )
        return estimate(
            str(self.kind), self.runs, self.facts, self.assumptions, measure=measure, rel=rel, documents=self._documents
        )
