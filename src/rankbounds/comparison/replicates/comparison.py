"""The noise floor: what changes when nothing changed? Reruns of the same systems, and labels made again by a model.

Two runs of one system differ, so a difference of two systems that is no larger than that says nothing of them. This
module asks where the spread of scores comes from (``variance_components``), by how much two runs of one system differ
(the A/A floor), how often a verdict changes when an experiment is repeated, and how many topics and reruns make the
order of systems reliable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_share
from rankbounds.collection.qrels import Qrels
from rankbounds.comparison.replicates import words
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.evaluation.options import chosen_options
from rankbounds.evaluation.run_notes import some
from rankbounds.evaluation.score_differences import differences, limits_of_differences, mean_difference, merit
from rankbounds.judging.judges.comparison import DEFAULT_MEASURES
from rankbounds.judging.judges.label_sets import Scoring, scores_by_labels, topics_of
from rankbounds.measures import Measure, parse_measures
from rankbounds.results import CaptionedTables, Column, build_table, interval
from rankbounds.stats.power import check_level
from rankbounds.stats.significance import RESAMPLES, Resampling, check_finite, p_values
from rankbounds.stats.variance_components import NAMES, Anova, Design, topics_for_reliability
from rankbounds.tables import Table, number, plain
from rankbounds.threads import processors

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.evaluation.options import Options

PATTERN = "#[^#]*$"
"""What marks a rerun in a name: ``bm25#1``, ``bm25#2``."""
RELIABILITIES = (0.8, 0.9, 0.95)
RERUNS = (1, 2, 3, 5, 10)
MOST_TESTS = 20_000
"""For more pairs of reruns, verdicts of systems drawn at random are looked at."""
PARTS = ("components", "floors", "flips", "pairs", "reliability", "plan")


def _six_digits(value: float | None) -> str:
    return number(value, 6)


COMPONENT_COLUMNS = (
    Column("measure"),
    Column("part"),
    Column("variance", cell=lambda row: _six_digits(row["variance"])),
    interval("ci_low", "ci_high", "interval", _six_digits),
    Column("share", cell=lambda row: "-" if row["share"] is None else f"{row['share']:.1%}"),
    Column("degrees", "degrees of freedom"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Replicates(CaptionedTables):
    """What reruns and labels made again say of the noise in scores. It prints as words and tables.

    Attributes
    ----------
    components : list of dict
        For each measure and ``part`` (topic, system, topic x system, rerun, ...): the ``variance`` of a single score
        that it causes, with an interval, and its ``share``. ``estimate`` may be below 0, which counts as 0.
    floors : list of dict
        How far apart two means lie that differ by nothing but a ``rerun`` or by ``labels`` made again, with the
        confidence asked for; beside it what was observed.
    flips : list of dict
        How often a repeated experiment gives another verdict (better, worse, no difference shown), another winner, or
        two significant verdicts that contradict each other; and how often two runs of one system are called different.
    pairs : list of dict
        The same for each pair of systems.
    reliability : list of dict
        Of the order of systems (the generalisability coefficient) and of their scores (the index of dependability), for
        the topics, reruns and labellings at hand.
    plan : list of dict
        How many topics a wanted reliability needs, by the number of reruns and labellings; None where none suffice.
    settings : dict
        All that the numbers depend on.

    """

    components: list[dict[str, Any]]
    floors: list[dict[str, Any]]
    flips: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    reliability: list[dict[str, Any]]
    plan: list[dict[str, Any]]

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]
        """Those of ``components``."""
        return tuple(map(Column, self.components[0]))

    @property
    def measures(self) -> list[str]:
        """The labels of the measures."""
        return list(dict.fromkeys(row["measure"] for row in self.components))

    def rows(self) -> list[dict[str, Any]]:
        """Those of ``components``."""
        return self.components

    def words(self) -> str:
        """What the numbers say, a paragraph for each measure.

        Returns
        -------
        str
            Sentences on lines of their own, an empty line between paragraphs.

        """
        paragraphs = []
        for measure in self.measures:
            rows = {name: [row for row in getattr(self, name) if row["measure"] == measure] for name in PARTS}
            paragraphs.append("\n".join(words.sentences(measure, rows, self.settings)))
        return "\n\n".join(paragraphs) + "\n"

    def parts(self) -> list[tuple[str, Table]]:
        """The tables, each with the sentence that introduces it."""
        confidence = f"{self.settings['confidence']:.0%}"
        causes = (
            f"Variance of a single score, by what causes it ({confidence} intervals by chi-square draws, which take "
            "effects to be normally distributed):"
        )
        needed = (
            "Topics needed for a reliable order of the systems, by the number of runs of each (- where no number is "
            f"enough; {confidence} intervals):"
        )
        found = [(causes, build_table(self.components, COMPONENT_COLUMNS))]
        return [*found, (needed, self.plan_table())] if self.plan else found

    def plan_table(self) -> Table:
        """Topics needed: a row for each wanted reliability (and number of labellings), a column for each of reruns."""
        several = self.settings["labels"] > 1
        reruns = list(dict.fromkeys(row["reruns"] for row in self.plan))
        cells: dict[tuple[str, float, int], list[str]] = {}
        for row in self.plan:
            between = f"{_count(row['topics_low'])}, {_count(row['topics_high'])}"
            key = (row["measure"], row["reliability"], row["labels"])
            cells.setdefault(key, []).append(f"{_count(row['topics'])} [{between}]")
        rows = [
            [measure, f"{level:g}", *([str(labels)] if several else []), *of_row]
            for (measure, level, labels), of_row in cells.items()
        ]
        columns = [f"{number} run{'s' * (number > 1)}" for number in reruns]
        return Table(["measure", "reliability", *(["labellings"] if several else []), *columns], rows)


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def replicates(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    pattern: str = PATTERN,
    reliability: float | Sequence[float] = RELIABILITIES,
    alpha: float = 0.05,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    **options: Unpack[Options],
) -> Replicates:
    """What reruns of systems, or labels made again, say of the noise in scores.

    Parameters
    ----------
    qrels : path, Qrels, dict, frame or rows, or several of them
        The judgments. Several (a list, a dict by name, a pattern) are the same pool judged again by the same judge.
    runs : path, Run, dict, frame, rows, or several of them
        As for ``evaluate``; runs of one system have names that differ in what the pattern matches.
    measures : str, Measure, or iterable of them
        By which the runs are scored.
    pattern : str, default "#[^#]*$"
        A regular expression for what marks a rerun in the name of a run: what is left of the name is the system. With a
        group, the first group is the system instead. ``bm25#1`` and ``bm25#2`` are reruns of bm25.
    reliability : float or several
        For which generalisability coefficients of the order of systems topics are counted.
    alpha, confidence : float
        The level of verdicts, and that of intervals and of the A/A floor.
    resamples, seed : int
        For tests and intervals that resample, and where the random numbers start.
    **options
        Assumptions and reading options of ``evaluate``: ``ties=``, ``unjudged=``, ``gain=``, ``columns=``, ...

    Returns
    -------
    Replicates
        With ``components``, ``floors``, ``flips``, ``pairs``, ``reliability`` and ``plan`` as rows, and ``words()``.

    Notes
    -----
    Variances are unbiased for any numbers of reruns; estimates below 0 count as 0. Their intervals are by draws from
    chi-square distributions (generalised confidence intervals): exact for one mean square and approximate otherwise,
    where effects are normally distributed. The A/A floor is the t distribution's, so that few reruns make it large.
    Verdicts are those of the paired randomisation test of two runs alone.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(q): {"a": 1, "b": 0} for q in range(6)}
    >>> def run(missed):
    ...     return {q: ["b", "a"] if int(q) in missed else ["a", "b"] for q in qrels}
    >>> runs = {"x#1": run({0}), "x#2": run({0, 1}), "y#1": run({2, 3, 4}), "y#2": run({2, 3})}
    >>> found = rb.replicates(qrels, runs, "RR")
    >>> [row["part"] for row in found.components]
    ['topic', 'system', 'topic x system', 'rerun', 'topic x rerun']
    >>> round(found.floors[0]["floor"], 4)
    0.3586

    """
    check_level(alpha)
    check_share("confidence", confidence)
    wanted = [reliability] if isinstance(reliability, int | float) else list(reliability)
    for level in wanted:
        check_share("A reliability", level)
    resampling = Resampling(resamples, seed)
    assumptions, reading = chosen_options(options, bounds="none", threads=processors())
    chosen = parse_measures(measures)
    assumptions.check(chosen)
    try:
        marks = re.compile(pattern)
    except re.error as error:
        raise UsageError(f'"{pattern}" is not a regular expression: {error}.') from None
    labellings = _labellings(reading.label_sets(qrels), marks)
    given = reading.runs(runs)
    systems, system = grouped([run.name for run in given], marks)
    if len(labellings) < 2 and len(systems) == len(given):
        raise UsageError(
            f"No run is a rerun of another ({some([run.name for run in given])}), and there is one set of judgments. "
            f'Name reruns name#1, name#2, or say what marks them (--replicates REGEX; now "{pattern}").'
        )
    scorings = [Scoring(labels, chosen, assumptions) for labels in labellings.values()]
    scores = np.transpose(scores_by_labels(scorings, given)[0], (1, 3, 0, 2))  # measure, topic, labelling, run
    settings: dict[str, Any] = {
        "topics": scores.shape[1],
        "labels": len(labellings),
        "systems": len(systems),
        "runs": len(given),
        "runs_of_system": dict(zip(systems, np.bincount(system).tolist(), strict=True)),
        "pattern": pattern,
        "alpha": alpha,
        "confidence": confidence,
        "resamples": resamples,
        "seed": seed,
    }
    parts: dict[str, list[dict[str, Any]]] = {name: [] for name in PARTS}
    for values, measure in zip(scores, chosen, strict=True):
        check_finite(values, "an analysis of variance", measure)
        anova = Anova(values, system)
        drawn = anova.drawn_variances(resampling)
        flips, pairs = _flip_rows(values, systems, system, measure, alpha, resampling)
        found = {
            "components": _component_rows(anova, drawn, confidence),
            "floors": _floor_rows(values, system, measure, confidence),
            "flips": [flips],
            "pairs": pairs,
        }
        if len(systems) > 1:
            at_hand = Design(settings["topics"], len(labellings), max(1, round(anova.reruns)))
            found["reliability"] = [_reliability_row(anova, drawn, at_hand, confidence)]
            found["plan"] = _plan_rows(anova, drawn, wanted, confidence)
        for name, rows in found.items():
            parts[name] += [{"measure": str(measure)} | row for row in rows]
    return Replicates(**parts, settings=settings)


# ---- what belongs together ----


def system_name(name: str, marks: re.Pattern[str]) -> str:
    """The system that a run of this name belongs to: the first group, or what is left without the match."""
    found = marks.search(name)
    if found is None:
        return name
    left = found[1] if marks.groups else name[: found.start()] + name[found.end() :]
    return left or name


def grouped(names: Sequence[str], marks: re.Pattern[str]) -> tuple[list[str], Ints]:
    """The systems in the order of their first runs, and the number of each run's."""
    of_run = [system_name(name, marks) for name in names]
    systems = list(dict.fromkeys(of_run))
    return systems, np.array([systems.index(system) for system in of_run])


def _labellings(sets: dict[str, Qrels], marks: re.Pattern[str]) -> dict[str, Qrels]:
    """Labels made again and again of the topics that all have; of one judge, not of several."""
    judges = {system_name(name, marks) for name in sets if marks.search(name)}
    if len(judges) > 1:
        raise UsageError(
            f"These are labels of several judges ({some(sorted(judges))}). Labels made again by one judge are "
            'replicates; "rankbounds judges" compares judges.'
        )
    if len(sets) == 1:
        return sets
    every = [topics_of(labels) for labels in sets.values()]
    shared = set.intersection(*every)
    left_out = sorted(set.union(*every) - shared)
    if len(shared) < 2:
        raise DataError("The sets of judgments share fewer than two topics.")
    if left_out:
        warn(
            f"{len(left_out)} topics are left out, since not all sets of judgments have them ({some(left_out)}).",
        )
    return {name: labels.filter(shared) for name, labels in sets.items()}


# ---- rows ----


def _ends(drawn: Floats, confidence: float) -> list[Any]:
    """Low and high of what was drawn; None where it is infinite or not known."""
    known = drawn[~np.isnan(drawn)]
    if not known.size:
        return [None, None]
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    ends = np.quantile(known, tails, method="inverted_cdf")  # (between a number and infinity there is nothing)
    return [None if np.isinf(end) else float(end) for end in ends]


def _component_rows(anova: Anova, drawn: Mapping[str, Floats], confidence: float) -> list[dict[str, Any]]:
    variances = anova.variances
    total = sum(variances.values())
    rows = []
    for place, effect in enumerate(anova.effects):
        low, high = _ends(drawn[effect], confidence)
        rows.append(
            {
                "part": NAMES[effect],
                "variance": variances[effect],
                "ci_low": low,
                "ci_high": high,
                "share": variances[effect] / total if total else None,
                "estimate": float(anova.estimates[place]),
                "mean_square": float(anova.mean_squares[place]),
                "degrees": int(anova.degrees[place]),
            }
        )
    return rows


def _floor_rows(scores: Floats, system: Ints, measure: Measure, confidence: float) -> list[dict[str, Any]]:
    """How far apart means lie that differ by a rerun, or by labels made again."""
    farthest = limits_of_differences(measure, scores)[1]
    means = scores.mean(axis=0)  # labelling, run
    labels, runs = means.shape
    first, second = np.triu_indices(runs, 1)
    same = system[first] == system[second]
    rows = []
    if same.any():
        of_system = np.stack([means[:, system == number].mean(axis=1) for number in range(system.max() + 1)], axis=1)
        degrees = int((np.bincount(system) - 1).sum())
        variance = float(((means - of_system[:, system]) ** 2).sum() / (labels * degrees))
        apart = np.abs(means[:, first[same]] - means[:, second[same]]).ravel()
        rows.append(_floor_row("rerun", 2 * variance, degrees, apart, confidence, farthest))
    if labels > 1:
        one, other = np.triu_indices(labels, 1)
        apart = means[one] - means[other]
        variance = float(means.var(axis=0, ddof=1).mean())
        rows.append(_floor_row("labels", 2 * variance, labels - 1, apart, confidence, farthest))
        if runs > 1:
            left = means - means.mean(axis=0) - means.mean(axis=1, keepdims=True) + means.mean()
            degrees = (labels - 1) * (runs - 1)
            moved = apart[:, first] - apart[:, second]
            variance = float((left**2).sum() / degrees)
            rows.append(_floor_row("labels, difference", 4 * variance, degrees, moved, confidence, 2 * farthest))
    return rows


def _floor_row(
    kind: str, variance: float, degrees: int, observed: Floats, confidence: float, farthest: float
) -> dict[str, Any]:
    from scipy import stats

    sizes = np.abs(observed).ravel()
    floor = min(float(stats.t.ppf((1 + confidence) / 2, degrees) * np.sqrt(variance)), farthest)
    return {
        "kind": kind,
        "floor": floor,
        "sd": float(np.sqrt(variance)),
        "degrees": degrees,
        "observed_pairs": int(sizes.size),
        "observed_largest": float(sizes.max()),
        "observed_beyond": int(np.count_nonzero(sizes > floor)),
    }


def _flip_rows(
    scores: Floats, systems: Sequence[str], system: Ints, measure: Measure, alpha: float, resampling: Resampling
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """How often repeated experiments disagree: over all, and for each pair of systems."""
    by_run = np.transpose(scores, (2, 1, 0))  # run, labelling, topic
    members = [np.flatnonzero(system == number) for number in range(len(systems))]
    labels = by_run.shape[1]
    alarms, rerun_pairs = _alarms(by_run, members, measure, alpha, resampling)
    pairs: list[dict[str, Any]] = []
    totals = np.zeros(4)
    tested = _pairs_to_test(members, labels, resampling)
    leads, significant = _outcomes(by_run, [(members[a], members[b]) for a, b in tested], measure, alpha, resampling)
    for (a, b), lead, is_shown in zip(tested, leads, significant, strict=True):
        verdict = np.where(is_shown, lead, 0.0)
        repeated = _repeated(np.ones(lead.shape))
        if not repeated:
            continue
        agreeing = sum(_repeated((verdict == value).astype(np.float64)) for value in (-1, 0, 1))
        leading = sum(_repeated((lead == value).astype(np.float64)) for value in (-1, 0, 1))
        opposed = 2 * _repeated((verdict == 1).astype(np.float64), (verdict == -1).astype(np.float64))
        totals += (repeated, repeated - agreeing, repeated - leading, opposed)
        pairs.append(
            {
                "a": systems[a],
                "b": systems[b],
                "outcomes": lead.size,
                "a_better": float(np.mean(verdict > 0)),
                "b_better": float(np.mean(verdict < 0)),
                "no_difference": float(np.mean(verdict == 0)),
                "verdict_flips": 1 - agreeing / repeated,
                "winner_flips": 1 - leading / repeated,
            }
        )
    shares = totals[1:] / totals[0] if totals[0] else np.full(3, np.nan)
    row = {
        "pairs_of_systems": len(pairs),
        "outcomes": sum(pair["outcomes"] for pair in pairs),
        **dict(zip(("verdict_flips", "winner_flips", "reversals"), map(plain, shares), strict=True)),
        "rerun_pairs": rerun_pairs,
        "rerun_alarms": alarms,
    }
    return row, pairs


def _pairs_to_test(members: Sequence[Ints], labels: int, resampling: Resampling) -> list[tuple[int, int]]:
    """Pairs of systems, all, or so many drawn at random that the tests do not take long."""
    every = [(a, b) for a in range(len(members)) for b in range(a + 1, len(members))]
    tests = np.array([len(members[a]) * len(members[b]) * labels for a, b in every], dtype=np.int64)
    if tests.sum() <= MOST_TESTS:
        return every
    order = resampling.generator().permutation(len(every))
    kept = order[: max(1, int(np.searchsorted(np.cumsum(tests[order]), MOST_TESTS, side="right")))]
    return [every[place] for place in np.sort(kept).tolist()]


def _repeated(one: Floats, other: Floats | None = None) -> float:
    """Over all two outcomes that differ in every rerun (and in the labels), the sum of one's number times other's."""
    rest = one if other is None else other
    for axis, size in enumerate(one.shape):
        if size > 1:
            rest = rest.sum(axis=axis, keepdims=True) - rest
    return float((one * rest).sum()) if max(one.shape) > 1 else 0.0


def _outcomes(
    by_run: Floats, sides: Sequence[tuple[Ints, Ints]], measure: Measure, alpha: float, resampling: Resampling
) -> tuple[list[Floats], list[Flags]]:
    """For each two groups of runs: who leads, and whether significantly, by run, other run and labelling."""
    if not sides:
        return [], []
    topics = by_run.shape[2]
    one = np.concatenate([by_run[np.repeat(a, b.size)].reshape(-1, topics) for a, b in sides])
    other = np.concatenate([by_run[np.tile(b, a.size)].reshape(-1, topics) for a, b in sides])
    lead = np.sign(merit(mean_difference(one, other), measure))
    shown = (p_values(differences(one, other), resampling=resampling, measure=measure) < alpha) & (lead != 0)
    shapes = [(a.size, b.size, by_run.shape[1]) for a, b in sides]
    ends = np.cumsum([np.prod(shape) for shape in shapes])[:-1]
    leads, flags = (
        [part.reshape(shape) for part, shape in zip(np.split(column, ends), shapes, strict=True)]
        for column in (lead, shown)
    )
    return leads, flags


def _alarms(
    by_run: Floats, members: Sequence[Ints], measure: Measure, alpha: float, resampling: Resampling
) -> tuple[int, int]:
    """How many pairs of runs of one system a test calls different, and of how many."""
    pairs = [runs[list(pair)] for runs in members for pair in combinations(range(len(runs)), 2)][:MOST_TESTS]
    _, shown = _outcomes(by_run, [(pair[:1], pair[1:]) for pair in pairs], measure, alpha, resampling)
    return int(sum(np.count_nonzero(flags) for flags in shown)), sum(flags.size for flags in shown)


def _reliability_row(anova: Anova, drawn: Mapping[str, Floats], design: Design, confidence: float) -> dict[str, Any]:
    row: dict[str, Any] = {"topics": design.topics, "labels": design.labels, "reruns": design.reruns}
    for name, absolute in (("reliability", False), ("dependability", True)):
        row[name] = plain(design.reliability(anova.variances, absolute=absolute))
        row[f"{name}_low"], row[f"{name}_high"] = _ends(design.reliability(drawn, absolute=absolute), confidence)
    return row


def _plan_rows(
    anova: Anova, drawn: Mapping[str, Floats], wanted: Sequence[float], confidence: float
) -> list[dict[str, Any]]:
    has_reruns = any("r" in effect for effect in anova.effects)
    labellings = (1, 2, 3) if anova.sizes["j"] > 1 else (1,)
    rows = []
    for level in wanted:
        for labels in labellings:
            for reruns in RERUNS if has_reruns else (1,):
                topics = float(topics_for_reliability(level, anova.variances, labels, reruns))
                low, high = _ends(topics_for_reliability(level, drawn, labels, reruns), confidence)
                rows.append(
                    {
                        "reliability": level,
                        "labels": labels,
                        "reruns": reruns,
                        "topics": None if np.isinf(topics) else int(topics),
                        "topics_low": None if low is None else int(low),
                        "topics_high": None if high is None else int(high),
                    }
                )
    return rows
