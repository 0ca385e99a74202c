"""rpref, and bpref divided by rank: preferences between judged documents, by how far they differ."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.average_precision import AveragedPrecisions, PrecisionTerms, Turns
from rankbounds.measures.measure import Bounds, Measure, quotient, share_of_known
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import before_and_within, group_means, share_above


class Preference(Measure):
    """Sum over relevant documents of gain * (1 - penalty / divisor), over the gain of all relevant documents.

    A document's penalty is the sum over judged documents above it that gain less, of what they lack in proportion:
    (g - g_i) / g. What is called shortfall here is g times the penalty.
    """

    judged_only = True

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


class Binary(Preference):
    """Preferences of relevant documents over others."""

    rel: float = 1.0

    collection_exactness = "exact"
    vanishes = True

    def shrinkage(self, rankings: Rankings) -> Floats:
        return share_of_known(rankings, self.rel)

    def gains(self, condensed: Rankings) -> tuple[Floats, Floats, Floats]:
        return condensed.relevant(self.rel), condensed.num_relevant(self.rel), np.ones(1)

    def worth(self, rankings: Rankings) -> Floats:
        return rankings.relevant(self.rel)


def _by_rank(condensed: Rankings) -> tuple[Floats, Floats]:
    return np.ones(condensed.width), 1 / np.arange(1, condensed.width + 1)


def _by_ranks_above(condensed: Rankings) -> tuple[Floats, Floats]:
    above = np.arange(condensed.width).astype(np.float64)
    return (above > 0).astype(np.float64), quotient(np.ones(1), above)


class Bpref_relative(AveragedPrecisions, Binary):  # noqa: N801 (the paper's name)
    """Bpref that divides the non-relevant documents above by the number of judged documents above.

    Flawed, and given for comparison: a relevant document at the first rank counts for nothing, so that a perfect
    ranking scores (R - 1) / R.

    Source: De Beer and Moens, SIGIR 2006; Sakai 2007, equation 18.

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.Bpref_relative).value.item(), 4)
    0.1667
    """

    name = "Bpref_relative"
    value_range = (0.0, 1.0)
    examples = ("Bpref_relative", "Bpref_relative(rel=2)")
    sources = ("debeer2006rpref", "sakai2007alternatives")

    def scale(self, condensed: Rankings) -> tuple[Floats, Floats]:
        return _by_ranks_above(condensed)

    def precision_terms(self, rankings: Rankings, unjudged: int) -> PrecisionTerms:  # noqa: ARG002
        return self._binary_terms(rankings, _by_ranks_above(rankings)[1], itself=0.0)

    def bounds(self, rankings: Rankings) -> Bounds:
        inverse = _by_ranks_above(rankings)[1]
        return Turns.of(rankings, self.rel, rankings.width, weights=inverse, itself=0.0).bounds()


class Bpref_relative2(AveragedPrecisions, Binary):  # noqa: N801 (the paper's name)
    """Bpref divided by the rank among judged documents, which is average precision on the condensed list: AP'.

    Source: Sakai 2007, equation 20 (also called induced AP; Yilmaz and Aslam, CIKM 2006).

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.Bpref_relative2).value.item(), 4)
    0.5556
    """

    name = "Bpref_relative2"
    value_range = (0.0, 1.0)
    examples = ("Bpref_relative2",)
    sources = ("sakai2007alternatives", "yilmaz2006estimating")

    def scale(self, condensed: Rankings) -> tuple[Floats, Floats]:
        return _by_rank(condensed)

    def bounds(self, rankings: Rankings) -> Bounds:
        return Turns.of(rankings, self.rel, rankings.width).bounds()


class Rpref_N(Preference):  # noqa: N801 (the paper's name)
    """Bpref for grades: how rarely documents of less gain stand above those of more, among judged documents.

    The penalty is divided by the judged documents' distance from the largest gain, summed: N where gains are binary,
    when it is Bpref_N. Bounds are not known.

    Source: De Beer and Moens, SIGIR 2006; Sakai 2007, equation 16.

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.Rpref_N).value.item(), 4)
    0.3333
    """

    name = "Rpref_N"
    value_range = (0.0, 1.0)
    examples = ("Rpref_N",)
    sources = ("debeer2006rpref", "sakai2007alternatives")
    graded = True
    exactness = "unknown"

    def scale(self, condensed: Rankings) -> tuple[Floats, Floats]:
        facts, topic = condensed.facts, condensed.topic
        distance = facts.judged[topic] - facts.total_gain[topic] / facts.max_gain
        # Rounding may leave a trace where every judged document has the largest gain, and nothing is penalised.
        distance = np.where(distance > 1e-9, distance, 0.0)
        return np.ones(1), quotient(np.ones(1), distance)[:, None]


class Rpref_relative(Preference):  # noqa: N801 (the paper's name)
    """Rpref divided by the number of judged documents above. A document at the first rank counts for nothing.

    Bounds are not known. Source: De Beer and Moens, SIGIR 2006; Sakai 2007, equation 17.

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.Rpref_relative).value.item(), 4)
    0.1667
    """

    name = "Rpref_relative"
    value_range = (0.0, 1.0)
    examples = ("Rpref_relative",)
    sources = ("debeer2006rpref", "sakai2007alternatives")
    graded = True
    exactness = "unknown"

    def scale(self, condensed: Rankings) -> tuple[Floats, Floats]:
        return _by_ranks_above(condensed)


class Rpref_relative2(Preference):  # noqa: N801 (the paper's name)
    """Rpref divided by the rank among judged documents: 1 for an ideal ranking, AP' where gains are binary.

    Bounds are not known. Source: Sakai 2007, equation 19.

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.Rpref_relative2).value.item(), 4)
    0.6667
    """

    name = "Rpref_relative2"
    value_range = (0.0, 1.0)
    examples = ("Rpref_relative2",)
    sources = ("sakai2007alternatives",)
    graded = True
    exactness = "unknown"

    def scale(self, condensed: Rankings) -> tuple[Floats, Floats]:
        return _by_rank(condensed)
