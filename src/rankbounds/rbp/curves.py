"""RBP and its bounds over a grid of persistences or depths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.options import EvaluateOptions
from rankbounds.evaluation.scores import Scores
from rankbounds.measures.rank_biased_precision import RBP

if TYPE_CHECKING:
    from typing_extensions import Unpack

GRID = tuple(hundredth / 100 for hundredth in range(100))
PERSISTENCES = (0.5, 0.8, 0.95)
"""Those looked at where none are named: users who read 2, 5 and 20 documents on average."""


def bounds_by_persistence(
    qrels: QrelsLike,
    runs: RunsLike,
    p: Iterable[float] = GRID,
    *,
    measure: RBP | None = None,
    **options: Unpack[EvaluateOptions],
) -> Scores:
    """Compute RBP with low and high of every run and topic over a grid of p.

    Parameters
    ----------
    qrels, runs, **options
        As in ``evaluate``.
    p
        The persistences; by default 0, 0.01, ..., 0.99.
    measure
        RBP with everything but p, such as ``RBP(graded=True)``.

    Returns
    -------
    Scores
        Its measures are ``RBP(p=...)``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0, "c": 0.5}}
    >>> means = rb.rbp.bounds_by_persistence(qrels, run, (0.5, 0.8)).mean()
    >>> for row in means.rows():
    ...     print(row["measure"], round(row["low"], 3), round(row["high"], 3))
    RBP(p=0.5) 0.5 0.75
    RBP(p=0.8) 0.2 0.84
    """
    family = [replace(measure or RBP(), p=float(persistence)) for persistence in p]
    return _scores_of_family(qrels, runs, family, options)


def bounds_by_depth(
    qrels: QrelsLike,
    runs: RunsLike,
    depths: int | Iterable[int] = 100,
    p: float | Iterable[float] = PERSISTENCES,
    *,
    measure: RBP | None = None,
    **options: Unpack[EvaluateOptions],
) -> Scores:
    """Compute RBP with low and high as the lists are read deeper: low rises and high falls.

    Parameters
    ----------
    qrels, runs, measure, **options
        As in ``bounds_by_persistence``.
    depths
        The largest depth, or the depths to compute.
    p
        One persistence or several.

    Returns
    -------
    Scores
        Its measures are ``RBP(p=...)@depth``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0, "c": 0.5}}
    >>> means = rb.rbp.bounds_by_depth(qrels, run, 3, 0.5).mean()
    >>> for row in means.rows():
    ...     print(row["measure"], row["low"], row["high"])
    RBP(p=0.5)@1 0.5 1.0
    RBP(p=0.5)@2 0.5 0.75
    RBP(p=0.5)@3 0.5 0.75
    """
    ranks = range(1, depths + 1) if isinstance(depths, int) else list(depths)
    persistences = [p] if isinstance(p, int | float) else list(p)
    family = [
        replace(measure or RBP(), p=float(persistence), cutoff=depth) for persistence in persistences for depth in ranks
    ]
    return _scores_of_family(qrels, runs, family, options)


def _scores_of_family(qrels: QrelsLike, runs: RunsLike, family: Sequence[RBP], options: EvaluateOptions) -> Scores:
    if not family:
        raise UsageError("No persistence or no depth was given.")
    return evaluate(qrels, runs, list(dict.fromkeys(family)), **options)
