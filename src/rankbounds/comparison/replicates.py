"""The noise floor, from reruns of the same systems, and how many topics and reruns make their order reliable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.choices import check_share
from rankbounds.comparison.evidence import keep_shared_topics
from rankbounds.comparison.pairs import build_rows
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from rankbounds.evaluation.score_differences import TOLERANCE, limits_of_differences
from rankbounds.measures import Measure
from rankbounds.phrases import some
from rankbounds.results import CaptionedTables, Column, build_table, count, interval
from rankbounds.stats.significance import RESAMPLES, Resampling, check_finite
from rankbounds.stats.variance_components import NAMES, Anova, Design, topics_for_reliability
from rankbounds.tables import Table, number, plain

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.evaluation.options import Options

PATTERN = "#[^#]*$"
"""What marks a rerun in a name: ``bm25#1``, ``bm25#2``."""
RERUNS = (1, 2, 3, 5, 10)
"""The numbers of runs per system that plans are made for."""
RELIABILITIES = (0.8, 0.9, 0.95)
PARTS = ("components", "floors", "reliability", "plan")


def _share(name: str, heading: str = "") -> Column:
    return Column(name, heading, lambda row: "-" if row[name] is None else f"{row[name]:.1%}")


MEASURE = Column("measure")
COLUMNS = {
    "components": (
        MEASURE,
        Column("part"),
        Column("variance", cell=lambda row: number(row["variance"], 6)),
        interval("ci_low", "ci_high", "interval", lambda end: number(end, 6)),
        _share("share"),
        Column("degrees", "degrees of freedom"),
    ),
    "floors": (
        *map(Column, ("measure", "floor")),
        Column("degrees", "degrees of freedom"),
        Column("observed_pairs", "pairs"),
        Column("observed_beyond", "beyond it"),
        Column("observed_largest", "largest"),
    ),
    "reliability": (
        MEASURE,
        *map(Column, ("topics", "reruns")),
        Column("reliability", "of the order"),
        interval("reliability_low", "reliability_high", "interval"),
        Column("dependability", "of the scores"),
    ),
    "plan": (
        MEASURE,
        Column("reliability", cell=lambda row: f"{row['reliability']:g}"),
        Column("reruns"),
        count("topics"),
        interval("topics_low", "topics_high", "interval", lambda topics: f"{topics:,}"),
    ),
}
CAPTIONS = {
    "components": "Variance of a single score, by what causes it ({confidence:.0%} intervals by chi-square draws, "
    "which take effects to be normally distributed):",
    "floors": "The noise floor: two means that differ only by a rerun lie within it in {confidence:.0%} of cases (t "
    "distribution), and as observed (- where all that were observed are equal):",
    "reliability": "Which share of the variance of means is due to the systems, with the topics at hand:",
    "plan": "Topics needed for a reliable order of the systems, by the number of runs of each (- where "
    "no number is enough; {confidence:.0%} intervals):",
}
"""Of the tables, what introduces each."""


@dataclass(frozen=True, eq=False, repr=False)
class Replicates(CaptionedTables):
    """The noise in scores, from reruns. It prints as tables.

    Attributes
    ----------
    components : list of dict
        Per measure and ``part`` (topic, system, topic x system, rerun, ...): the ``variance`` of a single score from
        that source, with an interval, and its ``share``. ``estimate`` may be below 0, which counts as 0.
    floors : list of dict
        How far apart two means lie that differ only by a rerun, at the confidence asked for, and as observed. None
        where all that were observed are equal.
    reliability : list of dict
        Of the order of systems (the generalisability coefficient) and of their scores (the index of dependability), for
        the topics and reruns at hand.
    plan : list of dict
        How many topics a given reliability needs, by the number of reruns; None where none suffice.
    settings : dict
        Everything that the numbers depend on.
    """

    components: list[dict[str, Any]]
    floors: list[dict[str, Any]]
    reliability: list[dict[str, Any]]
    plan: list[dict[str, Any]]

    @property
    def measures(self) -> list[str]:
        return list(dict.fromkeys(row["measure"] for row in self.components))

    def rows(self) -> list[dict[str, Any]]:
        return self.components

    def words(self) -> str:
        several = self.settings["runs_of_system"].values()
        least, most = min(several), max(several)
        each = f"{f'{least} to ' * (least < most)}{_several(most, 'run')} of each"
        return f"{_several(self.settings['systems'], 'system')}, {each}, {self.settings['topics']} topics.\n"

    def parts(self) -> list[tuple[str, Table]]:
        named = {name: getattr(self, name) for name in COLUMNS}
        return [
            (CAPTIONS[name].format(**self.settings), build_table(rows, COLUMNS[name]))
            for name, rows in named.items()
            if rows
        ]


def _several(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def compare_replicates(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES[0],
    *,
    pattern: str = PATTERN,
    reliability: float | Sequence[float] = RELIABILITIES,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    **options: Unpack[Options],
) -> Replicates:
    """Measure the noise in scores from reruns of systems.

    Parameters
    ----------
    qrels : path, Qrels, dict, frame or rows
        The judgments, as for ``evaluate``.
    runs : path, Run, dict, frame, rows, or several of them
        As for ``evaluate``; names of runs of one system differ only in what the pattern matches.
    measures : str, Measure, or iterable of them
        Such as ``"nDCG@10"``.
    pattern : str, default "#[^#]*$"
        A regular expression that matches the mark of a rerun in a run's name; the rest is the system, or the first
        group if there is one. ``bm25#1`` and ``bm25#2`` are reruns of bm25.
    reliability : float or several
        The generalisability coefficients of the order of systems for which to count topics.
    confidence : float
        Of intervals and of the A/A floor.
    resamples, seed : int
        For intervals that resample.
    **options
        Assumptions and reading options of ``evaluate``: ``ties=``, ``unjudged=``, ``gain=``, ``columns=``, ...

    Returns
    -------
    Replicates
        Rows of ``components``, ``floors``, ``reliability`` and ``plan``, and ``words()``.

    Notes
    -----
    Variances are unbiased for any numbers of reruns; estimates below 0 count as 0. Their intervals use draws from
    chi-square distributions (generalised confidence intervals): exact for one mean square and approximate otherwise,
    for normal effects. The A/A floor is from the t distribution, so few reruns make it large.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(q): {"a": 1, "b": 0} for q in range(6)}
    >>> def run(missed):
    ...     return {q: ["b", "a"] if int(q) in missed else ["a", "b"] for q in qrels}
    >>> runs = {"x#1": run({0}), "x#2": run({0, 1}), "y#1": run({2, 3, 4}), "y#2": run({2, 3})}
    >>> found = rb.compare_replicates(qrels, runs, "RR")
    >>> [row["part"] for row in found.components]
    ['topic', 'system', 'topic x system', 'rerun', 'topic x rerun']
    >>> round(found.floors[0]["floor"], 4)
    0.3586
    """
    check_share("confidence", confidence)
    wanted = [reliability] if isinstance(reliability, int | float) else list(reliability)
    for level in wanted:
        check_share("A reliability", level)
    resampling = Resampling(resamples, seed)
    try:
        marks = re.compile(pattern)
    except re.error as error:
        raise UsageError(f'"{pattern}" is not a regular expression: {error}.') from None
    scored: Any = {"bounds": "none"} | options
    scores = keep_shared_topics(evaluate(qrels, runs, measures, **scored))
    of_run = [_system_name(name, marks) for name in scores.runs]
    systems = list(dict.fromkeys(of_run))  # in the order of their first runs
    system = np.array([systems.index(name) for name in of_run])
    if len(systems) == len(scores.runs):
        raise UsageError(
            f"No run is a rerun of another ({some(scores.runs)}). Name reruns name#1, name#2, or say what marks them "
            f'(--replicates REGEX; now "{pattern}").'
        )
    settings: dict[str, Any] = {
        "topics": len(scores.query_ids), "systems": len(systems), "runs": len(scores.runs),
        "runs_of_system": dict(zip(systems, np.bincount(system).tolist(), strict=True)), "pattern": pattern,
        "confidence": confidence, "resamples": resamples, "seed": seed,
    }  # fmt: skip
    parts: dict[str, list[dict[str, Any]]] = {name: [] for name in PARTS}
    for place, measure in enumerate(scores.measures):
        values = scores.value[:, :, place].T
        check_finite(values, "an analysis of variance", measure)
        anova = Anova(values, system)
        drawn = anova.drawn_variances(resampling)
        parts_of = {
            "components": component_rows(anova, drawn, confidence),
            "floors": [floor_row(values, system, measure, confidence)],
        }
        if len(systems) > 1:
            at_hand = Design(settings["topics"], max(1, round(anova.reruns)))
            parts_of["reliability"] = [reliability_row(anova, drawn, at_hand, confidence)]
            parts_of["plan"] = plan_rows(anova, drawn, wanted, confidence)
        for name, rows in parts_of.items():
            parts[name] += [{"measure": str(measure)} | row for row in rows]
    return Replicates(**parts, settings=settings)


def _system_name(name: str, marks: re.Pattern[str]) -> str:
    found = marks.search(name)
    if found is None:
        return name
    left = found[1] if marks.groups else name[: found.start()] + name[found.end() :]
    return left or name


# ---- the rows ----


def _ends(drawn: Floats, confidence: float) -> list[Any]:
    known = drawn[~np.isnan(drawn)]
    if not known.any():
        return [None, None]
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    ends = np.quantile(known, tails, method="inverted_cdf")  # (between a number and infinity there is nothing)
    return [None if np.isinf(end) else float(end) for end in ends]


def component_rows(anova: Anova, drawn: Mapping[str, Floats], confidence: float) -> list[dict[str, Any]]:
    total = sum(anova.variances.values())
    ends = [_ends(drawn[effect], confidence) for effect in anova.effects]
    return build_rows(
        part=[NAMES[effect] for effect in anova.effects], variance=list(anova.variances.values()),
        ci_low=[low for low, _ in ends], ci_high=[high for _, high in ends],
        share=[variance / total if total else None for variance in anova.variances.values()],
        estimate=anova.estimates, mean_square=anova.mean_squares, degrees=anova.degrees.tolist(),
    )  # fmt: skip


def floor_row(scores: Floats, system: Ints, measure: Measure, confidence: float) -> dict[str, Any]:
    from scipy import stats

    means = scores.mean(axis=0)
    first, second = np.triu_indices(means.size, 1)
    same = system[first] == system[second]
    runs_of_system = np.bincount(system)
    of_system = np.bincount(system, means) / runs_of_system
    degrees = int((runs_of_system - 1).sum())
    deviation = float(np.sqrt(2 * ((means - of_system[system]) ** 2).sum() / degrees))
    sizes = np.abs(means[first[same]] - means[second[same]])
    reach = float(stats.t.ppf((1 + confidence) / 2, degrees)) * deviation
    known = sizes.max() > TOLERANCE  # (where nothing differed, nothing is known)
    floor = min(reach, limits_of_differences(measure, scores)[1]) if known else None
    return {
        "floor": floor, "sd": deviation, "degrees": degrees,
        "observed_pairs": int(sizes.size), "observed_largest": float(sizes.max()),
        "observed_beyond": None if floor is None else int(np.count_nonzero(sizes > floor)),
    }  # fmt: skip


def reliability_row(anova: Anova, drawn: Mapping[str, Floats], design: Design, confidence: float) -> dict[str, Any]:
    row: dict[str, Any] = {"topics": design.topics, "reruns": design.reruns}
    for name, absolute in (("reliability", False), ("dependability", True)):
        row[name] = plain(design.reliability(anova.variances, absolute=absolute))
        row[f"{name}_low"], row[f"{name}_high"] = _ends(design.reliability(drawn, absolute=absolute), confidence)
    return row


def plan_rows(
    anova: Anova, drawn: Mapping[str, Floats], wanted: Sequence[float], confidence: float
) -> list[dict[str, Any]]:
    rows = []
    for level, reruns in product(wanted, RERUNS):
        topics = float(topics_for_reliability(level, anova.variances, reruns))
        counts = [topics, *_ends(topics_for_reliability(level, drawn, reruns), confidence)]
        needed = [None if count is None or np.isinf(count) else int(count) for count in counts]
        row = {"reliability": level, "reruns": reruns}
        rows.append(row | dict(zip(("topics", "topics_low", "topics_high"), needed, strict=True)))
    return rows
