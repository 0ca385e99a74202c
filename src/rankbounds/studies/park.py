"""What lies below the judged depth, as a distribution: its moments, and how well intervals hold the truth.

Source: Park, Uncertainty in Rank-Biased Precision, ADCS 2016, section 3. Collections are simulated by an urn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

import rankbounds as rb
from rankbounds.studies.study import Progress, Rows, StudyResult, check_choice, pivot, rows_by, study, track

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROUNDING = 1e-12
WAYS = ("true share", "judged rate")


@study("Park 2016, Figure 1, Figure 2, Equation 7, Equation 8")
def distribution_by_share(
    *,
    shares: Sequence[float] = (0.05, 0.2, 0.35, 0.5),
    n_documents: int = 100,
    p: float = 0.8,
    judged_depth: int = 10,
    topics: int = 50,
    confidence: float = 0.95,
) -> StudyResult:
    """How are scores distributed that unjudged documents leave open, on one topic and in the mean?

    Every document below the judged depth is relevant with the same probability q, independently. Mean and standard
    deviation of what they add to RBP are exact for one topic and for the mean over topics. ``low`` and ``high`` are the
    ends of the paper's equation 8 for the mean, a normal approximation; ``held`` is the exact probability of values
    between them, and ``from_normal`` the largest difference between the exact distribution function and the normal one.
    """
    if judged_depth >= n_documents:
        raise rb.UsageError(f"Nothing is open: {n_documents} documents are judged to depth {judged_depth}.")
    weights = ((1 - p) * p ** np.arange(n_documents))[judged_depth:]
    of_topics = np.tile(weights / topics, topics)
    far = float(stats.norm.ppf((1 + confidence) / 2))
    rows: Rows = []
    for q in shares:
        mean, sd = q * weights.sum(), float(np.sqrt(q * (1 - q) * (weights**2).sum()))
        of_mean = sd / np.sqrt(topics)
        ends = {"low": mean - far * of_mean, "high": mean + far * of_mean}
        exact = rb.probability.distribution_of_sum(of_topics, np.full(of_topics.size, float(q)))
        probability = exact.cdf(ends["high"] + ROUNDING) - exact.cdf(ends["low"] - ROUNDING)
        more = {"held": probability, "from_normal": exact.distance_from_normal()}
        rows.append({"q": q, "mean": mean, "sd": sd, "sd_of_mean": of_mean} | ends | more)
    widest = max(rows, key=lambda row: row["sd_of_mean"])
    answer = (
        f"At q = {widest['q']:g}, ranks {judged_depth + 1} to {n_documents} add {widest['mean']:.4f} on average, with "
        f"a standard deviation of {widest['sd']:.4f} on one topic and {widest['sd_of_mean']:.4f} in the mean over "
        f"{topics}."
    )
    return StudyResult([{name: float(one) for name, one in row.items()} for row in rows], answer)


@distribution_by_share.figure(
    figsize=lambda result: (2.6 * len(result.settings["shares"]), 2.4),
    panels=lambda result: (1, len(result.settings["shares"])),
)
def distributions_of_a_topic(result: StudyResult, axes: Any) -> None:
    """The distribution of what unjudged documents add on one topic, a panel for each q (Figure 1)."""
    for panel, q in zip(axes.flat, result.settings["shares"], strict=True):
        rb.plots.rbp_uncertainty(panel, q=[q], topics=1, **_ranks_of(result))
        panel.set_xlabel("added to RBP", fontsize=9)
        panel.get_legend().remove()
        panel.set_title(f"q = {q:g}", fontsize=9)


@distribution_by_share.figure()
def distributions_of_means(result: StudyResult, axes: Axes) -> None:
    """The distribution of what they add to the mean; dashes are the normal approximation (Figure 2)."""
    rb.plots.rbp_uncertainty(axes, q=result.settings["shares"], topics=result.settings["topics"], **_ranks_of(result))


def _ranks_of(result: StudyResult) -> dict[str, Any]:
    settings = result.settings
    return {"p": settings["p"], "judged_depth": settings["judged_depth"], "depth": settings["n_documents"]}


@study("Park 2016, Figure 3, Equation 12")
def uncertainty_by_relevance_ratio(
    *,
    relevance_ratios: Sequence[float] = (0.05, 0.1, 0.2, 0.5, 0.7, 1.0),
    shares: Sequence[float] = (0.05, 0.1, 0.2, 0.3, 0.5),
    n_documents: int = 100,
    p: float = 0.8,
    judged_depth: int = 10,
    topics: int = 50,
    simulations: int = 0,
    seed: int = 0,
) -> StudyResult:
    """How do mean and spread of what lies below the judged depth move with the quality of the system?

    Rankings come from an urn with relevance ratio w and share of relevant documents q; the first ranks are judged, the
    rest are open. Mean and standard deviation of the open part of mean RBP are computed exactly; ``simulations``
    repeats the paper's way beside them.
    """
    ratios = np.array(relevance_ratios)
    exact = rb.probability.urn_moments(n_documents, np.array(shares)[:, None], ratios, p, judged_depth, topics)
    rows = rows_by({"q": shares, "relevance_ratio": relevance_ratios}, {"mean": exact.mean, "sd": exact.sd})
    if simulations:
        rng = np.random.default_rng(seed)
        weights = (1 - p) * p ** np.arange(n_documents)
        weights[:judged_depth] = 0.0
        for row in rows:
            urn = {"q": row["q"], "relevance_ratio": row["relevance_ratio"]}
            lists = rb.probability.sample_rankings(n_documents, simulations * topics, **urn, seed=rng)
            means = (lists @ weights).reshape(simulations, topics).mean(axis=-1)
            sd = float(means.std(ddof=1))
            row |= {"simulated_mean": float(means.mean()), "simulated_sd": sd, "standard_error": sd / simulations**0.5}
    answer = f"The mean lies between {exact.mean.min():.4f} and {exact.mean.max():.4f}."
    if len(ratios) > 1:
        rises = (np.diff(exact.mean[:, np.argsort(ratios)]) < 0).all(axis=1).tolist()
        for so, claim in ((True, "The mean rises as w falls (the better the system)"), (False, "Not throughout")):
            where = ", ".join(f"{q:g}" for q, is_so in zip(shares, rises, strict=True) if is_so == so)
            answer += f" {claim} for q = {where}." if where else ""
    constant, known = ratios == 1, np.isin(shares, (0, 1), invert=True)  # at q = 0 and 1 nothing varies
    if constant.any() and ratios.min() < 1 and known.any():
        factors = [part[known, ratios.argmin()] / part[known, constant.argmax()] for part in (exact.mean, exact.sd)]
        of_mean, of_sd = (f"{factor.min():.2f} to {factor.max():.2f}" for factor in factors)
        answer += (
            f" Against a constant q (w = 1), w = {ratios.min():g} scales the mean by {of_mean} and the standard "
            f"deviation by {of_sd}, by q."
        )
    names = [name for name in ("mean", "simulated_mean", "sd", "simulated_sd") if name in rows[0]]
    tables = {f"{name.replace('_', ' ')} by q and w": pivot(rows, "q", "relevance_ratio", name) for name in names}
    return StudyResult(rows, answer, tables=tables)


@uncertainty_by_relevance_ratio.figure(figsize=(8.4, 3.6), panels=lambda _: (1, 2))
def contours_of_moments(result: StudyResult, axes: Any) -> None:
    """Contours of mean and standard deviation by relevance ratio and share of relevant documents (Figure 3)."""
    ratio, share = np.linspace(0.05, 1, 39), np.linspace(0.05, 0.5, 19)
    known = (result.settings[name] for name in ("p", "judged_depth", "topics"))
    moments = rb.probability.urn_moments(result.settings["n_documents"], share[:, None], ratio, *known)
    for panel, what in zip(axes.flat, ("mean", "sd"), strict=True):
        panel.clabel(panel.contour(ratio, share, getattr(moments, what), levels=10, cmap="viridis"), fontsize=5.5)
        panel.set(xlabel="relevance ratio w (1: random order)", ylabel="share of relevant documents q")
        panel.set_title({"mean": "mean", "sd": "standard deviation"}[what], fontsize=9)


@study("Park 2016, Section 3")
def coverage_by_relevance_ratio(
    *,
    collections: int = 1000,
    relevance_ratios: Sequence[float] = (1.0, 0.5, 0.2),
    ways: Sequence[str] = WAYS,
    q: float = 0.2,
    n_documents: int = 100,
    topics: int = 50,
    p: float = 0.8,
    judged_depth: int = 10,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> StudyResult:
    """Do 95% intervals for the mean hold the truth 95 times in 100, and what if q is not one constant?

    Collections are drawn from an urn, so that the truth is known: lists whose first ranks are judged. Documents below
    are relevant with one probability, ``true share`` (that of the urn) or ``judged rate`` (the rate among the judged
    documents), which gives an interval for the mean over the topics (equation 8). Its coverage is the share of
    collections whose true mean it holds.
    """
    for way in ways:
        check_choice("ways", way, WAYS)
    rng = np.random.default_rng(seed)
    weights = (1 - p) * p ** np.arange(n_documents)
    judged, below = np.split(weights, [judged_depth])
    far = float(stats.norm.ppf((1 + confidence) / 2))
    rows: Rows = []
    for ratio in relevance_ratios:
        base, truth, rate = np.empty((3, collections))
        for drawn in track(range(collections), progress, collections):
            relevant = rb.probability.sample_rankings(n_documents, topics, q=q, relevance_ratio=ratio, seed=rng)
            known = relevant[:, :judged_depth]
            base[drawn], truth[drawn], rate[drawn] = (known @ judged).mean(), (relevant @ weights).mean(), known.mean()
        for way in ways:
            share = np.full(collections, q) if way == "true share" else rate
            mean, half = base + share * below.sum(), far * np.sqrt(share * (1 - share) * (below**2).sum() / topics)
            coverage = float((np.abs(truth - mean) <= half).mean())
            rows.append(
                {
                    "relevance_ratio": ratio,
                    "way": way,
                    "coverage": coverage,
                    "standard_error": (coverage * (1 - coverage) / collections) ** 0.5,
                    "width": float(2 * half.mean()),
                    "bias": float((mean - truth).mean()),
                }
            )
    coverages = "; ".join(f"{row['way']} at w = {row['relevance_ratio']:g} {row['coverage']:.1%}" for row in rows)
    return StudyResult(rows, f"Intervals of {confidence:.0%} hold the true mean: {coverages}.")
