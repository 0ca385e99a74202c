"""RBP and what judgments leave open of it, by depth and persistence; pools, agreement and power by measure.

Source: Moffat and Zobel, Rank-Biased Precision for Measurement of Retrieval Effectiveness, TOIS 2008.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.judged_runs import JudgedRuns
from rankbounds.evaluation.score_differences import merit
from rankbounds.judging.candidates import ranks_of_judgments
from rankbounds.measures import parse_measures
from rankbounds.plots.style import COLOURS, draw_band
from rankbounds.rbp import curves
from rankbounds.stats.rank_correlation import kendall_tau
from rankbounds.stats.separation import discriminative_power
from rankbounds.studies.study import BESIDE, Measures, Progress, Rows, Study, StudyResult, draw_series, rows_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FINE_PERSISTENCES = (
    *(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.88, 0.9),
    *(0.92, 0.94, 0.95, 0.96, 0.97, 0.975, 0.98, 0.985, 0.99),
)
BANDS_DRAWN = 3
POOLED_MEASURES = ("AP", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)")
ORDERING_MEASURES = (
    *("RR", "P@10", "RPrec", "AP", "nDCG(base=2)@1000", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)"),
    *("Q", "AP'", "Q'", "nDCG'(base=2)@1000", "Bpref_R", "Bpref_N", "Rpref_N", "Rpref_relative2"),
)
SEPARATING_MEASURES = (
    *("RR", "P@10", "RPrec", "AP", "nDCG@10", "nDCG", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)"),
    *("Q", "Bpref", "AP'", "Q'", "nDCG'"),
)
TESTS = {"bootstrap": "bootstrap", "t": "t test", "wilcoxon": "Wilcoxon's test"}
LEVEL = 0.05


@Study
def bounds_by_depth(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    persistences: Sequence[float] = curves.PERSISTENCES,
    depths: Sequence[int] = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100),
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """How deep must a list be judged before its RBP is known?

    Mean RBP of every run read to growing depths, all beyond counted as unknown: low rises and high falls towards the
    value with its residual at full depth. The more patient the user (the larger p), the deeper one must look.

    Source: Moffat and Zobel (TOIS 2008, Figure 5).
    """
    mean = curves.bounds_by_depth(qrels, runs, depths, persistences, gain=gain, progress=progress).mean()
    rows = rows_by({"run": mean.runs, "p": persistences, "depth": depths}, {"low": mean.low, "high": mean.high})
    width = (mean.high - mean.low)[:, 0].mean(axis=0).reshape(len(persistences), len(depths))
    answer = " ".join(
        f"At p = {p:g} a run's mean is open by {width[row, 0]:.3f} on average at depth {depths[0]} and by "
        f"{width[row, -1]:.3f} at depth {depths[-1]}."
        for row, p in enumerate(persistences)
    )
    return StudyResult(rows, answer)


@bounds_by_depth.figure(figsize=(6.0, 3.4))
def bands_by_depth(result: StudyResult, axes: Axes) -> None:
    """Low and high by depth for each p, averaged over the runs."""
    depths = result.settings["depths"]
    for p, rows, colour in result.by("p"):
        low, high = (np.reshape([row[end] for row in rows], (-1, len(depths))).mean(axis=0) for end in ("low", "high"))
        draw_band(axes, depths, low, high, colour, f"p = {p:g}")
    axes.set_xscale("log")
    axes.set_xticks([1, 10, 100], ["1", "10", "100"])
    axes.set(xlabel="depth read (ranks)", ylabel="bounds of mean RBP, average of runs", ylim=(0, 1))
    axes.legend(**BESIDE)


@Study
def bounds_by_persistence(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    persistences: Sequence[float] = FINE_PERSISTENCES,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """How do scores, and what the judgments leave open of them, depend on the user's persistence?

    Mean RBP of every run with its low and high over a range of p. Where bands overlap, unjudged documents could reverse
    the order of runs; where lines cross, the order depends on how patient the user is.

    Source: Moffat and Zobel (TOIS 2008, Figure 6).
    """
    mean = curves.bounds_by_persistence(qrels, runs, persistences, gain=gain, progress=progress).mean()
    low, high = mean.low[:, 0], mean.high[:, 0]
    leaders = list(dict.fromkeys(mean.runs[run] for run in low.argmax(axis=0).tolist()))
    width = (high - low).mean(axis=0)
    answer = (
        f"The best run by what is known: {', then '.join(leaders)}, as p grows from {persistences[0]:g} to "
        f"{persistences[-1]:g}. A run's mean is open by {width[0]:.3f} on average at p = {persistences[0]:g} and by "
        f"{width[-1]:.3f} at p = {persistences[-1]:g}."
    )
    return StudyResult(rows_by({"run": mean.runs, "p": persistences}, {"low": low, "high": high}), answer)


@bounds_by_persistence.figure(figsize=(6.4, 3.6))
def bands_by_persistence(result: StudyResult, axes: Axes) -> None:
    """Bands from low to high: the runs that reach the highest low, and the one with the widest band."""
    bands = {name: rows for name, rows, _ in result.by("run")}
    best = sorted(bands, key=lambda name: -sum(row["low"] for row in bands[name]))[:BANDS_DRAWN]
    widest = max(bands, key=lambda name: sum(row["high"] - row["low"] for row in bands[name]))
    for number, name in enumerate(dict.fromkeys([*best, widest])):
        p, low, high = ([row[key] for row in bands[name]] for key in ("p", "low", "high"))
        draw_band(axes, p, low, high, COLOURS[number], name)
    axes.set(xlabel="persistence p", ylabel="mean RBP, low to high", ylim=(0, 1))
    title = f"{len(best)} best run{'s' if len(best) > 1 else ''} and\nthe widest band"
    axes.legend(title=title, fontsize=8, title_fontsize=8, **BESIDE)


@Study
def score_by_pool_depth(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measures: Measures = POOLED_MEASURES,
    depths: Sequence[int] = (10,),
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Are scores from a shallow pool those of a deep one?

    Moffat and Zobel (TOIS 2008, Figures 2 and 4): each run's score under the judgments of a shallow pool against its
    score under all judgments (``full``). ``low`` and ``high`` are the bounds under the shallow pool. AP from a shallow
    pool is nearly always too large; RBP can only rise as judgments are added, by what its residual said.
    """
    if not depths or min(depths) < 1:
        raise UsageError("Pool depths must be at least 1.")
    chosen = parse_measures(measures)
    judged = JudgedRuns(qrels, runs, gain=gain)
    best = ranks_of_judgments(judged.qrels, judged.runs).min(axis=0)
    subsets: list[Flags | None] = [None, *(best <= depth for depth in depths)]
    means = judged.scores(subsets, chosen, progress=progress).mean(axis=2)
    full, value = means[0].T[:, None], np.moveaxis(means[1:], -1, 0)
    bounds = [[judged.low_high(subset, measure) for subset in subsets[1:]] for measure in chosen]
    low, high = np.moveaxis(np.array(bounds).mean(axis=-1), 2, 0)
    answers = [
        f"{measure} at depth {depth}: {np.mean(shallow > whole + 1e-12):.0%} of runs score higher than under all "
        f"judgments, mean change {np.mean(shallow - whole):+.4f}, tau {kendall_tau(shallow, whole):.3f}."
        for measure, by_depth, (whole,) in zip(chosen, value, full, strict=True)
        for depth, shallow in zip(depths, by_depth, strict=True)
    ]
    numbers = {"value": value, "low": low, "high": high, "full": np.broadcast_to(full, value.shape)}
    rows = rows_by({"measure": list(map(str, chosen)), "depth": depths, "run": judged.names}, numbers)
    return StudyResult([{"run": row["run"]} | row for row in rows], " ".join(answers))


@score_by_pool_depth.figure(figsize=(4.8, 4.4))
def shallow_and_full_scores(result: StudyResult, axes: Axes) -> None:
    """Each run's score under a shallow pool's judgments against that under all judgments."""
    label = "{measure}, pool depth {depth}"
    draw_series(axes, result.rows(), "value", "full", label, linestyle="", markersize=3, alpha=0.7)
    top = max((row[name] for row in result.rows() for name in ("value", "full")), default=0.0)
    axes.plot([0, top], [0, top], ":", color="grey", label="no change")
    axes.set(xlabel="mean over topics, a pool of this depth judged", ylabel="mean over topics, all judgments")
    axes.legend(fontsize="x-small", frameon=False)


@Study
def agreement_by_measure(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measures: Measures = ORDERING_MEASURES,
    depths: Sequence[int] = (10,),
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Do two measures order systems alike?

    Kendall's tau between the orders of runs by every two measures, and between the order by each measure when only a
    shallow pool is judged and that by every measure under all judgments. ``pool_depth`` is empty where both use all
    judgments. Where it is a number, the first measure sees the judgments of a pool of that depth alone, and the other
    all of them.

    Sources: Moffat and Zobel (TOIS 2008, Table III); Sakai, Alternatives to Bpref (SIGIR 2007, Table 2).
    """
    chosen = parse_measures(measures)
    if len(chosen) < 2:
        raise UsageError("Agreement needs at least two measures.")
    judged = JudgedRuns(qrels, runs, gain=gain)
    best = ranks_of_judgments(judged.qrels, judged.runs).min(axis=0)
    means = judged.scores([None, *(best <= depth for depth in depths)], chosen, progress=progress).mean(axis=2)
    means = np.stack([merit(means[..., column], measure) for column, measure in enumerate(chosen)], axis=-1)
    names = [str(measure) for measure in chosen]
    rows: Rows = [
        {"measure": names[a], "other": names[b], "pool_depth": depth, "tau": kendall_tau(shallow[:, a], means[0][:, b])}
        for depth, shallow in zip((None, *depths), means, strict=True)
        for a, b in itertools.product(range(len(names)), repeat=2)
        if depth or a < b
    ]
    whole = [row for row in rows if row["pool_depth"] is None]
    closest, farthest = (pick(whole, key=lambda row: row["tau"]) for pick in (max, min))
    answer = (
        f"{closest['measure']} and {closest['other']} order runs most alike (tau {closest['tau']:.3f}), "
        f"{farthest['measure']} and {farthest['other']} least ({farthest['tau']:.3f})."
    )
    for depth in depths:
        kept = [row for row in rows if row["pool_depth"] == depth and row["measure"] == row["other"]]
        most, least = (pick(kept, key=lambda row: row["tau"]) for pick in (max, min))
        answer += (
            f" Judged to depth {depth} only, {most['measure']} keeps its order best (tau {most['tau']:.3f} with that "
            f"under all judgments) and {least['measure']} worst ({least['tau']:.3f})."
        )
    return StudyResult(rows, answer, settings={"runs": len(judged.names)})


@agreement_by_measure.figure(figsize=lambda result: (1.7 + 0.32 * len(result.settings["measures"]),) * 2)
def tau_of_measures(result: StudyResult, axes: Axes) -> None:
    """Kendall's tau between the orders of runs by every two measures, as a table of shades."""
    names = result.settings["measures"]
    tau = np.eye(len(names))
    for row in result.rows():
        if row["pool_depth"] is None:
            a, b = names.index(row["measure"]), names.index(row["other"])
            tau[a, b] = tau[b, a] = row["tau"]
    least = float(tau.min())
    axes.imshow(tau, cmap="Blues", vmin=least - 0.1 * (1 - least), vmax=1.0)
    for (a, b), shade in np.ndenumerate(tau):
        colour = "white" if shade > least + 0.5 * (1 - least) else "black"
        axes.text(b, a, f"{shade:.2f}", ha="center", va="center", fontsize=6, color=colour)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=7)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_title("Kendall's tau between orders of runs, all judgments", fontsize=9)


@Study
def power_by_measure(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measures: Measures = SEPARATING_MEASURES,
    resamples: int = 1000,
    seed: int = 0,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Which measures separate systems best?

    For every measure the share of pairs of runs that a paired test over topics separates (discriminative power) by the
    bootstrap, the t test and Wilcoxon's, and the difference of means that was large enough for every pair (bootstrap).

    Sources: Moffat and Zobel (TOIS 2008, Table IV); Sakai, Alternatives to Bpref (SIGIR 2007, Table 3).
    """
    scores = evaluate(qrels, runs, measures, bounds="none", gain=gain)
    rows: Rows = []
    for test in TESTS:
        slow = progress if test == "bootstrap" else None
        rows += discriminative_power(scores, (LEVEL, 0.01), test, resamples=resamples, seed=seed, progress=slow).rows()
    ranked = sorted(_at_level(rows, "bootstrap"), key=lambda row: -row["power"])
    answer = (
        f"At level {LEVEL:g} by the bootstrap, {ranked[0]['measure']} separates most pairs of runs "
        f"({ranked[0]['power']:.1%} of {ranked[0]['pairs']:,}), {ranked[-1]['measure']} fewest "
        f"({ranked[-1]['power']:.1%})."
    )
    return StudyResult(rows, answer, settings={"tests": list(TESTS)})


def _at_level(rows: Rows, test: str) -> Rows:
    return [row for row in rows if row["alpha"] == LEVEL and row["test"] == test]


@power_by_measure.figure(figsize=lambda result: (6.0, 1.2 + 0.22 * len(result.settings["measures"])))
def power_of_measures(result: StudyResult, axes: Axes) -> None:
    """A bar for each measure: the share of pairs it separates at level 0.05 by the bootstrap; marks for other tests."""
    rows = sorted(_at_level(result.rows(), "bootstrap"), key=lambda row: row["power"])
    names = [row["measure"] for row in rows]
    axes.barh(names, [100 * row["power"] for row in rows], color=COLOURS[5], label=TESTS["bootstrap"])
    for test, marker, colour in (("t", "o", COLOURS[0]), ("wilcoxon", "x", COLOURS[6])):
        power = {row["measure"]: 100 * row["power"] for row in _at_level(result.rows(), test)}
        axes.plot([power[name] for name in names], names, marker, color=colour, markersize=4, label=TESTS[test])
    axes.set(xlabel=f"pairs of runs separated at level {LEVEL:g} (%)", xlim=(0, 100))
    axes.tick_params(axis="y", labelsize=8)
    axes.legend(fontsize=8, **BESIDE)
