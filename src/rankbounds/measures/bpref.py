"""bpref, and its variants that limit the penalty; those for grades, or divided by the rank, are in ``rpref``."""

from __future__ import annotations

from functools import partial

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns.by_rank import Places
from rankbounds.measures.formulas import quotient
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import NOT_NEGATIVE, parameter
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import before_and_within

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
        """Return how many non-relevant documents count, and the divisor of their number, for each list.

        Both depend on how many documents of the topic are relevant, how many not, and how many of these are retrieved.
        """
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

        A relevant document that moves up never lowers the value. So with k of the unjudged documents relevant and the
        others not, the best case has the k highest and the worst the k lowest; the extremes over k are the bounds.

        Documents that nobody retrieved may be relevant or not, and both loosen the penalty: more relevant ones raise
        its limit, more others its divisor. So with these the bounds are outer ones: above no penalty at all, below the
        penalty without them, but the divisor R with as many as there may be.
        """
        relevant, nonrelevant = _relevant_and_not(rankings, self.rel)
        holes = rankings.holes
        count = rankings.num_holes[:, None]
        turned = np.minimum(np.arange(int(count.max(initial=0)) + 1), count)
        rest = count - turned
        number = rankings.facts.relevant(self.rel)[rankings.topic][:, None]
        judged = rankings.facts.judged[rankings.topic][:, None]
        limit, divisor = self.limit_and_divisor(
            number + turned, judged - number + rest, np.count_nonzero(nonrelevant, axis=-1)[:, None] + rest
        )
        nonrelevant_above, holes_above = (np.cumsum(marks, axis=-1, dtype=np.int64) for marks in (nonrelevant, holes))

        best, worst = (np.zeros(turned.shape) for _ in range(2))
        found = np.count_nonzero(relevant, axis=-1)[:, None]
        above, open_above = (_at_marked(relevant, counts) for counts in (nonrelevant_above, holes_above))
        for nth in range(above.shape[-1]):  # the known relevant documents, one of each list at a time
            here, surely, open_here = nth < found, above[:, nth, None], open_above[:, nth, None]
            best += np.where(here, np.minimum(limit, surely + np.maximum(open_here - turned, 0)), 0)
            worst += np.where(here, np.minimum(limit, surely + np.minimum(open_here, rest)), 0)

        # The unjudged documents turned relevant. Their numbers of non-relevant documents above rise down the list, so
        # that those within the limit are the first so many, and prefix sums give the rest.
        at_holes = _at_marked(holes, nonrelevant_above)
        up_to = _number_up_to(holes, nonrelevant_above)
        sums = np.concatenate((np.zeros((len(at_holes), 1)), np.cumsum(at_holes, axis=-1)), axis=-1)
        sum_of = partial(np.take_along_axis, sums, axis=-1)
        within = np.minimum(turned, _look_up(up_to, limit))
        best += (sum_of(within) + (turned - within) * limit).astype(np.float64)
        within = np.clip(_look_up(up_to, limit - rest), rest, count)
        beyond = (within - rest) * rest + (count - within) * limit
        worst += (sum_of(within) - sum_of(rest) + beyond).astype(np.float64)

        low, high = (found + turned - quotient(total, divisor) for total in (worst, best))
        if rankings.most_relevant:
            high = (found + turned).astype(np.float64)
        low = quotient(low, number + np.maximum(turned, rankings.room(number)))
        return low.min(axis=-1), quotient(high, number + turned).max(axis=-1)


def _relevant_and_not(rankings: Rankings, rel: float) -> tuple[Flags, Flags]:
    relevant = rankings.grade >= rel
    return relevant, rankings.present & ~rankings.holes & ~relevant


def _limited_sum(upper: Floats, limit: Ints) -> Floats:
    rising = np.minimum(upper, limit)
    total: Floats = rising * (rising + 1) / 2 + (upper - rising) * limit
    return total


def _at_marked(marked: Flags, counts: Ints) -> Ints:
    """Return, for each list, the counts at its marked documents, zeros behind the last."""
    row, rank, number = Places.of(marked)
    at_marked = np.zeros((len(marked), int(number.max(initial=-1)) + 1), dtype=np.int64)
    at_marked[row, number] = counts[row, rank]
    return at_marked


def _number_up_to(marked: Flags, counts: Ints) -> Ints:
    """Return, for each list, how many marked documents have a count of at most 0, 1, 2, ..."""
    row, column = np.nonzero(marked)
    width = marked.shape[-1] + 1
    with_count = np.bincount(row * width + counts[row, column], minlength=len(marked) * width)
    return np.cumsum(with_count.reshape(-1, width), axis=-1)


def _look_up(up_to: Ints, limit: Ints) -> Ints:
    count = np.clip(limit, 0, up_to.shape[-1] - 1)
    return np.where(limit < 0, 0, np.take_along_axis(up_to, count, axis=-1))


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
