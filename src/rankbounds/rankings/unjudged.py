"""What to make of retrieved documents that nobody judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.rankings.rankings import Rankings

RULES = ("nonrelevant", "relevant", "condensed", "expected")


@dataclass(frozen=True)
class UnjudgedRule:
    """How unjudged documents count: as non-relevant, as relevant, not at all, or by a probability ``q``."""

    name: str = "nonrelevant"
    q: float | None = None

    def __post_init__(self) -> None:
        if self.name not in RULES:
            hint = did_you_mean(self.name, list(RULES))
            raise UsageError(f'There is no rule "{self.name}" for unjudged documents.{hint} Known: {", ".join(RULES)}.')
        if self.name == "expected" and self.q is None:
            raise UsageError(
                'The rule "expected" for unjudged documents needs q, the probability that an unjudged document is '
                "relevant (--q 0.1)."
            )
        if self.name != "expected" and self.q is not None:
            raise UsageError('q is only for the rule "expected" for unjudged documents (--unjudged expected).')
        if self.q is not None and not (isinstance(self.q, Real) and 0 <= self.q <= 1):
            raise UsageError(f"The probability q must lie between 0 and 1, not {self.q!r}.")

    def __call__(self, rankings: Rankings) -> Rankings:
        if self.name == "condensed":
            return rankings.condensed()
        return rankings.assume({"nonrelevant": 0.0, "relevant": 1.0}.get(self.name, self.q or 0.0))


@dataclass(frozen=True, eq=False)
class CalibratedRule(UnjudgedRule):
    """Count documents that another source labelled by the ``chance`` of their label, others as ``q``."""

    name: str = "expected"
    q: float | None = 0.0
    chance: Floats = field(default_factory=lambda: np.zeros(0))

    def __call__(self, rankings: Rankings) -> Rankings:
        if rankings.judgment is None:
            return super().__call__(rankings)
        others = np.full(2, self.q or 0.0)  # what NOT_POOLED and BEYOND stand for; beyond the end nothing is read
        return rankings.assume(np.concatenate((self.chance, others))[rankings.judgment])
