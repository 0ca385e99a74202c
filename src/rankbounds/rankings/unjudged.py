"""What to make of retrieved documents that nobody judged."""

from __future__ import annotations

from dataclasses import dataclass

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
            raise UsageError('The rule "expected" needs the probability q that an unjudged document is relevant.')
        if self.name != "expected" and self.q is not None:
            raise UsageError('The probability q goes with the rule "expected" only.')
        if self.q is not None and not 0 <= self.q <= 1:
            raise UsageError(f"The probability q must lie between 0 and 1, not {self.q}.")

    def __call__(self, rankings: Rankings) -> Rankings:
        """The rankings with this rule applied."""
        if self.name == "condensed":
            return rankings.condensed()
        return rankings.assume({"nonrelevant": 0.0, "relevant": 1.0}.get(self.name, self.q or 0.0))
