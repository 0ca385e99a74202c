"""What is asked of runs: one object, made from one set of options, which every analysis takes and hands on.

Comparisons, gates, reports, the desk, plans of judgments, samples and audits have no measures, pairs, tests or
assumptions of their own, so that they cannot answer different questions. A difference is always candidate minus
baseline: of two runs the second minus the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from rankbounds.choices import check_share
from rankbounds.collection.inputs import Reading
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.clusters import Clusters, ClustersLike, resolve_clusters
from rankbounds.evaluation.options import FileOptions, Options, chosen_options
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.naming.parser import MeasuresLike

ALL = "all"


class TestingOptions(TypedDict, total=False):
    """Which test pairs of runs get, and at which level, as in ``compare``."""

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


class QuestionOptions(TestingOptions, Options, total=False):
    """How pairs of runs are tested, and the options of ``evaluate``."""


TESTING = tuple(TestingOptions.__annotations__)


@dataclass(frozen=True)
class Question:
    """Which runs are asked about (two, or ``"all"`` pairs), by which measures (the first decides) and test."""

    measures: tuple[Measure, ...] = ()
    compare: tuple[str, str] | str | None = None
    test: str = "t"
    correction: str = "auto"
    alpha: float = 0.05
    confidence: float = 0.95
    resamples: int = 10_000
    seed: int = 0
    clusters: ClustersLike | Clusters | None = None
    baseline: str | None = None
    alternative: str = "two-sided"
    margin: float | None = None
    assumptions: Assumptions = field(default_factory=Assumptions)

    def __post_init__(self) -> None:
        check_share("alpha", self.alpha)
        check_share("confidence", self.confidence)

    @classmethod
    def of(
        cls,
        options: Mapping[str, Any],
        measures: MeasuresLike,
        declared: type[FileOptions] = QuestionOptions,
        *,
        one_order: str = "",
        **more: Any,
    ) -> tuple[Question, Reading]:
        assumptions, reading = chosen_options(options, declared, one_order=one_order, threads=None)
        more |= {name: options[name] for name in TESTING if name in options}
        return cls(tuple(parse_measures(measures)), assumptions=assumptions, **more), reading

    @property
    def measure(self) -> Measure:
        return self.measures[0]

    def settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in TESTING if name != "clusters"}

    def runs_among(self, names: Sequence[str]) -> list[int]:
        if isinstance(self.compare, str):
            if self.compare != ALL:
                raise UsageError(f'compare is a pair of names, or "{ALL}", not "{self.compare}".')
            if len(names) < 2:
                raise UsageError("A comparison needs at least two runs.")
        if self.compare is None or isinstance(self.compare, str):
            return list(range(len(names)))
        if len(self.compare) != 2 or self.compare[0] == self.compare[1]:
            raise UsageError(f"Two different runs are compared, not {' and '.join(self.compare) or 'none'}.")
        for name in self.compare:
            if name not in names:
                raise UsageError(f'There is no run "{name}" to compare.{did_you_mean(name, list(names))}')
        return [names.index(name) for name in self.compare]

    def words(self, names: Sequence[str]) -> str:
        if self.compare is None:
            return f"the score of {names[0] if len(names) == 1 else f'{len(names)} runs'}"
        return f"the difference of {'all pairs of runs' if self.compare == ALL else ' and '.join(self.compare)}"

    def clusters_of(self, scores: Scores) -> Clusters | None:
        given = scores.clusters or None if self.clusters is None else self.clusters
        return resolve_clusters(given, scores.query_ids)

    def in_one_order(self) -> Question:
        told = self.assumptions
        order = Assumptions(told.order, gain=told.gain, ties_key=told.ties_key, score_precision=told.score_precision)
        return replace(self, assumptions=order)
