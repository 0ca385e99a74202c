"""How do mean and spread of what lies below the judged depth move with the quality of the system?

The experiment of section 3 of Park, Uncertainty in Rank-Biased Precision (ADCS 2016): rankings from an urn with
relevance ratio w and share of relevant documents q, the first ranks judged, the rest open. Mean and standard deviation
of the open part of mean RBP are computed exactly; ``simulations`` repeats the paper's way beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.plots.style import fresh_axes
from rankbounds.probability.models.urn import sample_rankings, urn_moments
from rankbounds.studies import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RATIOS = (0.05, 0.1, 0.2, 0.5, 0.7, 1.0)
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)


def run(
    *,
    relevance_ratios: Sequence[float] = RATIOS,
    shares: Sequence[float] = SHARES,
    n_documents: int = 100,
    p: float = 0.8,
    judged_depth: int = 10,
    topics: int = 50,
    simulations: int = 0,
    seed: int = 0,
) -> Result:
    """Moments for every pair of w and q."""
    exact = urn_moments(
        n_documents,
        q=np.array(shares)[:, None],
        relevance_ratio=np.array(relevance_ratios),
        p=p,
        judged_depth=judged_depth,
        topics=topics,
    )
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for line, q in enumerate(shares):
        for column, ratio in enumerate(relevance_ratios):
            mean, sd = float(exact.mean[line, column]), float(exact.sd[line, column])
            row = {"q": q, "relevance_ratio": ratio, "mean": mean, "sd": sd}
            if simulations:
                row |= _simulated(n_documents, q, ratio, p, judged_depth, topics, simulations, rng)
            rows.append(row)
    return Result(rows, _answer(exact.mean, exact.sd, relevance_ratios, shares), {
        "n_documents": n_documents, "p": p, "judged_depth": judged_depth, "topics": topics,
        "simulations": simulations, "seed": seed,
    })  # fmt: skip


def _simulated(
    n: int, q: float, ratio: float, p: float, judged_depth: int, topics: int, simulations: int, rng: Any
) -> dict[str, float]:
    weights = (1 - p) * p ** np.arange(n)
    weights[:judged_depth] = 0.0
    lists = sample_rankings(n, simulations * topics, q=q, relevance_ratio=ratio, seed=rng)
    means = (lists @ weights).reshape(simulations, topics).mean(axis=-1)
    sd = float(means.std(ddof=1))
    return {"simulated_mean": float(means.mean()), "simulated_sd": sd, "standard_error": sd / simulations**0.5}


def _answer(mean: Any, sd: Any, ratios: Sequence[float], shares: Sequence[float]) -> str:
    order = np.argsort(ratios)
    falling: list[str] = []
    mixed: list[str] = []
    for q, line in zip(shares, mean[:, order], strict=True):
        (falling if (np.diff(line) < 0).all() else mixed).append(f"{q:g}")
    spread = [f"{q:g}" for q, line in zip(shares, sd[:, order], strict=True) if (np.diff(line) > 0).all()]
    parts = []
    if falling:
        parts.append(f"The mean rises as w falls (the better the system) for q = {', '.join(falling)}.")
    if mixed:
        parts.append(
            f"For q = {', '.join(mixed)} it turns: with few relevant documents a very good system has none left."
        )
    parts.append(f"The standard deviation falls with w throughout for q = {', '.join(spread) or 'none of the shares'}.")
    return " ".join(parts)


def figure(result: Result, ax: Axes | None = None) -> Axes:
    """Mean and standard deviation of what lies below the judged depth, by relevance ratio, a line for each share."""
    axes = fresh_axes(ax, figsize=(5.6, 3.6))
    for share, rows, colour in result.by("q"):
        ratio, mean, sd = ([row[key] for row in rows] for key in ("relevance_ratio", "mean", "sd"))
        axes.errorbar(ratio, mean, sd, label=f"q = {share:g}", color=colour, capsize=3, marker="o")
    settings = result.settings
    axes.set_xlabel("relevance ratio w (1: random order)")
    axes.set_ylabel(f"mean RBP (p = {settings['p']:g}) below rank {settings['judged_depth']}, with sd", fontsize=9)
    axes.legend(frameon=False)
    return axes
