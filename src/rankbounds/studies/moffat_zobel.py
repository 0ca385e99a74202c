"""RBP and what judgments leave open of it, by depth and persistence; pools, agreement and power by measure.

Source: Moffat and Zobel, Rank-Biased Precision for Measurement of Retrieval Effectiveness, TOIS 2008.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rankbounds as rb
from rankbounds.studies.study import (
    BESIDE,
    Measures,
    Progress,
    Rows,
    StudyResult,
    colour_of,
    compare_printed,
    draw_band,
    draw_series,
    extremes,
    pivot,
    plain,
    rows_by,
    study,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FINE_PERSISTENCES = (
    *(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.88, 0.9),
    *(0.92, 0.94, 0.95, 0.96, 0.97, 0.975, 0.98, 0.985, 0.99),
)
POOLED_MEASURES = ("AP", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)")
ORDERING_MEASURES = ("RR", "P@10", "RPrec", "AP", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)", "nDCG(base=2)@1000")
EXAMPLE = "$$---$----$-----$---"
CONTRIBUTING_MEASURES = ("AP", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)")
TESTS = {"bootstrap": "bootstrap", "t": "t test", "wilcoxon": "Wilcoxon's test"}
COEFFICIENTS = {"tau": rb.stats.kendall_tau, "spearman": rb.stats.spearman}
LEVEL = 0.05


@study("Moffat and Zobel 2008, Table 1, Table 2")
def contribution_by_document(
    *, ranking: str = EXAMPLE, relevant: int = 0, measures: Measures = CONTRIBUTING_MEASURES
) -> StudyResult:
    """What does each relevant document add to a score?

    Of a list that is written rank by rank, $ for relevant, - for not and ? for unjudged, each relevant document's share
    of AP (every relevant document at or below it counts it once) and of RBP. Documents in parentheses are tied: scores
    are then means over all orders, and shares those of the order as written.
    """
    groups = re.findall(r"[$?-]|\([$?-]+\)", ranking)
    marks = [(mark, place) for place, group in enumerate(groups) for mark in group.strip("()")]
    found = sum(mark == "$" for mark, _ in marks)
    if "".join(groups) != ranking or not found:
        raise rb.UsageError(
            f"A ranking is written with $, - and ?, tied documents in parentheses, such as {EXAMPLE} or $(-$)?, "
            f'not "{ranking}".'
        )
    if 0 < relevant < found:
        raise rb.UsageError(f"relevant must be at least {found}, the number of $ in the ranking, not {relevant}.")
    qrels = {"list": {f"d{rank}": int(mark == "$") for rank, (mark, _) in enumerate(marks, 1) if mark != "?"}}
    qrels["list"] |= {f"elsewhere {number}": 1 for number in range(relevant - found)}
    run = {"list": {f"d{rank}": -float(place) for rank, (_, place) in enumerate(marks, 1)}}
    kind = "unjudged" if len(groups) == len(marks) else "both" if "?" in ranking else "ties"
    scores = rb.evaluate(qrels, run, measures, ties="trec" if kind == "unjudged" else "expected", bounds=kind)
    value, low, high = (
        dict(zip(map(str, scores.measures), ends[0, 0].tolist(), strict=True))
        for ends in (scores.value, scores.low, scores.high)
    )
    # Table II has the weights of RBP before they are multiplied by 1 - p, which is the weight of rank 1.
    rows = [
        {name: row[name] for name in ("measure", "rank", "contribution", "share")}
        | {"weight": row["contribution"] / (1 - getattr(rb.parse_measure(row["measure"]), "p", 0.0))}
        for row in rb.rbp.list_contributions(qrels, run, "list", measures, ties="run")
        if row["relevance"]
    ]
    totals = [{"measure": name, "rank": "score", "weight": one} for name, one in value.items()]
    printed = "moffat-zobel, Tables 1 and 2" if ranking == EXAMPLE and relevant in (0, found) else ""
    tables, agreement = compare_printed(rows + totals, printed, "measure", "rank", "weight")
    sentences = [
        f"{name} is {one:.4f}" + f" ({low[name]:.4f} to {high[name]:.4f})" * (high[name] - low[name] >= 0.5e-4)
        for name, one in value.items()
    ]
    causes = {"unjudged": "unjudged documents", "ties": "the order of ties", "both": "unjudged documents and ties"}
    opened = f" In parentheses: by {causes[kind]}." if any("(" in one.partition(" is ")[2] for one in sentences) else ""
    return StudyResult(rows, f"{'; '.join(sentences)}.{opened}", tables=tables, agreement=agreement)


def judgments_to_depth(qrels: rb.Qrels, pool_runs: list[rb.Run], depth: int) -> rb.Qrels:
    return rb.judging.pools.restrict(qrels, rb.judging.pools.pool(pool_runs, depth=depth))


def _sets_of_judgments(qrels: rb.Qrels, pool_runs: list[rb.Run], pool_depth: int) -> dict[str, rb.Qrels]:
    shallow = {f"pool depth {pool_depth}": judgments_to_depth(qrels, pool_runs, pool_depth)} if pool_depth > 0 else {}
    return shallow | {"all judgments": qrels}


@study("Moffat and Zobel 2008, Figure 5")
def bounds_by_depth(
    qrels: rb.Qrels,
    runs: list[rb.Run],
    *,
    persistences: Sequence[float] = (0.5, 0.8, 0.95),
    depths: Sequence[int] = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100),
    pool_depth: int = 10,
    pool_runs: Any = None,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """How deep must a list be judged before its RBP is known?

    Mean RBP of every run to growing depths, with everything beyond unknown: low rises and high falls towards the value
    with its residual at full depth. A more patient user (a larger p) needs a greater depth; with the judgments of a
    shallow pool the bounds never meet. The figure shows the average of the runs; the rows have every run.
    """
    sets = _sets_of_judgments(qrels, pool_runs, pool_depth)
    rows: Rows = []
    averaged: Rows = []
    answers = []
    for name, judgments in sets.items():
        mean = rb.rbp.bounds_by_depth(judgments, runs, depths, persistences, gain=gain, progress=progress).mean()
        axes: dict[str, Any] = {"judgments": [name], "run": mean.runs, "p": persistences, "depth": depths}
        rows += rows_by(axes, {"low": mean.low, "high": mean.high})
        ends = {"low": mean.low[:, 0].mean(axis=0), "high": mean.high[:, 0].mean(axis=0)}
        averaged += rows_by({name: axes[name] for name in ("judgments", "p", "depth")}, ends)
        width = (ends["high"] - ends["low"]).reshape(len(persistences), len(depths))[:, -1]
        open_at = ", ".join(f"{one:.3f} at p = {p:g}" for p, one in zip(persistences, width.tolist(), strict=True))
        answers.append(f"With {name}, a run's mean is open on average at depth {depths[-1]} by {open_at}.")
    return StudyResult(rows, " ".join(answers), averaged)


@bounds_by_depth.figure(
    figsize=lambda result: (3.2 * len({row["judgments"] for row in result.data}) + 1.0, 3.4),
    panels=lambda result: (1, len({row["judgments"] for row in result.data})),
)
def bands_by_depth(result: StudyResult, axes: Any) -> None:
    """Low and high by depth for each p, averaged over the runs, a panel for each set of judgments (Figure 5)."""
    for panel, name in zip(axes.flat, dict.fromkeys(row["judgments"] for row in result.data), strict=True):
        for number, p in enumerate(result.settings["persistences"]):
            own = [row for row in result.data if row["judgments"] == name and row["p"] == p]
            depth, low, high = ([row[key] for row in own] for key in ("depth", "low", "high"))
            draw_band(panel, depth, low, high, colour_of(number), f"p = {p:g}")
        panel.set_xscale("log")
        panel.set_xticks([1, 10, 100], ["1", "10", "100"])
        panel.set(xlabel="depth read (ranks)", ylim=(0, 1))
        panel.set_title(name, fontsize=9)
    axes.flat[0].set_ylabel("bounds of mean RBP, average of runs")
    axes.flat[-1].legend(**BESIDE)


@study("Moffat and Zobel 2008, Figure 6")
def bounds_by_persistence(
    qrels: rb.Qrels,
    runs: list[rb.Run],
    *,
    persistences: Sequence[float] = FINE_PERSISTENCES,
    pool_depth: int = 10,
    pool_runs: Any = None,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """How do scores, and what the judgments leave open of them, depend on the user's persistence?

    Mean RBP of every run with its low and high over a range of p, under the judgments of a shallow pool and under all.
    Where bands overlap, unjudged documents could reverse the order of runs; where lines cross, the order depends on how
    patient the user is.
    """
    sets = _sets_of_judgments(qrels, pool_runs, pool_depth)
    rows: Rows = []
    widths = {}
    for name, judgments in sets.items():
        mean = rb.rbp.bounds_by_persistence(judgments, runs, persistences, gain=gain, progress=progress).mean()
        low, high = mean.low[:, 0], mean.high[:, 0]
        rows += rows_by({"judgments": [name], "run": mean.runs, "p": persistences}, {"low": low, "high": high})
        widths[name] = (high - low).mean(axis=0)
    leaders = list(dict.fromkeys(mean.runs[run] for run in low[:, np.argsort(persistences)].argmax(axis=0).tolist()))
    places = dict.fromkeys((0, len(persistences) - 1))
    ends = ((persistences[at], {name: width[at] for name, width in widths.items()}) for at in places)
    left_open = "; ".join(
        f"at p = {p:g} by {', '.join(f'{one:.3f} with {name}' for name, one in opened.items())}" for p, opened in ends
    )
    answer = (
        f"The run with the highest known RBP{', as p rises' * (len(leaders) > 1)}: {', then '.join(leaders)}. "
        f"On average a run's mean is open {left_open}."
    )
    return StudyResult(rows, answer)


@bounds_by_persistence.figure(figsize=(6.4, 3.6))
def bands_by_persistence(result: StudyResult, axes: Axes) -> None:
    """The best and the median run: bands are bounds under a shallow pool, lines under all judgments (Figure 6)."""
    sets = list(dict.fromkeys(row["judgments"] for row in result.rows()))
    total: dict[str, float] = {}
    for row in result.rows():
        if row["judgments"] == sets[-1]:
            total[row["run"]] = total.get(row["run"], 0.0) + row["low"]
    ranked = sorted(total, key=lambda run: -total[run])
    for number, name in enumerate(dict.fromkeys([ranked[0], ranked[len(ranked) // 2]])):
        for judged in sets:
            own = [row for row in result.rows() if row["run"] == name and row["judgments"] == judged]
            p, low, high = ([row[key] for row in own] for key in ("p", "low", "high"))
            style: dict[str, Any] = {"color": colour_of(number), "label": f"{name}, {judged}"}
            if judged == sets[0] and len(sets) > 1:
                axes.fill_between(p, low, high, alpha=0.2, linewidth=0, **style)
            else:
                axes.plot(p, low, "-", **style)
                axes.plot(p, high, "-", color=style["color"])
    axes.set(xlabel="persistence p", ylabel="mean RBP, low to high", ylim=(0, 1))
    axes.legend(fontsize=8, **BESIDE)


@study("Moffat and Zobel 2008, Figure 2, Figure 4")
def score_by_pool_depth(
    qrels: rb.Qrels,
    runs: list[rb.Run],
    *,
    measures: Measures = POOLED_MEASURES,
    depths: Sequence[int] = (10,),
    pool_runs: Any = None,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Are scores from a shallow pool those of a deep one?

    Each run's score under the judgments of a shallow pool against its score under all judgments (``full``). ``low``
    and ``high`` are the bounds under the shallow pool. RBP can only rise with more judgments, by at most its residual.
    """
    every = rb.evaluate(qrels, runs, measures, bounds="none", gain=gain).mean()
    chosen = every.measures
    shallow = [
        rb.evaluate(judgments_to_depth(qrels, pool_runs, depth), runs, measures, gain=gain, progress=progress).mean()
        for depth in depths
    ]
    value, low, high = (np.array([getattr(one, name)[:, 0].T for one in shallow]).swapaxes(0, 1)
                        for name in ("value", "low", "high"))  # fmt: skip
    full = every.value[:, 0].T[:, None]
    answers = [
        f"{measure} at depth {depth}: {np.mean(shallow > deep + 1e-12):.0%} of runs score higher than under all "
        f"judgments, mean change {np.mean(shallow - deep):+.4f}, tau {rb.stats.kendall_tau(shallow, deep):.3f}."
        for measure, by_depth, (deep,) in zip(chosen, value, full, strict=True)
        for depth, shallow in zip(depths, by_depth, strict=True)
    ]
    numbers = {"value": value, "low": low, "high": high, "full": np.broadcast_to(full, value.shape)}
    rows = rows_by({"measure": list(map(str, chosen)), "depth": depths, "run": every.runs}, numbers)
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


@study("Moffat and Zobel 2008, Table 3")
def agreement_by_measure(
    qrels: rb.Qrels,
    runs: list[rb.Run],
    *,
    measures: Measures = ORDERING_MEASURES,
    depths: Sequence[int] = (10,),
    pool_runs: Any = None,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Do two measures order systems alike?

    Kendall's tau between the orders of runs by every two measures, and between the order by each measure with only a
    shallow pool judged and that by every measure with all judgments. ``pool_depth`` is empty if both use all judgments;
    otherwise it is the depth of the pool for the first measure. Beside each tau is Spearman's coefficient.
    """
    sets = [qrels, *(judgments_to_depth(qrels, pool_runs, depth) for depth in depths)]
    return order_agreement(sets, runs, measures, depths, gain, progress)


def order_agreement(
    sets: list[rb.Qrels],
    runs: list[rb.Run],
    measures: Measures,
    depths: Sequence[int],
    gain: Any,
    progress: Progress | None,
) -> StudyResult:
    """Compute Kendall's tau between orders of runs, under all judgments and under those of these depths."""
    chosen = rb.measures.parse_measures(measures)
    if len(chosen) < 2:
        raise rb.UsageError("Agreement needs at least two measures.")
    of_sets = [rb.evaluate(each, runs, chosen, bounds="none", gain=gain, progress=progress).mean() for each in sets]
    means = np.array([scores.value[:, 0] for scores in of_sets])
    means *= np.array([-1 if measure.lower_is_better else 1 for measure in chosen])
    names = [str(measure) for measure in chosen]
    rows: Rows = [
        {"measure": names[a], "other": names[b], "pool_depth": depth}
        | {name: plain(of(shallow[:, a], means[0][:, b])) for name, of in COEFFICIENTS.items()}
        for depth, shallow in zip((None, *depths), means, strict=True)
        for a, b in itertools.product(range(len(names)), repeat=2)
        if depth or a < b
    ]
    fully_judged = [row for row in rows if row["pool_depth"] is None]
    answer = f"Kendall's tau: {extremes({'{measure} and {other}'.format(**row): row['tau'] for row in fully_judged})}."
    names_of = {"tau": "Kendall's tau", "spearman": "Spearman's coefficient"}
    tables = {f"{name}, all judgments": pivot(fully_judged, "measure", "other", key) for key, name in names_of.items()}
    for depth in depths:
        own = [row for row in rows if row["pool_depth"] == depth]
        caption = f"Kendall's tau: pool depth {depth} (down) against all judgments (across)"
        tables[caption] = pivot(own, "measure", "other", "tau")
        kept = {row["measure"]: row["tau"] for row in own if row["measure"] == row["other"]}
        answer += f" Judged to depth {depth} only, tau with the same measure's order under all: {extremes(kept)}."
    return StudyResult(rows, answer, tables=tables, settings={"runs": len(of_sets[0].runs)})


@study("Moffat and Zobel 2008, Table 4")
def power_by_measure(
    qrels: rb.Qrels,
    runs: list[rb.Run],
    *,
    measures: Measures = (*ORDERING_MEASURES, "nDCG@10", "Q", "Bpref"),
    resamples: int = 1000,
    seed: int = 0,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Which measures separate systems best?

    For every measure the share of pairs of runs that a paired test over topics separates (discriminative power) by the
    bootstrap, the t test and Wilcoxon's, and the difference of means that was large enough for every pair (bootstrap).
    """
    scores = rb.evaluate(qrels, runs, measures, bounds="none", gain=gain)
    rows: Rows = []
    for test in TESTS:
        slow = progress if test == "bootstrap" else None
        known: dict[str, Any] = {"resamples": resamples, "seed": seed, "progress": slow}
        rows += rb.stats.discriminative_power(scores, (LEVEL, 0.01), test, **known).rows()
    counts = [row | {"column": f"{TESTS[row['test']]}, {1 - row['alpha']:.0%}"} for row in rows]
    tables = {f"Pairs separated, of {rows[0]['pairs']:,}": pivot(counts, "measure", "column", "discriminated")}
    by_t = [row for row in rows if row["alpha"] == LEVEL and row["test"] == "t"]
    answer = f"At level {LEVEL:g} by the t test, {share_of_pairs(by_t)}"
    return StudyResult(rows, answer, tables=tables, settings={"tests": list(TESTS)})


def share_of_pairs(rows: Rows) -> str:
    power = {row["measure"]: row["power"] for row in rows}
    return f"the share of {rows[0]['pairs']:,} pairs of runs that a measure separates is {extremes(power, '.1%')}."
