"""The urn that imitates ranked lists: relevant and non-relevant balls, drawn one after the other into a ranking.

The next document is drawn with chances proportional to weights: 1 for a relevant document, w (the relevance ratio) for
a non-relevant one. At w = 1 the ranking is random, near 0 relevant documents come first.

Source: Park, Uncertainty in Rank-Biased Precision, ADCS 2016, section 3. The paper simulates; here mean and variance
come from a recursion over the states of the urn. ``simulate`` draws whole collections of such lists.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_count, check_persistence, check_share
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError
from rankbounds.files.writing import make_empty_folder, make_folder
from rankbounds.measures.parameters import NOT_NEGATIVE, POSITIVE, SHARE

NEGLIGIBLE = 1e-15
"""Ranks below which all weights together are this small are not looked at."""
COUNTED = ("runs", "topics", "documents", "depth", "grades", "pool_depth", "pooled_runs")
LARGEST = 10**9
ALLOWED = dict.fromkeys(("best", "worst"), POSITIVE) | dict.fromkeys(("variation", "difficulty"), NOT_NEGATIVE)
ALLOWED |= dict.fromkeys(("agreement", "ties"), SHARE)


class Moments(NamedTuple):
    """Mean and standard deviation; arrays where the parameters were arrays."""

    mean: Any
    sd: Any


def urn_moments(
    n_documents: int,
    q: Any = None,
    relevance_ratio: Any = 1.0,
    p: float = 0.8,
    judged_depth: int = 10,
    topics: int = 1,
    *,
    relevant: int | None = None,
) -> Moments:
    """Compute the exact mean and sd of what the ranks below the judged depth add to mean RBP, for lists from an urn.

    Parameters
    ----------
    n_documents, relevant, q
        How many documents the urn holds and how many are relevant, or the share q of these (may be an array): their
        number is then Binomial(n_documents, q).
    relevance_ratio
        The weight w of a non-relevant document when a relevant one has 1 (may be an array).
    p, judged_depth, topics
        RBP's persistence; ranks down to the judged depth do not count; the mean is over so many topics.

    Returns
    -------
    Moments
        ``mean`` and ``sd``; arrays where the parameters were arrays.

    Examples
    --------
    >>> import rankbounds as rb
    >>> mean, sd = rb.probability.urn_moments(100, q=0.1, relevance_ratio=0.5, topics=50)
    >>> print(round(mean, 5), round(sd, 5))
    0.01727 0.00188
    """
    if n_documents < 1 or topics < 1 or judged_depth < 0:
        raise UsageError("An urn needs at least one document and one topic, and a judged depth from 0 on.")
    check_persistence(p)
    _check_number(q, relevant)
    if relevant is not None and not 0 <= relevant <= n_documents:
        raise UsageError(f"Of {n_documents} documents, {relevant} cannot be relevant.")
    shares, ratios = np.broadcast_arrays(np.nan if q is None else np.asarray(q, float), _ratios(relevance_ratio))
    if q is not None and not ((shares >= 0) & (shares <= 1)).all():
        raise UsageError("The share q of relevant documents must lie between 0 and 1.")
    depth = n_documents if p in (0.0, 1.0) else min(n_documents, math.ceil(math.log(NEGLIGIBLE) / math.log(p)))
    weights = (1 - p) * p ** np.arange(depth)
    weights[:judged_depth] = 0.0
    mean, second = np.empty(shares.shape), np.empty(shares.shape)
    for ratio in np.unique(ratios):
        here = ratios == ratio
        number, mixture = (np.array([relevant]), np.ones((1, 1))) if q is None else _binomial(n_documents, shares[here])
        at_start, second_at_start = _from_start(weights, n_documents, number, float(ratio))
        mean[here], second[here] = mixture @ at_start, mixture @ second_at_start
    sd = np.sqrt(np.maximum(second - mean**2, 0.0) / topics)
    return Moments(float(mean), float(sd)) if shares.ndim == 0 else Moments(mean, sd)


def sample_rankings(
    n_documents: int,
    lists: int,
    *,
    q: Any = None,
    relevant: Any = None,
    relevance_ratio: Any = 1.0,
    seed: int | np.random.Generator = 0,
) -> Flags:
    """Draw ranked lists of all documents of an urn: each arrives after an exponential time with its weight for a rate.

    Parameters
    ----------
    n_documents, lists
        How many documents the urn holds, and how many lists to draw.
    q, relevant, relevance_ratio
        As in ``urn_moments``; the latter two may differ from list to list.
    seed : int or Generator, default 0
        Where the random numbers start.

    Returns
    -------
    array of bool
        Lists by ranks: True for a relevant document.

    Examples
    --------
    >>> import rankbounds as rb
    >>> drawn = rb.probability.sample_rankings(20, 1000, relevant=5, relevance_ratio=0.1, seed=1)
    >>> drawn.shape, set(drawn.sum(axis=-1).tolist()), bool(drawn[:, 0].mean() > drawn[:, 9].mean())
    ((1000, 20), {5}, True)
    """
    rng = np.random.default_rng(seed)
    _check_number(q, relevant)
    number = rng.binomial(n_documents, q, lists) if relevant is None else np.broadcast_to(relevant, lists)
    is_relevant = np.arange(n_documents) < number[:, None]
    rate = np.where(is_relevant, 1.0, np.broadcast_to(_ratios(relevance_ratio), lists)[:, None])
    arrival = rng.exponential(size=(lists, n_documents)) / rate
    return np.take_along_axis(is_relevant, np.argsort(arrival, axis=-1), axis=-1)


def _check_number(q: Any, relevant: Any) -> None:
    if (q is None) == (relevant is None):
        raise UsageError("An urn needs either q, the share of relevant documents, or relevant, their number.")


def _ratios(given: Any) -> Floats:
    ratios = np.asarray(given, dtype=float)
    if not (np.isfinite(ratios) & (ratios > 0)).all():
        raise UsageError("The relevance ratio w must be positive.")
    return ratios


def _binomial(n: int, shares: Floats) -> tuple[Ints, Floats]:
    from scipy.special import gammaln, xlog1py, xlogy

    number = np.arange(n + 1)
    share = np.ravel(shares)[:, None]
    logs = gammaln(n + 1) - gammaln(number + 1) - gammaln(n - number + 1) + xlogy(number, share)
    probability = np.exp(logs + xlog1py(n - number, -share))
    met = probability.max(axis=0) > 1e-18
    probability = probability[:, met]
    return number[met], probability / probability.sum(axis=-1, keepdims=True)


def _from_start(weights: Floats, n: int, number: Ints, ratio: float) -> tuple[Floats, Floats]:
    mean, second = np.zeros((2, number.size, weights.size + 1))
    for rank in range(weights.size - 1, -1, -1):
        drawn = np.arange(rank + 1)
        left = np.maximum(number[:, None] - drawn, 0)
        others = np.maximum(n - number[:, None] - (rank - drawn), 0)
        weight = left + ratio * others
        chance = np.divide(left, weight, out=np.zeros(weight.shape), where=weight > 0)
        gain = weights[rank]
        hit, miss = slice(1, rank + 2), slice(0, rank + 1)
        second = chance * (gain**2 + 2 * gain * mean[:, hit] + second[:, hit]) + (1 - chance) * second[:, miss]
        mean = chance * (gain + mean[:, hit]) + (1 - chance) * mean[:, miss]
    return mean[:, 0], second[:, 0]


@dataclass(frozen=True, eq=False)
class SimulatedCollection:
    """Runs from the best system to the worst, what is true (``complete``), and what the pool knows (``pooled``)."""

    runs: list[Run]
    complete: Qrels
    pooled: Qrels

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write ``runs/*.txt``, ``qrels-complete.txt`` and ``qrels-pooled.txt`` to a new folder."""
        target = make_empty_folder(folder)
        make_folder(target / "runs")
        for run in self.runs:
            run.write(target / "runs" / f"{run.name}.txt")
        self.complete.write(target / "qrels-complete.txt")
        self.pooled.write(target / "qrels-pooled.txt")


def simulate(
    runs: int = 8,
    topics: int = 50,
    documents: int = 1000,
    depth: int = 100,
    *,
    relevant: float = 0.05,
    variation: float = 0.5,
    best: float = 0.02,
    worst: float = 0.3,
    difficulty: float = 0.5,
    agreement: float = 0.5,
    ties: float = 0.1,
    grades: int = 1,
    pool_depth: int = 10,
    pooled_runs: int | None = None,
    seed: int = 0,
) -> SimulatedCollection:
    """Draw a whole synthetic collection: runs, complete judgments, and those of a pool.

    Every run is exactly a draw from the urn of ``urn_moments``, whatever the agreement between runs.

    Parameters
    ----------
    runs, topics, documents, depth
        How many runs, topics and documents, and how many documents a list has.
    relevant, variation
        The share of relevant documents, and the sd of its log odds over topics.
    best, worst, difficulty
        The relevance ratio w of the best and the worst system, the others evenly between on a log scale; and how far
        topics move log w up and down (sd).
    agreement, ties, grades
        From 0 (systems rank independently) to 1; the share of documents with the score of the one before; relevant ones
        have grades 1 to ``grades``.
    pool_depth, pooled_runs, seed
        The pool holds the first ``pool_depth`` documents of ``pooled_runs`` runs drawn at random (else of all).

    Returns
    -------
    SimulatedCollection
        ``runs`` from the best system to the worst, and the judgments ``complete`` and ``pooled``; ``write`` puts them
        into a folder.

    Examples
    --------
    >>> import rankbounds as rb
    >>> made = rb.studies.simulate(runs=3, topics=2, documents=50, depth=10, pool_depth=2, seed=1)
    >>> [run.name for run in made.runs], len(made.complete), len(made.pooled)
    (['run1', 'run2', 'run3'], 100, 10)
    """
    _check({name: value for name, value in locals().items() if value is not None})
    if depth > documents:
        raise UsageError(f"Lists of {depth} documents cannot be drawn from {documents}.")
    from scipy.special import log_ndtr

    rng = np.random.default_rng(seed)
    share = 1 / (1 + (1 / relevant - 1) * np.exp(-variation * rng.standard_normal(topics)))
    truth = np.arange(documents) < rng.binomial(documents, share)[:, None]
    truth = rng.permuted(truth, axis=-1)
    grade = np.where(truth, np.minimum(rng.geometric(0.6, truth.shape), grades), 0)
    hardness = difficulty * rng.standard_normal(topics)
    shared = rng.standard_normal((topics, documents))
    pooled = rng.permutation(runs)[: runs if pooled_runs is None else pooled_runs]
    in_pool = np.zeros((topics, documents), dtype=bool)
    topic_ids = [str(401 + topic) for topic in range(topics)]
    doc_ids = np.array([f"D{number:0{len(str(documents - 1))}d}" for number in range(documents)])
    made = []
    for number, quality in enumerate(np.geomspace(best, worst, runs)):
        own = rng.standard_normal((topics, documents))
        mixed = agreement * shared + np.sqrt(1 - agreement**2) * own
        # The times are exponential whatever the agreement: minus the log of a uniform number.
        arrival = -log_ndtr(mixed) / np.where(truth, 1.0, (quality * np.exp(hardness))[:, None])
        ranked, score = _ranked(arrival, depth, ties, rng)
        if number in pooled:
            np.put_along_axis(in_pool, ranked[:, :pool_depth], True, axis=-1)
        made.append(
            Run.from_columns(
                np.repeat(topic_ids, depth).tolist(),
                doc_ids[ranked].ravel().tolist(),
                score.ravel().tolist(),
                name=f"run{number + 1:0{len(str(runs))}d}",
            )
        )
    complete = _judgments(topic_ids, doc_ids, grade, np.ones_like(in_pool))
    return SimulatedCollection(made, complete, _judgments(topic_ids, doc_ids, grade, in_pool))


def _ranked(arrival: Floats, depth: int, ties: float, rng: np.random.Generator) -> tuple[Ints, Floats]:
    ranked = np.argsort(arrival, axis=-1)[:, :depth]
    score = np.round(-np.log(np.take_along_axis(arrival, ranked, axis=-1)), 4)
    tied = rng.random(score.shape) < ties
    tied[:, 0] = False
    first = np.maximum.accumulate(np.where(tied, 0, np.arange(depth)), axis=-1)
    score = np.take_along_axis(score, first, axis=-1)
    order = np.lexsort((-ranked, -score), axis=-1)
    return np.take_along_axis(ranked, order, axis=-1), score


def _judgments(topic_ids: list[str], doc_ids: Any, grade: Ints, known: Any) -> Qrels:
    topic, document = np.nonzero(known)
    return Qrels.from_columns(
        np.array(topic_ids)[topic].tolist(), doc_ids[document].tolist(), grade[topic, document].tolist()
    )


def _check(settings: dict[str, Any]) -> None:
    for name, value in settings.items():
        if name in COUNTED:
            check_count(name.replace("_", " "), value, most=LARGEST)
        elif name == "seed":
            check_count("The seed", value, 0)
        elif name == "relevant":
            check_share("The share of relevant documents", value)
        elif not ALLOWED[name].holds(value):
            raise UsageError(f"{name} {ALLOWED[name].words}, not {value:g}.")
