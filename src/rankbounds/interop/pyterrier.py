"""PyTerrier: an experiment that ends in a verdict, and our tests of significance for ``pt.Experiment``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import rankbounds as rb


def pyterrier_test(test: str = "t") -> Callable[[Sequence[float], Sequence[float]], tuple[float, float]]:
    """Return a test of significance for ``pt.Experiment(test=...)``.

    Parameters
    ----------
    test : str
        As in ``rankbounds.compare``.

    Returns
    -------
    callable
        ``(a, b) -> (mean difference b - a, p)``.

    Examples
    --------
    >>> from rankbounds.interop import pyterrier_test
    >>> difference, p = pyterrier_test("sign")([0.1, 0.2, 0.3], [0.2, 0.4, 0.5])
    >>> round(difference, 4), p
    (0.1667, 0.25)
    """
    rb.stats.p_values(np.array([[0.0, 0.1]]), test)  # refuses an unknown test now, and not after all systems have run

    def tested(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
        differences = np.asarray(other, dtype=np.float64) - np.asarray(one, dtype=np.float64)
        return float(differences.mean()), float(rb.stats.p_values(differences[None], test)[0])

    return tested


def pyterrier_experiment(
    retr_systems: Sequence[Any] | Mapping[str, Any],
    topics: Any,
    qrels: Any,
    measures: Any = None,
    names: Sequence[str] | None = None,
    **options: Any,
) -> rb.Comparison:
    """Run transformers on topics, as ``pt.Experiment`` does, and compare what they retrieve.

    Parameters
    ----------
    retr_systems : sequence or mapping
        Transformers, or frames of what they retrieved; a mapping names them.
    topics, qrels : DataFrame
        With the columns ``qid, query`` and ``qid, docno, label``.
    measures : str, Measure, ir_measures' measure, or several
        What to compare by; by default what ``rankbounds.compare`` takes.
    names : sequence of str, optional
        Names of the systems; by default their printed form.
    **options
        Options of ``rankbounds.compare``: ``baseline=``, ``test=``, ``correction=``, ...

    Returns
    -------
    Comparison
        With sentences, intervals, bounds for unjudged documents and tables for a paper.

    Examples
    --------
    >>> from rankbounds.interop import pyterrier_experiment
    >>> pyterrier_experiment({"bm25": bm25, "monoT5": bm25 >> mono}, topics, qrels, ["nDCG@10"])  # doctest: +SKIP
    """
    systems = list(retr_systems.values()) if isinstance(retr_systems, Mapping) else list(retr_systems)
    if names is None and isinstance(retr_systems, Mapping):
        names = list(retr_systems)
    elif names is None:
        names = [f"system{at}" if hasattr(system, "columns") else str(system) for at, system in enumerate(systems, 1)]
    if len(names) != len(systems) or len(set(names)) < len(names):
        raise rb.UsageError(f"{len(systems)} systems need as many names that differ, not {', '.join(map(str, names))}.")
    asked = set(topics["qid"].astype(str))
    runs = {}
    for name, system in zip(names, systems, strict=True):
        is_transformer = hasattr(system, "transform") and hasattr(system, "__rshift__")
        retrieved = system.transform(topics) if is_transformer else system
        runs[str(name)] = retrieved[retrieved["qid"].astype(str).isin(asked)]
    judged = qrels[qrels["qid"].astype(str).isin(asked)]
    return rb.compare(judged, runs, **options, **({} if measures is None else {"measures": measures}))
