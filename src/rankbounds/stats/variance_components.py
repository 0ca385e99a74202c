"""Variance components: topics, systems, and reruns of one system.

An analysis of variance as in generalisability theory (Cronbach et al. 1972; Brennan 2001). Topics (t) and systems (s)
are crossed; a rerun (r) belongs to its system. Each mean square contains the variances of its effects with known
coefficients; solving for them gives every effect's variance. Where systems have different numbers of reruns, the
unweighted means of their reruns are analysed, and the harmonic mean replaces the number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.stats.significance import Resampling

NAMES = {"t": "topic", "s": "system", "ts": "topic x system", "sr": "rerun", "tsr": "topic x rerun"}
"""Effects in words, by their factors; a rerun is always one of its system."""


@dataclass(frozen=True, eq=False)
class Anova:
    """Mean squares of ``scores`` (topic, run), and the variance of each effect; ``system`` is that of each run."""

    scores: Floats
    system: Ints

    @cached_property
    def runs_of_system(self) -> Ints:
        return np.bincount(self.system)

    @cached_property
    def _cells(self) -> Floats:
        member = (self.system[:, None] == np.arange(self.runs_of_system.size)) / self.runs_of_system
        return self.scores @ member

    @cached_property
    def sizes(self) -> dict[str, int]:
        return dict(zip("ts", self._cells.shape, strict=True))

    @property
    def reruns(self) -> float:
        return float(1 / np.mean(1 / self.runs_of_system))

    @cached_property
    def effects(self) -> list[str]:
        varying = {factor for factor, size in self.sizes.items() if size > 1}
        between = [effect for effect in ("t", "s", "ts") if varying.issuperset(effect)]
        return between + ["sr", *(["tsr"] if "t" in varying else [])] * bool(self._repeats)

    @property
    def _repeats(self) -> int:
        return int((self.runs_of_system - 1).sum())

    @cached_property
    def degrees(self) -> Ints:
        found = []
        for effect in self.effects:
            factors = [factor for factor in effect if factor in ("t" if "r" in effect else "ts")]
            product = int(np.prod([self.sizes[factor] - 1 for factor in factors]))
            found.append(product * (self._repeats if "r" in effect else 1))
        return np.array(found)

    @cached_property
    def mean_squares(self) -> Floats:
        within = self.scores - self._cells[:, self.system]
        found = []
        for effect in self.effects:
            nested = "r" in effect
            part = within if nested else self._cells
            times = 1.0 if nested else self.reruns
            for axis, factor in enumerate("t" if nested else "ts"):
                mean = part.mean(axis=axis, keepdims=True)
                part = part - mean if factor in effect else mean
                times *= 1 if factor in effect else self.sizes[factor]
            found.append(times * float((part**2).sum()))
        return np.array(found) / self.degrees

    @cached_property
    def coefficients(self) -> Floats:
        """Return how often each effect's variance (columns) occurs in each mean square's expectation (rows)."""
        table = np.zeros((len(self.effects), len(self.effects)))
        for column, effect in enumerate(self.effects):
            outside = [self.sizes[factor] for factor in ("t" if "r" in effect else "ts") if factor not in effect]
            times = float(np.prod(outside)) * (1.0 if "r" in effect else self.reruns)
            for row, tested in enumerate(self.effects):
                table[row, column] = times if set(tested) <= set(effect) else 0.0
        return table

    @cached_property
    def estimates(self) -> Floats:
        return np.linalg.solve(self.coefficients, self.mean_squares)

    @property
    def variances(self) -> dict[str, float]:
        return dict(zip(self.effects, np.maximum(self.estimates, 0.0).tolist(), strict=True))

    def drawn_variances(self, resampling: Resampling) -> dict[str, Floats]:
        """Draw variances by generalised pivots (Weerahandi 1993): mean squares over chi-square draws."""
        drawn = resampling.generator().chisquare(self.degrees, (resampling.resamples, len(self.effects)))
        pivots = self.mean_squares * self.degrees / drawn
        solved = np.maximum(np.linalg.solve(self.coefficients, pivots.T), 0.0)
        return dict(zip(self.effects, solved, strict=True))


@dataclass(frozen=True)
class Design:
    """The numbers of topics and reruns of an experiment."""

    topics: int
    reruns: int = 1

    def _times(self, effect: str) -> int:
        numbers = {"t": self.topics, "r": self.reruns, "s": 1}
        return int(np.prod([numbers[factor] for factor in effect]))

    def reliability(self, variances: Mapping[str, float] | Mapping[str, Floats], *, absolute: bool = False) -> Floats:
        """The share of variance of systems' means that is their own; ``absolute``: of the means, not differences."""
        own = np.asarray(variances["s"], dtype=np.float64)
        error = np.zeros(own.shape)
        for effect, variance in variances.items():
            if effect != "s" and (absolute or "s" in effect):
                error = error + np.asarray(variance) / self._times(effect)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(own + error > 0, own / (own + error), np.nan)


def topics_for_reliability(wanted: float, variances: Mapping[str, float] | Mapping[str, Floats], reruns: int) -> Floats:
    """Count the topics for a relative reliability with so many reruns; infinite: none suffice."""
    own = np.asarray(variances["s"], dtype=np.float64)
    fixed, falling = np.zeros(own.shape), np.zeros(own.shape)
    design = Design(1, reruns)
    for effect, variance in variances.items():
        if effect != "s" and "s" in effect:
            part = np.asarray(variance) / design._times(effect)
            fixed, falling = (fixed, falling + part) if "t" in effect else (fixed + part, falling)
    room = own * (1 - wanted) / wanted - fixed
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(room > 0, falling / room, np.inf)
    return np.maximum(np.ceil(needed * (1 - 1e-12)), 1.0)
