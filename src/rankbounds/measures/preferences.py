"""Preferences between judged documents: bpref, its variants, and rpref for grades."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns.by_rank import Places
from rankbounds.measures.facts import Exactness
from rankbounds.measures.formulas import quotient, share_of_known
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import NOT_NEGATIVE, parameter
from rankbounds.measures.precision.average_precision import AveragedPrecisions, PrecisionTerms, Turns
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import before_and_within, group_means, share_above

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
        """How many non-relevant documents count, and what their number is divided by, for each list.

        From how many documents of the topic are relevant, how many not, and how many of these are retrieved.
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
        """Exact over the judgments that the retrieved unjudged documents may get.

        A relevant document that moves up never lowers the value. So with k of the unjudged documents relevant and the
        others not, the best case has the k highest and the worst the k lowest; the extremes over k are the bounds.

        Documents that nobody retrieved may turn out relevant or not, and both loosen the penalty: more relevant ones
        raise its limit, more others its divisor. So there the bounds are outer ones: above no penalty at all, below the
        penalty that there is without them, yet the divisor R with as many as there may be.
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
    """Which documents are judged relevant, and which judged not to be."""
    relevant = rankings.grade >= rel
    return relevant, rankings.present & ~rankings.holes & ~relevant


def _limited_sum(upper: Floats, limit: Ints) -> Floats:
    """The sum of min(limit, x) over x = 0, 1, ..., upper."""
    rising = np.minimum(upper, limit)
    total: Floats = rising * (rising + 1) / 2 + (upper - rising) * limit
    return total


def _at_marked(marked: Flags, counts: Ints) -> Ints:
    """For each list the counts at its marked documents, zeros behind the last."""
    row, rank, number = Places.of(marked)
    at_marked = np.zeros((len(marked), int(number.max(initial=-1)) + 1), dtype=np.int64)
    at_marked[row, number] = counts[row, rank]
    return at_marked


def _number_up_to(marked: Flags, counts: Ints) -> Ints:
    """For each list how many marked documents have a count of at most 0, 1, 2, ..."""
    row, column = np.nonzero(marked)
    width = marked.shape[-1] + 1
    with_count = np.bincount(row * width + counts[row, column], minlength=len(marked) * width)
    return np.cumsum(with_count.reshape(-1, width), axis=-1)


def _look_up(up_to: Ints, limit: Ints) -> Ints:
    """``up_to`` at these counts; 0 below 0."""
    count = np.clip(limit, 0, up_to.shape[-1] - 1)
    return np.where(limit < 0, 0, np.take_along_axis(up_to, count, axis=-1))


class Bpref(LimitedPenalty):
    """How rarely judged non-relevant documents stand above relevant ones; unjudged documents are not seen at all.

    Each relevant document retrieved counts for 1, minus the share of the first R judged non-relevant documents that
    stand above it; one that is not retrieved counts for 0. So it stays level while judgments grow fewer, where AP
    falls; but a system whose documents nobody judged is scored on the few that somebody did. ``low`` and ``high`` are
    exact extremes over all judgments that the retrieved unjudged documents could get, widened where needed to hold
    the value itself.

    Without judged non-relevant documents it is the share of the relevant ones retrieved; without relevant ones, or
    when nothing judged is retrieved, it is 0. ``k=10`` counts the first R + 10 non-relevant documents (BPref-10).

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

    Where many documents are judged non-relevant, what stands near the top hardly counts.
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


class Preference(Measure):
    """Sum over relevant documents of gain * (1 - penalty / divisor), over the gain of all relevant documents.

    A document's penalty is the sum over judged documents above it that gain less, of what they lack in proportion:
    (g - g_i) / g. What is called shortfall here is g times the penalty.
    """

    judged_only = True
    graded = True
    exactness: ClassVar[Exactness] = "unknown"
    value_range = (0.0, 1.0)
    sources: ClassVar[tuple[str, ...]] = ("debeer2006rpref", "sakai2007alternatives")

    def scale(self, condensed: Rankings) -> tuple[Floats, Floats]:
        """For every rank whether a document there counts, and 1 / divisor."""
        raise NotImplementedError

    def gains(self, condensed: Rankings) -> tuple[Floats, Floats, Floats]:
        """The gain of every document, the gain of each list's topic in all, and the levels that gains may have."""
        facts = condensed.facts
        return condensed.gain(), facts.total_gain[condensed.topic], facts.levels

    def worth(self, rankings: Rankings) -> Floats:
        return rankings.gain()

    def value(self, rankings: Rankings) -> Floats:
        condensed = rankings.condensed()
        gain, total, levels = self.gains(condensed)
        counts, inverse = self.scale(condensed)
        shortfall = np.zeros(gain.shape)
        for level in levels:
            less = gain < level
            above = level * np.cumsum(less, axis=-1) - np.cumsum(np.where(less, gain, 0.0), axis=-1)
            shortfall = np.where(gain == level, above, shortfall)
        return quotient((gain * counts - shortfall * inverse).sum(axis=-1), total)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        """A tied document is equally likely in every place; in each, all others of the group are above it alike."""
        condensed = rankings.condensed()
        gain, total, levels = self.gains(condensed)
        counts, inverse = (np.broadcast_to(factor, gain.shape) for factor in self.scale(condensed))
        surely, tied = np.zeros(gain.shape), np.zeros(gain.shape)
        for level in levels:
            number = before_and_within(condensed, (gain < level).astype(np.float64))
            worth = before_and_within(condensed, np.where(gain < level, gain, 0.0))
            surely, tied = (
                np.where(gain == level, level * n - w, old)
                for n, w, old in zip(number, worth, (surely, tied), strict=True)
            )
        mean = (group_means(condensed, factor) for factor in (counts, inverse, inverse * share_above(condensed)))
        counted, penalised, penalised_by_tied = mean
        terms = gain * counted - surely * penalised - tied * penalised_by_tied
        return quotient(terms.sum(axis=-1), total)


class RelativePreference(Preference):
    """Divided by the number of judged documents above, and the document itself if ``itself`` is 1."""

    itself: ClassVar[float] = 0.0

    def scale(self, condensed: Rankings) -> tuple[Floats, Floats]:
        divisor = np.arange(condensed.width) + self.itself
        return (divisor > 0).astype(np.float64), quotient(np.ones(1), divisor)


class BinaryPreference(AveragedPrecisions, RelativePreference):
    """Preferences of relevant documents over others."""

    takes = ("rel",)
    graded = False
    exactness = "exact"
    collection_exactness = "exact"
    vanishes = True

    def shrinkage(self, rankings: Rankings) -> Floats:
        return share_of_known(rankings, self.rel)

    def gains(self, condensed: Rankings) -> tuple[Floats, Floats, Floats]:
        return condensed.relevant(self.rel), condensed.num_relevant(self.rel), np.ones(1)

    def worth(self, rankings: Rankings) -> Floats:
        return rankings.relevant(self.rel)

    def precision_terms(self, rankings: Rankings, unjudged: int) -> PrecisionTerms:  # noqa: ARG002
        return self._binary_terms(rankings, self.scale(rankings)[1], itself=self.itself)

    def bounds(self, rankings: Rankings) -> Bounds:
        inverse = self.scale(rankings)[1]
        return Turns.of(rankings, self.rel, rankings.width, weights=inverse, itself=self.itself).bounds()


class Bpref_relative(BinaryPreference):  # noqa: N801 (the paper's name)
    """Bpref that divides the non-relevant documents above by the number of judged documents above.

    Flawed, and given for comparison: a relevant document at the first rank counts for nothing, so that a perfect
    ranking scores (R - 1) / R.

    Source: De Beer and Moens, SIGIR 2006; Sakai 2007, equation 18.
    """

    example = ("Bpref_relative", 0.1667)
    examples = ("Bpref_relative", "Bpref_relative(rel=2)")


class Bpref_relative2(BinaryPreference):  # noqa: N801 (the paper's name)
    """Bpref divided by the rank among judged documents, which is average precision on the condensed list: AP'.

    Source: Sakai 2007, equation 20 (also called induced AP; Yilmaz and Aslam, CIKM 2006).
    """

    itself = 1.0
    example = ("Bpref_relative2", 0.5556)
    examples = ("Bpref_relative2",)
    sources = ("sakai2007alternatives", "yilmaz2006estimating")


class Rpref_N(Preference):  # noqa: N801 (the paper's name)
    """Bpref for grades: how rarely documents of less gain stand above those of more, among judged documents.

    The penalty is divided by the judged documents' distance from the largest gain, summed: N where gains are binary,
    when it is Bpref_N. Bounds are not known.

    Source: De Beer and Moens, SIGIR 2006; Sakai 2007, equation 16: over the relevant documents that were retrieved
    (equation 2 also credits those that were not).
    """

    example = ("Rpref_N", 0.3333)
    examples = ("Rpref_N",)

    def scale(self, condensed: Rankings) -> tuple[Floats, Floats]:
        facts, topic = condensed.facts, condensed.topic
        distance = facts.judged[topic] - facts.total_gain[topic] / facts.max_gain
        # Rounding may leave a trace where every judged document has the largest gain, and nothing is penalised.
        distance = np.where(distance > 1e-9, distance, 0.0)
        return np.ones(1), quotient(np.ones(1), distance)[:, None]


class Rpref_relative(RelativePreference):  # noqa: N801 (the paper's name)
    """Rpref divided by the number of judged documents above. A document at the first rank counts for nothing.

    Bounds are not known. Source: De Beer and Moens, SIGIR 2006; Sakai 2007, equation 17 (not 7, which
    divides by 0 below unjudged documents).
    """

    example = ("Rpref_relative", 0.1667)
    examples = ("Rpref_relative",)


class Rpref_relative2(RelativePreference):  # noqa: N801 (the paper's name)
    """Rpref divided by the rank among judged documents: 1 for an ideal ranking, AP' where gains are binary.

    Bounds are not known. Source: Sakai 2007, equation 19.
    """

    itself = 1.0
    example = ("Rpref_relative2", 0.6667)
    examples = ("Rpref_relative2",)
    sources = ("sakai2007alternatives",)
