"""bpref, and its variants that limit the penalty; those for grades, or divided by the rank, are in ``rpref``."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.measures.formulas import quotient
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import NOT_NEGATIVE, parameter
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import before_and_within, sums_before

LimitAndDivisor = tuple[Ints, Ints]


class LimitedPenalty(Measure):
    """(1/R) * sum over relevant documents retrieved of 1 - min(limit, non-relevant documents above) / divisor."""

    rel: float = 1.0

    judged_only = True
    collection_exactness = "outer"
    vanishes = True
    value_range = (0.0, 1.0)
    sources = ("buckley2004retrieval", "sakai2007alternatives")
    difference_argument = "limited_penalties"

    def limit_and_divisor(self, relevant: Ints, nonrelevant: Ints, retrieved: Ints) -> LimitAndDivisor:
        """Return how many non-relevant documents count, and the divisor of their number, for each list."""
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        condensed = rankings.condensed()
        relevant, nonrelevant = _relevant_and_not(condensed, self.rel)
        limit, divisor = self._of_topics(condensed, nonrelevant)
        penalty = np.minimum(limit[:, None], np.cumsum(nonrelevant, axis=-1))
        return self._averaged(condensed, relevant, penalty, divisor)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        """Of n non-relevant documents tied with a relevant one, 0, 1, ..., n stand above it with equal chance."""
        condensed = rankings.condensed()
        relevant, nonrelevant = _relevant_and_not(condensed, self.rel)
        limit, divisor = self._of_topics(condensed, nonrelevant)
        before, within = before_and_within(condensed, nonrelevant.astype(np.float64))
        total = _limited_sum(before + within, limit[:, None]) - _limited_sum(before - 1, limit[:, None])
        return self._averaged(condensed, relevant, total / (within + 1), divisor)

    def _of_topics(self, condensed: Rankings, nonrelevant: Flags) -> LimitAndDivisor:
        facts, topic = condensed.facts, condensed.topic
        number = facts.relevant(self.rel)[topic]
        return self.limit_and_divisor(number, facts.judged[topic] - number, np.count_nonzero(nonrelevant, axis=-1))

    def _averaged(self, condensed: Rankings, relevant: Flags, penalty: Floats | Ints, divisor: Ints) -> Floats:
        terms = np.where(relevant, 1 - quotient(penalty, divisor[:, None]), 0.0)
        # Added one after the other, as trec_eval does: values half way between two printed ones then round alike.
        return quotient(np.cumsum(terms, axis=-1)[:, -1], condensed.num_relevant(self.rel))

    def bounds(self, rankings: Rankings) -> Bounds:
        """Return exact bounds over judgments of the retrieved unjudged documents.

        With k of them relevant, the best case has the k highest and the worst the k lowest. Documents that nobody
        retrieved loosen the penalty; with these the bounds are outer: above no penalty at all, below the penalty
        without them, but the divisor R with as many as there may be.
        """
        relevant, nonrelevant = _relevant_and_not(rankings, self.rel)
        holes = rankings.num_holes[:, None]
        turned = np.minimum(np.arange(int(holes.max(initial=0)) + 1), holes)
        rest = holes - turned
        number, judged = (
            count[rankings.topic][:, None] for count in (rankings.facts.relevant(self.rel), rankings.facts.judged)
        )
        retrieved = np.count_nonzero(nonrelevant, axis=-1)[:, None]
        limit, divisor = self.limit_and_divisor(number + turned, judged - number + rest, retrieved + rest)
        surely_above, open_above = (
            np.cumsum(marks, axis=-1, dtype=np.int64) for marks in (nonrelevant, rankings.holes)
        )
        surely = LimitedSums(relevant | rankings.holes, surely_above, limit)
        perhaps = LimitedSums(relevant, surely_above + open_above, limit)
        switch = _number_up_to(open_above)
        all_turned, none_turned = (_look_up(switch, count) for count in (turned, rest))
        best = surely.over(0, 0, all_turned) + perhaps.over(-turned, all_turned, rankings.width)
        worst = perhaps.over(0, 0, none_turned) + surely.over(rest, none_turned, rankings.width)

        found = np.count_nonzero(relevant, axis=-1)[:, None] + turned
        low, high = (found - quotient(total, divisor) for total in (worst, best))
        if rankings.most_relevant:
            high = found.astype(np.float64)
        low = quotient(low, number + np.maximum(turned, rankings.room(number)))
        return low.min(axis=-1), quotient(high, number + turned).max(axis=-1)


class LimitedSums:
    """Sums over marked documents of min(limit, documents above + shift), for several limits of each list."""

    def __init__(self, marked: Flags, above: Ints, limit: Ints) -> None:
        self.limit = limit
        self.number, self.total = sums_before(marked), sums_before(marked * above)
        self.within = _number_up_to(above)

    def over(self, shift: Ints | int, begin: Ints | int, end: Ints | int) -> Floats:
        """Return the sums from one rank to another: those within the limit come first."""
        begin, end = np.broadcast_arrays(begin, end, self.limit)[:2]
        inner = np.clip(_look_up(self.within, self.limit - shift), begin, end)
        number, total = (
            [np.take_along_axis(sums, at, axis=-1) for at in (begin, inner, end)] for sums in (self.number, self.total)
        )
        return total[1] - total[0] + shift * (number[1] - number[0]) + self.limit * (number[2] - number[1])


def _number_up_to(counts: Ints) -> Ints:
    lists, width = counts.shape
    cell = np.arange(lists)[:, None] * (width + 1) + counts
    return np.cumsum(np.bincount(cell.ravel(), minlength=lists * (width + 1)).reshape(lists, width + 1), axis=-1)


def _look_up(up_to: Ints, limit: Ints) -> Ints:
    return np.where(limit < 0, 0, np.take_along_axis(up_to, np.clip(limit, 0, up_to.shape[-1] - 1), axis=-1))


def _relevant_and_not(rankings: Rankings, rel: float) -> tuple[Flags, Flags]:
    relevant = rankings.grade >= rel
    return relevant, rankings.present & ~rankings.holes & ~relevant


def _limited_sum(upper: Floats, limit: Ints) -> Floats:
    rising = np.minimum(upper, limit)
    total: Floats = rising * (rising + 1) / 2 + (upper - rising) * limit
    return total


class Bpref(LimitedPenalty):
    """How rarely judged non-relevant documents rank above relevant ones; unjudged documents are ignored.

    Each relevant document retrieved counts 1, minus the share of the first R judged non-relevant documents that rank
    above it; one that is not retrieved counts 0. So it stays level with fewer judgments, where AP falls; but a system
    with few judged documents is scored on these few. ``low`` and ``high`` are exact extremes over all judgments of the
    retrieved unjudged documents, widened where needed to contain the value.

    Without judged non-relevant documents it is the share of the relevant ones retrieved; without relevant ones, or if
    nothing judged is retrieved, it is 0. ``k=10`` counts the first R + 10 non-relevant documents (BPref-10).

    bpref = (1/R) * sum over relevant documents of 1 - min(R + k, non-relevant above) / min(R + k, N).

    Sources: Buckley and Voorhees, SIGIR 2004; Sakai, Alternatives to Bpref, SIGIR 2007, equation 9.
    """

    k: int = parameter("How many non-relevant documents beyond R count too.", NOT_NEGATIVE, default=0)

    example = ("Bpref", 0.3333)
    examples = ("Bpref", "Bpref(k=10)", "Bpref(k=1)", "Bpref(rel=2)")
    trec_names = ("bpref",)

    def limit_and_divisor(self, relevant: Ints, nonrelevant: Ints, retrieved: Ints) -> LimitAndDivisor:  # noqa: ARG002
        limit = relevant + self.k
        return limit, np.minimum(limit, nonrelevant)


class Bpref_R(LimitedPenalty):  # noqa: N801 (the paper's name)
    """Bpref divided by R even where fewer than R documents are judged non-relevant (Sakai 2007, equation 10)."""

    example = ("Bpref_R", 0.5556)
    examples = ("Bpref_R",)

    def limit_and_divisor(self, relevant: Ints, nonrelevant: Ints, retrieved: Ints) -> LimitAndDivisor:  # noqa: ARG002
        return relevant, relevant


class Bpref_N(LimitedPenalty):  # noqa: N801 (the paper's name)
    """Bpref with every judged non-relevant document counted, not only the first R (bpref_allnonrel; equation 11).

    If many documents are judged non-relevant, those near the top hardly count.
    """

    example = ("Bpref_N", 0.3333)
    examples = ("Bpref_N",)

    def limit_and_divisor(self, relevant: Ints, nonrelevant: Ints, retrieved: Ints) -> LimitAndDivisor:  # noqa: ARG002
        return nonrelevant, nonrelevant


class Bpref_old(LimitedPenalty):  # noqa: N801 (the paper's name)
    """The first bpref of trec_eval, kept for old results: N counts the retrieved non-relevant documents only.

    It can rise when a system retrieves one more non-relevant document far down, which is why it was replaced.
    """

    example = ("Bpref_old", 0.3333)
    examples = ("Bpref_old",)

    def limit_and_divisor(self, relevant: Ints, nonrelevant: Ints, retrieved: Ints) -> LimitAndDivisor:  # noqa: ARG002
        return relevant, np.minimum(relevant, retrieved)
