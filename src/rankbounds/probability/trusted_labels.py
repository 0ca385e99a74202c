"""Labels of several sources in order of trust: the first as truth, others as probabilities of what it would say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.errors import UsageError
from rankbounds.measures import Measure
from rankbounds.probability.calibration import label_probabilities
from rankbounds.probability.models import ByDocument
from rankbounds.rankings.unjudged import CalibratedRule


@dataclass(frozen=True, eq=False)
class TrustedFirst:
    """Judgments of a trusted source, and the documents that only others labelled with what their labels stand for."""

    qrels: Qrels
    """The trusted judgments; documents that only others labelled are pooled and not judged (-1)."""
    chance: Floats
    """For each row the probability that the document is relevant, where it is only pooled."""
    trusted: str
    others: tuple[str, ...]
    calibrated_on: int
    """How many documents both the trusted source and another one judged."""

    @classmethod
    def of(cls, by_source: Mapping[str, Qrels], rel: float) -> TrustedFirst:
        """From the judgments of each source, the most trusted first; of others, the first that has a label counts."""
        (trusted, judgments), *others = by_source.items()
        if not others:
            raise UsageError(
                "Labels are calibrated where two sources are named, the trusted one first: --labels human,llm."
            )
        both = 0
        chance: dict[tuple[str, str], float] = {}
        for _, labels in others:
            probabilities = label_probabilities(labels, judgments, rel)
            both += sum(rate.both for rate in probabilities.by_grade)
            for query, documents in probabilities.by_pair.items():
                for document, probability in documents.items():
                    chance.setdefault((query, document), probability)
        query_ids, doc_ids, grades = zip(*judgments, strict=True)
        pooled = list(chance)
        known = Qrels.from_columns(
            [*query_ids, *(query for query, _ in pooled)],
            [*doc_ids, *(document for _, document in pooled)],
            [*grades, *[POOLED_NOT_JUDGED] * len(pooled)],
            source=judgments.pairs.source.name,
        )
        numbers = np.concatenate((np.zeros(len(judgments)), np.fromiter(chance.values(), float, len(pooled))))
        return cls(known, numbers, trusted, tuple(name for name, _ in others), both)

    @property
    def rule(self) -> CalibratedRule:
        """How documents that only others labelled count."""
        return CalibratedRule(chance=self.chance)

    def model(self, otherwise: float | None = None) -> ByDocument:
        """The probabilities of unjudged documents."""
        rows = np.flatnonzero(self.qrels.grade == POOLED_NOT_JUDGED)
        return ByDocument(self.qrels.pairs.take(rows), self.chance[rows], otherwise)


def level_of(measures: Iterable[Measure]) -> float:
    """The one grade from which all of these measures count a document as relevant."""
    wanted = list(measures)
    graded = [measure for measure in wanted if measure.graded]
    if graded:
        raise UsageError(
            f"{graded[0]} counts grades, but calibrated labels are probabilities of being relevant. Use a measure such "
            "as RBP, P or RR."
        )
    levels = sorted({measure.rel for measure in wanted})
    if len(levels) > 1:
        raise UsageError(
            f"Labels are calibrated for one grade that counts as relevant, but these measures have {len(levels)} (rel="
            f"{', '.join(f'{level:g}' for level in levels)}). Ask for one after the other."
        )
    return levels[0]
