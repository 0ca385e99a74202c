"""Do 95% intervals for the mean hold the truth 95 times in 100, and what if q is not one constant?

Collections are drawn from an urn, so that the truth is known: lists whose first ranks are judged and whose others are
not. Each way to choose the probability of relevance gives an interval for the mean over the topics at hand; its
coverage is the share of collections whose true mean it holds. The interval for topics and documents together is held
against the mean over all topics there could be, which the urn gives exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.plots.style import fresh_axes
from rankbounds.probability.mean import exact_score
from rankbounds.probability.models.estimates import estimate
from rankbounds.probability.models.probabilities import Constant
from rankbounds.probability.models.urn import fit_urn, sample_rankings, urn_moments
from rankbounds.probability.retrieved_documents import retrieved_documents
from rankbounds.probability.unjudged_documents import find_unjudged
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.studies import BESIDE, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WAYS = ("true share", "judged rate", "logistic", "urn", "both sources")


def run(
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
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Coverage for every relevance ratio and way.

    Ways: ``true share`` (constant q, the one that drew the collection), ``judged rate`` (constant, the rate among
    judged documents), ``logistic`` (estimated by rank and topic), ``urn`` (an urn fitted to the judged ranks),
    ``both sources`` (``logistic``, for topics and documents together).
    """
    rng = np.random.default_rng(seed)
    known = JudgedToDepth(n_documents, topics, judged_depth, RBP(p=p))
    rows: list[dict[str, Any]] = []
    for place, ratio in enumerate(relevance_ratios):
        everywhere = urn_moments(n_documents, q=q, relevance_ratio=ratio, p=p, judged_depth=0).mean
        hits, widths, misses = ({way: [] for way in ways} for _ in range(3))  # type: ignore[var-annotated]
        for drawn in range(collections):
            relevant = sample_rankings(n_documents, topics, q=q, relevance_ratio=ratio, seed=rng)
            truth = float((relevant @ known.weights).mean())
            for way in ways:
                low, high = known.interval(way, relevant, q, confidence)
                target = everywhere if way == "both sources" else truth
                hits[way].append(low <= target <= high)
                widths[way].append(high - low)
                misses[way].append((low + high) / 2 - target)
            if progress:
                progress(place * collections + drawn + 1, len(relevance_ratios) * collections)
        for way in ways:
            coverage = float(np.mean(hits[way]))
            rows.append({
                "relevance_ratio": ratio, "way": way, "coverage": coverage,
                "standard_error": (coverage * (1 - coverage) / collections) ** 0.5,
                "width": float(np.mean(widths[way])), "bias": float(np.mean(misses[way])),
            })  # fmt: skip
    return Result(rows, _answer(rows, confidence), {
        "collections": collections, "q": q, "n_documents": n_documents, "topics": topics, "p": p,
        "judged_depth": judged_depth, "confidence": confidence, "seed": seed,
    })  # fmt: skip


class JudgedToDepth:
    """Lists of the same documents, judged down to the same depth; which are relevant changes from draw to draw."""

    def __init__(self, n_documents: int, topics: int, judged_depth: int, measure: RBP) -> None:
        self.measure, self.depth, self.weights = measure, judged_depth, measure.weights(n_documents)
        run, qrels = collection(np.zeros((topics, n_documents), dtype=bool), judged_depth)
        self.run, self.facts = run, TopicFacts(qrels)
        self.unjudged = find_unjudged(run, self.facts, measure, Assumptions())
        self.documents = retrieved_documents([run], self.facts, Assumptions())
        self.place = self.documents.by_run[run.name].reshape(topics, n_documents)[:, :judged_depth]

    def interval(self, way: str, relevant: Flags, q: float, confidence: float) -> tuple[float, float]:
        """The interval for the mean that this way gives, from the judged part of these lists."""
        judged = relevant[:, : self.depth]
        base = judged @ self.weights[: self.depth]
        if way == "urn":
            from scipy.special import ndtri

            rest = fit_urn(judged, relevant.shape[1]).rest(self.weights)
            middle, half = float(base.mean()) + rest.mean, float(ndtri((1 + confidence) / 2)) * rest.sd
            return middle - half, middle + half
        unjudged = replace(self.unjudged, base=base)
        if way in ("logistic", "both sources"):
            grade = self.documents.grade.copy()
            grade[self.place] = judged
            documents = replace(self.documents, grade=grade)
            model = estimate("logistic", [self.run], self.facts, Assumptions(), documents=documents)
            return exact_score(unjudged, self.measure, model).interval(
                confidence, "both" if way == "both sources" else "documents"
            )
        share = float(judged.mean()) if way == "judged rate" else q
        return exact_score(unjudged, self.measure, Constant(share)).interval(confidence)


def collection(relevant: Flags, judged_depth: int) -> tuple[Run, Qrels]:
    """Lists of relevant (True) and other documents as a run, judged down to a depth."""
    topics, n = relevant.shape
    queries = np.repeat([f"t{topic}" for topic in range(topics)], n).reshape(topics, n)
    names = np.tile([f"d{number}" for number in range(n)], (topics, 1))
    run = Run.from_columns(queries.ravel().tolist(), names.ravel().tolist(), np.tile(-np.arange(n), topics).tolist())
    judged = slice(0, judged_depth)
    qrels = Qrels.from_columns(
        queries[:, judged].ravel().tolist(), names[:, judged].ravel().tolist(),
        relevant[:, judged].astype(int).ravel().tolist(),
    )  # fmt: skip
    return run, qrels


def _answer(rows: list[dict[str, Any]], confidence: float) -> str:
    good = [row for row in rows if abs(row["coverage"] - confidence) <= 0.02]
    ways = ", ".join(f"{row['way']} at w={row['relevance_ratio']:g} ({row['coverage']:.1%})" for row in good)
    return f"Within two points of {confidence:.0%}: {ways or 'none'}."


def figure(result: Result, ax: Axes | None = None) -> Axes:
    """How often each way's interval holds the truth, with two standard errors, by the quality of the system."""
    axes = fresh_axes(ax, figsize=(6.4, 3.6))
    axes.axhline(result.settings["confidence"], color="0.5", linestyle=":")
    for way, rows, colour in result.by("way"):
        ratio, coverage = ([row[key] for row in rows] for key in ("relevance_ratio", "coverage"))
        error = [2 * row["standard_error"] for row in rows]
        axes.errorbar(ratio, coverage, error, label=way, color=colour, capsize=3, marker="o")
    axes.set_xlabel("relevance ratio w (1: random order)")
    axes.set_ylabel(f"intervals that hold the truth (p = {result.settings['p']:g})")
    axes.legend(**BESIDE)
    return axes
