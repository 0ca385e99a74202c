"""Measures averaged over groups of judgments: several people's judgments of the same topic.

Each group has its own list, in which only its own judgments count and all else is unjudged. The value is the mean over
the topic's groups, including those without a relevant document. Groups are named by the second field of judgments, or
the column ``judgment_group``; without names a topic has one group.

Groups are independent, so bounds are means of bounds, and attained.
"""

from __future__ import annotations

from rankbounds.arrays import Floats
from rankbounds.measures.diversity import BySubtopic
from rankbounds.measures.formulas import quotient
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import POSITIVE, parameter
from rankbounds.measures.precision.average_precision import AP
from rankbounds.measures.precision.precision_and_recall import P, RPrec
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.subtopics import ListsBySubtopic


class OverGroups(BySubtopic):
    """The mean of a measure over a topic's judgment groups."""

    def lists(self, rankings: Rankings) -> ListsBySubtopic:
        return rankings.by_group()

    def combined(self, lists: ListsBySubtopic, values: Floats) -> Floats:
        return quotient(lists.total(values), lists.total(values == values))

    def bounds(self, rankings: Rankings) -> Bounds | None:
        lists = self.lists(rankings)
        of_groups = self.of_subtopic().bounds(lists.rankings)
        return of_groups and (self.combined(lists, of_groups[0]), self.combined(lists, of_groups[1]))


class AP_JG(OverGroups):  # noqa: N801 (as the measures by subtopic)
    """Average precision by each judgment group, averaged.

    ``low`` and ``high`` cover the documents that a group did not judge. Source: as in trec_eval (map_avgjg).
    """

    aliases = ("AP-JG", "MAP_JG")
    example = ("AP_JG", 0.75)
    examples = ("AP_JG", "AP_JG@3", "AP_JG(rel=2)")
    trec_names = ("map_avgjg",)

    def of_subtopic(self) -> Measure:
        return AP(rel=self.rel, cutoff=self.cutoff)


class P_JG(OverGroups):  # noqa: N801
    """Precision at k by each judgment group, averaged. Source: as in trec_eval (P_avgjg)."""

    aliases = ("P-JG",)
    example = ("P_JG @ 2", 0.75)
    examples = ("P_JG@3",)
    trec_names = ("P_avgjg_{cutoff}",)
    needs_cutoff = True

    def of_subtopic(self) -> Measure:
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

    def of_subtopic(self) -> Measure:
        return RPrec(times=self.times, rel=self.rel)
