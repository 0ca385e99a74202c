"""Labels of several sources in order of trust: the first as truth, others as probabilities of what it would say.

A language model's labels, for example, are calibrated on those of people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.inputs import Reading
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.shapes import QrelsLike
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.probability.models.probabilities import ByDocument
from rankbounds.probability.models.relevant_grades import lowest_relevant_grade
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.rankings.unjudged import CalibratedRule


@dataclass(frozen=True)
class GradeRate:
    """Of the documents that the other source judged too, how many with this grade it calls relevant."""

    grade: float
    both: int
    relevant: int

    @property
    def probability(self) -> float:
        """The share, drawn towards one half by one document, so that a few agreements are never certainty."""
        return (self.relevant + 0.5) / (self.both + 1)


@dataclass(frozen=True)
class LabelProbabilities:
    """For every document that only the labels cover, the probability that it is relevant; and what that rests on."""

    by_pair: dict[str, dict[str, float]]
    by_grade: list[GradeRate]


def label_probabilities(labels: QrelsLike, truth: QrelsLike, rel: float = 1.0) -> LabelProbabilities:
    """Calibrate labels on judgments that are trusted, grade by grade, and apply that where there are only labels.

    A grade's probability is the share of relevant documents among those that both sources judged, drawn towards one
    half by one document.

    Parameters
    ----------
    labels, truth
        Judgments of the source to be calibrated, such as a language model, and trusted ones, such as people's.
    rel
        The lowest trusted grade that counts as relevant.

    Returns
    -------
    LabelProbabilities
        ``by_pair``, ``{query: {document: probability}}`` for every document that only the labels cover, as
        ``uncertainty(q=...)`` takes it; and ``by_grade``, what that rests on.

    Examples
    --------
    >>> import rankbounds as rb
    >>> people = {"q": {"a": 1, "b": 0, "c": 0}}
    >>> model = {"q": {"a": 1, "b": 1, "c": 0, "d": 1}}
    >>> rb.probability.label_probabilities(model, people).by_pair
    {'q': {'d': 0.5}}
    """
    labelled, trusted = Reading().judgments(labels), Reading().judgments(truth)
    rows, there = trusted.pairs.index.find(labelled.pairs)
    both = (trusted.grade[there] != POOLED_NOT_JUDGED) & (labelled.grade[rows] != POOLED_NOT_JUDGED)
    rows, relevant = rows[both], trusted.grade[there[both]] >= rel
    judged, grade = labelled.grade != POOLED_NOT_JUDGED, labelled.grade[rows]
    rates = {}
    for level in np.unique(labelled.grade[judged]).tolist():
        same = grade == level
        rates[level] = GradeRate(level, int(np.count_nonzero(same)), int(np.count_nonzero(relevant[same])))
        if not rates[level].both:
            raise DataError(
                f"No document that is labelled {level:g} ({labelled.pairs.source.name}) has a trusted judgment "
                f"({trusted.pairs.source.name}), so the meaning of this label is unknown."
            )
    judged[rows] = False
    chosen = np.flatnonzero(judged)
    probability = np.array([rates[level].probability for level in labelled.grade[chosen].tolist()])
    return LabelProbabilities(labelled.pairs.take(chosen).nested(probability), list(rates.values()))


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

    @classmethod
    def of(cls, by_source: Mapping[str, Qrels], rel: float) -> TrustedFirst:
        """From the judgments of each source, the most trusted first; of others, the first that has a label counts."""
        (trusted, judgments), *others = by_source.items()
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

    @classmethod
    def read(
        cls, qrels: QrelsLike, reading: Reading, measures: Iterable[Measure], *, drawn: bool = False
    ) -> TrustedFirst:
        """From judgments whose sources ``reading`` names; ``drawn``: measures need not have an exact expected value."""
        given = reading.source or ()
        names = [name.strip() for name in (given.split(",") if isinstance(given, str) else given) if name.strip()]
        if len(set(names)) < 2:
            raise UsageError("--calibrate needs two sources or more, the trusted one first: --source human,llm.")
        wanted = list(measures)
        if not drawn:
            reject_drawn(wanted)
        by_source = {name: replace(reading, source=name).judgments(qrels) for name in names}
        return cls.of(by_source, level_of(wanted, by_source[names[0]]))

    @property
    def rule(self) -> CalibratedRule:
        return CalibratedRule(chance=self.chance)

    def model(self, otherwise: float | None = None) -> ByDocument:
        rows = np.flatnonzero(self.qrels.grade == POOLED_NOT_JUDGED)
        return ByDocument(self.qrels.pairs.take(rows), self.chance[rows], otherwise)

    def words(self) -> str:
        return (
            f"{int(np.count_nonzero(self.qrels.grade == POOLED_NOT_JUDGED)):,} documents that {self.trusted} did not "
            f"judge count by labels of {' and '.join(self.others)}, as probabilities calibrated on "
            f"{self.calibrated_on:,} documents that both judged."
        )

    def rests_on_labels_of(self, scores: Scores) -> list[str]:
        """The same for every measure of scores whose lower bound is the trusted judgments' own score."""
        value, sure = scores.value.mean(axis=1), scores.low.mean(axis=1)
        return [
            self.rests_on_labels(str(measure), scores.runs, value[:, at], sure[:, at])
            for at, measure in enumerate(scores.measures)
            if measure.monotone and not measure.lower_is_better and np.isfinite(sure[:, at]).all()
        ]

    def rests_on_labels(self, measure: str, runs: Sequence[str], value: Floats, sure: Floats) -> str:
        """Say how much of each run's score rests on labels; ``sure`` are scores by the trusted judgments alone."""
        by = (
            f"labels by {' and '.join(self.others)}, which count by the probability that {self.trusted} would say "
            f"relevant ({self.calibrated_on:,} documents that both judged)"
        )
        if len(runs) != 2:
            share = np.divide(value - sure, value, out=np.zeros(value.size), where=value > 0)
            least, most = f"{share.min():.0%}", f"{share.max():.0%}"
            return (
                f"Of {measure}, {least if least == most else f'{least} to {most}'} of each run's score rests on {by}."
            )
        told = " and ".join(
            f"{whole - part:.4f} of {run}'s {whole:.4f}"
            for run, whole, part in zip(runs, value.tolist(), sure.tolist(), strict=True)
        )
        return (
            f"Of {measure}, {told} rest on {by}; by {self.trusted} alone the difference is {sure[0] - sure[1]:+.4f}, "
            f"with them {value[0] - value[1]:+.4f}."
        )


def reject_drawn(measures: Iterable[Measure]) -> None:
    for measure in measures:
        if not is_weighted_sum(measure) and (measure.graded or not measure.multilinear):
            raise UsageError(
                f"{measure} has no exact expected value where labels are probabilities, and is drawn instead: "
                "rankbounds uncertainty with the same --source and --calibrate gives its mean and interval, with "
                "--difference those of every pair of runs; here use a measure such as RBP, P or RR."
            )


def level_of(measures: Iterable[Measure], trusted: Qrels) -> float:
    """The one grade from which all of these measures count a document as relevant; of gains the lowest one judged."""
    wanted = list(measures)
    for measure in wanted:
        if measure.graded and is_weighted_sum(measure):
            raise UsageError(
                f"{measure} counts grades, but calibrated labels are probabilities of being relevant. Use a measure "
                "such as RBP, P or nDCG."
            )
    facts = TopicFacts(trusted)
    levels = sorted({lowest_relevant_grade(measure, facts) for measure in wanted})
    if len(levels) > 1:
        raise UsageError(
            f"Labels are calibrated for one lowest relevant grade, but these measures have {len(levels)} (rel="
            f"{', '.join(f'{level:g}' for level in levels)}). Use one at a time."
        )
    return levels[0]
