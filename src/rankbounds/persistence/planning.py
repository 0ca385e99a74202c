"""Planning an evaluation with RBP: how deep to judge for a persistence, and what a pool depth supports."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.inputs import judgments_from, runs_to_read
from rankbounds.collection.qrels import POOLED_NOT_JUDGED
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.rankings.order import Order, Precision, ranked
from rankbounds.rankings.ties import ORDERS

FINEST = 6
"""Decimals of a persistence that a depth supports."""


def expected_examined(p: float) -> float:
    """How many documents a user of this persistence reads on average."""
    return float(1 / (1 - Fraction(repr(_persistence(p)))))


def planned_depth(p: float, digits: int) -> int:
    """The smallest depth at which what lies below adds less than 10^-digits to RBP, if all above is judged."""
    exact = Fraction(repr(_persistence(p)))
    if not exact:
        return 1
    wanted = _digits(digits) * math.log(10) / -math.log(exact)
    near = round(wanted)
    if abs(wanted - near) < 1e-9 * max(1.0, wanted):  # too near to a whole number for logarithms
        return max(1, near if exact**near < Fraction(1, 10**digits) else near + 1)
    return max(1, math.floor(wanted) + 1)


def planned_persistence(depth: int, digits: int) -> float:
    """The largest persistence, rounded down to six decimals, for which this depth leaves less than 10^-digits open."""
    if depth < 1:
        raise UsageError(f"The depth must be a whole number from 1 on, not {depth}.")
    p = math.floor(10 ** (-_digits(digits) / depth) * 10**FINEST) / 10**FINEST
    return p if planned_depth(p, digits) <= depth else round(p - 10**-FINEST, FINEST)


def _persistence(p: float) -> float:
    if not 0 <= p < 1:
        raise UsageError(f"The persistence p must be at least 0 and below 1, not {p}.")
    return float(p)


def _digits(digits: int) -> int:
    if not 1 <= digits <= 300:
        raise UsageError(f"The number of digits must be a whole number from 1 on, not {digits}.")
    return digits


def judgments_needed(
    qrels: Any,
    runs: Any,
    p: float | Iterable[float],
    digits: int = 4,
    *,
    ties: str = "trec",
    score_precision: Precision = "double",
    lenient: bool = False,
) -> list[dict[str, Any]]:
    """How many more documents must be judged until every run's residual on every topic is below 10^-digits.

    A row for each p: ``judgments`` in all (a document that several runs need counts once), ``per_topic`` on average,
    ``most`` for one topic, and ``too_short``: how many lists end so early that no judging brings them there; what they
    hold is counted in full. Each list gets as few judgments as will do, from the top.
    """
    persistences = [p] if isinstance(p, int | float) else list(p)
    depths = [planned_depth(one, digits) for one in persistences]
    order: Order = Assumptions(ties, score_precision=score_precision).order
    if ties not in ORDERS:
        raise UsageError(f'Judgments are planned for one order of tied documents: {", ".join(ORDERS)}, not "{ties}".')
    judgments = judgments_from(qrels, lenient)
    p_values = np.array(persistences, dtype=np.float64)
    goal = 10.0**-digits
    needed: list[list[Any]] = [[] for _ in persistences]
    short = np.zeros(len(persistences), dtype=np.int64)
    for job in runs_to_read(runs, lenient):
        run = ranked(job.read(), order, score_precision)
        topic_here = judgments.pairs.index.topics_of(run.pairs)
        found, rows = judgments.pairs.index.find(run.pairs, topic_here)
        unjudged = topic_here[run.pairs.topic] >= 0
        unjudged[found[judgments.grade[rows] != POOLED_NOT_JUDGED]] = False
        start = np.flatnonzero(np.diff(run.pairs.topic, prepend=-1))
        length = np.diff(start, append=len(run))
        rank = np.arange(len(run)) - np.repeat(start, length)
        weight = np.where(unjudged[:, None], (1 - p_values) * p_values ** rank[:, None], 0.0)
        tail = p_values ** length[:, None]
        # What is open before a document is judged, when all above it are.
        before = weight + _sum_below(weight, start, length) + np.repeat(tail, length, axis=0)
        for number, wanted in enumerate((unjudged[:, None] & (before >= goal)).T):
            needed[number].append(
                np.stack([run.pairs.keys[wanted], topic_here[run.pairs.topic[wanted]].astype(np.uint64)])
            )
        known = topic_here[run.pairs.topic[start]] >= 0
        short += np.count_nonzero(known[:, None] & (tail >= goal), axis=0)
        short += len(judgments.query_ids) - np.count_nonzero(known)
    table = []
    for number, one in enumerate(persistences):
        key, topic = np.concatenate(needed[number], axis=-1)
        _, first = np.unique(key, return_index=True)  # 64 bits of (topic, document) tell documents apart
        per_topic = np.bincount(topic[first].astype(np.int64), minlength=len(judgments.query_ids))
        table.append(
            {
                "p": float(one),
                "digits": digits,
                "depth": depths[number],
                "expected_examined": expected_examined(one),
                "judgments": int(per_topic.sum()),
                "per_topic": float(per_topic.mean()),
                "most": int(per_topic.max()),
                "too_short": int(short[number]),
            }
        )
    return table


def _sum_below(weight: Floats, start: Ints, length: Ints) -> Floats:
    """For each row the sum of the rows below it in its list.

    Summed from the bottom of all lists up, where weights are small, so that rounding cannot hide them.
    """
    below = np.zeros(weight.shape)
    last = start + length - 1
    for step in range(1, int(length.max(initial=0))):
        rows = (last - step)[length > step]
        below[rows] = below[rows + 1] + weight[rows + 1]
    return below
