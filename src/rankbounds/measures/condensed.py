"""Any measure on condensed lists: the prime in ``AP'``."""

from __future__ import annotations

from typing import Any

from rankbounds.arrays import Floats
from rankbounds.measures.facts import Facts
from rankbounds.measures.measure import Bounds, Measure, label
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts


class Condensed(Measure):
    """The measure on the list without unjudged documents.

    It does not fall because documents are unjudged, but favours systems that did not contribute to the pool: their
    unjudged documents are removed, and those below move up. ``low`` and ``high`` are those of the plain measure, what
    the run would score if all its documents were judged, widened where needed to contain the value.

    Source: Sakai, Alternatives to Bpref, SIGIR 2007.

    Parameters
    ----------
    measure : Measure
        The measure to compute on the remaining list.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "c": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, "AP'").value.item(), 4)
    1.0
    """

    measure: Measure

    judged_only = True
    has_residual = False
    trec_names = ()

    def __post_init__(self) -> None:
        for name in (Facts.__annotations__.keys() - vars(Condensed).keys()) | {"rel", "cutoff"}:
            object.__setattr__(self, name, getattr(self.measure, name))

    @property
    def plain(self) -> Measure:
        return self.measure

    @property
    def parameters(self) -> dict[str, Any]:
        return self.measure.parameters

    def changed(self, **parameters: Any) -> Condensed:
        return Condensed(self.measure.changed(**parameters))

    def cited(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.measure.cited(), "sakai2007alternatives"]))

    @property
    def difference_basis(self) -> Measure:
        return self.measure.difference_basis

    def value(self, rankings: Rankings) -> Floats:
        return self.measure.value(rankings.condensed())

    def worth(self, rankings: Rankings) -> Floats:
        return self.measure.worth(rankings)

    def bounds(self, rankings: Rankings) -> Bounds | None:
        return self.measure.bounds(rankings)

    def joint_bounds(self, rankings: Rankings) -> Bounds | None:
        return self.measure.joint_bounds(rankings)

    def joint_bounds_are_outer(self, facts: TopicFacts) -> bool:
        return self.measure.joint_bounds_are_outer(facts)

    def tie_bounds(self, rankings: Rankings) -> Bounds | None:
        return self.measure.tie_bounds(rankings.condensed())

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        return self.measure.expected_over_ties(rankings.condensed())

    def __str__(self) -> str:
        return label(self.measure, prime="'")


# Not set in the class, which would register it: it goes by the plain measure's name.
Condensed.examples = ("AP'", "RBP'(p=0.8)", "nDCG'@3", "P'@2", "RR'", "Q'")
