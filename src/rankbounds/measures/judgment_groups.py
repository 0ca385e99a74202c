"""Measures averaged over groups of judgments: several people's judgments of the same topic.

Each group has its own list, in which only its own judgments count and all else is unjudged. The value is the mean over
the topic's groups, including those without a relevant document. Groups are named by the second field of judgments, or
the column ``judgment_group``; without names a topic has one group.

Groups are independent, so bounds are means of bounds, and attained.
"""

from __future__ import annotations

from rankbounds.arrays import Floats
from rankbounds.measures.formulas import quotient
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import POSITIVE, parameter
from rankbounds.measures.precision.average_precision import AP
from rankbounds.measures.precision.precision_and_recall import P, RPrec
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.subtopics import ListsBySubtopic


class OverGroups(Measure):
    """The mean of a measure over a topic's judgment groups.

    A subclass has ``of_group``. The order of ties that is best for one group may be bad for another: no best or worst
    order is known.
    """

    value_range = (0.0, 1.0)
    promotable = False
    reads_judgments = True

    def of_group(self) -> Measure:
        """Return the measure of the list that one group sees."""
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        return mean_over_groups(self.of_group(), rankings)

    def bounds(self, rankings: Rankings) -> Bounds | None:
        lists = rankings.by_group()
        found = self.of_group().bounds(lists.rankings)
        return None if found is None else (_mean(lists, found[0]), _mean(lists, found[1]))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        lists = rankings.by_group()
        expected = self.of_group().expected_over_ties(lists.rankings)
        return None if expected is None else _mean(lists, expected)


def mean_over_groups(measure: Measure, rankings: Rankings) -> Floats:
    """Return the mean of a measure over the lists of judgment groups."""
    lists = rankings.by_group()
    return _mean(lists, measure.value(lists.rankings))


def _mean(lists: ListsBySubtopic, values: Floats) -> Floats:
    return quotient(lists.total(values), lists.total(values == values))


class AP_JG(OverGroups):  # noqa: N801 (as the measures by subtopic)
    """Average precision by each judgment group, averaged.

    ``low`` and ``high`` cover the documents that a group did not judge. Source: as in trec_eval (map_avgjg).
    """

    takes = ("rel", "cutoff")
    aliases = ("AP-JG", "MAP_JG")
    example = ("AP_JG", 0.75)
    examples = ("AP_JG", "AP_JG@3", "AP_JG(rel=2)")
    trec_names = ("map_avgjg",)

    def of_group(self) -> Measure:
        return AP(rel=self.rel, cutoff=self.cutoff)


class P_JG(OverGroups):  # noqa: N801
    """Precision at k by each judgment group, averaged. Source: as in trec_eval (P_avgjg)."""

    takes = ("rel", "cutoff")
    aliases = ("P-JG",)
    example = ("P_JG @ 2", 0.75)
    examples = ("P_JG@3",)
    trec_names = ("P_avgjg_{cutoff}",)
    needs_cutoff = True

    def of_group(self) -> Measure:
        return P(rel=self.rel, cutoff=self.cutoff)


class RPrec_JG(OverGroups):  # noqa: N801
    """Precision at depth R by each judgment group, averaged, where R is the number of documents that the group judged
    relevant. Source: as in trec_eval (Rprec_mult_avgjg).
    """

    times: float = parameter("The depth as a multiple of R.", POSITIVE, default=1.0)

    takes = ("rel",)
    aliases = ("RPrec-JG",)
    example = ("RPrec_JG", 0.5)
    examples = ("RPrec_JG", "RPrec_JG(times=0.4)")
    trec_names = ("Rprec_mult_avgjg_{times:.2f}",)

    def of_group(self) -> Measure:
        return RPrec(times=self.times, rel=self.rel)
