"""RBP and its bounds over a grid of persistences or depths, in one pass over the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Cells
from rankbounds.evaluation.options import RankingOptions, chosen_options
from rankbounds.evaluation.scores import PARTS, Scores
from rankbounds.evaluation.scoring import Scoring, score_runs
from rankbounds.measures.formulas import RankWeighted
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS, group_means, reorder
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.threads import processors

if TYPE_CHECKING:
    from typing_extensions import Unpack

GRID = tuple(hundredth / 100 for hundredth in range(100))
"""Persistences 0, 0.01, ..., 0.99."""
PERSISTENCES = (0.5, 0.8, 0.95)
"""Those looked at where none are named: users who read 2, 5 and 20 documents on average."""


def bounds_by_persistence(
    qrels: QrelsLike,
    runs: RunsLike,
    p: Iterable[float] = GRID,
    *,
    measure: RBP | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[RankingOptions],
) -> Scores:
    """Compute RBP with low and high of every run and topic over a grid of p.

    Parameters
    ----------
    qrels, runs, progress, **options
        As in ``evaluate``; ties in any fixed order, or ``expected``.
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
    return _scores_of_family(qrels, runs, family, progress, options)


def bounds_by_depth(
    qrels: QrelsLike,
    runs: RunsLike,
    depths: int | Iterable[int] = 100,
    p: float | Iterable[float] = PERSISTENCES,
    *,
    measure: RBP | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[RankingOptions],
) -> Scores:
    """Compute RBP with low and high as the lists are read deeper: low rises and high falls.

    Parameters
    ----------
    qrels, runs, measure, progress, **options
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
    return _scores_of_family(qrels, runs, family, progress, options)


def _scores_of_family(
    qrels: QrelsLike,
    runs: RunsLike,
    family: Sequence[RBP],
    progress: Callable[[int, int], None] | None,
    options: RankingOptions,
) -> Scores:
    if not family:
        raise UsageError("No persistence or no depth was given.")
    assumptions, reading = chosen_options(options, RankingOptions, threads=processors())
    if assumptions.ties not in (*ORDERS, "expected"):
        raise UsageError(f'Over a grid, ties may be {", ".join(ORDERS)} or expected, not "{assumptions.ties}".')
    family = list(dict.fromkeys(family))
    cells = partial(family_cells, family, expected_ties=assumptions.ties == "expected")
    scoring = Scoring([*family], assumptions, reading.threads, cells=cells)
    facts = TopicFacts(reading.judgments(qrels), assumptions.gain)
    return score_runs(facts, reading.runs_to_read(runs), scoring, progress=progress)


def family_cells(family: Sequence[RankWeighted], rankings: Rankings, *, expected_ties: bool = False) -> Cells:
    """Return value, bounds and residual of measures that differ in their weights alone, as two matrix products.

    The weights of all measures by rank times the worth of all lists by rank: once with unjudged documents as
    non-relevant, once for what they could add.
    """
    weights = _weights(tuple(family), rankings.width)
    judged = rankings.assume(0.0)
    sure, most = family[0].worth(judged), family[0].worth(rankings.assume(1.0))
    parts = np.zeros((len(PARTS), rankings.length.size, len(family)))
    unjudged, tail, ties = parts
    if rankings.tied is not None:
        worst, best = (family[0].worth(reorder(judged, sure, best=best)) for best in (False, True))
        ties[:] = _product(best - worst, weights)
        if expected_ties:
            sure, most = group_means(rankings, sure), group_means(rankings, most)
    low = _product(sure, weights)
    unjudged[:] = _product(most - sure, weights)
    tail[:] = np.stack([measure.open_tail(rankings) for measure in family], axis=-1)
    return Cells(low, low, low + unjudged + tail, parts)


@lru_cache(maxsize=64)
def _weights(family: tuple[RankWeighted, ...], width: int) -> Floats:
    """The weights by rank and measure; batches of the same width share them."""
    weights = np.zeros((width, len(family)))
    for number, measure in enumerate(family):
        depth = width if measure.cutoff is None else min(width, measure.cutoff)
        weights[:depth, number] = measure.weights(depth)
    weights[weights < 1e-290] = 0.0  # products of such numbers cost the processor a hundred times as much
    return weights


def _product(worth: Floats, weights: Floats) -> Floats:
    """Multiply in pieces so small that no library starts threads: runs are shared among threads already."""
    step = max(1, (1 << 19) // worth.size)
    return np.concatenate(
        [worth @ weights[:, first : first + step] for first in range(0, weights.shape[-1], step)], axis=-1
    )
