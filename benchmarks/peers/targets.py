"""What rankbounds has to reach against its peers, and whether it did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from peers.timing import Ratio


@dataclass(frozen=True)
class Target:
    """The ratio of wall time (ours / peer) that is wanted at the most."""

    words: str
    workload: str
    ours: str
    peer: str
    most: float


TARGETS = (
    Target("100 x 50 x 1000 files, five measures", "many", "five measures", "pytrec_eval", 0.12),
    Target("the same with bounds", "many", "five measures, bounds", "pytrec_eval", 0.20),
    Target("20,000 x 100, one file, scores written", "topics", "five measures, scores written", "pytrec_eval", 0.20),
    Target("7,000 x 1000, one file", "long", "five measures", "pytrec_eval", 0.10),
    Target("RBP at two p with residuals, 100 x 50 x 1000", "many", "RBP at two p, residuals", "rbp_eval, C", 0.15),
    Target("dicts 50 x 1000, prepared", "dicts", "prepared", "pytrec_eval", 0.25),
    Target("dicts 1,000 x 100, prepared", "dicts of short lists", "prepared", "pytrec_eval", 0.25),
    Target("one query of ten documents, prepared", "one list", "prepared", "pytrec_eval", 10.0),
    Target("dicts 50 x 100, rb.evaluate", "dicts at once", "rb.evaluate", "pytrec_eval", 1.0),
    Target("rankbounds --version", "starting", "--version", "numpy", 1.3),
    Target("rankbounds --help", "starting", "--help", "numpy", 1.3),
    Target("Spark, Parquet of 5 million lines, second call", "spark", "Spark, second call", "local", 1.2),
)
MOST_HELD = 0.08
"""The share of one-thread time that may hold the interpreter's lock, for the two large workloads."""
LARGE = ("many", "long")
MOST_MICROSECONDS = 60
"""For one query of ten documents."""


MOST_GROWTH = {"wall": 1.1, "processor": 1.25}
"""By how much more threads may lengthen what fewer took: noise, and what threads cost that take turns in a cache."""


def growth_with_threads(found: Iterable[Ratio], kind: str) -> float | None:
    """The largest growth of a ratio from some number of threads to a larger one; None where one number was tried."""
    by_what: dict[tuple[str, str, str], list[Ratio]] = {}
    for ratio in found:
        if ratio.threads:
            by_what.setdefault((ratio.workload, ratio.ours, ratio.peer), []).append(ratio)
    growth = [
        getattr(more, kind) / getattr(fewer, kind)
        for ratios in by_what.values()
        for fewer in ratios
        for more in ratios
        if (fewer.threads or 1) < (more.threads or 1)
    ]
    return max(growth, default=None)


def reached(target: Target, found: Iterable[Ratio], processors: int) -> float | None:
    """The ratio with as many threads as there are processors; None where workload or peer did not take part."""
    fitting = [
        ratio
        for ratio in found
        if (ratio.workload, ratio.ours, ratio.peer) == (target.workload, target.ours, target.peer)
        and (ratio.threads or 1) <= processors
    ]
    return max(fitting, key=lambda ratio: ratio.threads or 1).wall if fitting else None
