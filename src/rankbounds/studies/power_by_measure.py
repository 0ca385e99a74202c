"""Which measures separate systems best?

For every measure the share of pairs of runs that a paired test over topics separates (discriminative power) by the
bootstrap, the t test and Wilcoxon's, and the difference of means that was large enough for every pair (bootstrap).

Sources: Moffat and Zobel (TOIS 2008, Table IV); Sakai, Alternatives to Bpref (SIGIR 2007, Table 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rankbounds.evaluation.evaluate import evaluate
from rankbounds.measures import Measure
from rankbounds.plots.style import COLOURS, fresh_axes
from rankbounds.stats.discriminative_power import discriminative_power
from rankbounds.stats.significance import Resampling
from rankbounds.studies import BESIDE, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURES = (
    *("RR", "P@10", "RPrec", "AP", "nDCG@10", "nDCG", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)"),
    *("Q", "Bpref", "AP'", "Q'", "nDCG'"),
)
TESTS = ("bootstrap", "t", "wilcoxon")
LABELS = {"bootstrap": "bootstrap", "t": "t test", "wilcoxon": "Wilcoxon's test"}
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
    rows: list[dict[str, Any]] = []
    for test in TESTS:
        slow = progress if test == "bootstrap" else None
        rows += discriminative_power(scores, (LEVEL, 0.01), test, Resampling(resamples, seed), slow).rows()
    ranked = sorted(_shown(rows, TESTS[0]), key=lambda row: -row["power"])
    answer = (
        f"At level {LEVEL:g} by the bootstrap, {ranked[0]['measure']} separates most pairs of runs "
        f"({ranked[0]['power']:.1%} of {ranked[0]['pairs']:,}), {ranked[-1]['measure']} fewest "
        f"({ranked[-1]['power']:.1%})."
    )
    names = [str(measure) for measure in scores.measures]
    return Result(rows, answer, {"measures": names, "tests": list(TESTS), "resamples": resamples, "seed": seed})


def _shown(rows: list[dict[str, Any]], test: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["alpha"] == LEVEL and row["test"] == test]


def figure(result: Result, ax: Axes | None = None) -> Axes:
    """A bar for each measure: the share of pairs it separates at level 0.05 by the bootstrap; marks for other tests."""
    rows = sorted(_shown(result.rows, TESTS[0]), key=lambda row: row["power"])
    names = [row["measure"] for row in rows]
    axes = fresh_axes(ax, figsize=(6.0, 1.2 + 0.22 * len(names)))
    axes.barh(names, [100 * row["power"] for row in rows], color=COLOURS[5], label=LABELS[TESTS[0]])
    for test, marker, colour in zip(TESTS[1:], "ox", (COLOURS[0], COLOURS[6]), strict=True):
        power = {row["measure"]: 100 * row["power"] for row in _shown(result.rows, test)}
        axes.plot([power[name] for name in names], names, marker, color=colour, markersize=4, label=LABELS[test])
    axes.set_xlabel(f"pairs of runs separated at level {LEVEL:g} (%)")
    axes.set_xlim(0, 100)
    axes.tick_params(axis="y", labelsize=8)
    axes.legend(fontsize=8, **BESIDE)
    return axes
