"""What is decided before a measure sees a ranking: ties, unjudged documents, gains, topics, what bounds cover."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_choice, check_count
from rankbounds.collection.gains import GainRule, gain_rule
from rankbounds.collection.order import Order, Precision, TieKey, as_tie_key, check_tie_key
from rankbounds.errors import UsageError
from rankbounds.evaluation.scores import PARTS
from rankbounds.measures import Measure
from rankbounds.measures.facts import Exactness
from rankbounds.measures.measure import Bounds
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS, reorder
from rankbounds.rankings.ties import RULES as TIE_RULES
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.rankings.unjudged import UnjudgedRule

Topics: TypeAlias = Literal["judged", "shared"]
BOUNDS = ("unjudged", "ties", "both", "none")
TOPICS = get_args(Topics)
PRECISIONS = get_args(Precision)
OPEN = ("retrieved", "collection")
CHOICES = {"ties": TIE_RULES, "bounds": BOUNDS, "topics": TOPICS, "score_precision": PRECISIONS, "open": OPEN}
MOST_RELEVANT = 10_000_000
"""A larger limit would not limit anything."""


@dataclass(frozen=True, init=False)
class Assumptions:
    """Assumptions about unjudged and tied documents, gains and topics, and what bounds cover.

    Parameters
    ----------
    ties
        As in ``evaluate``.
    unjudged
        As in ``evaluate``, or a rule of your own (``UnjudgedRule``).
    bounds, gain, topics, score_precision, ties_key, q, open, most_relevant
        As in ``evaluate``.

    Examples
    --------
    >>> from rankbounds.evaluation.assumptions import Assumptions
    >>> chosen = Assumptions(ties="expected", gain="1=1,2=3")
    >>> chosen.bounds
    'unjudged'
    >>> str(chosen.gain)
    '1=1,2=3'
    >>> Assumptions(ties_key={"a": 1}).ties
    'key'
    """

    ties: str
    unjudged: UnjudgedRule
    bounds: str
    gain: GainRule
    topics: Topics
    score_precision: Precision
    ties_key: TieKey | None
    open: str
    most_relevant: int | None

    def __init__(
        self,
        ties: str = "trec",
        unjudged: str | UnjudgedRule = "nonrelevant",
        bounds: str = "unjudged",
        gain: str | Mapping[Any, float] | GainRule | None = None,
        topics: str = "judged",
        score_precision: str = "double",
        ties_key: TieKey | Mapping[Any, Any] | str | os.PathLike[str] | None = None,
        *,
        q: float | None = None,
        open: str = "retrieved",  # noqa: A002 (the word that users have for it)
        most_relevant: int | None = None,
    ) -> None:
        decided = {
            "ties": "key" if ties_key is not None and ties == "trec" else ties,
            "unjudged": unjudged if isinstance(unjudged, UnjudgedRule) else UnjudgedRule(unjudged, q),
            "bounds": bounds,
            "gain": gain_rule(gain),
            "topics": topics,
            "score_precision": score_precision,
            "ties_key": None if ties_key is None else as_tie_key(ties_key),
            "open": open,
            "most_relevant": most_relevant,
        }
        for name, value in decided.items():
            object.__setattr__(self, name, value)
        for name, known in CHOICES.items():
            check_choice(name.replace("_", " "), str(decided[name]), known)
        check_tie_key(self.ties, self.ties_key)
        if self.open == "collection" and self.bounds not in ("unjudged", "both"):
            raise UsageError(
                f'open="collection" (--open) widens the bounds for unjudged documents, but bounds="{self.bounds}" has '
                'none. Use bounds="unjudged" or "both".'
            )
        if self.most_relevant is None:
            return
        if self.open != "collection":
            raise UsageError(
                "most_relevant limits the relevant documents that no run retrieved, so it needs "
                'open="collection" (--open collection).'
            )
        check_count("most_relevant", self.most_relevant, most=MOST_RELEVANT)

    @property
    def allowed_relevant(self) -> float:
        if self.open == "retrieved":
            return 0.0
        return np.inf if self.most_relevant is None else float(self.most_relevant)

    @property
    def order(self) -> Order:
        """The order in which tied documents are ranked before anything else is done to them."""
        return cast(Order, self.ties) if self.ties in ORDERS else "trec"

    def check(self, measures: Iterable[Measure], *, in_memory: bool = True) -> None:
        for measure in measures:
            if measure.reads_judgments and not in_memory:
                raise UsageError(
                    f"{measure} uses subtopics or strata of the judgments, which only evaluation in memory supports. "
                    'Use engine="local" (--engine local).'
                )
            if measure.judged_only and self.unjudged.name in ("relevant", "expected"):
                raise UsageError(
                    f'{measure} ignores unjudged documents by definition, so unjudged="{self.unjudged.name}" would '
                    "change nothing. Leave out the rule or the measure."
                )
            if self.unjudged.name == "expected" and not (measure.multilinear or measure.as_retrieved):
                raise UsageError(
                    f"{measure} has no exact expected value over unjudged documents, because it is not a sum over "
                    'documents. Use unjudged="nonrelevant" and read the bounds, or a measure such as RBP, P, RR or DCG.'
                )

    def value(self, measure: Measure, rankings: Rankings) -> Floats:
        return self._with_ties(measure, self.assumed(measure, rankings))

    def values(self, measures: Sequence[Measure], rankings: Rankings) -> Floats:
        values = np.empty((rankings.length.size, len(measures)))
        assumed = self.unjudged(rankings)
        compute = self._under_ties if self.bounds == "none" else self._with_ties  # bounds may ask for a value again
        for number, measure in enumerate(measures):
            values[:, number] = compute(measure, rankings if measure.as_retrieved else assumed)
        return values

    def assumed(self, measure: Measure, rankings: Rankings) -> Rankings:
        """The rankings with unjudged documents treated as they should be for this measure."""
        return rankings if measure.as_retrieved else self.unjudged(rankings)

    def _with_ties(self, measure: Measure, assumed: Rankings) -> Floats:
        return assumed.remembered((measure, self.ties), lambda: self._under_ties(measure, assumed))

    def _under_ties(self, measure: Measure, assumed: Rankings) -> Floats:
        if self.ties in ORDERS or assumed.groups is None:
            return measure.value(assumed)
        if self.ties == "expected":
            found = measure.expected_over_ties(assumed)
            what = "mean over the orders"
        else:
            worst_best = measure.tie_bounds(assumed)
            found = None if worst_best is None else worst_best[(self.ties == "best") != measure.lower_is_better]
            what = f"{self.ties} order"
        if found is None:
            raise UsageError(f'{measure} has no known {what} of tied documents. Use ties="trec".')
        return found

    def low_high(self, measure: Measure, rankings: Rankings) -> tuple[Floats, Floats] | None:
        """The bounds that were asked for, with the value between them; None where none are known."""
        if self.bounds == "none":
            return None
        found = self._low_high(measure, rankings)
        if found is None:
            return None
        # Sums in another order round otherwise; and where the list that is scored lacks documents (condensed), a fully
        # judged one may never score the same.
        value = self.value(measure, rankings)
        return np.minimum(found[0], value), np.maximum(found[1], value)

    def _low_high(self, measure: Measure, rankings: Rankings) -> tuple[Floats, Floats] | None:
        if self.bounds == "ties" or (self.bounds == "both" and rankings.facts.complete):
            return measure.tie_bounds(self.assumed(measure, rankings))
        plain = measure.plain
        if rankings.facts.complete and not plain.estimates:
            return (value := self.value(measure, rankings)), value
        if self.open == "collection":
            if self._exactness(plain) == "unknown":
                return None
            rankings = rankings.open_to(self.allowed_relevant)
        if plain.as_retrieved:  # judgments change nothing
            if self.bounds == "both":
                return plain.tie_bounds(rankings)
            return (value := self._with_ties(plain, rankings)), value
        if self.bounds == "both":
            return plain.joint_bounds(rankings)
        if self.ties in ORDERS or rankings.tied is None:
            return plain.bounds(rankings)
        return self._bounds_of_treated_ties(plain, rankings)

    def bounds_are_outer(self, measure: Measure, facts: TopicFacts, *, tied: bool) -> bool:
        """Are bounds safe, but perhaps wider than necessary? ``tied``: are there documents of equal score?"""
        if self.bounds not in ("unjudged", "both") or measure.as_retrieved:
            return False
        if self._exactness(measure) == "outer":
            return True
        if not tied:
            return False
        return measure.joint_bounds_are_outer(facts) if self.bounds == "both" else self._treats_ties_loosely(measure)

    def limit_binds(self, measure: Measure, facts: TopicFacts, topic: Ints, unjudged: Ints, lists: int = 1) -> Flags:
        if self.most_relevant is None or measure.as_retrieved:
            return np.zeros(unjudged.shape, dtype=bool)
        if measure.cutoff is not None and not measure.vanishes:  # no more of them count, in the lists or the ideal one
            unjudged = np.minimum(unjudged, lists * measure.cutoff)
        known = (facts.positive if measure.graded else facts.relevant(measure.rel))[topic]
        return np.asarray((unjudged > 0) & (known + unjudged > self.most_relevant))

    def _exactness(self, measure: Measure) -> Exactness:
        alone = measure.list_only or measure.as_retrieved
        return measure.exactness if alone or self.open == "retrieved" else measure.collection_exactness

    def _treats_ties_loosely(self, measure: Measure) -> bool:
        return self.ties not in ORDERS and not measure.monotone

    def _bounds_of_treated_ties(self, measure: Measure, rankings: Rankings) -> tuple[Floats, Floats] | None:
        if self._treats_ties_loosely(measure):
            found = measure.joint_bounds(rankings)
            if found is None or measure.has_residual or self.open == "collection" or rankings.num_holes.all():
                return found
            value, settled = self.value(measure, rankings), rankings.num_holes == 0
            return np.where(settled, value, found[0]), np.where(settled, value, found[1])
        if self.ties != "expected" and not measure.tail_adds:
            ends = [measure.bounds(self._in_treated_order(measure, rankings, chance)) for chance in (0.0, 1.0)]
            return None if ends[0] is None or ends[1] is None else (ends[0][0], ends[1][1])
        worst, best = (
            self._with_ties(measure, lists) for lists in (measure.emptiest(rankings), measure.fullest(rankings))
        )
        if measure.lower_is_better:
            return best, worst
        return worst, best + measure.open_tail(rankings)

    def _in_treated_order(self, measure: Measure, rankings: Rankings, chance: float) -> Rankings:
        return reorder(rankings, measure.worth(rankings.assume(chance)), best=self.ties == "best")

    def cells(
        self, measures: Sequence[Measure], rankings: Rankings
    ) -> tuple[Floats, Floats | None, Floats | None, Floats | None]:
        """Return value, low and high of each list and measure, and before these the parts; None where not asked for."""
        value = self.values(measures, rankings)
        if self.bounds == "none":
            return value, None, None, None
        low, high = np.full((2, *value.shape), np.nan)
        for number, measure in enumerate(measures):
            found = self.low_high(measure, rankings)
            if found is not None:
                low[:, number], high[:, number] = found
        split = [number for number, measure in enumerate(measures) if measure.has_residual]
        if not split:
            return value, low, high, None
        # Only now, because ties are reordered for it: until here all measures read the same arrays from the cache.
        parts = np.full((len(PARTS), *value.shape), np.nan)
        for number in split:
            parts[:, :, number] = self._parts(measures[number], rankings, (low[:, number], high[:, number]))
        return value, low, high, parts

    def _parts(self, measure: Measure, rankings: Rankings, found: Bounds) -> tuple[Floats, Floats, Floats]:
        over_orders = self.bounds == "both"
        ties = _range_over_orders(measure, rankings.assume(0.0) if over_orders else self.assumed(measure, rankings))
        if over_orders:
            rankings = reorder(rankings, measure.worth(rankings.assume(0.5)), best=True)
        elif self.bounds == "ties":
            found = measure.bounds(rankings) or found
        elif not measure.tail_adds and self.ties in ("best", "worst"):
            rankings = self._in_treated_order(measure, rankings, 1.0)
        tail = measure.open_tail(rankings) * (not rankings.facts.complete)
        unjudged = found[1] - found[0] - tail - (ties if over_orders else 0.0)
        unjudged[unjudged < 1e-15] = 0.0  # what rounding leaves is no residual
        return unjudged, tail, ties

    def tie_range(self, measure: Measure, rankings: Rankings) -> Floats:
        """Return each list's range over all orders of ties; NaN if unknown."""
        return _range_over_orders(measure, self.assumed(measure, rankings))


def _range_over_orders(measure: Measure, assumed: Rankings) -> Floats:
    if assumed.tied is None:
        return np.zeros(assumed.length.shape)
    worst_best = measure.tie_bounds(assumed)
    if worst_best is None:
        return np.where(assumed.tied.any(axis=-1), np.nan, 0.0)
    with np.errstate(invalid="ignore"):  # a search that never ends, in either order
        return worst_best[1] - worst_best[0]


ASSUMPTIONS = tuple(signature(Assumptions).parameters)
