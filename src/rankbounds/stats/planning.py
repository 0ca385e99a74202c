"""How many topics an evaluation needs, from a pilot or from an expected standard deviation.

A paired t test finds a true *difference* with the given power (among several systems at the strictest of Holm's
levels), and two one-sided t tests rule out a *margin* between equal systems. Both assume that differences over topics
are about normal. Few topics determine a deviation poorly, so ``topics_safe`` is planned with the upper end of the
deviation's one-sided 80% interval.

Sources: Sakai, Topic Set Size Design, Information Retrieval Journal 19, 2016; Browne, On the Use of a Pilot Sample for
Sample Size Determination, Statistics in Medicine 14, 1995.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.choices import check_count, check_share
from rankbounds.errors import UsageError
from rankbounds.evaluation.clusters import Clusters, ClustersLike
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.score_differences import TOLERANCE
from rankbounds.evaluation.scores import Scores
from rankbounds.results import Column, Result, count
from rankbounds.stats.power import check_level, topics_for_effects, topics_for_equivalence

SAFE = 0.8
"""How sure the upper end of a pilot's deviation is."""


@dataclass(frozen=True, eq=False, repr=False)
class TopicPlan(Result):
    """How many topics each goal needs. It prints as a table.

    Attributes
    ----------
    plans : list of dict
        A row per measure and goal.

    Examples
    --------
    >>> import rankbounds as rb
    >>> plan = rb.stats.plan_topics(deviation=0.2, difference=0.05, margin=0.1)
    >>> [(row["goal"], row["topics"]) for row in plan.rows()]
    [('difference', 128), ('equivalence', 36)]
    """

    plans: list[dict[str, Any]]

    @property
    def columns(self) -> Sequence[Column]:  # type: ignore[override]
        pilot = self.settings["pilot_topics"] is not None
        return (
            *([Column("measure", importance=6)] if pilot else []),
            Column("goal", importance=9),
            Column("size", cell=lambda row: f"{row['size']:g}", importance=8),
            *([count("systems")] if self.settings["systems"] > 2 else [Column("systems", None)]),
            Column("deviation"),
            count("topics", self._units, importance=7),
            *([count("topics_safe", f"{self._units} safe", importance=5)] if pilot else []),
        )

    @property
    def _units(self) -> str:
        return "clusters" if self.settings["clusters"] else "topics"

    def rows(self) -> list[dict[str, Any]]:
        return list(self.plans)

    def notes(self) -> list[str]:
        assumed = (
            f"Computed for power {self.settings['power']:.0%} at level {self.settings['alpha']:g} from t "
            "distributions, which assume that differences are about normal over topics"
        )
        topics = self.settings["pilot_topics"]
        if topics is None:
            return [f"{assumed}."]
        return [
            f"{assumed}, with the deviation of the pilot, pooled over its runs; {self._units} safe: with the upper end "
            f"of the deviation's one-sided {SAFE:.0%} interval, because {topics} {self._units} estimate it only "
            "roughly." + " This assumes clusters of the same size as the pilot's." * bool(self.settings["clusters"])
        ]


def plan_topics(
    pilot: Scores | None = None,
    *,
    deviation: float | None = None,
    difference: float | None = None,
    margin: float | None = None,
    systems: int = 2,
    alpha: float = 0.05,
    power: float = 0.8,
    clusters: ClustersLike | None = None,
) -> TopicPlan:
    """Plan how many topics an evaluation needs, from a pilot's scores or from a deviation.

    Parameters
    ----------
    pilot : Scores, optional
        Scores of earlier topics by the measures in question, of at least two runs.
    deviation : float, optional
        The standard deviation of the difference between two systems over topics, if there is no pilot.
    difference, margin : float, optional
        A true difference to find, and one to rule out if the systems are equal.
    systems, alpha, power
        How many systems will be compared, the level of the tests, and their power.
    clusters : mapping or path, optional
        The cluster of each topic of the pilot; by default those of its scores. ``topics`` then counts clusters.

    Returns
    -------
    TopicPlan
        A row per measure and goal. The deviation is pooled over all pairs of the pilot's runs; ``topics_safe`` uses the
        upper end of its one-sided 80% interval.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.stats.plan_topics(deviation=0.2, difference=0.05, systems=10).rows()[1]["topics"]
    275
    """
    if (pilot is None) == (deviation is None):
        raise UsageError("A plan needs a pilot (judgments and runs, or scores) or a standard deviation (--deviation).")
    if clusters is not None and pilot is None:
        raise UsageError("Clusters are those of a pilot: without one, plan with the deviation over clusters.")
    sizes = {"difference": difference, "margin": margin}
    asked = {name: size for name, size in sizes.items() if size is not None}
    if not asked:
        raise UsageError("What should the topics show? Give --difference or --margin.")
    for name, size in [*asked.items(), *([("deviation", deviation)] if deviation is not None else [])]:
        if not (isinstance(size, Real) and 0 < size < np.inf):
            raise UsageError(f"The {name} must be a number above 0, not {size!r}.")
    check_count("The number of systems", systems, least=2)
    check_level(alpha)
    check_share("power", power)
    settings = {**sizes, "systems": systems, "alpha": alpha, "power": power, "pilot_topics": None, "clusters": None}
    rows = []
    if pilot is None:
        assert deviation is not None
        rows = list(_rows(settings, deviation, 1.0))
    else:
        grouped = Question(clusters=clusters).clusters_of(pilot)
        settings["clusters"] = None if grouped is None else len(grouped)
        topics = settings["pilot_topics"] = settings["clusters"] or len(pilot.query_ids)
        if topics < 2:
            raise UsageError("A pilot of one topic does not show how scores vary: use two topics or more.")
        if len(pilot.runs) < 2:
            raise UsageError("A pilot needs two runs or more, which show how differences vary.")
        from scipy.special import chdtri

        factor = float(np.sqrt((topics - 1) / chdtri(topics - 1, SAFE)))
        for place, measure in enumerate(pilot.measures):
            of_differences = _deviation(pilot.value[:, :, place], str(measure), grouped)
            rows += [{"measure": str(measure)} | row for row in _rows(settings, of_differences, factor)]
    return TopicPlan(rows, settings=settings)


def _deviation(scores: Floats, measure: str, clusters: Clusters | None) -> float:
    if not np.isfinite(scores).all():
        raise UsageError(f"{measure} is infinite or not known on a topic of the pilot: plan with another measure.")
    apart = scores - scores.mean(axis=0)
    apart = apart if clusters is None else clusters.sum_differences(apart)
    deviation = float(np.sqrt(2 * apart.var(axis=1, ddof=1).sum() / (len(scores) - 1)))
    if deviation <= TOLERANCE:
        raise UsageError(
            f"By {measure}, the runs of the pilot differ by the same amount on every topic, so there is no variation "
            "to plan with."
        )
    return deviation


def _rows(settings: dict[str, Any], deviation: float, factor: float) -> Iterator[dict[str, Any]]:
    alpha, power, systems = settings["alpha"], settings["power"], settings["systems"]
    apart = deviation * np.array([1.0, factor])

    def row(goal: str, size: float, among: int, topics: Any) -> dict[str, Any]:
        plain, safe = (int(n) or None for n in topics)
        content = {"goal": goal, "size": size, "systems": among, "deviation": deviation, "topics": plain}
        return content | ({} if settings["pilot_topics"] is None else {"topics_safe": safe})

    if (size := settings["difference"]) is not None:
        yield row("difference", size, 2, topics_for_effects(size / apart, alpha, power))
        if systems > 2:
            level = alpha / (systems * (systems - 1) // 2)
            yield row("difference among several", size, systems, topics_for_effects(size / apart, level, power))
    if (size := settings["margin"]) is not None:
        yield row("equivalence", size, 2, topics_for_equivalence(np.zeros(2), apart, size, alpha, power))
