"""How do scores, and what the judgments leave open of them, depend on the user's persistence?

Mean RBP of every run with its low and high over a range of p. Where bands overlap, unjudged documents could reverse
the order of runs; where lines cross, the order depends on how patient the user is.

Source: Moffat and Zobel (TOIS 2008, Figure 6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rankbounds.plots.style import COLOURS, fresh_axes
from rankbounds.rbp import curves
from rankbounds.studies import BESIDE, Result, rows_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PERSISTENCES = (
    *(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.88, 0.9),
    *(0.92, 0.94, 0.95, 0.96, 0.97, 0.975, 0.98, 0.985, 0.99),
)
DRAWN = 3


def run(
    qrels: Any,
    runs: Any,
    *,
    persistences: Sequence[float] = PERSISTENCES,
    gain: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Rows ``run, p, low, high``, means over topics."""
    mean = curves.bounds_by_persistence(qrels, runs, persistences, gain=gain, progress=progress).mean()
    low, high = mean.low[:, 0], mean.high[:, 0]
    rows = rows_by({"run": mean.runs, "p": persistences}, {"low": low, "high": high})
    leaders = list(dict.fromkeys(mean.runs[run] for run in low.argmax(axis=0).tolist()))
    width = (high - low).mean(axis=0)
    answer = (
        f"The best run by what is known: {', then '.join(leaders)}, as p grows from {persistences[0]:g} to "
        f"{persistences[-1]:g}. A run's mean is open by {width[0]:.3f} on average at p = {persistences[0]:g} and by "
        f"{width[-1]:.3f} at p = {persistences[-1]:g}."
    )
    return Result(rows, answer, {"persistences": list(persistences)})


def figure(result: Result, ax: Axes | None = None) -> Axes:
    """Bands from low to high: the runs that reach the highest low, and the one with the widest band."""
    axes = fresh_axes(ax, figsize=(6.4, 3.6))
    bands = {name: rows for name, rows, _ in result.by("run")}
    best = sorted(bands, key=lambda name: -sum(row["low"] for row in bands[name]))[:DRAWN]
    widest = max(bands, key=lambda name: sum(row["high"] - row["low"] for row in bands[name]))
    for number, name in enumerate(dict.fromkeys([*best, widest])):
        p = [row["p"] for row in bands[name]]
        low, high = ([row[end] for row in bands[name]] for end in ("low", "high"))
        axes.fill_between(p, low, high, color=COLOURS[number], alpha=0.2, linewidth=0)
        axes.plot(p, low, color=COLOURS[number], label=name)
        axes.plot(p, high, color=COLOURS[number], linewidth=0.7)
    axes.set(xlabel="persistence p", ylabel="mean RBP, low (thick) to high", ylim=(0, 1))
    title = f"{len(best)} best run{'s' if len(best) > 1 else ''} and\nthe widest band"
    axes.legend(title=title, fontsize=8, title_fontsize=8, **BESIDE)
    return axes
