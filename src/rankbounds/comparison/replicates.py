"""The noise floor, from reruns of the same systems and from labels made again by a model.

It gives the sources of the spread of scores (``variance_components``), by how much two runs of one system differ (the
A/A floor), how often a verdict changes when an experiment is repeated, and how many topics and reruns make the order of
systems reliable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.choices import check_share
from rankbounds.collection.qrels import Qrels
from rankbounds.comparison.noise import component_rows, flip_rows, floor_rows, plan_rows, reliability_row
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.evaluation.options import chosen_options
from rankbounds.evaluation.run_notes import some
from rankbounds.judging.judges.comparison import DEFAULT_MEASURES
from rankbounds.judging.judges.label_sets import Scoring, keep_labelled, score_by_labels
from rankbounds.measures import Measure, parse_measures
from rankbounds.results import CaptionedTables, Column, Row, build_table, interval
from rankbounds.stats.power import check_level
from rankbounds.stats.significance import RESAMPLES, Resampling, check_finite
from rankbounds.stats.variance_components import Anova, Design
from rankbounds.tables import Table, number
from rankbounds.threads import processors

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.evaluation.options import Options

PATTERN = "#[^#]*$"
"""What marks a rerun in a name: ``bm25#1``, ``bm25#2``."""
RELIABILITIES = (0.8, 0.9, 0.95)
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
    """The noise in scores, from reruns and labels made again. It prints as sentences and tables.

    Attributes
    ----------
    components : list of dict
        Per measure and ``part`` (topic, system, topic x system, rerun, ...): the ``variance`` of a single score from
        that source, with an interval, and its ``share``. ``estimate`` may be below 0, which counts as 0.
    floors : list of dict
        How far apart two means lie that differ only by a ``rerun`` or by ``labels`` made again, at the confidence
        asked for, and as observed. None where all that were observed are equal.
    flips : list of dict
        How often a repeated experiment gives another verdict (better, worse, no difference shown), another winner, or
        two contradicting significant verdicts; and how often two runs of one system are called different.
    pairs : list of dict
        The same for each pair of systems.
    reliability : list of dict
        Of the order of systems (the generalisability coefficient) and of their scores (the index of dependability), for
        the topics, reruns and labellings at hand.
    plan : list of dict
        How many topics a given reliability needs, by the number of reruns and labellings; None where none suffice.
    settings : dict
        Everything that the numbers depend on.
    """

    components: list[dict[str, Any]]
    floors: list[dict[str, Any]]
    flips: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    reliability: list[dict[str, Any]]
    plan: list[dict[str, Any]]

    @property
    def measures(self) -> list[str]:
        """The labels of the measures."""
        return list(dict.fromkeys(row["measure"] for row in self.components))

    def rows(self) -> list[dict[str, Any]]:
        """List the rows of ``components``."""
        return self.components

    def words(self) -> str:
        """Return a paragraph per measure, each sentence on its own line."""
        paragraphs = []
        for measure in self.measures:
            rows = {name: [row for row in getattr(self, name) if row["measure"] == measure] for name in PARTS}
            paragraphs.append("\n".join(_sentences(measure, rows, self.settings)))
        return "\n\n".join(paragraphs) + "\n"

    def parts(self) -> list[tuple[str, Table]]:
        """Show the tables, each with the sentence that introduces it."""
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
        """Show topics needed: a row per reliability (and number of labellings), a column per number of reruns."""
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
        columns = [_several(number, "run") for number in reruns]
        return Table(["measure", "reliability", *(["labellings"] if several else []), *columns], rows)


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def compare_replicates(
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
    """Measure the noise in scores from reruns of systems, or labels made again.

    Parameters
    ----------
    qrels : path, Qrels, dict, frame or rows, or several of them
        The judgments. Several (a list, a dict by name, a pattern) are the same pool judged repeatedly by the same
        judge.
    runs : path, Run, dict, frame, rows, or several of them
        As for ``evaluate``; names of runs of one system differ only in what the pattern matches.
    measures : str, Measure, or iterable of them
        Such as ``"nDCG@10"``.
    pattern : str, default "#[^#]*$"
        A regular expression that matches the mark of a rerun in a run's name; the rest is the system, or the first
        group if there is one. ``bm25#1`` and ``bm25#2`` are reruns of bm25.
    reliability : float or several
        The generalisability coefficients of the order of systems for which to count topics.
    alpha, confidence : float
        The level of verdicts, and that of intervals and of the A/A floor.
    resamples, seed : int
        For tests and intervals that resample.
    **options
        Assumptions and reading options of ``evaluate``: ``ties=``, ``unjudged=``, ``gain=``, ``columns=``, ...

    Returns
    -------
    Replicates
        Rows of ``components``, ``floors``, ``flips``, ``pairs``, ``reliability`` and ``plan``, and ``words()``.

    Notes
    -----
    Variances are unbiased for any numbers of reruns; estimates below 0 count as 0. Their intervals use draws from
    chi-square distributions (generalised confidence intervals): exact for one mean square and approximate otherwise,
    for normal effects. The A/A floor is from the t distribution, so few reruns make it large. Verdicts are those of the
    paired t test of two runs alone.

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
    of_run = [_system_name(run.name, marks) for run in given]
    systems = list(dict.fromkeys(of_run))  # in the order of their first runs
    system = np.array([systems.index(name) for name in of_run])
    if len(labellings) < 2 and len(systems) == len(given):
        raise UsageError(
            f"No run is a rerun of another ({some([run.name for run in given])}), and there is one set of judgments. "
            f'Name reruns name#1, name#2, or say what marks them (--replicates REGEX; now "{pattern}").'
        )
    scorings = [Scoring(labels, chosen, assumptions) for labels in labellings.values()]
    scores = np.transpose(score_by_labels(scorings, given)[0], (1, 3, 0, 2))  # measure, topic, labelling, run
    settings: dict[str, Any] = {
        "topics": scores.shape[1], "labels": len(labellings), "systems": len(systems), "runs": len(given),
        "runs_of_system": dict(zip(systems, np.bincount(system).tolist(), strict=True)), "pattern": pattern,
        "alpha": alpha, "confidence": confidence, "resamples": resamples, "seed": seed,
    }  # fmt: skip
    parts: dict[str, list[dict[str, Any]]] = {name: [] for name in PARTS}
    for values, measure in zip(scores, chosen, strict=True):
        check_finite(values, "an analysis of variance", measure)
        anova = Anova(values, system)
        drawn = anova.drawn_variances(resampling)
        flips, pairs = flip_rows(values, systems, system, measure, alpha, resampling)
        found = {
            "components": component_rows(anova, drawn, confidence),
            "floors": floor_rows(values, system, measure, confidence),
            "flips": [flips],
            "pairs": pairs,
        }
        if len(systems) > 1:
            at_hand = Design(settings["topics"], len(labellings), max(1, round(anova.reruns)))
            found["reliability"] = [reliability_row(anova, drawn, at_hand, confidence)]
            found["plan"] = plan_rows(anova, drawn, wanted, confidence)
        for name, rows in found.items():
            parts[name] += [{"measure": str(measure)} | row for row in rows]
    return Replicates(**parts, settings=settings)


def _system_name(name: str, marks: re.Pattern[str]) -> str:
    """Return a run's system: the first group of the pattern, or the name without the match."""
    found = marks.search(name)
    if found is None:
        return name
    left = found[1] if marks.groups else name[: found.start()] + name[found.end() :]
    return left or name


def _labellings(sets: dict[str, Qrels], marks: re.Pattern[str]) -> dict[str, Qrels]:
    """Return repeated labellings of the shared topics by one judge."""
    judges = {_system_name(name, marks) for name in sets if marks.search(name)}
    if len(judges) > 1:
        raise UsageError(
            f"These are labels of several judges ({some(sorted(judges))}). Labels made again by one judge are "
            'replicates; "rankbounds judges" compares judges.'
        )
    if len(sets) == 1:
        return sets
    every = [set(keep_labelled(labels).query_ids) for labels in sets.values()]
    shared = set.intersection(*every)
    left_out = sorted(set.union(*every) - shared)
    if len(shared) < 2:
        raise DataError("The sets of judgments share fewer than two topics.")
    if left_out:
        warn(
            f"{len(left_out)} topics are left out, because not all sets of judgments have them ({some(left_out)}).",
        )
    return {name: labels.filter(shared) for name, labels in sets.items()}


# ---- words ----


def _sentences(measure: str, rows: Mapping[str, Sequence[Row]], settings: Row) -> Iterator[str]:
    several = settings["runs_of_system"].values()
    least, most = min(several), max(several)
    each = f"{f'{least} to ' * (least < most)}{_several(most, 'run')} of each"
    again = f", labels made {settings['labels']} times" if settings["labels"] > 1 else ""
    yield f"{measure}: {_several(settings['systems'], 'system')}, {each}, {settings['topics']} topics{again}."
    yield _components_sentence(rows["components"])
    yield from (_floor(row, settings) for row in rows["floors"])
    for row in rows["flips"]:
        yield from _flips(row, settings)
    yield from (_reliable(row, rows["plan"], settings) for row in rows["reliability"])


def _components_sentence(components: Sequence[Row]) -> str:
    shares = [(row["part"], row["share"]) for row in components if row["share"]]
    if not shares:
        return "Where does the spread of scores come from? There is no spread: all scores are the same."
    shares.sort(key=lambda part: -part[1])
    found = ", ".join(f"{part} {share:.0%}" if share >= 0.005 else f"{part} below 1%" for part, share in shares)
    nothing = [row["part"] for row in components if row["share"] == 0]
    rest = f"; nothing shown for {', '.join(nothing)}" if nothing else ""
    return f"Where does the spread of single scores come from? {found}{rest}."


def _floor(row: Row, settings: Row) -> str:
    who = {
        "rerun": "What is the noise floor? Two runs of the same system",
        "labels": "Scores of the same run by two labellings",
        "labels, difference": "Differences of the same two runs by two labellings",
    }[row["kind"]]
    observed = _several(row["observed_pairs"], "observed pair")
    if row["floor"] is None:
        return f"{who} scored the same in {observed}, which does not show how far others differ."
    beyond = {0: "none differs", 1: "1 differs"}.get(row["observed_beyond"], f"{row['observed_beyond']:,} differ")
    seen = f"of {observed}, {beyond} by more; the largest difference is {row['observed_largest']:.4f}"
    end = " A smaller difference between two systems is within the noise." * (row["kind"] == "rerun")
    return (
        f"{who} differ by up to {row['floor']:.4f} in {settings['confidence']:.0%} of cases (t distribution, "
        f"{_several(row['degrees'], 'degree')} of freedom; {seen}).{end}"
    )


def _flips(row: Row, settings: Row) -> Iterator[str]:
    if row["verdict_flips"] is not None:
        yield (
            "Do verdicts flip? If repeated, a comparison of two systems gets another verdict (better, worse, no "
            f"difference shown) in {row['verdict_flips']:.0%} of cases, another leader in {row['winner_flips']:.0%}, "
            f"and the opposite verdict in {row['reversals']:.0%} (t test of two runs, level {settings['alpha']:g}; "
            f"{_several(row['pairs_of_systems'], 'pair')} of systems, {_several(row['outcomes'], 'outcome')})."
        )
    if row["rerun_pairs"]:
        yield (
            f"Two runs of one system are called different in {row['rerun_alarms']:,} of "
            f"{_several(row['rerun_pairs'], 'case')} (about {settings['alpha'] * row['rerun_pairs']:.1f} are expected "
            "by chance alone)."
        )


def _reliable(row: Row, plan: Sequence[Row], settings: Row) -> str:
    if row["reliability"] is None:
        return "How reliable is the order of the systems? Not defined: all means are the same."
    known, level = row["reliability_low"] is not None, f"{settings['confidence']:.0%}"
    between = f" ({level} interval [{row['reliability_low']:.2f}, {row['reliability_high']:.2f}])" if known else ""
    reruns = f" and {row['reruns']} runs of each system" if row["reruns"] > 1 else ""
    labels = f" and {row['labels']} labellings" if row["labels"] > 1 else ""
    found = (
        f"How reliable is the order of the systems? With {row['topics']} topics{reruns}{labels}, "
        f"{row['reliability']:.2f}{between} of the variance of their means is due to the systems."
    )
    highest = max((other["reliability"] for other in plan), default=None)
    asked = [other for other in plan if other["reliability"] == highest and other["labels"] == 1]
    shown = [other for other in asked if other["reruns"] in (1, 3)] or asked[:1]
    counts = [
        f"{other['topics']:,} topics with {_several(other['reruns'], 'run')} of each"
        for other in shown
        if other["topics"] is not None
    ]
    never = [str(other["reruns"]) for other in shown if other["topics"] is None]
    if counts:
        found += f" For {highest:g}, {' or '.join(counts)} would do."
    if never:
        found += f" With {' or '.join(never)} no number of topics reaches {highest:g}."
    return found


def _several(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
