"""Planning an evaluation with RBP: how deep to judge for a persistence, and what a pool depth supports."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.choices import check_persistence
from rankbounds.errors import UsageError
from rankbounds.evaluation.options import RankingOptions, chosen_options
from rankbounds.evaluation.score_sheet import join_lists
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from typing_extensions import Unpack

FINEST = 6
"""Decimals of a persistence that a depth supports."""


def expected_examined(p: float) -> float:
    """How many documents a user of this persistence reads on average."""
    return float(1 / (1 - Fraction(repr(check_persistence(p)))))


def planned_depth(p: float, digits: int) -> int:
    """The smallest depth at which what lies below adds less than 10^-digits to RBP, if all above is judged.

    Parameters
    ----------
    p, digits
        The persistence, from 0 to below 1, and how many decimals are to be certain, from 1 on.

    Returns
    -------
    int
        The least d with p^d < 10^-digits. Exact: p is taken as it is written, 0.1 as one tenth.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.planned_depth(0.8, 4), rb.planned_depth(0.95, 4)
    (42, 180)
    """
    exact = Fraction(repr(check_persistence(p)))
    if not exact:
        return 1
    wanted = _digits(digits) * math.log(10) / -math.log(exact)
    near = round(wanted)
    if abs(wanted - near) < 1e-9 * max(1.0, wanted):  # too near to a whole number for logarithms
        return max(1, near if exact**near < Fraction(1, 10**digits) else near + 1)
    return max(1, math.floor(wanted) + 1)


def planned_persistence(depth: int, digits: int) -> float:
    """The largest persistence for which judging to this depth leaves less than 10^-digits open.

    Parameters
    ----------
    depth, digits
        How many documents of each list are judged, and how many decimals are to be certain.

    Returns
    -------
    float
        Rounded down to six decimals.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.planned_persistence(100, 4)
    0.91201
    """
    if depth < 1:
        raise UsageError(f"The depth must be a whole number from 1 on, not {depth}.")
    p = math.floor(10 ** (-_digits(digits) / depth) * 10**FINEST) / 10**FINEST
    return p if planned_depth(p, digits) <= depth else round(p - 10**-FINEST, FINEST)


def _digits(digits: int) -> int:
    if not 1 <= digits <= 300:
        raise UsageError(f"The number of digits must be a whole number from 1 on, not {digits}.")
    return digits


def judgments_needed(
    qrels: Any, runs: Any, p: float | Iterable[float], digits: int = 4, **options: Unpack[RankingOptions]
) -> list[dict[str, Any]]:
    """Count the documents to be judged until every run's residual on every topic is below 10^-digits.

    Each list gets as few judgments as will do, from the top.

    Parameters
    ----------
    qrels, runs, **options
        As in ``evaluate``; ties in one fixed order.
    p
        One persistence or several.
    digits
        How many decimals are to be certain.

    Returns
    -------
    list of dict
        A row for each p: ``judgments`` in all (a document that several runs need counts once), ``per_topic`` on
        average, ``most`` for one topic, and ``too_short``: how many lists end so early that no judging brings them
        there; what they hold is counted in full. Beside these ``p``, ``digits``, the ``depth`` of ``planned_depth``
        and ``expected_examined``, how many documents a user of this p reads on average.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0, "e": 0.5}}
    >>> row = rb.judgments_needed(qrels, run, 0.5, digits=1)[0]
    >>> row["depth"], row["judgments"], row["too_short"]
    (4, 3, 0)
    """
    persistences = [p] if isinstance(p, int | float) else list(p)
    depths = [planned_depth(persistence, digits) for persistence in persistences]
    refused = {"gain": "what a document gains does not matter.", "topics": "every judged topic counts."}
    order = "Judgments are planned for"
    assumptions, reading = chosen_options(options, RankingOptions, refused=refused, one_order=order)
    facts = TopicFacts(reading.judgments(qrels))
    goal = 10.0**-digits
    needed: list[list[Any]] = [[] for _ in persistences]
    short = [0] * len(persistences)
    for job in reading.runs_to_read(runs):
        run = job.read()
        for rankings in join_lists(run, facts, assumptions).batches:
            assert rankings.row is not None
            for number, persistence in enumerate(persistences):
                weight = (1 - persistence) * persistence ** np.arange(rankings.width)
                tail = np.power(float(persistence), rankings.length)
                # What is open before a document is judged, when all above it are; small weights are added up first.
                below = np.cumsum(np.where(rankings.holes, weight, 0.0)[:, ::-1], axis=-1)[:, ::-1]
                line, rank = np.nonzero(rankings.holes & (below + tail[:, None] >= goal))
                key = run.pairs.keys[rankings.row[line, rank]]
                needed[number].append(np.stack([key, rankings.topic[line].astype(np.uint64)]))
                short[number] += int(np.count_nonzero(tail >= goal))
    rows = []
    for persistence, depth, found, too_short in zip(persistences, depths, needed, short, strict=True):
        key, topic = np.concatenate(found, axis=-1)
        _, first = np.unique(key, return_index=True)  # 64 bits of (topic, document) tell documents apart
        per_topic = np.bincount(topic[first].astype(np.int64), minlength=len(facts.query_ids))
        asked = {"p": float(persistence), "digits": digits, "depth": depth}
        asked["expected_examined"] = expected_examined(persistence)
        counts = {"judgments": int(per_topic.sum()), "per_topic": float(per_topic.mean()), "most": int(per_topic.max())}
        rows.append({**asked, **counts, "too_short": too_short})
    return rows
