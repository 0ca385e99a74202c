"""What a measure is: parameters, one formula over the last axis, and facts from which the rest is derived."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.calls import ends_in_a_sentence
from rankbounds.errors import UnknownOptionError, UsageError
from rankbounds.measures.facts import Facts
from rankbounds.measures.naming.registry import register
from rankbounds.measures.parameters import SHARED, TYPES, Frozen, document, parameter
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import reorder
from rankbounds.rankings.topic_facts import TopicFacts

Bounds = tuple[Floats, Floats]
M = TypeVar("M", bound="Measure")

CELLS = 1 << 16
"""How many numbers are looked at together, so that they stay in the processor's cache."""


class MeasureClass(type):
    """The type of measure classes: ``nDCG @ 10`` is ``nDCG(cutoff=10)``, and wrong calls get a sentence."""

    @property
    def __signature__(cls) -> inspect.Signature:
        _, *parameters = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]  # without self
        return inspect.Signature(parameters, return_annotation=None)

    if not TYPE_CHECKING:  # type checkers know what classes are made from by their fields

        def __call__(cls, *given: Any, **by_name: Any) -> Any:
            names = [declared.name for declared in fields(cls)]
            if len(given) == 1 and type(given[0]) is int and given[0] > 1 and "cutoff" in names and not by_name:
                name, number = cls.__name__, given[0]
                raise UsageError(
                    f"For the depth write rb.{name} @ {number}; for {names[0]}, {name}({names[0]}={number})."
                )
            try:
                return ends_in_a_sentence(super().__call__)(*given, **by_name)
            except TypeError:
                unknown = next((name for name in by_name if name not in names), None)
                if unknown is not None:
                    raise UnknownOptionError(unknown, names, cls.__name__) from None
                try:
                    inspect.signature(cls).bind(*given, **by_name)
                except TypeError as problem:
                    raise TypeError(f"{cls.__qualname__}() {problem}") from None
                raise

    def __matmul__(cls: type[M], depth: int) -> M:  # type: ignore[misc]
        if not cls.takes_cutoff():
            raise UsageError(f"{cls.name} takes no depth; leave out @{depth}.")
        create: Any = cls
        measure: M = create(cutoff=depth)
        return measure


class Measure(Facts, Frozen, metaclass=MeasureClass):
    """A number for each ranked list.

    A subclass declares its parameters as in a frozen dataclass, which it becomes without a decorator, and has a
    ``value``. Its docstring opens with what the number means. Class attributes declare facts about the formula (see
    ``Facts``), from which bounds, best and worst orders and expectations follow.

    Attributes
    ----------
    rel
        The lowest grade that counts as relevant. Every measure has this parameter and the next; users can set those
        named in ``takes``.
    cutoff
        The depth to which the list is read, written after the @; None: all of it.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.nDCG @ 10
    nDCG(base=None, gain='linear', cutoff=10)
    >>> print(rb.RBP(p=0.9) @ 5)
    RBP(p=0.9)@5
    >>> rb.parse_measure("AP@100") == rb.AP(cutoff=100)
    True
    """

    if TYPE_CHECKING:
        rel: float = parameter(SHARED["rel"], default=1.0, kw_only=True)
        cutoff: int | None = parameter(SHARED["cutoff"], default=None, kw_only=True)
    else:  # only those classes have these parameters that take them
        rel, cutoff = 1.0, None

    def __init_subclass__(cls, **options: Any) -> None:
        is_measure = bool({"name", "examples"} & cls.__dict__.keys())
        own = inspect.get_annotations(cls)
        for name in cls.takes if is_measure else ():
            if name not in own:
                cls.__annotations__ = own = {**own, name: TYPES[name]}
                setattr(cls, name, parameter(SHARED[name], default=getattr(Measure, name), kw_only=True))
        super().__init_subclass__(**options)
        if cls.__dict__.get("__doc__"):  # Python drops docstrings under -OO
            cls.__doc__ = document(cls)
        if is_measure:
            if "name" not in cls.__dict__:
                cls.name = cls.__name__
            register(cls)

    def __post_init__(self) -> None:
        cutoff = self.cutoff
        if cutoff is not None and (not isinstance(cutoff, int | np.integer) or cutoff < 1):
            raise UsageError(f"{self.name}: the depth after @ must be a whole number from 1 on, not {cutoff}.")
        if not self.rel > 0:
            raise UsageError(
                f"{self.name}: rel, the lowest grade that counts as relevant, must be positive, not {self.rel}."
            )
        for name, allowed in self._allowed.items():
            value = getattr(self, name)
            number = isinstance(value, int | float | np.integer | np.floating)
            if value is not None and not (number and allowed.holds(float(value))):
                shown = f"{value:g}" if number else repr(value)
                raise UsageError(f"{self.name}: {name} {allowed.words}, not {shown}.")
        self.check()

    def __matmul__(self: M, depth: int) -> M:
        if "cutoff" not in self.parameters:
            raise UsageError(f"{self} takes no depth; leave out @{depth}.")
        return self.changed(cutoff=depth)

    @classmethod
    def takes_cutoff(cls) -> bool:
        return any(parameter.name == "cutoff" for parameter in fields(cls))

    @property
    def parameters(self) -> dict[str, Any]:
        """Return what was chosen, by the parameters' names."""
        return {parameter.name: getattr(self, parameter.name) for parameter in fields(self)}

    def changed(self: M, **parameters: Any) -> M:
        """Return the measure with other values of these parameters."""
        return replace(self, **parameters)

    def at_level(self: M, rel: float) -> M:
        """Return the measure with this lowest relevant grade, if it can be chosen."""
        return self.changed(rel=rel) if "rel" in self.parameters else self

    def check(self) -> None:
        """Raise ``UsageError`` for parameters that make no sense."""

    def cited(self) -> tuple[str, ...]:
        """Return the keys of the measure's sources; empty without a paper."""
        return self.sources

    def value(self, rankings: Rankings) -> Floats:
        """Return one number for each list."""
        raise NotImplementedError

    def worth(self, rankings: Rankings) -> Floats:
        """Return each document's worth, which orders ties from best to worst."""
        return rankings.relevant(self.rel)

    def largest_gain(self, facts: TopicFacts) -> float:
        """Return the largest gain that an unjudged document may have: ``max_grade``, if there is that parameter."""
        return getattr(self, "max_grade", None) or facts.max_gain

    def depth(self, rankings: Rankings) -> int:
        """Return how many ranks of the arrays the measure reads."""
        return rankings.width if self.cutoff is None else min(self.cutoff, rankings.width)

    @property
    def plain(self) -> Measure:
        """Return the measure, or the one applied to condensed lists."""
        return self

    @property
    def difference_basis(self) -> Measure:
        """Return the measure whose ``difference_argument`` also holds for this one."""
        return self

    def least_among(self, rankings: Rankings, lines: Ints, relevant: Floats) -> Floats | None:  # noqa: ARG002
        """Return the least values of lists with at most so many relevant documents; None: unknown."""
        return None

    def bounds(self, rankings: Rankings) -> Bounds | None:
        """Return the least and the greatest value over all judgments of the unjudged documents; None: unknown.

        If ``rankings.most_relevant`` allows for them, also over relevant documents that the list lacks.
        """
        if self.exactness == "unknown":
            return None
        if self.as_retrieved:
            return (value := self.value(rankings)), value
        if self.monotone:
            return self._least_first(self.value(self.emptiest(rankings)), self.value(self.fullest(rankings)))
        if self.promotable and not self.graded:
            return self._bounds_by_exchange(rankings)
        return None

    def _bounds_by_exchange(self, rankings: Rankings) -> Bounds:
        """Return exact bounds for a binary measure that may fall when relevant documents are added.

        With ``k`` of a list's unjudged documents relevant, the best case has them at the ``k`` highest ranks, the worst
        at the ``k`` lowest; relevant documents that the list lacks lower it. A measure is evaluated for every ``k``.
        """
        room = rankings.room(rankings.facts.relevant(self.rel)[rankings.topic])
        above = np.cumsum(rankings.holes, axis=-1)
        below = rankings.num_holes[:, None] - above
        high = self.value(rankings.assume(0.0))
        low = self.value(rankings.assume(0.0).with_elsewhere(room)) if room.any() else high
        for k in range(1, int(rankings.num_holes.max(initial=0)) + 1):
            worst = rankings.assume((below < k).astype(np.float64))
            low = np.minimum(low, self.value(worst.with_elsewhere(np.maximum(room - k, 0.0)) if room.any() else worst))
            high = np.maximum(high, self.value(rankings.assume((above <= k).astype(np.float64))))
        return low, high

    def emptiest(self, rankings: Rankings) -> Rankings:
        """Return the lists with as few relevant documents as possible, for a measure that is then least."""
        return rankings.assume(0.0)

    def fullest(self, rankings: Rankings) -> Rankings:
        """Return the lists with as many relevant documents as possible, for a measure that is then greatest."""
        return rankings.assume(1.0)

    def shrinkage(self, rankings: Rankings) -> Floats | None:  # noqa: ARG002
        """Return the factor by which relevant documents that no list holds shrink values at most; None: it varies."""
        return None

    def joint_bounds(self, rankings: Rankings) -> Bounds | None:
        """Return bounds as ``bounds`` does, over all orders of tied documents too."""
        if not self.promotable:  # nothing is known of lists with ties; the others have the bounds that they have alone
            alone = self.bounds(rankings)
            if alone is None or rankings.tied is None:
                return alone
            low, high = (np.where(rankings.tied.any(axis=-1), np.nan, bound) for bound in alone)
            return low, high
        if self.graded:
            least, most = self.worth(rankings.assume(0.0)), self.worth(rankings.assume(1.0))
        else:
            # Between relevant and non-relevant: whichever of the unjudged ones turn out relevant, they can stand
            # together with those that are.
            least = most = self.worth(rankings.assume(0.5))
        worst = self.bounds(reorder(rankings, least, best=False))
        best = self.bounds(reorder(rankings, most, best=True))
        if worst is None or best is None:
            return None
        low, high = self._least_first(worst, best)
        return low[0], high[1]

    def joint_bounds_are_outer(self, facts: TopicFacts) -> bool:  # noqa: ARG002
        """Are the joint bounds safe, but perhaps wider than necessary?"""
        return False

    def tie_bounds(self, rankings: Rankings) -> Bounds | None:
        """Return the least and the greatest value over all orders of tied documents."""
        if not self.promotable:
            return None
        worth = self.worth(rankings)
        worst, best = (self.value(reorder(rankings, worth, best=best)) for best in (False, True))
        return self._least_first(worst, best)

    def _least_first(self, worst: Any, best: Any) -> tuple[Any, Any]:
        return (best, worst) if self.lower_is_better else (worst, best)

    def open_tail(self, rankings: Rankings) -> Floats:
        """Return what documents beyond the end of the list, or the depth, could add to ``high``."""
        return np.zeros(rankings.length.shape)

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        """Return the mean over all orders of ties; None if it cannot be computed."""
        return self.value(rankings) if rankings.tied is None or self.order_free else None

    def __str__(self) -> str:
        return label(self)


def smallest_over_numbers(bound: Callable[[Ints, Ints, Ints], Floats], most: Ints, width: int) -> Floats:
    """Return each list's smallest value over k from 0 to ``most``; ``bound`` is below all values of a span."""
    everyone, none = np.arange(most.size), np.zeros(most.size, dtype=np.int64)
    best = np.minimum(bound(everyone, none, none), bound(everyone, most, most))
    spans = np.stack((everyone, none + 1, most - 1))[:, most > 1]
    while spans.shape[1]:
        line, first, last = spans
        middle = (first + last) // 2
        tried = np.stack((line, middle, middle))
        parts = np.array_split(np.concatenate((tried, spans), axis=1), 1 + 2 * line.size * width // CELLS, axis=1)
        reached, below = np.split(np.concatenate([bound(*part) for part in parts]), 2)
        np.minimum.at(best, line, reached)
        halves = np.concatenate(((line, first, middle - 1, below), (line, middle + 1, last, below)), axis=1)
        kept = (halves[1] <= halves[2]) & (halves[3] < best[np.tile(line, 2)])
        spans = halves[:3, kept].astype(np.int64)
    return best


def label(measure: Measure, prime: str = "") -> str:
    """Return ``RBP(p=0.8)@10``: the name, every parameter that differs from its default, the depth."""
    default = {parameter.name: parameter.default for parameter in fields(measure)}
    shown = ",".join(
        f"{name}={value_text(value)}"
        for name, value in measure.parameters.items()
        if name != "cutoff" and (name in measure.always_shown or value != default.get(name))
    )
    depth = f"@{measure.cutoff}" if measure.cutoff else ""
    return f"{measure.name}{prime}" + (f"({shown})" if shown else "") + depth


def value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def explanation(measure: type[Measure]) -> str:
    """Return the class's docstring, for readers of results: without the examples in Python and marks of code."""
    return (inspect.getdoc(measure) or "").partition("\n\nExamples\n--------")[0].replace("``", "")


class Reported(Measure):
    """A number in a table, known by its name alone: it can be compared, but not computed from a ranking.

    Larger is better; ``ReportedEffort`` is for measures of effort.
    """

    called: str = ""

    promotable = False

    def value(self, rankings: Rankings) -> Floats:  # noqa: ARG002
        raise UsageError(f"{self} is a name in a table of scores: it cannot be computed from rankings.")

    def __str__(self) -> str:
        return self.called


class ReportedEffort(Reported):
    """As ``Reported``, but less is better."""

    lower_is_better = True
