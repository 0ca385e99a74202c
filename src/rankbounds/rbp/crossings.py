"""Crossings of two runs: the persistences where the leader by RBP changes, and where the lead is certain.

The difference of two RBP scores is 1 - p times a polynomial in p whose coefficients count relevant documents by rank;
differences of bounds are polynomials too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.options import RankingOptions, chosen_options
from rankbounds.evaluation.scores import ALL
from rankbounds.evaluation.scoring import join_lists
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.results import Column, Result, build_table, interval
from rankbounds.tables import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

TIED = "tied"
UNDECIDED = "undecided"
POINTS = 1000
STEP = 1 / POINTS
"""Of the grid of p. Of changes that lie closer together than this, an even number may not be seen."""
ROUNDING = 1e-13
"""What rounding can do to a sum of a thousand terms, as a share of their sizes."""
NOISE = 1e-9
"""Coefficients below this share of the largest gain are differences of equal gains, rounded."""


REGION_COLUMNS = (
    Column("query_id", "topic", left=True),
    interval("p_from", "p_to", "p"),
    Column("p_from", None),
    Column("p_to", None),
    Column("ahead", left=True),
    Column("sure", "certain", lambda row: "-" if row["ahead"] == TIED else "yes" if row["sure"] else "no", left=True),
)


@dataclass(frozen=True, eq=False, repr=False)
class Crossings(Result):
    """Where the leading run changes, or whether its lead is certain.

    Attributes
    ----------
    regions : list of dict
        The ranges of p between these points, from 0 to 1: ``query_id``, ``p_from``, ``p_to``, the run ``ahead`` (or
        ``"tied"``), and whether that is ``sure``.
    """

    regions: list[dict[str, Any]]
    title = "Which run is ahead in RBP, by persistence."
    columns = tuple(map(Column, ("query_id", "p", "from", "to", "change")))

    def rows(self) -> list[dict[str, Any]]:
        """A dict per crossing: ``query_id``, ``p``, ``from``, ``to``, ``change``."""
        rows = []
        for before, after in itertools.pairwise(self.regions):
            if before["query_id"] == after["query_id"]:
                winner = before["ahead"] != after["ahead"]
                was, becomes = (
                    region["ahead"] if winner else f"{region['ahead']} surely" if region["sure"] else UNDECIDED
                    for region in (before, after)
                )
                change = {"change": "winner" if winner else "certainty"}
                rows.append({"query_id": after["query_id"], "p": after["p_from"], "from": was, "to": becomes} | change)
        return rows

    def table(self) -> Table:
        """The regions, for people."""
        return build_table(self.regions, REGION_COLUMNS)


def find_crossings(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measure: RBP | None = None,
    per_topic: bool = False,
    **options: Unpack[RankingOptions],
) -> Crossings:
    """Find the values of p at which the winner of two runs changes, or the certainty of its lead.

    Scores and bounds are compared at p = 0, 0.001, 0.002, ..., 1, and every change between two neighbours is refined by
    bisection, to about 15 digits. Two changes within one step of 0.001 may not be seen.

    Parameters
    ----------
    qrels, runs, **options
        As in ``evaluate``: two runs, ties in one fixed order.
    measure
        RBP with everything but p, such as ``RBP(graded=True)``; its p is ignored.
    per_topic
        Add the crossings of each topic to those of the mean over topics.

    Returns
    -------
    Crossings
        Rows ``query_id`` (``"all"`` for the mean over topics), ``p``, ``change`` (``"winner"`` or ``"certainty"``), and
        the state ``from`` smaller p on and ``to`` larger p: the name of the leading run, or ``"undecided"`` and ``"NAME
        surely"``, which means that the run's low is above the other's high. ``regions`` are the ranges between.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"q": {"d1": 1, "d2": 0, "d3": 1, "d4": 1}}
    >>> runs = {"top": {"q": {"d1": 2.0, "d2": 1.0}}, "deep": {"q": {"d2": 3.0, "d3": 2.0, "d4": 1.0}}}
    >>> found = rb.rbp.find_crossings(qrels, runs).rows()
    >>> [(row["from"], row["to"], round(row["p"], 4)) for row in found if row["change"] == "winner"]
    [('top', 'deep', 0.618)]
    """
    template = measure or RBP()
    if template.by_topic:
        raise UsageError("Crossings need one scale for all topics: leave out by_topic.")
    refused = {"topics": "every judged topic counts."}
    assumptions, reading = chosen_options(options, RankingOptions, refused=refused, one_order="Crossings need")
    facts = TopicFacts(reading.judgments(qrels), assumptions.gain)
    pair = reading.runs(runs)
    if len(pair) != 2:
        raise UsageError(f"Exactly two runs are expected, but {len(pair)} were given.")
    lists = _Pair.of([(run.name, list(join_lists(run, facts, assumptions).batches)) for run in pair], facts, template)
    topics = range(len(facts.query_ids))
    parts = [(facts.query_ids[topic], [topic]) for topic in topics] if per_topic else []
    return Crossings([region for part in [*parts, (ALL, topics)] for region in lists.regions(*part)])


def lead_changes(
    runs: Sequence[tuple[str, Sequence[Rankings]]], facts: TopicFacts, measure: RBP
) -> list[tuple[float, str, str]]:
    """Find where the lead of two runs changes, from their rankings: p, the leader below it, the leader above."""
    pair = _Pair.of(runs, facts, measure)
    before, changes = sign_changes(pair.coefficients(range(len(facts.query_ids)), "value"))
    leads = []
    for place, after in changes:
        leads.append((place, pair.names[before], pair.names[after]))
        before = after
    return leads


def sign_changes(coefficients: Floats) -> tuple[int, list[tuple[float, int]]]:
    """Return a polynomial's sign near 0, and where between 0 and 1 it changes (touching 0 is none), with the sign.

    Coefficients are listed from the constant term up.
    """
    places = np.flatnonzero(coefficients)
    if not places.size:
        return 0, []
    terms = coefficients[places[0] :]  # (powers of p are positive)
    powers = _powers(1 << int(terms.size - 1).bit_length())[:, : terms.size]
    value, size = powers @ terms, powers @ np.abs(terms)
    signs = np.where(np.abs(value) > ROUNDING * size, np.sign(value), 0).astype(int).tolist()
    known = [(at / POINTS, sign) for at, sign in enumerate(signs) if sign]
    changes = [
        (_bisect(terms, low, high, before), after)
        for (low, before), (high, after) in itertools.pairwise(known)
        if before != after
    ]
    return known[0][1], changes


@lru_cache(maxsize=4)
def _powers(width: int) -> Floats:
    powers = (np.arange(POINTS + 1) / POINTS)[:, None] ** np.arange(width)
    powers[powers < 1e-290] = 0.0  # products of such numbers cost the processor a hundred times as much
    return powers


def _bisect(terms: Floats, low: float, high: float, before: int) -> float:
    ranks = np.arange(terms.size)
    while low < (middle := (low + high) / 2) < high:
        sign = np.sign(terms @ middle**ranks)
        if not sign:
            return middle
        low, high = (middle, high) if sign == before else (low, middle)
    return middle


@dataclass(frozen=True)
class _Lists:
    """What one run retrieved, by topic and rank."""

    gain: Floats
    holes: Flags
    length: Ints

    @classmethod
    def of(cls, batches: Sequence[Rankings], facts: TopicFacts, template: RBP) -> _Lists:
        shape = (len(facts.query_ids), max(batch.width for batch in batches))
        gain, holes = np.zeros(shape), np.zeros(shape, dtype=bool)
        length = np.zeros(shape[0], dtype=np.int64)
        for batch in batches:
            judged = batch.assume(0.0)
            template.worth(judged)  # (complains of grades above max_grade)
            gain[batch.topic, : batch.width] = judged.gain() if template.graded else judged.relevant(template.rel)
            holes[batch.topic, : batch.width] = batch.holes
            length[batch.topic] = batch.length
        cut = shape[1] if template.cutoff is None else template.cutoff
        return cls(gain[:, :cut], holes[:, :cut], np.minimum(length, cut))


@dataclass(frozen=True)
class _Pair:
    lists: list[_Lists]
    largest_gain: float
    names: dict[int, str]
    """Who is ahead, by the sign of the difference."""

    @classmethod
    def of(cls, runs: Sequence[tuple[str, Sequence[Rankings]]], facts: TopicFacts, template: RBP) -> _Pair:
        (one, _), (other, _) = runs
        largest = template.largest_gain(facts) if template.graded else 1.0
        return cls([_Lists.of(each, facts, template) for _, each in runs], largest, {1: one, -1: other, 0: TIED})

    def regions(self, query: str, topics: Sequence[int]) -> list[dict[str, Any]]:
        signs, turns = {}, []
        for which in ("value", "low", "high"):
            signs[which], changes = sign_changes(self.coefficients(topics, which))
            turns += [(place, which, after) for place, after in changes]
        regions: list[dict[str, Any]] = []
        start: list[tuple[float, Any]] = [(0.0, ())]
        for p, together in itertools.chain(start, itertools.groupby(sorted(turns), key=lambda turn: turn[0])):
            signs.update({which: after for _, which, after in together})
            ahead, sure = self.names[signs["value"]], bool(signs["low"] > 0 or signs["high"] < 0)
            if not regions or (ahead, sure) != (regions[-1]["ahead"], regions[-1]["sure"]):
                if regions:
                    regions[-1]["p_to"] = p
                regions.append({"query_id": query, "p_from": p, "p_to": 1.0, "ahead": ahead, "sure": sure})
        return regions

    def coefficients(self, topics: Sequence[int], which: str) -> Floats:
        """Return the coefficients of the first run's score minus the second's, over these topics.

        ``value``, divided by 1 - p: both runs' unjudged documents non-relevant. ``low``: the first's non-relevant, the
        second's and all beyond the end of its lists relevant. ``high``: the reverse.
        """
        chosen = list(topics)
        total = np.zeros(max(part.gain.shape[-1] for part in self.lists) + 2)
        for part, sign in zip(self.lists, (1, -1), strict=True):
            gain = part.gain[chosen].sum(axis=0)
            if which != "value" and (which == "high") == (sign > 0):
                gain = gain + self.largest_gain * part.holes[chosen].sum(axis=0)
            total[: gain.size] += sign * gain
        if which != "value":
            total[1:] -= total[:-1].copy()  # times 1 - p, which the tails do not share
            open_lists, sign = (self.lists[1], -1) if which == "low" else (self.lists[0], 1)
            np.add.at(total, open_lists.length[chosen], sign * self.largest_gain)
        total[np.abs(total) < NOISE * self.largest_gain] = 0.0
        return total
