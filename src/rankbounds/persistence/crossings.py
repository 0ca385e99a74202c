"""Where two runs cross: the persistences at which the one that is ahead in RBP changes, and where that is sure.

The difference of two RBP scores is 1 - p times a polynomial in p whose coefficients count relevant documents by rank;
the differences of bounds are polynomials too. Their signs change at roots that are found exactly, not on a grid.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.gains import gain_rule
from rankbounds.collection.inputs import judgments_from
from rankbounds.collection.run import as_run
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.scores import ALL
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.persistence.polynomials import sign_changes, sign_near_zero
from rankbounds.rankings.join import join
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.topic_facts import TopicFacts

FIELDS = ("query_id", "p", "from", "to", "change")
REGION_FIELDS = ("query_id", "p_from", "p_to", "ahead", "sure")
TIED = "tied"
UNDECIDED = "undecided"


@dataclass(frozen=True)
class _Lists:
    """What one run retrieved: by topic and rank the gain as a whole number, and whether the document is unjudged."""

    name: str
    gain: Floats | Ints
    holes: Ints
    length: Ints


@dataclass(frozen=True)
class Region:
    """A stretch of p in which the same run is ahead, and surely so or not."""

    query_id: str
    p_from: float
    p_to: float
    ahead: str
    sure: bool

    def row(self) -> dict[str, Any]:
        """The region for a table."""
        return {name: getattr(self, name) for name in REGION_FIELDS}


def crossings(a: Any, b: Any, qrels: Any = None, **options: Any) -> list[dict[str, Any]]:
    """The values of p at which the winner of two runs changes, or whether it is sure to win.

    Each row has ``query_id`` (``"all"`` for the mean over topics), ``p``, ``change`` (``"winner"`` or
    ``"certainty"``), and what there was ``from`` smaller p on and what there is ``to`` larger p: the name of the run
    ahead, or ``"undecided"`` and ``"NAME surely"``. Surely means: the run's low is above the other's high.
    Options and inputs are those of ``regions``.
    """
    return crossings_of(regions(a, b, qrels, **options))


def lead_changes(
    runs: Sequence[tuple[str, Sequence[Rankings]]], facts: TopicFacts, measure: RBP
) -> list[tuple[float, str, str]]:
    """Where the lead of two runs changes, from their rankings: p, who leads below it, who above.

    These are the winners' rows of ``crossings``, for whoever has the rankings at hand.
    """
    lists = [_from_rankings(name, batches, facts, measure) for name, batches in runs]
    scaled, most = _whole_numbers(lists, (measure.max_grade or facts.max_gain) if measure.graded else 1.0)
    value = _difference(scaled, range(len(facts.query_ids)), most, "value")
    names = {1: runs[0][0], -1: runs[1][0], 0: TIED}
    before, found = sign_near_zero(value), []
    for change in sign_changes(value):
        found.append((change.at, names[before], names[change.after]))
        before = change.after
    return found


def crossings_of(found: Sequence[Region]) -> list[dict[str, Any]]:
    """The crossings between neighbouring regions of the same topic."""
    rows = []
    for before, after in itertools.pairwise(found):
        if before.query_id == after.query_id:
            winner = before.ahead != after.ahead
            one, other = (
                region.ahead if winner else f"{region.ahead} surely" if region.sure else UNDECIDED
                for region in (before, after)
            )
            numbers = (after.query_id, after.p_from, one, other, "winner" if winner else "certainty")
            rows.append(dict(zip(FIELDS, numbers, strict=True)))
    return rows


def regions(
    a: Any,
    b: Any,
    qrels: Any = None,
    *,
    measure: RBP | None = None,
    per_topic: bool = False,
    ties: str = "trec",
    gain: Any = None,
    score_precision: Any = "double",
) -> list[Region]:
    """The range of p from 0 to 1 cut wherever another run is ahead, or the lead becomes sure or unsure.

    With ``qrels``, ``a`` and ``b`` are runs. Without, they are the gains of one ranked list each, from the top (1
    relevant, 0 not, None unjudged), or lists of such lists, topic by topic. ``measure`` gives everything of RBP but p.
    ``per_topic`` adds regions for each topic to those of the mean.
    """
    template = measure or RBP()
    if template.by_topic:
        raise UsageError("Crossings need one scale for all topics: leave out by_topic.")
    if qrels is None:
        lists = [_from_gains(name, one, template) for name, one in (("a", a), ("b", b))]
        if lists[0].length.size != lists[1].length.size:
            raise UsageError("The two runs have lists for different numbers of topics.")
        query_ids, largest = [str(number) for number in range(1, lists[0].length.size + 1)], template.max_grade or 1.0
    else:
        if ties not in ORDERS:
            raise UsageError(f'Crossings need one order of tied documents: {", ".join(ORDERS)}, not "{ties}".')
        chosen = Assumptions(ties, gain=gain_rule(gain), score_precision=score_precision)
        facts = TopicFacts(judgments_from(qrels), chosen.gain)
        lists = [_from_run(one, facts, chosen, template) for one in (a, b)]
        query_ids, largest = list(facts.query_ids), template.max_grade or facts.max_gain
    if lists[0].name == lists[1].name:
        lists = [replace(one, name=f"{one.name} ({letter})") for one, letter in zip(lists, "AB", strict=True)]
    scaled, most = _whole_numbers(lists, largest if template.graded or qrels is None else 1.0)
    found = []
    if per_topic:
        for topic, query in enumerate(query_ids):
            found += _regions_of(query, scaled, [topic], most)
    return found + _regions_of(ALL, scaled, range(len(query_ids)), most)


def _from_gains(name: str, given: Any, template: RBP) -> _Lists:
    several = list(given)
    if not several or not isinstance(several[0], Sequence | np.ndarray):
        several = [several]
    width = max(1, *(len(one) for one in several))
    gain, holes = np.zeros((len(several), width)), np.zeros((len(several), width), dtype=np.int64)
    for topic, one in enumerate(several):
        values = np.array([np.nan if value is None else value for value in one], dtype=np.float64)
        holes[topic, : values.size] = np.isnan(values)
        gain[topic, : values.size] = np.nan_to_num(values)
    if gain.min(initial=0.0) < 0 or gain.max(initial=0.0) > (template.max_grade or 1.0):
        raise UsageError("Gains must lie between 0 and 1 (or max_grade); None stands for an unjudged document.")
    return _cut(_Lists(name, gain, holes, np.array([len(one) for one in several])), template)


def _from_run(given: Any, facts: TopicFacts, chosen: Assumptions, template: RBP) -> _Lists:
    run = as_run(given)
    batches = list(join(run, facts, order=chosen.order, precision=chosen.score_precision).batches)
    return _from_rankings(run.name, batches, facts, template)


def _from_rankings(name: str, batches: Sequence[Rankings], facts: TopicFacts, template: RBP) -> _Lists:
    shape = (len(facts.query_ids), max(batch.width for batch in batches))
    gain, holes = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    length = np.zeros(shape[0], dtype=np.int64)
    for batch in batches:
        judged = batch.assume(0.0)
        template.worth(judged)  # (complains of grades above max_grade)
        gain[batch.topic, : batch.width] = judged.gain() if template.graded else judged.relevant(template.rel)
        holes[batch.topic, : batch.width] = batch.holes
        length[batch.topic] = batch.length
    return _cut(_Lists(name, gain, holes, length), template)


def _cut(lists: _Lists, template: RBP) -> _Lists:
    """The lists down to the measure's depth."""
    at = template.cutoff
    if at is None:
        return lists
    return replace(lists, gain=lists.gain[:, :at], holes=lists.holes[:, :at], length=np.minimum(lists.length, at))


def _whole_numbers(lists: list[_Lists], largest: float) -> tuple[list[_Lists], int]:
    """Gains times a number that makes them all whole, and the largest gain times that number."""
    levels = {float(level) for one in lists for level in np.unique(one.gain)} | {float(largest)}
    times = math.lcm(*(Fraction(level).limit_denominator(10**9).denominator for level in levels))
    exact = {level: int(Fraction(level).limit_denominator(10**9) * times) for level in levels}
    most = exact[float(largest)]
    if most * max(one.length.size for one in lists) >= 1 << 60:
        raise UsageError("The gains have too many digits for exact crossings.")
    table = sorted(exact)
    numbers = np.array([exact[level] for level in table])
    return [replace(one, gain=numbers[np.searchsorted(table, one.gain)]) for one in lists], most


def _regions_of(query: str, lists: list[_Lists], topics: Sequence[int], most: int) -> list[Region]:
    value, low, high = (_difference(lists, topics, most, which) for which in ("value", "low", "high"))
    signs = {which: sign_near_zero(one) for which, one in (("value", value), ("low", low), ("high", high))}
    turns = sorted(
        (change.at, which, change.after)
        for which, one in (("value", value), ("low", low), ("high", high))
        for change in sign_changes(one)
    )
    names = {1: lists[0].name, -1: lists[1].name, 0: TIED}

    def state() -> tuple[str, bool]:
        return names[signs["value"]], bool(signs["low"] > 0 or signs["high"] < 0)

    edges, states = [0.0], [state()]
    for at, together in itertools.groupby(turns, key=lambda turn: turn[0]):  # (nearer than floating point tells apart)
        signs.update({which: after for _, which, after in together})
        if state() != states[-1]:
            edges.append(at)
            states.append(state())
    return [Region(query, one, other, *what) for one, other, what in zip(edges, [*edges[1:], 1.0], states, strict=True)]


def _difference(lists: list[_Lists], topics: Sequence[int], most: int, which: str) -> list[int]:
    """The coefficients of the first run's score less the second's, over these topics, times a positive number.

    ``value``: both runs' unjudged documents non-relevant. ``low``: the first's non-relevant, the second's and all
    beyond the end of its lists relevant. ``high``: the other way round.
    """
    chosen = list(topics)
    width = max(one.gain.shape[-1] for one in lists) + 2
    total = np.zeros(width, dtype=np.int64)
    for one, sign in zip(lists, (1, -1), strict=True):
        gain = one.gain[chosen].sum(axis=0)
        relevant = which != "value" and (which == "high") == (sign > 0)
        if relevant:
            gain = gain + most * one.holes[chosen].sum(axis=0)
        total[: gain.size] += sign * gain
    if which == "value":
        return total.tolist()
    total[1:] -= total[:-1].copy()  # times 1 - p, which the tails do not share
    sure, sign = (lists[1], -1) if which == "low" else (lists[0], 1)
    np.add.at(total, sure.length[chosen], sign * most)
    return total.tolist()
