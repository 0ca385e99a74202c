"""Where nothing better is known: the most that A can have minus the least that B can have.

What it means: a bound that no judgments leave, though none may attain it, because one document may be taken to be
relevant for A and not for B. What is known of a list's value comes from the measure's facts:

* A measure of the list alone has bounds over its own unjudged documents, and other documents change nothing.
* Where relevant documents outside the list never lower the value (a search among all documents of a collection), it is
  best with all documents of either list relevant, and worst with none.
* Where they never raise it, what A can have by its own documents is the most; ``least_among`` may know the least.
* Every other value lies in the measure's range, if it has one.

Relevant documents that neither list holds (``open="collection"``), as many as there is room for beside the known ones
and the unjudged ones that turn out relevant (``Rankings.room``), are the same question:

* Both lists divided by the same number (nDCG, recall, AP, F to a depth): such documents gain nothing and make the
  divisor larger. Where A can be ahead they are no help to it, and the greatest difference is what it is without them.
  Where A is behind whatever the judgments, they bring it nearer: with as many as there may be, the divisor is settled
  unless more unjudged documents than that turn out relevant, which is a case without them. So the least lead of B is
  its numerator at the least over that divisor, for a weighted sum: the documents of the largest net weights for A, no
  more of them than there is room for. For others (AP) B's lead without them, shrunk as far as any divisor can be, is
  an outer bound, exact where nothing that the lists hold is unjudged.
* Precision at R reads deeper with every relevant document: ``precision_at_r`` tries every R.
* Lists that alone decide their values are not concerned. Of all others, each list has its own bounds over the whole
  collection, and the difference lies between them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.completions import EnumeratedFacts, completed_ends, subtracted
from rankbounds.evaluation.differences.shared_lists import Found, Greatest, OpenTopic, in_parts
from rankbounds.evaluation.differences.weighted_sums import TiedWeights
from rankbounds.measures import Measure
from rankbounds.measures.formulas import Normalised, quotient
from rankbounds.rankings.rankings import Rankings


def greatest_of_ends(measure: Measure, topic: OpenTopic) -> Greatest:
    """How large the difference of any two of the lists can be, at most."""
    rankings, documents = topic.rankings, topic.documents
    # Of documents outside the list, those judged not to be relevant can count for measures of judged documents.
    outside = "either" if measure.judged_only else measure.outside
    if outside == "raises" and measure.monotone and not (measure.list_only or measure.graded):
        return _greatest_of_all_or_none(measure, topic)
    least, most = topic.assumptions.low_high(measure, rankings) or (None, None)
    if not measure.list_only:  # documents outside the list may lower the least, or raise the greatest value
        least = least if outside == "lowers" and measure.lower_is_better else None
        most = most if outside == "lowers" and not measure.lower_is_better else None
    low, high = _within_range(measure, rankings, least, most)
    if not measure.list_only and (np.isnan(low).any() or np.isnan(high).any()):
        # To either list, the other one's documents are like any that it lacks.
        known_relevant = float(_known_relevant(measure, rankings).max(initial=0))
        opened = rankings.open_to(known_relevant + documents.most_of_two)
        outer = replace(topic.assumptions, open="collection").low_high(measure, opened)
        if outer is not None:
            low, high = np.where(np.isnan(low), outer[0], low), np.where(np.isnan(high), outer[1], high)
    relevant_known = rankings.assume(0.0).num_relevant(measure.rel)

    def greatest(a: Ints, b: Ints) -> Found:
        relevant = relevant_known[b] + documents.held[a] + documents.held[b] - documents.overlap[a, b]
        least = measure.least_among(rankings, b, relevant)
        return subtracted(high[a], low[b] if least is None else least), np.zeros(a.size, dtype=bool)

    return greatest


def _within_range(
    measure: Measure, rankings: Rankings, low: Floats | None, high: Floats | None
) -> tuple[Floats, Floats]:
    """By list the least and the greatest value where they are known, else the ends of the measure's range; or NaN."""
    least, most = (
        np.full(rankings.length.size, limit if np.isfinite(limit) else np.nan) for limit in measure.value_range
    )
    if low is not None:
        least = np.where(np.isnan(low), least, low)
    return least, most if high is None else np.fmin(np.where(np.isnan(high), most, high), most)


def _greatest_of_all_or_none(measure: Measure, topic: OpenTopic) -> Greatest:
    """All documents of either list relevant on the one side, none on the other."""
    rankings, documents = topic.rankings, topic.documents

    def number_of_either(a: Ints, b: Ints) -> Ints:
        shared = documents.overlap[a, b].astype(np.int64)
        return np.asarray(documents.held[a] + documents.held[b] - shared)

    def greatest(a: Ints, b: Ints) -> Found:
        either = number_of_either(a, b)
        highs, lows = ([ends(lines, either, turned)[end] for turned in (0, 1)] for lines, end in ((a, 1), (b, 0)))
        return subtracted(np.maximum(*highs), np.minimum(*lows)), np.zeros(a.size, dtype=bool)

    def ends(lines: Ints, either: Ints, turned: int) -> tuple[Floats, Floats]:
        cells = np.where(rankings.holes, turned * measure.rel, rankings.grade)[lines]
        worth = turned * (np.arange(int(either.max(initial=0))) < either[:, None]).astype(np.float64)
        facts = EnumeratedFacts(rankings, worth, graded=False)
        return completed_ends(measure, topic, cells, lines, facts, np.arange(lines.size))

    return lambda a, b: in_parts(greatest, a, b, rankings.width + int(number_of_either(a, b).max(initial=0)) + 1)


def has_room(measure: Measure, rankings: Rankings) -> bool:
    """May there be documents that no list holds and that change what the measure says of the topic?"""
    if measure.judged_only:  # judged documents that are not relevant count too, and there is no limit to them
        return True
    return bool(rankings.room(_known_relevant(measure, rankings)).any()) or _all_gain(measure, rankings)


def greatest_of_shrunk(measure: Measure, rankings: Rankings, retrieved: Greatest) -> Greatest | None:
    """From the greatest differences without such documents; None: they do not divide both lists by the same."""
    shrinkage = measure.shrinkage(rankings)
    if shrinkage is None:
        return None
    judged = rankings.num_holes == 0

    def greatest(a: Ints, b: Ints) -> Found:
        result, exact = retrieved(a, b)
        behind = result < 0
        return np.where(behind, result * shrinkage[a], result), exact & (~behind | (judged[a] & judged[b]))

    return greatest


def greatest_of_sums(measure: Normalised, topic: OpenTopic, retrieved: Greatest) -> Greatest | None:
    """The same for weighted sums, whose least numerator is known."""
    rankings, documents = topic.rankings, topic.documents
    shrinkage = measure.shrinkage(rankings)
    if shrinkage is None or not rankings.length.size:
        return None
    weights = TiedWeights.of(measure, rankings, topic.assumptions)
    judged = rankings.assume(0.0)
    spread = float((measure.worth(rankings.assume(1.0)) - measure.worth(judged)).max(initial=0.0))
    divisor = measure.divisor(judged)
    room = int(min(rankings.room(_known_relevant(measure, rankings)).max(), documents.count))

    def least_lead(a: Ints, b: Ints) -> Found:
        """With the largest net weights above 0 of the pairs' unjudged documents, no more than there is room for."""
        net = np.maximum(weights.net(documents, a, b)[0], 0.0)
        net[:, ::-1].sort(axis=-1)
        ahead = weights.base(a, b) + spread * net[:, :room].sum(axis=-1)
        return quotient(ahead, divisor[a]) * shrinkage[a], np.ones(a.size, dtype=bool)

    def greatest(a: Ints, b: Ints) -> Found:
        result, exact = retrieved(a, b)
        behind = np.flatnonzero(result < 0)
        shrunk, _ = in_parts(least_lead, a[behind], b[behind], documents.most_of_two + 1)
        result[behind] = np.maximum(result[behind], shrunk)
        return result, exact & ((result >= 0) | (not _all_gain(measure, rankings)))

    return greatest


def _known_relevant(measure: Measure, rankings: Rankings) -> Ints:
    """How many relevant documents are known, as the measure counts them."""
    facts = rankings.facts
    if not measure.graded:
        return facts.relevant(measure.rel)[rankings.topic]
    level = min(int(_all_gain(measure, rankings)), facts.levels.size - 1)
    return facts.count_from_level[level][rankings.topic]


def _all_gain(measure: Measure, rankings: Rankings) -> bool:
    """Do documents that are not relevant gain something too? There is no limit to how many of them exist."""
    return measure.graded and rankings.facts.nonrelevant_gain > 0


def greatest_in_collection(measure: Measure, rankings: Rankings, assumptions: Assumptions) -> Greatest:
    """The most that A can have in any collection minus the least that B can have."""
    everything = replace(assumptions, open="collection", most_relevant=None)
    low, high = _within_range(measure, rankings, *(everything.low_high(measure, rankings) or (None, None)))
    return lambda a, b: (subtracted(high[a], low[b]), np.zeros(a.size, dtype=bool))
