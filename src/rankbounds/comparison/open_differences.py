"""What may still change a difference: unjudged documents on topics that are level now, documents that nobody retrieved.

A relevant document that no list holds makes the ideal ranking (nDCG) or the number of relevant documents (AP, recall)
larger, by which both scores are divided. So on each topic it shrinks the difference by a factor and never turns it; but
it may shrink it on topics that one run wins and not on those that it loses. The mean therefore lies between the one
where the topics won shrink as far as they can and those lost stay as they are, and the reverse: both are attained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.score_differences import differences, equal
from rankbounds.measures import Measure
from rankbounds.rankings.join import empty_rankings
from rankbounds.rankings.ties import ORDERS

if TYPE_CHECKING:
    from rankbounds.comparison.evidence import Evidence
    from rankbounds.evaluation.scores import Scores

COVERED = 10
"""How deep ``Scores.judged`` looks."""


def can_differ(scores: Scores, place: int, first: Ints, second: Ints, evidence: Evidence | None) -> Ints:
    """On how many topics each pair can differ by one measure at the most, whatever unjudged documents turn out to be.

    With the lists as evidence by the bounds of each topic's difference; else a topic on which two scores are equal and
    nothing of either is open has none. All topics where nothing is known.
    """
    measure, topics = scores.measures[place], scores.value.shape[1]
    if evidence is not None:
        return evidence.topics_that_can_differ(measure, first, second)
    if scores.bounds not in ("unjudged", "both") or not measure.list_only:
        return np.full(first.size, topics)
    value, low, high = (part[:, :, place] for part in (scores.value, scores.low, scores.high))
    settled = np.asarray(equal(low, high))
    alike = equal(value[first], value[second]) & settled[first] & settled[second]
    return topics - np.count_nonzero(alike, axis=-1)


def left_open(
    evidence: Evidence | None,
    scores: Scores,
    measure: Measure,
    first: Ints,
    second: Ints,
    certain: tuple[Floats, Floats],
) -> tuple[Floats, Floats, Flags]:
    """Between which means the differences of these pairs lie, whatever relevant documents nobody retrieved.

    NaN where something that the measure reads is unjudged, or where unknown relevant documents do not act on all lists
    alike. The last array says where a difference shrinks without limit, the more of them there are. ``certain`` are the
    bounds of the differences, which are the answer where they cover the whole collection.
    """
    low, high = np.full((2, first.size), np.nan)
    endless = np.zeros(first.size, dtype=bool)
    if evidence is None or not _concerned(evidence, scores):
        return low, high, endless
    topics = empty_rankings(np.arange(len(scores.query_ids)), evidence.facts).open_to(np.inf)
    shrinkage = measure.shrinkage(topics)
    if shrinkage is None:
        return low, high, endless
    judged = _all_judged(evidence, scores, measure, np.unique(np.concatenate([first, second])))
    pairs = np.flatnonzero(judged[first] & judged[second])
    if evidence.assumptions.open == "collection":
        low[pairs], high[pairs] = (bound[pairs] for bound in certain)
    else:
        values = scores.value[:, :, scores.measures.index(measure)]
        apart = differences(values[first[pairs]], values[second[pairs]])
        shrunk = apart * shrinkage
        low[pairs], high[pairs] = np.minimum(apart, shrunk).mean(axis=-1), np.maximum(apart, shrunk).mean(axis=-1)
    endless[pairs] = evidence.assumptions.most_relevant is None and measure.vanishes
    return low, high, endless


def _concerned(evidence: Evidence, scores: Scores) -> bool:
    """Are values those of judged documents in one order, of the runs and on the topics of the evidence?"""
    assumptions = evidence.assumptions
    return (
        assumptions.ties in ORDERS
        and assumptions.bounds == "unjudged"
        and assumptions.unjudged.name == "nonrelevant"
        and scores.runs == evidence.names
        and scores.query_ids == list(evidence.facts.query_ids)
    )


def _all_judged(evidence: Evidence, scores: Scores, measure: Measure, runs: Ints) -> Flags:
    """By run, of those with these numbers: is every document judged, as far down as the measure reads?"""
    judged = np.zeros(len(scores.runs), dtype=bool)
    judged[runs] = (scores.judged[runs] == 1).all(axis=-1)
    if not judged.any() or (measure.cutoff is not None and measure.cutoff <= COVERED):
        return judged
    for rankings in evidence.shared_lists(runs.tolist()).by_topic:
        judged[runs] &= ~rankings.holes[:, : measure.depth(rankings)].any(axis=-1)
    return judged
