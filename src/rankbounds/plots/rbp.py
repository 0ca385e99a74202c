"""Figures of RBP: weights of ranks, bounds, published scores at another p, what unjudged documents leave uncertain."""

# ruff: noqa: D417 (the decorator describes parameters that several figures have)
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.evaluation.scores import ALL, Scores
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.plots.style import (
    COLOURS,
    LINES,
    colour_of,
    draw_band,
    draw_legend,
    figure,
    fresh_axes,
    in_legend,
)
from rankbounds.probability.distribution import Distribution, distribution_of_sum
from rankbounds.rbp.crossings import Crossings
from rankbounds.rbp.curves import PERSISTENCES
from rankbounds.rbp.other_persistence import transfer_published
from rankbounds.rbp.published_score import Published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHARES = (0.05, 0.2, 0.35, 0.5)
STEPS, EXACT_SECONDS = 80, 0.5
"""Of a density, and for either end of an exact range."""


@figure
def contribution_of_ranks(p: Sequence[float] = PERSISTENCES, depth: int = 20, *, ax: Axes | None = None) -> Axes:
    """Draw what a relevant document at each rank adds to RBP, for several p.

    Parameters
    ----------
    p
        The persistences, a line for each.
    depth
        The last rank.

    Examples
    --------
    >>> import rankbounds as rb
    >>> axes = rb.plots.contribution_of_ranks([0.5], depth=3)
    >>> axes.lines[0].get_ydata().tolist()
    [0.5, 0.25, 0.125]
    """
    from matplotlib.ticker import MaxNLocator

    axes = fresh_axes(ax)
    for number, persistence in enumerate(p):
        weights = RBP(p=persistence).weights(depth)
        look: dict[str, Any] = {"linestyle": LINES[number % 4], "color": colour_of(number)}
        axes.plot(np.arange(1, depth + 1), weights, label=f"p = {persistence:g}", marker="o", markersize=2.5, **look)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="rank", ylabel="contribution to RBP", xlim=(0.5, depth + 0.5), ylim=(0, None))
    draw_legend(axes)
    return axes


@figure
def bounds_by_depth(scores: Scores, run: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw low and high of one run's mean RBP as its lists are read deeper.

    Parameters
    ----------
    scores
        As from ``rb.rbp.bounds_by_depth``.
    run
        Its name; by default the first of the scores.

    Examples
    --------
    >>> import rankbounds as rb
    >>> scores = rb.rbp.bounds_by_depth({"q": {"a": 1}}, {"mine": {"q": {"a": 2.0, "b": 1.0}}}, 2, 0.5)
    >>> axes = rb.plots.bounds_by_depth(scores)
    >>> axes.get_title(loc="left"), axes.lines[1].get_ydata().tolist()
    ('mine', [1.0, 1.0])
    """
    axes = fresh_axes(ax)
    mean, number_of_run = scores.mean(), _number_of_run(scores, run)
    families: dict[float, list[tuple[int, int]]] = {}
    for column, measure in enumerate(mean.measures):
        if not isinstance(measure, RBP) or measure.cutoff is None:
            raise UsageError("This figure shows RBP at several depths: give it the result of bounds_by_depth.")
        families.setdefault(measure.p, []).append((measure.cutoff, column))
    for number, (p, places) in enumerate(families.items()):
        depth, columns = np.array(sorted(places)).T
        _draw_bounds(axes, depth, mean, number_of_run, columns, number, f"p = {p:g}")
    axes.set(xlabel="depth (documents read)", ylabel="mean RBP, low to high", ylim=(0, 1))
    axes.set_title(mean.runs[number_of_run], loc="left")
    draw_legend(axes)
    return axes


@figure
def bounds_by_persistence(
    scores: Scores,
    runs: Sequence[str] | None = None,
    *,
    crossings: Crossings | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw low and high of runs' mean RBP by p, crossings marked.

    Parameters
    ----------
    scores
        As from ``rb.rbp.bounds_by_persistence``.
    runs
        Their names; by default all of the scores.
    crossings
        As from ``rb.rbp.find_crossings``; those of the mean over topics are marked: a line where the winner changes, a
        dotted one where its lead becomes certain or uncertain.

    Examples
    --------
    >>> import rankbounds as rb
    >>> scores = rb.rbp.bounds_by_persistence({"q": {"a": 1}}, {"mine": {"q": {"a": 2.0, "b": 1.0}}}, (0.5, 0.8))
    >>> axes = rb.plots.bounds_by_persistence(scores)
    >>> axes.get_xlabel(), [text.get_text() for text in axes.get_legend().get_texts()]
    ('persistence p', ['mine'])
    """
    axes = fresh_axes(ax)
    mean = scores.mean()
    p = np.array([getattr(measure, "p", np.nan) for measure in mean.measures])
    if np.isnan(p).any():
        raise UsageError("This figure shows RBP at several p: give it the result of bounds_by_persistence.")
    order = np.argsort(p)
    for number, name in enumerate(runs or mean.runs):
        _draw_bounds(axes, p[order], mean, _number_of_run(mean, name), order, number, in_legend(name))
    for row in [] if crossings is None else crossings.rows():
        if row["query_id"] == ALL and p.min() <= row["p"] <= p.max():
            sure = row["change"] == "certainty"
            axes.axvline(row["p"], color="0.4", linestyle=":" if sure else "-", linewidth=0.8, zorder=0)
            if not sure:
                axes.annotate(
                    f"{row['p']:.3f}", (row["p"], 1), xycoords=("data", "axes fraction"), xytext=(2, -8),
                    textcoords="offset points", fontsize=6.5, color="0.3",
                )  # fmt: skip
    axes.set(xlabel="persistence p", ylabel="mean RBP, low to high", xlim=(p.min(), p.max()), ylim=(0, None))
    draw_legend(axes)
    return axes


def _number_of_run(scores: Scores, name: str | None) -> int:
    if name is None:
        return 0
    if name not in scores.runs:
        raise UsageError(f'There is no run "{name}" in these scores.')
    return scores.runs.index(name)


def _draw_bounds(axes: Axes, x: Any, mean: Scores, run: int, columns: Any, number: int, label: str) -> None:
    low, high = mean.low[run, 0, columns], mean.high[run, 0, columns]
    draw_band(axes, x, low, high, colour_of(number), label, LINES[number % 4])


@figure
def range_over_persistence(
    published: Published,
    ax: Axes | None = None,
    *,
    persistences: Sequence[float] | Floats | None = None,
    methods: Sequence[str] = ("relaxed", "exact", "greedy"),
    marks: Sequence[float] = (),
) -> Axes:
    """Draw the range of a published score over all persistences: bands for relaxed and exact, lines for greedy.

    The lines are the vectors of Zhang, Park and Moffat (ADCS 2008), which can fall outside the bands.

    Parameters
    ----------
    published
        One score, with a residual or without.
    persistences
        Where to compute the ranges; by default at 33 places.
    methods
        Which to draw, of ``relaxed``, ``exact`` and ``greedy``.
    marks
        Persistences to mark by a dotted line.

    Examples
    --------
    >>> import rankbounds as rb
    >>> published = rb.rbp.Published("0.43", 0.8)
    >>> axes = rb.plots.range_over_persistence(published, persistences=[0.5, 0.9], methods=["relaxed"])
    >>> axes.get_title()
    'RBP 0.43 at p=0.8'
    """
    axes = fresh_axes(ax, 2.7)
    chosen = np.linspace(0.02, 0.98, 33) if persistences is None else np.asarray(persistences, dtype=np.float64)
    grid = np.unique([*chosen, published.p, *marks])
    for method, alpha in (("relaxed", 0.18), ("exact", 0.45)):
        if method in methods:
            ranges = [transfer_published(published, to, method, EXACT_SECONDS) for to in grid.tolist()]  # type: ignore[arg-type]
            low, high = [there.low for there in ranges], [there.high for there in ranges]
            axes.fill_between(grid, low, high, color=COLOURS[0], alpha=alpha, linewidth=0, label=method)
    if "greedy" in methods and published.depth is None:
        _draw_vectors(axes, published, grid)
    ends = (
        [published.printed.value]
        if published.residual is None
        else [published.score_range[0], published.total_range[1]]
    )
    marks_of_ends = "o" if len(ends) == 1 else "o-"
    axes.plot([published.p] * len(ends), ends, marks_of_ends, color="black", markersize=4, label="published", zorder=5)
    for mark in marks:
        axes.axvline(mark, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="persistence p", ylabel="RBP")
    axes.set_title(f"RBP {published}")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=4.4, ncols=3)
    return axes


def _draw_vectors(axes: Axes, published: Published, grid: Floats) -> None:
    vectors = published.vectors
    curves = np.array([vectors.scores(to) for to in grid.tolist()]).T
    names = ("greedy $R_G$", "greedy $R_L$", "greedy $R'_G$", "greedy $R'_L$")
    drawn = curves[: 4 if published.printed_residual else 2]
    for curve, name, dashes in zip(drawn, names, ("-", "--", "-.", ":"), strict=False):
        axes.plot(grid, curve, dashes, color=COLOURS[1], linewidth=1.2, label=name)


def _draw_distribution(axes: Axes, distribution: Distribution, *, normal: bool, colour: str, label: str) -> None:
    kept = distribution.probability > 1e-9
    low, high = distribution.value[kept][0], distribution.value[kept][-1]
    edges = np.linspace(low, high, STEPS + 1) if high > low else np.array([low - 1e-6, low + 1e-6])
    share = np.diff(np.append(0.0, distribution.cdf(edges[1:])))
    axes.step(edges, np.append(share / np.diff(edges), 0.0), where="post", color=colour, label=label)
    if normal and distribution.sd > 0:
        x = np.linspace(low, high, 400)
        bell = np.exp(-(((x - distribution.mean) / distribution.sd) ** 2) / 2) / (distribution.sd * np.sqrt(2 * np.pi))
        axes.plot(x, bell, color=colour, linewidth=0.8, linestyle="--")
    axes.set(ylabel="density")
    axes.set_ylim(bottom=0)


@figure
def rbp_uncertainty(
    ax: Axes | None = None,
    *,
    q: Sequence[float] = SHARES,
    p: float = 0.8,
    judged_depth: int = 10,
    depth: int = 100,
    topics: int = 1,
) -> Axes:
    """Draw what the ranks below the judged depth add to RBP (or to its mean over topics), for several probabilities.

    Parameters
    ----------
    q
        Probabilities that an unjudged document is relevant, a line for each.
    depth
        The last rank of all.

    Notes
    -----
    Park's Figure 1 for one topic (best with axes for each q: a small one makes a tall spike); Figure 2 with
    ``topics=50``, where dashes are the normal approximation.

    Examples
    --------
    >>> import rankbounds as rb
    >>> axes = rb.plots.rbp_uncertainty(q=[0.2, 0.5], depth=20)
    >>> axes.get_xlabel(), len(axes.lines)
    ('added to RBP by ranks 11 to 20 (p = 0.8)', 2)
    """
    axes = fresh_axes(ax)
    weights = np.tile(((1 - p) * p ** np.arange(depth))[judged_depth:], topics) / topics
    for number, share in enumerate(q):
        distribution = distribution_of_sum(weights, np.full(weights.size, float(share)))
        look: dict[str, Any] = {"colour": colour_of(number), "label": f"q = {share:g}"}
        _draw_distribution(axes, distribution, normal=topics > 1, **look)
    what = "RBP" if topics == 1 else f"mean RBP of {topics} topics\n"
    axes.set_xlabel(f"added to {what} by ranks {judged_depth + 1} to {depth} (p = {p:g})".replace("\n ", "\n"))
    draw_legend(axes, ncols=4, columnspacing=0.8, handlelength=1.2)
    return axes
