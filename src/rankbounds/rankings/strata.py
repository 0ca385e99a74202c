"""Judgments of a sample: the stratum of each pooled document, and how many of each were judged.

A stratum is a part of the pool sampled at one rate; grade -1 marks its documents that were not drawn. Without names of
strata, the pool of a topic is one stratum. Documents outside the pool count as not relevant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.errors import UsageError

if TYPE_CHECKING:
    from rankbounds.rankings.rankings import Rankings
    from rankbounds.rankings.topic_facts import TopicFacts


class StrataFacts:
    """The strata of every topic, numbered from 0: their documents, those drawn, and those drawn of each gain."""

    def __init__(self, facts: TopicFacts) -> None:
        self.facts = facts
        pairs, topics = facts.qrels.pairs, len(facts.query_ids)
        topic = pairs.topic.astype(np.int64)
        stated = np.zeros(len(pairs), dtype=np.int64) if facts.qrels.strata is None else facts.qrels.strata.number
        kinds = int(stated.max(initial=0)) + 1
        named, code = np.unique(topic * kinds + stated, return_inverse=True)
        self.count = np.bincount(named // kinds, minlength=topics)
        self.number = code - (np.cumsum(self.count) - self.count)[topic]
        self.width = int(self.count.max(initial=1))
        self.drawn = ~np.isnan(facts.grade)
        self.gain = facts.rule(np.where(self.drawn, facts.grade, 0.0))
        self.population = self._per_stratum(np.ones(len(pairs), dtype=bool))
        self.sampled = self._per_stratum(self.drawn)

    def _per_stratum(self, kept: Flags) -> Floats:
        cell = self.facts.qrels.pairs.topic[kept].astype(np.int64) * (self.width + 1) + self.number[kept]
        topics = len(self.facts.query_ids)
        return np.bincount(cell, minlength=topics * (self.width + 1)).reshape(topics, -1).astype(np.float64)

    def relevant(self, rel: float) -> Floats:
        return self._per_stratum(self.drawn & (np.nan_to_num(self.facts.grade, nan=-1.0) >= rel))

    def of_gain(self) -> Floats:
        return np.stack([self._per_stratum(self.drawn & (self.gain == level)) for level in self.facts.levels], axis=-1)


@dataclass(frozen=True, eq=False)
class StratifiedLists:
    """Ranked lists and the strata of their documents, -1 outside the pool; the last axis of counts is the stratum."""

    stratum: Ints
    drawn: Flags
    relevant: Flags
    gain: Floats
    population: Floats
    sampled: Floats
    relevant_sampled: Floats
    gain_sampled: Floats
    levels: Floats

    @classmethod
    def of(cls, rankings: Rankings, rel: float) -> StratifiedLists:
        if rankings.judgment is None:
            raise UsageError("Measures of samples with strata cannot be computed here; use evaluate.")
        facts = rankings.facts.strata
        stratum = np.append(facts.number, (-1, -1))[rankings.judgment]
        assumed = rankings.holes & (np.broadcast_to(rankings.chance, rankings.grade.shape) == 1)
        drawn = (rankings.present & ~rankings.holes) | assumed
        lists = cls(
            stratum,
            drawn,
            (rankings.grade >= rel) | assumed,
            np.where(drawn, rankings.gain(), 0.0),
            facts.population[rankings.topic],
            facts.sampled[rankings.topic],
            facts.relevant(rel)[rankings.topic],
            facts.of_gain()[rankings.topic],
            rankings.facts.levels,
        )
        return lists._with(assumed, facts.count[rankings.topic]) if assumed.any() else lists

    def _with(self, assumed: Flags, count: Ints) -> StratifiedLists:
        outside = np.where(count == 1, 0, count)[:, None]
        stratum = np.where(assumed & (self.stratum < 0), outside, self.stratum)
        row, column = np.nonzero(assumed)
        cell = row, stratum[row, column]
        added = {name: getattr(self, name).copy() for name in ("population", "sampled", "relevant_sampled")}
        np.add.at(added["population"], cell, self.stratum[row, column] < 0)
        np.add.at(added["sampled"], cell, 1)
        np.add.at(added["relevant_sampled"], cell, 1)
        by_gain = self.gain_sampled.copy()
        np.add.at(by_gain, (*cell, np.full(row.size, self.levels.size - 1)), 1)
        return replace(self, stratum=stratum, gain_sampled=by_gain, **added)

    @property
    def expansion(self) -> Floats:
        """Return how many documents of its stratum a drawn one represents; 0 if none was drawn."""
        result = np.zeros(self.sampled.shape)
        return np.divide(self.population, self.sampled, out=result, where=self.sampled > 0)

    def down_to(self) -> Iterator[tuple[Flags, Floats, Floats, Floats]]:
        """Yield per stratum its cells, and how many documents, drawn and relevant ones there are down to each."""
        for number in range(self.population.shape[-1]):
            inside = self.stratum == number
            if inside.any():
                marks = (inside, inside & self.drawn, inside & self.relevant)
                documents, drawn, relevant = (np.cumsum(mark, axis=-1, dtype=np.float64) for mark in marks)
                yield inside, documents, drawn, relevant
