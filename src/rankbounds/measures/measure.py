"""What a measure is: parameters, one formula over the last axis, and facts from which the rest is derived."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import UsageError
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_count, group_means, reordered
from rankbounds.rankings.topic_facts import TopicFacts

Bounds = tuple[Floats, Floats]

REGISTRY: dict[str, type[Measure]] = {}


@dataclass(frozen=True)
class Measure:
    """A number for each ranked list.

    A subclass is a frozen dataclass of its parameters with a ``value``. Its docstring opens with what the number means
    to the reader of results. Class attributes state facts about the formula, and bounds, best and worst orders and
    expectations follow from them:

    ``monotone``: turning a document relevant never lowers the value.
    ``promotable``: moving a worthier document up never lowers the value.
    ``multilinear``: the value at mean relevance is the mean value, for documents relevant independently of each other.
    ``judged_only``: unjudged documents are dropped before the value is computed.
    ``list_only``: the value is settled by the list alone, not by what else is relevant to the topic.
    ``as_retrieved``: the value describes the list as it was retrieved, whatever is assumed of unjudged documents.
    ``has_residual``: documents beyond the end of the list count as unknown, so that ``high - low`` has named parts.
    ``tail_adds``: what lies beyond the list adds the same to the value, whatever the list holds.
    ``lower_is_better``: the value counts effort; "never lowers" above then reads "never raises".
    """

    name: ClassVar[str]
    examples: ClassVar[tuple[str, ...]]
    trec_names: ClassVar[tuple[str, ...]] = ()
    """trec_eval's names, such as ``"P_{cutoff}"``; a field in braces stands for its value."""
    trec_defaults: ClassVar[dict[str, str]] = {}
    """What a trec_eval name without these parameters stands for, where that differs from our defaults."""
    needs_cutoff: ClassVar[bool] = False
    always_shown: ClassVar[tuple[str, ...]] = ()
    total: ClassVar[Literal["mean", "sum"]] = "mean"
    monotone: ClassVar[bool] = False
    promotable: ClassVar[bool] = True
    multilinear: ClassVar[bool] = False
    judged_only: ClassVar[bool] = False
    as_retrieved: ClassVar[bool] = False
    list_only: ClassVar[bool] = False
    exactness: ClassVar[Literal["exact", "outer", "unknown"]] = "exact"
    """Whether ``bounds`` are attained, hold but may be wider than needed, or are not known at all."""
    has_residual: ClassVar[bool] = False
    tail_adds: ClassVar[bool] = True
    lower_is_better: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in cls.__dict__:
            REGISTRY[cls.name] = cls

    def __post_init__(self) -> None:
        cutoff = getattr(self, "cutoff", None)
        if cutoff is not None and (not isinstance(cutoff, int | np.integer) or cutoff < 1):
            raise UsageError(f"{self.name}: the depth behind @ must be a whole number from 1 on, not {cutoff}.")
        if cutoff is None and self.needs_cutoff:
            raise UsageError(f"{self.name} needs a depth, as in {self.name}@10.")
        rel = getattr(self, "rel", 1.0)
        if not rel > 0:
            raise UsageError(
                f"{self.name}: rel, the lowest grade that counts as relevant, must be positive, not {rel}."
            )
        self.check()

    def check(self) -> None:
        """Raise ``UsageError`` for parameters that make no sense."""

    def value(self, rankings: Rankings) -> Floats:
        """One number for each list."""
        raise NotImplementedError

    def worth(self, rankings: Rankings) -> Floats:
        """What each document is worth to this measure; ties are broken by it for the best and the worst order."""
        return rankings.relevant(getattr(self, "rel", 1.0))

    def depth(self, rankings: Rankings) -> int:
        """How many ranks of the arrays the measure reads."""
        cutoff = getattr(self, "cutoff", None)
        return rankings.width if cutoff is None else min(cutoff, rankings.width)

    def bounds(self, rankings: Rankings) -> Bounds | None:
        """The least and the greatest value over all judgments that the unjudged documents may get; None: not known."""
        if self.monotone:
            return self._least_first(self.value(rankings.assume(0.0)), self.value(rankings.assume(1.0)))
        if self.promotable and not getattr(self, "graded", False):
            return bounds_by_exchange(self, rankings)
        return None

    def joint_bounds(self, rankings: Rankings) -> Bounds | None:
        """As ``bounds``, over all orders of tied documents too."""
        if not self.promotable:  # nothing is known of lists with ties; the others have the bounds that they have alone
            alone = self.bounds(rankings)
            if alone is None or rankings.tied is None:
                return alone
            low, high = (np.where(rankings.tied.any(axis=-1), np.nan, bound) for bound in alone)
            return low, high
        if getattr(self, "graded", False):
            least, most = self.worth(rankings.assume(0.0)), self.worth(rankings.assume(1.0))
        else:
            # Between relevant and non-relevant: whichever of the unjudged ones turn out relevant, they can stand
            # together with those that are.
            least = most = self.worth(rankings.assume(0.5))
        worst = self.bounds(reordered(rankings, least, best=False))
        best = self.bounds(reordered(rankings, most, best=True))
        if worst is None or best is None:
            return None
        low, high = self._least_first(worst, best)
        return low[0], high[1]

    def joint_bounds_are_outer(self, facts: TopicFacts) -> bool:  # noqa: ARG002
        """Do the joint bounds hold, but may be wider than what orders and judgments can reach?"""
        return False

    def tie_bounds(self, rankings: Rankings) -> Bounds | None:
        """The least and the greatest value over all orders of tied documents."""
        if not self.promotable:
            return None
        worth = self.worth(rankings)
        worst, best = (self.value(reordered(rankings, worth, best=best)) for best in (False, True))
        return self._least_first(worst, best)

    def _least_first(self, worst: Any, best: Any) -> tuple[Any, Any]:
        return (best, worst) if self.lower_is_better else (worst, best)

    def open_tail(self, rankings: Rankings) -> Floats:
        """What documents beyond the end of the list, or beyond the depth, could add to ``high``."""
        return np.zeros(rankings.length.shape)

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        """The mean value over all orders of tied documents; None: no way to compute it is known."""
        return self.value(rankings) if rankings.tied is None else None

    def __str__(self) -> str:
        return label(self)


def label(measure: Measure, prime: str = "") -> str:
    """``RBP(p=0.8)@10``: the name, every parameter that differs from its default, the depth."""
    shown = []
    for one in fields(measure):
        value = getattr(measure, one.name)
        default = one.default if one.default is not MISSING else None
        if one.name != "cutoff" and (one.name in measure.always_shown or value != default):
            shown.append(f"{one.name}={written(value)}")
    cutoff = getattr(measure, "cutoff", None)
    return f"{measure.name}{prime}" + (f"({','.join(shown)})" if shown else "") + (f"@{cutoff}" if cutoff else "")


def written(value: Any) -> str:
    """A parameter's value as the parser reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def explanation(measure: type[Measure]) -> str:
    """The class's docstring, for readers of results."""
    return inspect.getdoc(measure) or ""


@dataclass(frozen=True)
class RankWeighted(Measure):
    """A sum over ranks of a fixed weight times the document's worth, perhaps divided by something of the topic."""

    monotone: ClassVar[bool] = True
    multilinear: ClassVar[bool] = True
    list_only: ClassVar[bool] = True

    def weights(self, n: int) -> Floats:
        """The weights of ranks 1 to n."""
        raise NotImplementedError

    def tail(self, depth: Ints) -> Floats:
        """The weight of everything below this depth, where the list's end leaves it open; else 0."""
        return np.zeros(depth.shape)

    def divisor(self, rankings: Rankings) -> Floats | None:  # noqa: ARG002
        """What to divide the sum by; where it is 0, the value is 0."""
        return None

    def value(self, rankings: Rankings) -> Floats:
        return self._summed(rankings, self.worth(rankings))

    def _summed(self, rankings: Rankings, worth: Floats) -> Floats:
        depth = self.depth(rankings)
        total: Floats = worth[..., :depth] @ self.weights(depth)
        divisor = self.divisor(rankings)
        return total if divisor is None else quotient(total, divisor)

    def bounds(self, rankings: Rankings) -> Bounds | None:
        found = super().bounds(rankings)
        if found is None:
            return None
        return found[0], found[1] + self.open_tail(rankings)

    def open_tail(self, rankings: Rankings) -> Floats:
        cutoff = getattr(self, "cutoff", None)
        return self.tail(rankings.length if cutoff is None else np.minimum(rankings.length, cutoff))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        return self._summed(rankings, group_means(rankings, self.worth(rankings)))


@dataclass(frozen=True)
class Share(RankWeighted):
    """Documents counted down to a depth, over one number.

    They are counted first and divided once: lists with equally many have the same value to the last bit, wherever
    the documents stand and whatever lists share the batch.
    """

    def over(self, rankings: Rankings) -> Floats:
        """What the count is divided by; where it is 0, the value is 0."""
        raise NotImplementedError

    def weights(self, n: int) -> Floats:
        return np.ones(n)

    def divisor(self, rankings: Rankings) -> Floats | None:
        return self.over(rankings)

    def value(self, rankings: Rankings) -> Floats:
        return quotient(self.worth(rankings)[..., : self.depth(rankings)].sum(axis=-1), self.over(rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return quotient(expected_count(rankings, self.worth(rankings), self.depth(rankings)), self.over(rankings))


def quotient(numerator: Floats | Ints, denominator: Floats | Ints) -> Floats:
    """Division that gives 0 where the denominator is 0, trec_eval's rule for topics without relevant documents."""
    result = np.zeros(np.broadcast(numerator, denominator).shape)
    return np.divide(numerator, denominator, out=result, where=denominator != 0)


def bounds_by_exchange(measure: Measure, rankings: Rankings) -> Bounds:
    """Exact bounds for a binary measure that may fall when relevant documents are added.

    Moving a relevant document up never lowers such a measure. So when ``k`` of a list's unjudged documents are
    relevant, the best case has them at the ``k`` highest ranks and the worst at the ``k`` lowest, and the extremes
    over ``k`` are the bounds. This plain way evaluates the measure for every ``k``; a measure that can do better
    overrides ``bounds``.
    """
    above = np.cumsum(rankings.holes, axis=-1)
    below = rankings.num_holes[:, None] - above
    low = high = measure.value(rankings.assume(0.0))
    for k in range(1, int(rankings.num_holes.max(initial=0)) + 1):
        low = np.minimum(low, measure.value(rankings.assume((below < k).astype(np.float64))))
        high = np.maximum(high, measure.value(rankings.assume((above <= k).astype(np.float64))))
    return low, high
