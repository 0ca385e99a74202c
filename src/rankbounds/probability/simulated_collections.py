"""Whole synthetic collections from the urn: runs, complete judgments, and the judgments of a pool.

Every run draws each topic's documents from an urn (``rankbounds.probability.models.urn``) with a relevance ratio w made
of how bad the system is and how hard the topic is. Runs agree with each other as far as asked, and each is still
exactly a draw from its urn.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError
from rankbounds.files.writing import make_empty_folder, make_folder, writing

COUNTED = ("runs", "topics", "documents", "depth", "grades", "pool_depth", "pooled_runs")
LARGEST = 10**9
"""Of anything that is counted."""


@dataclass(frozen=True, eq=False)
class SimulatedCollection:
    """Runs from the best system to the worst, what is true (``complete``), and what the pool knows (``pooled``)."""

    runs: list[Run]
    complete: Qrels
    pooled: Qrels
    settings: dict[str, Any]

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write ``runs/*.txt``, ``qrels-complete.txt``, ``qrels-pooled.txt`` and ``settings.json`` to a new folder."""
        target = make_empty_folder(folder)
        make_folder(target / "runs")
        files: dict[Path, Run | Qrels] = {target / "runs" / f"{run.name}.txt": run for run in self.runs}
        files |= {target / "qrels-complete.txt": self.complete, target / "qrels-pooled.txt": self.pooled}
        for path, content in files.items():
            content.write(path)
        with writing(target / "settings.json") as out:
            out.write(json.dumps(self.settings, indent=2) + "\n")
        return [*files, target / "settings.json"]


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
    agreement
        From 0 (systems rank independently) to 1.
    ties, grades
        The share of documents that get the score of the one before; relevant ones have grades 1 to ``grades``.
    pool_depth, pooled_runs
        The pool holds the first ``pool_depth`` documents of ``pooled_runs`` runs drawn at random (else of all).
    seed
        Of the draws.

    Returns
    -------
    SimulatedCollection
        ``runs`` from the best system to the worst, the judgments ``complete`` and ``pooled``, and the ``settings``;
        ``write`` puts them into a folder.

    Examples
    --------
    >>> import rankbounds as rb
    >>> made = rb.studies.simulate(runs=3, topics=2, documents=50, depth=10, pool_depth=2, seed=1)
    >>> [run.name for run in made.runs], len(made.complete), len(made.pooled)
    (['run1', 'run2', 'run3'], 100, 10)
    """
    settings = {name: value for name, value in locals().items() if value is not None}
    _check(settings)
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
    return SimulatedCollection(made, complete, _judgments(topic_ids, doc_ids, grade, in_pool), settings)


def _ranked(arrival: Floats, depth: int, ties: float, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """The documents of each list and their scores; tied ones stand in the order that evaluation gives them."""
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
        said = name.replace("_", " ")
        if isinstance(value, float) and not np.isfinite(value):
            raise UsageError(f"{said} must be a finite number, not {value:g}.")
        if name == "seed" and value < 0:
            raise UsageError(f"The seed must not be negative, but is {value}.")
        if name in COUNTED and value < 1:
            raise UsageError(f"{said} must be at least 1, not {value}.")
        if name in COUNTED and value > LARGEST:
            raise UsageError(f"{said} must be at most {LARGEST:,}, not {value}.")
        if name in ("best", "worst") and not value > 0:
            raise UsageError(f"The {name} system's relevance ratio must be positive, not {value:g}.")
        if name == "relevant" and not 0 < value < 1:
            raise UsageError(f"The share of relevant documents must lie between 0 and 1, not {value:g}.")
        if name in ("agreement", "ties") and not 0 <= value <= 1:
            raise UsageError(f"{name} must lie between 0 and 1, not {value:g}.")
        if name in ("variation", "difficulty") and value < 0:
            raise UsageError(f"{name} is a standard deviation and cannot be {value:g}.")
