"""How pairs of runs are tested: declared once, for ``compare``, slices, gates, reports and commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from rankbounds.choices import check_share
from rankbounds.errors import UsageError
from rankbounds.evaluation.clusters import Clusters, ClustersLike
from rankbounds.evaluation.options import Options
from rankbounds.stats.corrections import CORRECTIONS, check_correction
from rankbounds.stats.equivalence import TOST, check_equivalence, check_margin
from rankbounds.stats.power import check_level
from rankbounds.stats.significance import DEFAULT_TEST, RESAMPLES, TESTS, Resampling, check_test


class PairTestingOptions(TypedDict, total=False):
    """The fields of ``PairTesting``, as keyword arguments."""

    test: str
    correction: str
    alpha: float
    confidence: float
    resamples: int
    seed: int
    clusters: ClustersLike | Clusters | None
    baseline: str | None
    alternative: str
    margin: float | None


class CompareOptions(PairTestingOptions, Options, total=False):
    """How pairs of runs are tested, and the options of ``evaluate``."""


@dataclass(frozen=True)
class Testing:
    """Which test pairs get, and at which level; what reports and commands declare as well."""

    test: str = DEFAULT_TEST
    correction: str = "auto"
    alpha: float = 0.05
    confidence: float = 0.95
    resamples: int = RESAMPLES
    seed: int = 0
    clusters: ClustersLike | Clusters | None = None


@dataclass(frozen=True)
class PairTesting(Testing):
    """How pairs of runs are tested, as in ``compare``."""

    baseline: str | None = None
    alternative: str = "two-sided"
    margin: float | None = None

    def check(self, runs: Sequence[str], more_tests: Sequence[str] = ()) -> None:
        """Reject what cannot be tested; ``more_tests`` are names of tests that the caller knows."""
        if len(runs) < 2:
            raise UsageError("A comparison needs at least two runs.")
        check_level(self.alpha)
        check_share("confidence", self.confidence)
        check_test(self.test, self.alternative, more_tests)
        if self.alternative != "two-sided" and self.baseline is None and len(runs) > 2:
            raise UsageError("A one-sided test asks about one run: compare two runs, or name the baseline.")
        if self.margin is not None:
            check_margin(self.margin)

    def settings(self) -> dict[str, Any]:
        """Return all fields but the clusters, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "clusters"}

    @property
    def resampling(self) -> Resampling:
        """How tests that resample do it."""
        return Resampling(self.resamples, self.seed)

    def correction_for(self, pairs: int) -> str:
        """Choose the correction asked for, or the default for this number of pairs."""
        chosen = self.correction
        if chosen == "auto":
            chosen = "none" if pairs == 1 else TESTS.get(self.test, TESTS["t"]).correction
        else:
            check_correction(chosen)
            if chosen == "tukey" and self.baseline is not None:
                raise UsageError(
                    'Tukey\'s correction is for all pairs of runs; with a baseline take "holm" or "max-t".'
                )
            if CORRECTIONS[chosen].resamples and self.alternative != "two-sided":
                raise UsageError(f'The correction {chosen} has two sides; for one side take "holm".')
        if self.test == TOST:
            check_equivalence(self.margin, self.alternative, chosen)
        return chosen
