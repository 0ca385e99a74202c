"""What nobody retrieved: relevant documents that neither list holds, and what they make of a difference.

What it means: how far A can be ahead of B when not only the unjudged documents of both lists get judgments, but
relevant documents exist that no list holds, as many as there is room for beside the known ones and the unjudged ones
that turn out relevant (``Rankings.room``).

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

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.completions import subtracted
from rankbounds.evaluation.differences.greatest import CELLS, Found, Greatest
from rankbounds.evaluation.differences.shared_lists import Choice, Documents
from rankbounds.evaluation.differences.tied_weights import TiedWeights
from rankbounds.measures import Measure
from rankbounds.measures.counts import NumRel
from rankbounds.measures.measure import Normalised, quotient
from rankbounds.measures.relative_preference import Preference
from rankbounds.rankings.rankings import Rankings


def is_concerned(measure: Measure) -> bool:
    """Can documents that no list holds change a difference by this measure?"""
    return not (measure.list_only or measure.as_retrieved or isinstance(measure, NumRel))


def has_room(measure: Measure, rankings: Rankings) -> bool:
    """May there be documents that no list holds and that change what the measure says of the topic?"""
    if measure.judged_only:  # judged documents that are not relevant count too, and there is no limit to them
        return True
    return bool(rankings.room(_known(measure, rankings)).any()) or _all_gain(measure, rankings)


def documents_that_gain(measure: Normalised, assumptions: Assumptions) -> Choice:
    """Those that count where they stand."""

    def choice(rankings: Rankings) -> Flags:
        return TiedWeights.of(measure, rankings, assumptions).most > 0

    return choice


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


def greatest_of_sums(
    measure: Normalised, rankings: Rankings, documents: Documents, assumptions: Assumptions, retrieved: Greatest
) -> Greatest | None:
    """The same for weighted sums, whose least numerator is known."""
    shrinkage = measure.shrinkage(rankings)
    if shrinkage is None or not rankings.length.size:
        return None
    weights = TiedWeights.of(measure, rankings, assumptions)
    judged = rankings.assume(0.0)
    spread = float((measure.worth(rankings.assume(1.0)) - measure.worth(judged)).max(initial=0.0))
    divisor = measure.divisor(judged)
    most, least = (
        np.concatenate((np.zeros((side.shape[0], 1)), side), axis=-1) for side in (weights.most, weights.least)
    )
    room = int(min(rankings.room(_known(measure, rankings)).max(), documents.count))

    def greatest(a: Ints, b: Ints) -> Found:
        result, exact = retrieved(a, b)
        behind = np.flatnonzero(result < 0)
        for start in range(0, behind.size, size := max(1, CELLS // (2 * int(documents.held.max(initial=0)) + 1))):
            pairs = behind[start : start + size]
            line, other = a[pairs], b[pairs]
            ahead = weights.base_most[line] - weights.base_least[other] + spread * gained(line, other)
            shrunk = quotient(ahead, divisor[line]) * shrinkage[line]
            result[pairs] = np.maximum(result[pairs], shrunk)
        return result, exact & ((result >= 0) | (not _all_gain(measure, rankings)))

    def gained(a: Ints, b: Ints) -> Floats:
        """The largest net weights above 0 of the pairs' unjudged documents, no more than there is room for, summed."""
        rank_a, rank_b = documents.of_either(a, b)
        net = np.maximum(most[a[:, None], rank_a] - least[b[:, None], rank_b], 0.0)
        net[:, ::-1].sort(axis=-1)
        total: Floats = net[:, :room].sum(axis=-1)
        return total

    return greatest


def _known(measure: Measure, rankings: Rankings) -> Ints:
    """How many relevant documents are known, as the measure counts them."""
    facts = rankings.facts
    if not measure.graded:
        return facts.relevant(measure.rel)[rankings.topic]
    level = min(int(_all_gain(measure, rankings)), facts.levels.size - 1)
    return facts.count_from_level[level][rankings.topic]


def _all_gain(measure: Measure, rankings: Rankings) -> bool:
    """Do documents that are not relevant gain something too? There is no limit to how many of them exist."""
    return measure.graded and rankings.facts.nonrelevant_gain > 0


def greatest_apart_in_collection(measure: Measure, rankings: Rankings, assumptions: Assumptions) -> Greatest:
    """The most that A can have in any collection less the least that B can have."""
    everything = replace(assumptions, open="collection", most_relevant=None)
    ends = everything.low_high(measure, rankings)
    if ends is None and isinstance(measure, Preference):
        ends = np.zeros(rankings.length.size), np.ones(rankings.length.size)
    unknown = np.full(rankings.length.size, np.nan)
    low, high = ends or (unknown, unknown)

    def greatest(a: Ints, b: Ints) -> Found:
        return subtracted(high[a], low[b]), np.zeros(a.size, dtype=bool)

    return greatest
