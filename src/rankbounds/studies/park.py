"""What lies below the judged depth, as a distribution: its moments, and how well intervals hold the truth.

Source: Park, Uncertainty in Rank-Biased Precision, ADCS 2016, section 3. Collections are simulated by an urn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from rankbounds.arrays import Flags
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.plots.uncertainty import SHARES, rbp_uncertainty, urn_contours
from rankbounds.probability.distribution import distribution_of_sum
from rankbounds.probability.documents import find_retrieved, find_unjudged
from rankbounds.probability.mean import exact_score
from rankbounds.probability.models.estimates import estimate
from rankbounds.probability.models.probabilities import Constant
from rankbounds.probability.models.urn import sample_rankings, urn_moments
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.studies.study import (
    BESIDE,
    Progress,
    Rows,
    StudyResult,
    check_choice,
    list_words,
    pivot,
    rows_by,
    study,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROUNDING = 1e-12
WAYS = ("true share", "judged rate", "logistic", "both sources")


@study("Park 2016, Figure 1, Figure 2, Equation 7, Equation 8")
def distribution_by_share(
    *,
    shares: Sequence[float] = SHARES,
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
        raise UsageError(f"Nothing is open: {n_documents} documents are judged to depth {judged_depth}.")
    weights = ((1 - p) * p ** np.arange(n_documents))[judged_depth:]
    of_topics = np.tile(weights / topics, topics)
    far = float(stats.norm.ppf((1 + confidence) / 2))
    rows: Rows = []
    for q in shares:
        mean, sd = q * weights.sum(), float(np.sqrt(q * (1 - q) * (weights**2).sum()))
        of_mean = sd / np.sqrt(topics)
        ends = {"low": mean - far * of_mean, "high": mean + far * of_mean}
        exact = distribution_of_sum(of_topics, np.full(of_topics.size, float(q)))
        held = exact.cdf(ends["high"] + ROUNDING) - exact.cdf(ends["low"] - ROUNDING)
        more = {"held": held, "from_normal": exact.distance_from_normal()}
        rows.append({"q": q, "mean": mean, "sd": sd, "sd_of_mean": of_mean} | ends | more)
    widest = max(rows, key=lambda row: row["sd_of_mean"])
    answer = (
        f"At q = {widest['q']:g}, ranks {judged_depth + 1} to {n_documents} add {widest['mean']:.4f} on average, with "
        f"a standard deviation of {widest['sd']:.4f} on one topic and {widest['sd_of_mean']:.4f} in the mean over "
        f"{topics}."
    )
    farthest = max(rows, key=lambda row: row["from_normal"])
    agreement = (
        f"The paper takes the mean over {topics} topics for normal: the exact distribution function is at most "
        f"{farthest['from_normal']:.3f} from the normal one (at q = {farthest['q']:g}), and intervals of equation 8 "
        f"hold {min(row['held'] for row in rows):.1%} or more of the means."
    )
    return StudyResult([{name: float(one) for name, one in row.items()} for row in rows], answer, agreement=agreement)


@distribution_by_share.figure(
    figsize=lambda result: (2.6 * len(result.settings["shares"]), 2.4),
    panels=lambda result: (1, len(result.settings["shares"])),
)
def distributions_of_a_topic(result: StudyResult, axes: Any) -> None:
    """The distribution of what unjudged documents add on one topic, a panel for each q (Figure 1)."""
    for panel, q in zip(axes.flat, result.settings["shares"], strict=True):
        rbp_uncertainty(panel, q=[q], topics=1, **_ranks_of(result))
        panel.set_xlabel("added to RBP", fontsize=9)
        panel.get_legend().remove()
        panel.set_title(f"q = {q:g}", fontsize=9)


@distribution_by_share.figure()
def distributions_of_means(result: StudyResult, axes: Axes) -> None:
    """The distribution of what they add to the mean; dashes are the normal approximation (Figure 2)."""
    rbp_uncertainty(axes, q=result.settings["shares"], topics=result.settings["topics"], **_ranks_of(result))


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
    exact = urn_moments(n_documents, np.array(shares)[:, None], ratios, p, judged_depth, topics)
    rows = rows_by({"q": shares, "relevance_ratio": relevance_ratios}, {"mean": exact.mean, "sd": exact.sd})
    if simulations:
        rng = np.random.default_rng(seed)
        weights = (1 - p) * p ** np.arange(n_documents)
        weights[:judged_depth] = 0.0
        for row in rows:
            urn = {"q": row["q"], "relevance_ratio": row["relevance_ratio"]}
            lists = sample_rankings(n_documents, simulations * topics, **urn, seed=rng)
            means = (lists @ weights).reshape(simulations, topics).mean(axis=-1)
            sd = float(means.std(ddof=1))
            row |= {"simulated_mean": float(means.mean()), "simulated_sd": sd, "standard_error": sd / simulations**0.5}
    order = np.argsort(ratios)
    falls = (np.diff(exact.mean[:, order]) < 0).all(axis=1)
    spreads = (np.diff(exact.sd[:, order]) > 0).all(axis=1)
    falling, mixed, spread = (
        ", ".join(f"{q:g}" for q, is_so in zip(shares, flags, strict=True) if is_so)
        for flags in (falls, ~falls, spreads)
    )
    answer = f"The mean rises as w falls (the better the system) for q = {falling}. " if falling else ""
    if mixed:
        answer += f"For q = {mixed} it turns: with few relevant documents a very good system has none left. "
    answer += f"The standard deviation falls with w throughout for q = {spread or 'none of the shares'}."
    agreement = "The paper says that both fall as w falls; under its own model the mean mostly rises (see the errata)."
    tables = {f"{name} by q and w": pivot(rows, "q", "relevance_ratio", name) for name in ("mean", "sd")}
    return StudyResult(rows, answer, tables=tables, agreement=agreement if falling else "")


@uncertainty_by_relevance_ratio.figure(figsize=(8.4, 3.6), panels=lambda _: (1, 2))
def contours_of_moments(result: StudyResult, axes: Any) -> None:
    """Contours of mean and standard deviation by relevance ratio and share of relevant documents (Figure 3)."""
    settings = result.settings
    chosen = {name: settings[name] for name in ("p", "n_documents", "judged_depth", "topics")}
    for panel, what in zip(axes.flat, ("mean", "sd"), strict=True):
        urn_contours(panel, what=what, **chosen)
        panel.set_title({"mean": "mean", "sd": "standard deviation"}[what], fontsize=9)


@uncertainty_by_relevance_ratio.figure(figsize=(5.6, 3.6))
def moments_by_ratio(result: StudyResult, axes: Axes) -> None:
    """Mean and standard deviation of what lies below the judged depth, by relevance ratio, a line for each share."""
    for share, rows, colour in result.by("q"):
        ratio, mean, sd = ([row[key] for row in rows] for key in ("relevance_ratio", "mean", "sd"))
        axes.errorbar(ratio, mean, sd, label=f"q = {share:g}", color=colour, capsize=3, marker="o")
    settings = result.settings
    axes.set_xlabel("relevance ratio w (1: random order)")
    axes.set_ylabel(f"mean RBP (p = {settings['p']:g}) below rank {settings['judged_depth']}, with sd", fontsize=9)
    axes.legend(frameon=False)


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

    Collections are drawn from an urn, so that the truth is known: lists whose first ranks are judged. Each way to
    choose the probability of relevance gives an interval for the mean over the given topics; its coverage is the share
    of collections whose true mean it holds. The interval for topics and documents together is compared with the mean
    over all possible topics, which the urn gives exactly.

    Ways: ``true share`` (constant q, the one that drew the collection), ``judged rate`` (constant, the rate among
    judged documents), ``logistic`` (estimated by rank and topic), ``both sources`` (``logistic``, for topics and
    documents together).
    """
    for way in ways:
        check_choice("ways", way, WAYS)
    rng = np.random.default_rng(seed)
    known = JudgedToDepth(n_documents, topics, judged_depth, RBP(p=p))
    rows: Rows = []
    for place, ratio in enumerate(relevance_ratios):
        everywhere = urn_moments(n_documents, q=q, relevance_ratio=ratio, p=p, judged_depth=0).mean
        ends, target = np.empty((2, collections, len(ways))), np.empty((collections, len(ways)))
        for drawn in range(collections):
            relevant = sample_rankings(n_documents, topics, q=q, relevance_ratio=ratio, seed=rng)
            truth = float((relevant @ known.weights).mean())
            for number, way in enumerate(ways):
                ends[:, drawn, number] = known.interval(way, relevant, q, confidence)
                target[drawn, number] = everywhere if way == "both sources" else truth
            if progress:
                progress(place * collections + drawn + 1, len(relevance_ratios) * collections)
        low, high = ends
        coverage = ((low <= target) & (target <= high)).mean(axis=0)
        values = {
            "coverage": coverage,
            "standard_error": (coverage * (1 - coverage) / collections) ** 0.5,
            "width": (high - low).mean(axis=0),
            "bias": ((low + high) / 2 - target).mean(axis=0),
        }
        rows += rows_by({"relevance_ratio": [ratio], "way": ways}, values)
    good = [row for row in rows if abs(row["coverage"] - confidence) <= 0.02]
    named = ", ".join(f"{row['way']} at w={row['relevance_ratio']:g} ({row['coverage']:.1%})" for row in good)
    of_share = {row["relevance_ratio"]: row["coverage"] for row in rows if row["way"] == "true share"}
    agreement = (
        "The paper expects that scaling its mean and deviation makes up for w below 1; its unscaled interval, with the "
        f"true share, holds {list_words([f'{one:.1%} at w = {w:g}' for w, one in of_share.items()])}."
        if of_share
        else ""
    )
    return StudyResult(rows, f"Within two points of {confidence:.0%}: {named or 'none'}.", agreement=agreement)


class JudgedToDepth:
    """Lists of the same documents, judged down to the same depth; which are relevant changes from draw to draw."""

    def __init__(self, n_documents: int, topics: int, judged_depth: int, measure: RBP) -> None:
        self.measure, self.depth, self.weights = measure, judged_depth, measure.weights(n_documents)
        run, qrels = simulated_collection(np.zeros((topics, n_documents), dtype=bool), judged_depth)
        self.run, self.facts = run, TopicFacts(qrels)
        self.unjudged = find_unjudged(run, self.facts, measure, Assumptions())
        self.documents = find_retrieved([run], self.facts, Assumptions())
        self.place = self.documents.by_run[run.name].reshape(topics, n_documents)[:, :judged_depth]

    def interval(self, way: str, relevant: Flags, q: float, confidence: float) -> tuple[float, float]:
        """The interval for the mean that this way gives, from the judged part of these lists."""
        judged = relevant[:, : self.depth]
        base = judged @ self.weights[: self.depth]
        unjudged = replace(self.unjudged, base=base)
        if way in ("logistic", "both sources"):
            grade = self.documents.grade.copy()
            grade[self.place] = judged
            documents = replace(self.documents, grade=grade)
            model = estimate(documents, self.facts)
            return exact_score(unjudged, self.measure, model).interval(
                confidence, "both" if way == "both sources" else "documents"
            )
        share = float(judged.mean()) if way == "judged rate" else q
        return exact_score(unjudged, self.measure, Constant(share)).interval(confidence)


def simulated_collection(relevant: Flags, judged_depth: int) -> tuple[Run, Qrels]:
    """Lists of relevant (True) and other documents as a run, judged down to a depth."""
    topics, n = relevant.shape
    queries = np.repeat([f"t{topic}" for topic in range(topics)], n).reshape(topics, n)
    names = np.tile([f"d{number}" for number in range(n)], (topics, 1))
    run = Run.from_columns(queries.ravel().tolist(), names.ravel().tolist(), np.tile(-np.arange(n), topics).tolist())
    judged = slice(0, judged_depth)
    columns: list[Any] = [part[:, judged].ravel().tolist() for part in (queries, names, relevant.astype(int))]
    return run, Qrels.from_columns(*columns)


@coverage_by_relevance_ratio.figure(figsize=(6.4, 3.6))
def coverage_by_ratio(result: StudyResult, axes: Axes) -> None:
    """How often each way's interval holds the truth, with two standard errors, by the quality of the system."""
    axes.axhline(result.settings["confidence"], color="0.5", linestyle=":")
    for way, rows, colour in result.by("way"):
        ratio, coverage, error = (
            [row[key] for row in rows] for key in ("relevance_ratio", "coverage", "standard_error")
        )
        axes.errorbar(ratio, coverage, 2 * np.array(error), label=way, color=colour, capsize=3, marker="o")
    axes.set_xlabel("relevance ratio w (1: random order)")
    axes.set_ylabel(f"intervals that hold the truth (p = {result.settings['p']:g})")
    axes.legend(**BESIDE)
