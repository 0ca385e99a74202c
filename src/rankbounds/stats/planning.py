"""How many topics an evaluation needs, from a pilot or from an expected standard deviation.

Four goals, each with its own number of topics:

- a *difference*: a paired t test finds a true difference of this size between two systems with the given power; with
  several systems and Holm's correction, at the strictest of its levels;
- the *range* of several systems: an analysis of variance finds that they differ, if the best and the worst differ by
this
  much and all others lie between them;
- a *margin*: two one-sided t tests rule out a difference of the margin between equal systems;
- a *width*: the confidence interval of a mean (the one that ``evaluate`` prints), or of a difference, is on average no
  wider than this.

All but the interval of a mean assume that numbers over topics are about normal, and none plans fewer topics than those
whose signs can show something at the level. A plan is as uncertain as its pilot, and few topics determine a
deviation poorly. So ``topics_safe`` is planned with the upper end of the deviation's one-sided 80% interval, which the
true deviation exceeds in one case of five.

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
from rankbounds.evaluation.score_differences import TOLERANCE, limits_of
from rankbounds.evaluation.scores import Scores
from rankbounds.results import Column, Result, count
from rankbounds.stats.power import (
    check_level,
    topics_for_effects,
    topics_for_equivalence,
    topics_for_mean_width,
    topics_for_range,
    topics_for_width,
)

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
    >>> plan = rb.stats.plan_topics(deviation=0.2, difference=0.05, width=0.1)
    >>> [(row["goal"], row["topics"]) for row in plan.rows()]
    [('difference', 128), ('interval', 64)]
    """

    plans: list[dict[str, Any]]

    @property
    def columns(self) -> Sequence[Column]:  # type: ignore[override]
        """Those of a pilot have the measure, and numbers to be safe."""
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
        """List a dict per measure and goal; None if no realistic number of topics suffices."""
        return list(self.plans)

    def notes(self) -> list[str]:
        """Return what is assumed."""
        assumed = (
            f"Computed for power {self.settings['power']:.0%} at level {self.settings['alpha']:g} from t and F "
            "distributions, which assume that values are about normal over topics"
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
    width: float | None = None,
    systems: int = 2,
    alpha: float = 0.05,
    power: float = 0.8,
    confidence: float = 0.95,
    clusters: ClustersLike | None = None,
) -> TopicPlan:
    """Plan how many topics an evaluation needs, from a pilot's scores or from a deviation.

    Parameters
    ----------
    pilot : Scores, optional
        Scores of earlier topics by the measures in question: of at least two runs for differences, of any number for
        the interval of a mean.
    deviation : float, optional
        The standard deviation over topics, if there is no pilot: of the difference between two systems, or of one
        system's scores for the width of its interval.
    difference : float, optional
        A true difference to find; with ``systems`` also that between the best and the worst of them.
    margin : float, optional
        A difference to rule out if the systems are equal.
    width : float, optional
        The average width of the confidence interval, from end to end.
    systems : int, default 2
        The number of systems to compare.
    alpha, power, confidence : float
        The level of the tests, their power, and the level of the interval.
    clusters : mapping or path, optional
        The cluster of each topic of the pilot, if topics belong together; by default those of its scores. ``topics``
        then counts clusters like the pilot's.

    Returns
    -------
    TopicPlan
        A row per measure and goal.

    Notes
    -----
    A pilot's deviation of differences is pooled over all pairs of its runs (the residual of a two-way analysis of
    variance, times the root of 2); ``topics_safe`` uses the upper end of its one-sided 80% interval.

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
    sizes = {"difference": difference, "margin": margin, "width": width}
    asked = {name: size for name, size in sizes.items() if size is not None}
    if not asked:
        raise UsageError("What should the topics show? Give --difference, --margin or --width.")
    for name, size in [*asked.items(), *([("deviation", deviation)] if deviation is not None else [])]:
        if not (isinstance(size, Real) and 0 < size < np.inf):
            raise UsageError(f"The {name} must be a number above 0, not {size!r}.")
    check_count("The number of systems", systems, least=2)
    check_level(alpha)
    check_share("power", power)
    check_share("confidence", confidence)
    settings = {**sizes, "systems": systems, "alpha": alpha, "power": power, "confidence": confidence}
    settings |= {"pilot_topics": None, "clusters": None}
    rows = []
    if pilot is None:
        assert deviation is not None
        rows = list(_rows(settings, {"interval": deviation, "": deviation}, 1.0))
    else:
        grouped = Question(clusters=clusters).clusters_of(pilot)
        scores = pilot.value
        settings["clusters"] = None if grouped is None else len(grouped)
        topics = settings["pilot_topics"] = settings["clusters"] or scores.shape[1]
        if topics < 2:
            raise UsageError("A pilot of one topic does not show how scores vary: use two topics or more.")
        if len(pilot.runs) < 2 and set(asked) != {"width"}:
            raise UsageError(
                "A pilot for differences needs two runs or more; of one run the width of its mean can be planned."
            )
        from scipy.special import chdtri

        factor = float(np.sqrt((topics - 1) / chdtri(topics - 1, SAFE)))
        for place, measure in enumerate(pilot.measures):
            named = {"measure": str(measure)}
            deviations = _deviations(scores[:, :, place], str(measure), grouped)
            by_topic = scores[:, :, place] if grouped is None else grouped.spread_means(scores[:, :, place])[0]
            of_means = by_topic, limits_of(measure, scores[:, :, place])
            rows += [named | row for row in _rows(settings, deviations, factor, of_means)]
    return TopicPlan(rows, settings=settings)


def _deviations(scores: Floats, measure: str, clusters: Clusters | None) -> dict[str, float]:
    if not np.isfinite(scores).all():
        raise UsageError(f"{measure} is infinite or not known on a topic of the pilot: plan with another measure.")
    by_topic = scores if clusters is None else clusters.spread_means(scores)[0]
    found = {"interval of a mean": float(np.sqrt(by_topic.var(axis=1, ddof=1).mean()))}
    if len(scores) > 1:
        apart = scores - scores.mean(axis=0)
        apart = apart if clusters is None else clusters.sum_differences(apart)
        found[""] = found["interval of a difference"] = float(
            np.sqrt(2 * apart.var(axis=1, ddof=1).sum() / (len(scores) - 1))
        )
        if found[""] <= TOLERANCE:
            raise UsageError(
                f"By {measure}, the runs of the pilot differ by the same amount on every topic, so there "
                "is no variation to plan with."
            )
    return found


def _rows(
    settings: dict[str, Any],
    deviations: dict[str, float],
    factor: float,
    of_means: tuple[Floats, tuple[float, float]] | None = None,
) -> Iterator[dict[str, Any]]:
    """Build a row per goal; ``factor`` enlarges the deviation to be safe.

    Of a pilot ``of_means`` has the scores by run and topic, and their range.
    """
    alpha, power, systems = settings["alpha"], settings["power"], settings["systems"]
    apart = deviations.get("", np.nan) * np.array([1.0, factor])

    def row(goal: str, size: float, among: int, deviation: float, topics: Any) -> dict[str, Any]:
        plain, safe = (int(n) or None for n in topics)
        content = {"goal": goal, "size": size, "systems": among, "deviation": deviation, "topics": plain}
        return content | ({} if settings["pilot_topics"] is None else {"topics_safe": safe})

    if (size := settings["difference"]) is not None:
        yield row("difference", size, 2, apart[0], topics_for_effects(size / apart, alpha, power))
        if systems > 2:
            level = alpha / (systems * (systems - 1) // 2)
            yield row(
                "difference among several", size, systems, apart[0], topics_for_effects(size / apart, level, power)
            )
            of_range = topics_for_range(np.full(2, size), apart, systems, alpha, power)
            yield row("range of all", size, systems, apart[0], of_range)
    if (size := settings["margin"]) is not None:
        yield row("equivalence", size, 2, apart[0], topics_for_equivalence(np.zeros(2), apart, size, alpha, power))
    if (size := settings["width"]) is not None:
        for goal, deviation in deviations.items():
            if goal:
                factors = np.array([1.0, factor])
                needed = topics_for_width(factors * deviation, size, settings["confidence"])
                if goal == "interval of a mean" and of_means is not None:
                    needed = topics_for_mean_width(*of_means, size, settings["confidence"], factors)
                yield row(goal, size, 2, deviation, needed)
