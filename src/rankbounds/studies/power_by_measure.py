"""Which measures separate systems best?

For every measure the share of pairs of runs that a paired bootstrap test over topics separates (discriminative power),
and the difference of means that was large enough for every pair.

Sources: Moffat and Zobel (TOIS 2008, Table IV); Sakai, Alternatives to Bpref (SIGIR 2007, Tables 2 and 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rankbounds.comparison.discriminative_power import discriminative_power
from rankbounds.comparison.significance import Resampling
from rankbounds.evaluate import evaluate
from rankbounds.measures import Measure
from rankbounds.studies import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURES = ("RR", "P@10", "RPrec", "AP", "nDCG@10", "nDCG", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)")
LEVEL = 0.05


def run(
    qrels: Any,
    runs: Any,
    *,
    measures: Sequence[str | Measure] = MEASURES,
    resamples: int = 1000,
    seed: int = 0,
    gain: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Rows ``measure, test, alpha, discriminated, pairs, power, required_difference`` for levels 0.05 and 0.01."""
    scores = evaluate(qrels, runs, measures, bounds="none", gain=gain)
    found = discriminative_power(scores, (LEVEL, 0.01), resampling=Resampling(resamples, seed), progress=progress)
    ranked = sorted((row for row in found.rows if row["alpha"] == LEVEL), key=lambda row: -row["power"])
    answer = (
        f"At level {LEVEL:g}, {ranked[0]['measure']} separates most pairs of runs ({ranked[0]['power']:.1%} of "
        f"{ranked[0]['pairs']:,}), {ranked[-1]['measure']} fewest ({ranked[-1]['power']:.1%})."
    )
    names = [str(measure) for measure in scores.measures]
    return Result(found.rows, answer, {"measures": names, "resamples": resamples, "seed": seed})


def figure(result: Result, ax: Axes | None = None) -> Axes:
    """A bar for each measure: the share of pairs it separates at level 0.05."""
    from rankbounds.plots.style import COLOURS, fresh_axes

    axes = fresh_axes(ax)
    rows = sorted((row for row in result.rows if row["alpha"] == LEVEL), key=lambda row: row["power"])
    axes.barh([row["measure"] for row in rows], [100 * row["power"] for row in rows], color=COLOURS[0])
    axes.set_xlabel(f"pairs of runs separated at level {LEVEL:g} (%)")
    axes.set_xlim(0, 100)
    return axes
