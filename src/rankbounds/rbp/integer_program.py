"""Exact bounds of a published score at another persistence, by an integer program (HiGHS through SciPy).

The mean of n binary lists is one list whose rank i holds c_i / n, where c_i counts the topics with a relevant document
there. Topics are independent, so c_i may be any whole number from 0 to n.

Every rank that affects the printed digits is a variable, and if the list ends at a depth, every rank to there that
counts at the other persistence. All below is relaxed in both directions: it may add from nothing to p^N to the score,
and anything to the score at the other persistence. The bound counts as reached only if the list found can do so.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats

if TYPE_CHECKING:
    from rankbounds.rbp.published_score import Published

FINER = 1000
"""The ranks below the last integer one weigh less than this part of the rounding interval."""
MOST_COLUMNS = 4000
"""Beyond, the solver would overrun any time limit, for whole documents that hardly weigh anything."""
OBJECTIVE_SCALE = 1e4
"""The solver's absolute tolerances (1e-6 and finer) are then below 1e-10 of a score."""
MARGIN = 1e-7
"""Given away at either end for the solver's arithmetic."""
LARGEST_COEFFICIENT = 100.0
"""Of a row; the solver takes 0.000001 for a whole number, and that times the coefficient must stay small."""
NEGLIGIBLE = 1e-9
"""What all ranks below may weigh at the other persistence without being whole numbers."""
FEASIBILITY = 1e-6
"""Rows are widened by this much in the solver's units, ten times its tolerance, so that no true list is cut off."""


@dataclass(frozen=True)
class End:
    """One end of a range: no list passes the bound, and if it is reached, one attains it."""

    bound: float
    reached: bool
    feasible: bool = True


def solve(published: Published, to: float, *, highest: bool, time_limit: float, wider: float = 0.0) -> End:
    """Return the least score at persistence ``to`` with unjudged documents non-relevant, or the greatest with relevant.

    Scores and residuals are those that round to the printed ones, in intervals widened by the share ``wider``.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    columns = _Columns(published, to, wider)
    sign = -1.0 if highest else 1.0
    if len(columns.upper) > MOST_COLUMNS:
        return End(-sign * np.inf, reached=False)
    cost = sign * OBJECTIVE_SCALE * (columns.at_other_p(with_unjudged=highest))
    solution = milp(
        cost,
        integrality=np.ones(len(cost)),
        bounds=Bounds(0, columns.upper),
        constraints=[LinearConstraint(*rows) for rows in columns.constraints()],
        options={"time_limit": time_limit, "mip_rel_gap": 0.0},
    )
    if solution.status == 2:
        return End(-sign * np.inf, reached=False, feasible=False)
    dual = solution.mip_dual_bound
    if solution.status == 0 and (dual is None or not np.isfinite(dual)):
        dual = solution.fun  # without integers left after presolve there is no branching and no dual bound
    if dual is None or not np.isfinite(dual):
        return End(-sign * np.inf, reached=False)
    bound = sign * dual / OBJECTIVE_SCALE + (columns.tail_at_other_p if highest else 0.0) - sign * MARGIN
    reached = solution.status == 0 and columns.attained(np.round(solution.x), highest=highest)
    return End(float(bound), reached=reached)


@contextlib.contextmanager
def mute_solver() -> Iterator[None]:
    """Keep the solver's output off standard output: HiGHS has a line of debugging that no option turns off."""
    sys.stdout.flush()
    try:
        kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    except OSError:  # there is no standard output
        yield
        return
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, AttributeError, TypeError):
            ctypes.CDLL(None).fflush(None)  # the line waits in C's own buffer
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


class _Columns:
    """The program's variables: for each rank the relevant documents, and the unjudged ones."""

    def __init__(self, published: Published, to: float, wider: float) -> None:
        self.topics, p = int(published.topics), published.p
        self.score = _widened(published.score_range, wider)
        self.residual = None if published.residual_range is None else _widened(published.residual_range, wider)
        half = min((known[1] - known[0]) / 2 for known in (self.score, self.residual) if known is not None)
        finest = max(half, 1e-12) / FINER
        needed = 1 if p == 0 else int(np.ceil(np.log(finest) / np.log(p)))
        depth = needed if published.depth is None else published.depth
        ranks = needed
        if published.depth is not None and self.residual is None:  # (unjudged documents may stand below the depth)
            there = 1 if to == 0 else int(np.ceil(np.log(NEGLIGIBLE) / np.log(to)))
            ranks = min(max(needed, there), published.depth)
        weight, weight_there = ((1 - q) * q ** np.arange(ranks) for q in (p, to))
        self.ranks = ranks

        # One column for each rank counts the topics with a relevant document there, with a residual one more counts
        # those with an unjudged one.
        kinds = 1 if self.residual is None else 2
        self.score_weights = np.tile(weight / self.topics, kinds)
        self.other_weights = np.tile(weight_there / self.topics, kinds)
        self.upper = np.full(kinds * ranks, float(self.topics))
        self.upper[:ranks][depth:] = 0.0
        # What lies below the last rank can take this much of the score and of the residual upon itself. No variable
        # stands for it: rows that reach lower do, and leave the solver nothing but whole numbers.
        beyond = (0.0, 0.0) if published.depth is None else tuple(q ** max(published.depth, ranks) for q in (p, to))
        self.tail = p**ranks
        self.tail_of_score = self.tail - beyond[0]
        self.tail_at_other_p = to**ranks - (beyond[1] if self.residual is None else 0.0)

    def at_other_p(self, *, with_unjudged: bool) -> Floats:
        """Return what each column's unit scores at the other persistence."""
        gain = self.other_weights.copy()
        if not with_unjudged:
            gain[self.ranks :] = 0.0
        return gain

    def attained(self, values: Floats, *, highest: bool) -> bool:
        """Return whether a list attains the bound: these ranks, then nothing, only relevant or only unjudged documents.

        For the highest score everything below must count, for the lowest nothing.
        """
        parts = slice(self.ranks), slice(self.ranks, None)
        score, open_ = (float(values[part] @ self.score_weights[part]) for part in parts)
        tails = [(self.tail_of_score, 0.0)] if highest else [(0.0, 0.0)]
        if self.residual is not None:
            tails.append((0.0, self.tail))
        return any(
            _within(score + more, self.score) and (self.residual is None or _within(open_ + unjudged, self.residual))
            for more, unjudged in tails
        )

    def constraints(self) -> list[tuple[Any, Any, Any]]:
        from scipy.sparse import csr_array, eye_array, hstack

        rows = [self._known(self.score, slice(self.ranks), self.tail_of_score)]
        if self.residual is not None:
            rows.append(self._known(self.residual, slice(self.ranks, None), self.tail))
            each_rank = eye_array(self.ranks)
            rows.append((csr_array(hstack([each_rank, each_rank])), -np.inf, float(self.topics)))
        return rows

    def _known(self, known: tuple[float, float], columns: slice, tail: float) -> tuple[Any, float, float]:
        row = np.zeros(len(self.upper))
        row[columns] = self.score_weights[columns]
        scale = max((known[1] - known[0]) / 2, row.max(initial=0.0) / LARGEST_COEFFICIENT, 1e-300)
        return row[None] / scale, (known[0] - tail) / scale - FEASIBILITY, known[1] / scale + FEASIBILITY


def _widened(known: tuple[float, float], share: float) -> tuple[float, float]:
    extra = share * (known[1] - known[0])
    return known[0] - extra, known[1] + extra


def _within(number: float, known: tuple[float, float]) -> bool:
    slack = FEASIBILITY * max((known[1] - known[0]) / 2, 1 / LARGEST_COEFFICIENT)
    return known[0] - slack <= number <= known[1] + slack
