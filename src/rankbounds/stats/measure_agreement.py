"""Do two ways of measuring put systems in the same order? Rank correlations, ties included."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_share
from rankbounds.errors import DataError
from rankbounds.evaluation.score_differences import merit, subtracted
from rankbounds.evaluation.scores import Scores
from rankbounds.results import Column, Result
from rankbounds.stats.rank_biased_overlap import TiedLists, looked_at, overlaps
from rankbounds.stats.rank_correlation import kendall_tau, kendall_tau_a, levels, order_signs, tau_ap
from rankbounds.stats.rank_intervals import mean_places
from rankbounds.stats.significance import Resampling, check_differences, pairs_of, t_test
from rankbounds.tables import plain

LEVEL = 0.05
"""The level at which a change of places counts as significant."""


def spearman(a: Floats, b: Floats) -> float:
    """Spearman's correlation of ranks; NaN where one side is all ties."""
    a, b = levels(a), levels(b)
    if not a.any() or not b.any():
        return float("nan")
    return float(np.asarray(np.corrcoef(mean_places(np.stack([a, b]))))[0, 1])


def rank_biased_overlap(a: Floats, b: Floats, p: float = 0.9) -> float:
    """Webber, Moffat and Zobel's overlap of two orders of the same systems, the top weighing more.

    Ties are averaged over all ways to break them, each side on its own (Corsi and Urbano's RBO^a). Beyond the last
    system the agreement found there is taken to go on.
    """
    check_share("RBO's persistence p", p)
    depth = looked_at(p, a.size)
    lists = [_as_list(side).to_depth(depth) for side in (a, b)]
    return float(overlaps(lists[0], lists[1], p, "a")["a"][0][0])


def _as_list(scores: Floats) -> TiedLists:
    """Systems as documents of one list, those of equal score tied."""
    level = levels(scores)
    order = np.argsort(-level, kind="stable")
    tied = np.append(False, level[order][1:] == level[order][:-1])
    return TiedLists.of(np.zeros(order.size, dtype=np.int64), order, tied, 1)


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """How alike two measures, or two sets of judgments, order the runs."""

    found: list[dict[str, Any]]

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]
        """The coefficients, and how many pairs change places."""
        return (
            Column("measure_a"),
            Column("measure_b"),
            Column("tau"),
            Column("tau_a", "tau-a"),
            Column("tau_ap", "tau_AP"),
            Column("spearman", "Spearman"),
            Column("rbo", f"RBO(p={self.settings['p']:g})"),
            Column("swapped"),
            Column("swapped_significantly", f"both p<{LEVEL:.2f}".replace("0.", ".")),
        )

    def rows(self) -> list[dict[str, Any]]:
        """A row for every two measures; None for a coefficient that does not exist."""
        return [{name: plain(value) for name, value in row.items()} for row in self.found]


def agreement(scores: Scores, p: float = 0.9, against: Scores | None = None) -> Agreement:
    """How alike the runs are ordered by their means, the best first: for every two measures, or under other judgments.

    ``against`` holds scores of the same runs, say from a shallower pool. ``tau`` is tau-b, ``tau_ap`` the mean
    of both directions, ``rbo`` at persistence ``p``. ``swapped`` counts pairs of runs that change places, and
    ``swapped_significantly`` those of them where both sides find a significant difference (t test, 0.05). Runs whose
    means are infinite, as of ESL, share the last place.
    """
    if len(scores.runs) < 2:
        raise DataError("Agreement of orderings needs at least two runs.")
    if against is not None and against.runs != scores.runs:
        raise DataError("The orderings to compare are of different runs.")
    orders = [_orders(held) for held in (scores, against) if held is not None]
    if against is None:
        chosen = list(combinations(orders[0], 2))
    else:
        chosen = list(zip(orders[0], (orders[1][against.measures.index(one)] for one in scores.measures), strict=True))
    return Agreement([_row(one, other, p) for one, other in chosen], settings={"p": p})


class _Order(NamedTuple):
    """Runs as one measure orders them."""

    measure: str
    merits: Floats
    signs: Ints
    """By two runs, which of them is ahead."""
    significant: Flags


def _orders(scores: Scores) -> list[_Order]:
    """By measure."""
    merits = zip(scores.measures, _merits(scores).T, strict=True)
    return [
        _Order(str(one), means, order_signs(means), _significant(scores, at)) for at, (one, means) in enumerate(merits)
    ]


def _row(a: _Order, b: _Order, p: float) -> dict[str, Any]:
    swapped = a.signs * b.signs < 0
    return {
        "measure_a": a.measure,
        "measure_b": b.measure,
        **correlations(a.merits, b.merits, p),
        "swapped": int(np.count_nonzero(swapped) // 2),
        "swapped_significantly": int(np.count_nonzero(swapped & a.significant & b.significant) // 2),
    }


def _merits(scores: Scores) -> Floats:
    """Runs by measures: the means, the greater the better."""
    means = scores.mean().value[:, 0, :]
    return np.stack([merit(means[:, at], measure) for at, measure in enumerate(scores.measures)], axis=-1)


def _significant(scores: Scores, at: int) -> Flags:
    """For every two runs, does a t test separate them by this measure? Of infinite differences it cannot tell."""
    matrix = scores.value[:, :, at]
    first, second = pairs_of(matrix.shape[0])
    apart = subtracted(matrix[first], matrix[second])
    finite = ~np.isinf(apart).any(axis=-1)
    separated = np.zeros(first.size, dtype=bool)
    separated[finite] = t_test(check_differences(apart[finite]), "two-sided", Resampling()) < LEVEL
    table = np.zeros((matrix.shape[0], matrix.shape[0]), dtype=bool)
    table[first, second] = table[second, first] = separated
    return table


def correlations(a: Floats, b: Floats, p: float = 0.9) -> dict[str, float]:
    """All coefficients for two columns of scores of the same systems."""
    return {
        "tau": kendall_tau(a, b),
        "tau_a": kendall_tau_a(a, b),
        "tau_ap": (tau_ap(a, b) + tau_ap(b, a)) / 2,
        "spearman": spearman(a, b),
        "rbo": rank_biased_overlap(a, b, p),
    }
