"""Do two ways of measuring put systems in the same order? Kendall's tau, tau_AP, Spearman's rho, RBO; ties included.

Scores that differ by rounding alone are equal here, as everywhere (``score_differences``). Functions of ``signs`` take
whole batches, such as the orders of many resamples: the last two axes are systems by systems.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_share
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.score_differences import levelled, merit, subtracted
from rankbounds.evaluation.scores import Scores
from rankbounds.results import Column, Result
from rankbounds.stats.rank_biased_overlap import TiedLists, deepest_rank, overlaps
from rankbounds.stats.significance import Resampling, check_differences, pairs_of, t_test
from rankbounds.tables import plain

LEVEL = 0.05
"""The level at which a change of places counts as significant."""


def levels(scores: Floats) -> Floats:
    """Number the scores from the lowest on, equal scores alike: all that an order is."""
    return np.unique(levelled(scores), return_inverse=True)[1].astype(np.float64)


def order_signs(scores: Floats) -> Ints:
    """Say for every two systems which of them scores higher: 1 the row's, -1 the column's, 0 neither."""
    level = levelled(scores)
    row, column = level[..., :, None], level[..., None, :]
    return np.greater(row, column).view(np.int8) - np.less(row, column).view(np.int8)


def kendall_tau_a(a: Floats, b: Floats) -> float:
    """Concordant minus discordant pairs, over all pairs; a tie on either side counts for neither."""
    _check_number(a)
    return float((order_signs(a) * order_signs(b)).sum() / (a.size * (a.size - 1)))


def kendall_tau(a: Floats, b: Floats) -> float:
    """Kendall's tau-b: as tau-a, but divided by the pairs that are not tied; NaN where one side is all ties."""
    _check_number(a)
    return float(tau_of_signs(order_signs(a), order_signs(b)))


def tau_of_signs(a: Ints, b: Ints) -> Floats:
    """Kendall's tau-b of every order in one batch with the same one in another; NaN where one side is all ties."""
    untied = np.sqrt(np.count_nonzero(a, axis=(-2, -1)).astype(np.float64) * np.count_nonzero(b, axis=(-2, -1)))
    with np.errstate(invalid="ignore"):
        return (a * b).sum(axis=(-2, -1)) / np.where(untied > 0, untied, np.nan)


def tau_ap(observed: Floats, reference: Floats) -> float:
    """Yilmaz, Aslam and Robertson's tau: as Kendall's, but mistakes near the top of the observed order weigh more.

    Not symmetric: the weights follow ``observed``. Ties there are averaged over all ways to break them; a pair tied in
    ``reference`` counts half.
    """
    _check_number(observed)
    return float(tau_ap_of_signs(order_signs(observed), order_signs(reference)))


def tau_ap_of_signs(observed: Ints, reference: Ints) -> Floats:
    """``tau_ap`` of every order in one batch with the same one in another."""
    count = observed.shape[-1]
    above, level = observed < 0, observed == 0
    first = np.count_nonzero(above, axis=-1)  # so many stand above each system
    tied = np.count_nonzero(level, axis=-1) - 1  # so many others stand level with it
    from_above = (first - (above * reference).sum(axis=-1)) / 2  # of those above, so many the reference has above too
    from_group = (tied - (level * reference).sum(axis=-1)) / 2 / np.maximum(tied, 1)
    # A system stands below 0, 1, ... of those level with it, each equally likely: sums of 1 / rank and place / rank.
    harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, count + 1)))
    of_ranks = harmonic[first + tied] - harmonic[np.maximum(first - 1, 0)]
    of_places = tied + (first > 0) - first * of_ranks
    agreeing = (from_above * of_ranks + from_group * of_places) / (tied + 1)
    return 2 * agreeing.sum(axis=-1) / (count - 1) - 1


def _check_number(scores: Floats) -> None:
    if len(scores) < 2:
        raise UsageError("The order of runs needs at least two of them.")


def spearman(a: Floats, b: Floats) -> float:
    """Spearman's correlation of ranks; NaN where one side is all ties."""
    from scipy.stats import rankdata

    places = np.stack([rankdata(levelled(scores)) for scores in (a, b)])
    return float("nan") if (np.ptp(places, axis=-1) == 0).any() else float(np.corrcoef(places)[0, 1])


def rank_biased_overlap(a: Floats, b: Floats, p: float = 0.9) -> float:
    """Webber, Moffat and Zobel's overlap of two orders of the same systems, the top weighing more.

    Ties are averaged over all ways to break them, each side on its own (Corsi and Urbano's RBO^a). Beyond the last
    system the agreement found there is taken to go on.
    """
    check_share("RBO's persistence p", p)
    lists = []
    for scores in (a, b):  # systems as documents of one list, those of equal score tied
        level = levels(scores)
        order = np.argsort(-level, kind="stable")
        tied = np.append(False, level[order][1:] == level[order][:-1])
        one_list = TiedLists.of(np.zeros(order.size, dtype=np.int64), order, tied, 1)
        lists.append(one_list.to_depth(deepest_rank(p, a.size)))
    return float(overlaps(lists[0], lists[1], p, "a")["a"][0][0])


def correlations(a: Floats, b: Floats, p: float = 0.9) -> dict[str, float]:
    """Compute all coefficients for two columns of scores of the same systems."""
    return {
        "tau": kendall_tau(a, b),
        "tau_a": kendall_tau_a(a, b),
        "tau_ap": (tau_ap(a, b) + tau_ap(b, a)) / 2,
        "spearman": spearman(a, b),
        "rbo": rank_biased_overlap(a, b, p),
    }


class _Order(NamedTuple):
    """Runs as one measure orders them."""

    measure: str
    merits: Floats
    signs: Ints
    """By two runs, which of them is ahead."""
    significant: Flags
    """By two runs, does a t test separate them? Of infinite differences it cannot tell."""


def _order_runs(scores: Scores) -> list[_Order]:
    """By measure."""
    first, second = pairs_of(len(scores.runs))
    means, found = scores.mean().value[:, 0, :], []
    for at, measure in enumerate(scores.measures):
        apart = subtracted(scores.value[first, :, at], scores.value[second, :, at])
        finite = ~np.isinf(apart).any(axis=-1)
        separated = np.zeros(first.size, dtype=bool)
        separated[finite] = t_test(check_differences(apart[finite]), "two-sided", Resampling()) < LEVEL
        table = np.zeros((len(scores.runs), len(scores.runs)), dtype=bool)
        table[first, second] = table[second, first] = separated
        merits = merit(means[:, at], measure)
        found.append(_Order(str(measure), merits, order_signs(merits), table))
    return found


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
    """Compare how the runs are ordered by their means: by every two measures, or under other judgments.

    ``against`` holds scores of the same runs, say from a shallower pool. ``tau`` is tau-b, ``tau_ap`` the mean
    of both directions, ``rbo`` at persistence ``p``. ``swapped`` counts pairs of runs that change places, and
    ``swapped_significantly`` those of them where both sides find a significant difference (t test, 0.05). Runs whose
    means are infinite, as of ESL, share the last place.
    """
    if len(scores.runs) < 2:
        raise DataError("Agreement of orderings needs at least two runs.")
    if against is not None and against.runs != scores.runs:
        raise DataError("The orderings to compare are of different runs.")
    orders = [_order_runs(held) for held in (scores, against) if held is not None]
    if against is None:
        chosen = list(combinations(orders[0], 2))
    else:
        chosen = list(zip(orders[0], (orders[1][against.measures.index(one)] for one in scores.measures), strict=True))
    rows = []
    for a, b in chosen:
        swapped = a.signs * b.signs < 0
        significantly = swapped & a.significant & b.significant
        rows.append(
            {"measure_a": a.measure, "measure_b": b.measure}
            | correlations(a.merits, b.merits, p)
            | {
                "swapped": int(np.count_nonzero(swapped) // 2),
                "swapped_significantly": int(np.count_nonzero(significantly) // 2),
            }
        )
    return Agreement(rows, settings={"p": p})
