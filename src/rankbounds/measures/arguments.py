"""The arguments by which a measure can say how far one list may be ahead of another once all documents are judged.

A measure names its argument (``Measure.difference_argument``); ``evaluation/differences`` works them out for the lists
of many runs. What an argument needs to know of a measure, the measure's class says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from rankbounds.measures.average_precision import AveragedPrecisions
    from rankbounds.measures.binary_preference import LimitedPenalty
    from rankbounds.measures.ideal_ratio import IdealRatio
    from rankbounds.measures.measure import BestRelevant, Measure, RankWeighted, ShareOfRelevant
    from rankbounds.measures.retrieved_set import RPrec

Argument = TypeVar("Argument", covariant=True)


class DifferenceArguments(Protocol[Argument]):
    """One method for each kind of argument; what comes back is for whoever asked."""

    def any_measure(self, measure: Measure) -> Argument:
        """All judgments where they are few, else what the measure's facts allow (``monotone``, ``value_range``)."""

    def settled(self, measure: Measure) -> Argument:
        """No judgment changes a difference."""

    def unknown(self, measure: Measure) -> Argument:
        """Nothing can be said."""

    def weighted_sum(self, measure: RankWeighted) -> Argument:
        """Every document counts by its net weight."""

    def linear_count(self, counted: RankWeighted, for_each: float, for_length: float) -> Argument:
        """So much for each document that is counted, and so much for each retrieved; the rest is the topic's alone."""

    def ideal_ratio(self, measure: IdealRatio) -> Argument:
        """A weighted sum over that of the ideal ranking."""

    def share(self, measure: ShareOfRelevant) -> Argument:
        """A count over something that grows with the number of relevant documents."""

    def best_relevant(self, measure: BestRelevant) -> Argument:
        """The best relevant document alone counts."""

    def precision_at_r(self, measure: RPrec) -> Argument:
        """Judgments move the depth."""

    def averaged_precisions(self, measure: AveragedPrecisions) -> Argument:
        """Each relevant document counts for itself and for the relevant ones around it."""

    def limited_penalties(self, measure: LimitedPenalty) -> Argument:
        """Each relevant document counts by the non-relevant ones above it, up to a limit."""
