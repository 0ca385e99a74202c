"""How reliable comparisons are: on other topics, and for systems that did not take part in the pool.

Sources: Zobel (SIGIR 1998), Voorhees and Buckley (SIGIR 2002), Sanderson and Zobel (SIGIR 2005).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run_names import groups_of, read_groups
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.judged_runs import JudgedRuns
from rankbounds.evaluation.score_differences import TOLERANCE, better
from rankbounds.judging.candidates import ranks_of_judgments
from rankbounds.judging.pools import unique_to_group
from rankbounds.measures import Measure, parse_measure, parse_measures
from rankbounds.stats.significance import check_finite, pairs_of
from rankbounds.studies.study import BESIDE, Measures, Progress, Rows, StudyResult, draw_series, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 0.05
RESIDUAL_TICKS = (0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1)
SIZES = 8
"""How many sizes of sets are looked at."""
WANTED = 0.05
"""The share of swaps for which topics are counted."""
SLOWEST = 0.1
"""Where swaps fall by a smaller power of topics, no number of topics is promised."""
FURTHER = (1, 2, 4)
"""To how many times the topics at hand swaps are extrapolated."""


@study("Zobel 1998; Voorhees and Buckley 2002; Sanderson and Zobel 2005", seconds=6)
def swaps_by_topics(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measures: Measures = ("AP", "nDCG@10", "P@10", "RBP(p=0.8)", "RR"),
    splits: int = 100,
    seed: int = 0,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Would other topics name the same winner?

    Two disjoint sets of topics of the same size are drawn at random, again and again, and each compares every pair of
    runs. A swap is a pair for which they have different winners. For pairs that are significant by the first set (t
    test, level 0.05), the study counts how often the second set has the other winner, and how often it repeats the
    verdict.

    Sets have at most half of the topics. Beyond that, swaps are extrapolated from the largest sets, twice: by a model
    with normal true differences of pairs and normal noise of topics (of n topics, pairs swap with the probability
    arccos(n / (n + r)) / pi), which tends to be too optimistic; and by a power of n that falls as slowly as between the
    larger sets observed, which tends to be too pessimistic.

    Rows of observed sets have ``swaps, significant, swaps_of_significant, repeated``. Extrapolated rows have
    ``swaps_low`` and ``swaps_high`` instead, and ``topics_for_5_low`` and ``topics_for_5_high``: the range of topics
    that bring swaps to 5% (empty: unknown, or no number does).
    """
    from scipy import stats

    scores = evaluate(qrels, runs, measures, bounds="none", gain=gain)
    topics = len(scores.query_ids)
    if topics < 4:
        raise DataError(f"Two sets of topics that share none need four topics or more, and there are {topics}.")
    if len(scores.runs) < 2:
        raise DataError("A comparison needs at least two runs.")
    sizes = np.unique(np.linspace(min(5, topics // 2), topics // 2, SIZES).astype(int))
    sizes = sizes[sizes > 1]
    rows: Rows = []
    for number, measure in enumerate(scores.measures):
        matrix = scores.value[:, :, number]
        check_finite(matrix, "a mean", measure)
        label, observed = {"measure": str(measure)}, []
        for place, size in enumerate(sizes.tolist()):
            critical = float(stats.t.ppf(1 - LEVEL / 2, size - 1))
            found = replay(matrix, size, splits, critical, np.random.default_rng(seed))
            observed.append(label | {"topics": size} | found)
            if progress:
                progress(number * sizes.size + place + 1, len(scores.measures) * sizes.size)
        falling = Falling.of(sizes, np.array([counted["swaps"] for counted in observed], dtype=np.float64))
        low, high = falling.topics_for(WANTED)
        needed = {"topics_for_5_low": low, "topics_for_5_high": high}
        rows += observed
        for size in (times * topics for times in FURTHER):
            least, most = falling.at(size)
            rows.append(label | {"topics": size, "swaps_low": least, "swaps_high": most} | needed)
    answer = _answer(rows, str(scores.measures[0]), topics)
    return StudyResult(rows, answer, settings={"alpha": LEVEL, "topics": topics})


def replay(scores: Floats, size: int, splits: int, critical: float, generator: np.random.Generator) -> dict[str, Any]:
    """What two sets of ``size`` topics say of all pairs of runs, over many splits; ``scores`` are runs by topics."""
    first, second = pairs_of(len(scores))
    counts = np.zeros(5, dtype=np.int64)
    for _ in range(splits):
        order = generator.permutation(scores.shape[1])
        t_one, t_other = (_t(scores[:, part], first, second) for part in (order[:size], order[size : 2 * size]))
        won = np.sign(t_one) * np.sign(t_other)
        significant = np.abs(t_one) > critical
        again = significant & (won > 0) & (np.abs(t_other) > critical)
        counts += [np.count_nonzero(flags) for flags in (won, won < 0, significant, significant & (won < 0), again)]
    both, opposite, shown, contradicted, repeated = counts.tolist()
    return {
        "pairs": int(first.size),
        "swaps": opposite / both if both else None,
        "significant": shown / (splits * first.size),
        "swaps_of_significant": contradicted / shown if shown else None,
        "repeated": repeated / shown if shown else None,
    }


def _t(scores: Floats, first: Ints, second: Ints) -> Floats:
    """Each pair's t statistic; 0 where the means are equal, infinite where every topic differs by the same."""
    topics = scores.shape[1]
    products = scores @ scores.T
    squares = np.diag(products)
    total = scores.sum(axis=1)
    size = squares[first] + squares[second]
    mean = (total[first] - total[second]) / topics
    mean[np.abs(mean) <= TOLERANCE * (np.abs(total[first]) + np.abs(total[second])) / topics] = 0.0
    spread = size - 2 * products[first, second] - topics * mean**2
    spread[spread <= 1e-13 * size] = 0.0  # what is left of cancelled numbers is not a deviation
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / np.sqrt(spread / (topics - 1) / topics)
    return np.where(mean == 0, 0.0, t)


def swap_rate(topics: float, noise: float) -> float:
    """How often two sets of so many topics name different winners, where all is normal.

    ``noise`` is the variance of a topic's difference over that of pairs' true differences.
    """
    return float(np.arccos(topics / (topics + noise)) / np.pi)


@dataclass(frozen=True)
class Falling:
    """How swaps fall with the number of topics, from what was observed of the largest sets."""

    topics: int
    swaps: float
    """Of the largest sets; NaN where no pair has a winner."""
    power: float
    """By which power of topics they fall among the larger sets; at most a half, which is the limit for many topics."""

    @classmethod
    def of(cls, topics: Ints, swaps: Floats) -> Falling:
        """From the sizes of sets, ascending, and the share of swaps for each."""
        larger = (topics >= topics.max() / 2) & (swaps > 0)
        power = 0.0
        if np.count_nonzero(larger) > 1:
            slope = np.polyfit(np.log(topics[larger]), np.log(swaps[larger]), 1)[0]
            power = float(np.clip(-slope, 0.0, 0.5))
        return cls(int(topics[-1]), float(swaps[-1]), power)

    @property
    def noise(self) -> float | None:
        """The noise at which the normal model has these swaps; None without a swap, or with as many as by a coin."""
        agreement = np.cos(np.pi * self.swaps)
        return float(self.topics * (1 - agreement) / agreement) if 0 < self.swaps < 0.5 else None

    def at(self, topics: int) -> tuple[float | None, float | None]:
        """Between which shares of pairs would swap."""
        if self.noise is None:
            return None, None
        extrapolated = swap_rate(topics, self.noise), self.swaps * (self.topics / topics) ** self.power
        return min(extrapolated), max(extrapolated)

    def topics_for(self, wanted: float) -> tuple[int | None, int | None]:
        """Between how many topics make swaps as rare as wanted."""
        if self.noise is None:
            return None, None
        agreement = np.cos(np.pi * wanted)
        normal = int(np.ceil(self.noise * agreement / (1 - agreement) - 1e-9))
        if self.power < SLOWEST:
            return normal, None
        by_power = int(np.ceil(self.topics * (self.swaps / wanted) ** (1 / self.power) - 1e-9))
        return min(normal, by_power), max(normal, by_power)


def _answer(rows: Rows, measure: str, topics: int) -> str:
    own = [row for row in rows if row["measure"] == measure]
    largest = [row for row in own if "swaps" in row][-1]
    half = largest["topics"]
    if largest["swaps"] is None:
        return f"By {measure}, all runs have the same means on all topics."
    sentences = [f"By {measure}, two sets of {half} topics name different winners for {largest['swaps']:.1%} of pairs."]
    if largest["significant"]:
        sentences.append(
            f"One set calls {largest['significant']:.1%} of pairs significant; of those, the other set names the other "
            f"run in {largest['swaps_of_significant']:.1%} and repeats the verdict in {largest['repeated']:.1%}."
        )
    whole = next(row for row in own if row["topics"] == topics and "swaps_low" in row)
    low, high = whole["topics_for_5_low"], whole["topics_for_5_high"]
    if low is None:
        return " ".join([*sentences, "From that nothing can be extrapolated to more topics."])
    needed = f"at least {low:,}" if high is None else f"about {low:,}" + (f" to {high:,}" if high > low else "")
    least, most = (f"{whole[end]:.1%}" for end in ("swaps_low", "swaps_high"))
    share = least if least == most else f"{least.removesuffix('%')} to {most}"
    sentences.append(
        f"Extrapolated, two sets of {topics} topics would disagree on {share} of pairs; {WANTED:.0%} of pairs are "
        f"reached with {needed} topics."
    )
    return " ".join(sentences)


@swaps_by_topics.figure(figsize=(6.0, 3.6))
def swaps_by_size(result: StudyResult, axes: Axes) -> None:
    """A curve for each measure: swaps by topics, observed as points and extrapolated as bands."""
    for measure, rows, colour in result.by("measure"):
        points = [row for row in rows if row.get("swaps") is not None]
        further = [row for row in rows if row.get("swaps_low") is not None]
        if further:
            last = points[-1]
            ends = [last | {"swaps_low": last["swaps"], "swaps_high": last["swaps"]}, *further]
            low, high = ([100 * row[end] for row in ends] for end in ("swaps_low", "swaps_high"))
            axes.fill_between([row["topics"] for row in ends], low, high, color=colour, alpha=0.25, linewidth=0)
        observed = [row["topics"] for row in points], [100 * row["swaps"] for row in points]
        axes.plot(*observed, "o-", linewidth=1, color=colour, markersize=4, label=measure)
    axes.axhline(100 * WANTED, color="0.5", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    ticks = sorted({int(row["topics"]) for row in result.rows()})
    ticks = [ticks[0], *ticks[len(ticks) // 2 :][-4:]]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set(
        xlabel="topics in a set (points: observed; bands: extrapolated)", ylabel="pairs that swap (%)", ylim=(0, None)
    )
    axes.legend(fontsize=8, **BESIDE)


@study("Zobel 1998", seconds=5)
def change_by_leaving_a_group_out(
    qrels: QrelsLike,
    runs: RunsLike,
    groups: Any,
    *,
    measures: Measures = ("AP", "RBP(p=0.8)", "nDCG", "AP'", "RBP'(p=0.8)", "nDCG'", "Q'", "Bpref"),
    depth: int = 100,
    warning: str | Measure = "RBP(p=0.8)",
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """How is a system treated whose documents nobody judged?

    For each group, the judgments of documents that only its runs brought into the pool are removed, as if it had not
    taken part, and its runs are scored again. Measures that count unjudged documents as non-relevant fall for such a
    run; measures on condensed lists, bpref among them, tend to rise, because its unjudged documents leave the list and
    those below move up. RBP's residual says in advance how much is at stake.

    ``unique`` is how many documents only the group found, ``value`` and ``without`` the run's mean with and without
    these judgments, ``rank`` and ``rank_without`` its rank among all runs, and ``residual`` that of ``warning`` without
    them. ``groups`` is a file of lines ``run group``, or a dict; ``depth`` is that of the pool.
    """
    chosen, residual_of = parse_measures(measures), parse_measure(warning)
    judged = JudgedRuns(qrels, runs, gain=gain)
    group_of = groups_of(judged.names, groups if isinstance(groups, Mapping) else read_groups(groups))
    names = list(dict.fromkeys(group_of))
    if len(names) < 2:
        raise UsageError("Leaving a group out needs at least two groups.")
    rank = ranks_of_judgments(judged.qrels, judged.runs)
    unique = [unique_to_group(rank, group_of, name, depth) for name in names]
    subsets: list[Flags | None] = [None, *(~alone for alone in unique)]
    means = judged.scores(subsets, chosen, progress=progress).mean(axis=2)
    rows: Rows = []
    for subset, (name, alone) in enumerate(zip(names, unique, strict=True), 1):
        members = [number for number, group in enumerate(group_of) if group == name]
        low, high = judged.low_high(~alone, residual_of, members)
        residual = (high - low).mean(axis=1)
        for system in members:
            for number, measure in enumerate(chosen):
                full, without = means[0, :, number], means[subset, :, number]
                rows.append(
                    {
                        "run": judged.names[system],
                        "group": name,
                        "unique": int(np.count_nonzero(alone)),
                        "measure": str(measure),
                        "value": float(full[system]),
                        "without": float(without[system]),
                        "change": float(without[system] - full[system]),
                        "rank": int(np.count_nonzero(better(full, full[system], measure))) + 1,
                        "rank_without": int(np.count_nonzero(better(without, without[system], measure))) + 1,
                        "residual": float(residual[system]),
                    }
                )
    answers = []
    for measure in chosen:
        mine = [row for row in rows if row["measure"] == str(measure)]
        change = np.array([row["change"] for row in mine])
        moved = np.array([row["rank_without"] - row["rank"] for row in mine])
        answers.append(
            f"{measure}: mean change {change.mean():+.4f}, up for {np.mean(change > 1e-9):.0%} of runs, largest "
            f"{change[np.argmax(np.abs(change))]:+.4f}, places moved at most {int(np.abs(moved).max())}."
        )
    return StudyResult(rows, " ".join(answers), settings={"groups": len(names)})


@change_by_leaving_a_group_out.figure(figsize=(6.4, 3.8))
def changes_by_residual(result: StudyResult, axes: Axes) -> None:
    """What each run gains or loses when its group is left out of the pool, against the residual that warns of it."""
    draw_series(axes, result.rows(), "residual", "change", linestyle="", markersize=3, alpha=0.6)
    axes.axhline(0, color="grey", linewidth=0.8, linestyle=":")
    # Most runs lie close together near 0, a few far away: square roots bring them apart.
    axes.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
    axes.set_xlim(left=0)
    axes.set_xticks([tick for tick in RESIDUAL_TICKS if tick <= 1.3 * max(row["residual"] for row in result.rows())])
    axes.set(
        xlabel=f"residual of {result.settings['warning']} without the group's own documents",
        ylabel="change of the run's mean",
    )
    axes.legend(fontsize="x-small", **BESIDE)
