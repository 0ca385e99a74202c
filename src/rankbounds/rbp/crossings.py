"""Crossings of two runs: the persistences where the leader by RBP changes, and where the lead is certain.

The difference of two RBP scores is 1 - p times a polynomial in p whose coefficients count relevant documents by rank;
differences of bounds are polynomials too. Their changes of sign are found exactly, not on a grid.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.options import RankingOptions, chosen_options
from rankbounds.evaluation.scores import ALL
from rankbounds.evaluation.scoring import join_lists
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.rbp.polynomials import sign_changes, sign_near_zero
from rankbounds.results import Column, Result, build_table, interval
from rankbounds.tables import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

TIED = "tied"
UNDECIDED = "undecided"


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

    Exact: the difference of two RBP scores is 1 - p times a polynomial in p, and every change of its sign between 0
    and 1 is found, to the nearest floating point number.

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
    template = _template(measure)
    refused = {"topics": "every judged topic counts."}
    assumptions, reading = chosen_options(options, RankingOptions, refused=refused, one_order="Crossings need")
    facts = TopicFacts(reading.judgments(qrels), assumptions.gain)
    pair = reading.runs(runs)
    if len(pair) != 2:
        raise UsageError(f"Exactly two runs are expected, but {len(pair)} were given.")
    lists = [_from_rankings(list(join_lists(run, facts, assumptions).batches), facts, template) for run in pair]
    difference = _Difference.of(lists, [run.name for run in pair], _largest_gain(template, facts))
    return difference.crossings(facts.query_ids, per_topic=per_topic)


def find_crossings_of_gains(a: Any, b: Any, *, measure: RBP | None = None, per_topic: bool = False) -> Crossings:
    """Find the values of p at which the winner of two ranked lists changes, from their gains alone.

    Parameters
    ----------
    a, b
        The gains of one ranked list each, from the top (1 relevant, 0 not, None unjudged), or lists of such lists, by
        topic.
    measure, per_topic
        As in ``find_crossings``; topics are numbered from 1.

    Returns
    -------
    Crossings
        As from ``find_crossings``, for ``"a"`` and ``"b"``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> [row["to"] for row in rb.rbp.find_crossings_of_gains([1, 0, 0, 0], [0, 1, 1, 1]).rows()]
    ['undecided', 'b']
    """
    template = _template(measure)
    lists = [_from_gains(gains, template) for gains in (a, b)]
    if lists[0].length.size != lists[1].length.size:
        raise UsageError("The two runs have lists for different numbers of topics.")
    query_ids = [str(number) for number in range(1, lists[0].length.size + 1)]
    return _Difference.of(lists, ["a", "b"], template.max_grade or 1.0).crossings(query_ids, per_topic=per_topic)


def lead_changes(
    runs: Sequence[tuple[str, Sequence[Rankings]]], facts: TopicFacts, measure: RBP
) -> list[tuple[float, str, str]]:
    """Find where the lead of two runs changes, from their rankings: p, the leader below it, the leader above.

    These are the rows of ``find_crossings`` with a new winner.
    """
    lists = [_from_rankings(batches, facts, measure) for _, batches in runs]
    difference = _Difference.of(lists, [name for name, _ in runs], _largest_gain(measure, facts))
    value = difference.coefficients(range(len(facts.query_ids)), "value")
    before, leads = sign_near_zero(value), []
    for change in sign_changes(value):
        leads.append((change.at, difference.names[before], difference.names[change.after]))
        before = change.after
    return leads


def _template(measure: RBP | None) -> RBP:
    template = measure or RBP()
    if template.by_topic:
        raise UsageError("Crossings need one scale for all topics: leave out by_topic.")
    return template


def _largest_gain(measure: RBP, facts: TopicFacts) -> float:
    return measure.largest_gain(facts) if measure.graded else 1.0


@dataclass(frozen=True)
class _Lists:
    """What one run retrieved: by topic and rank the gain, and whether the document is unjudged."""

    gain: Floats | Ints
    holes: Ints
    length: Ints

    def cut(self, depth: int | None) -> _Lists:
        length = self.length if depth is None else np.minimum(self.length, depth)
        return _Lists(self.gain[:, :depth], self.holes[:, :depth], length)


def _from_gains(given: Any, template: RBP) -> _Lists:
    several = list(given)
    if not several or not isinstance(several[0], Sequence | np.ndarray):
        several = [several]
    width = max(1, *(len(gains) for gains in several))
    gain = np.zeros((len(several), width))
    for topic, gains in enumerate(several):
        gain[topic, : len(gains)] = [np.nan if value is None else value for value in gains]
    holes = np.isnan(gain)
    gain[holes] = 0.0
    if gain.min(initial=0.0) < 0 or gain.max(initial=0.0) > (template.max_grade or 1.0):
        raise UsageError("Gains must lie between 0 and 1 (or max_grade); None stands for an unjudged document.")
    length = np.array([len(gains) for gains in several])
    return _Lists(gain, holes.astype(np.int64), length).cut(template.cutoff)


def _from_rankings(batches: Sequence[Rankings], facts: TopicFacts, template: RBP) -> _Lists:
    shape = (len(facts.query_ids), max(batch.width for batch in batches))
    gain, holes = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    length = np.zeros(shape[0], dtype=np.int64)
    for batch in batches:
        judged = batch.assume(0.0)
        template.worth(judged)  # (complains of grades above max_grade)
        gain[batch.topic, : batch.width] = judged.gain() if template.graded else judged.relevant(template.rel)
        holes[batch.topic, : batch.width] = batch.holes
        length[batch.topic] = batch.length
    return _Lists(gain, holes, length).cut(template.cutoff)


@dataclass(frozen=True)
class _Difference:
    """The first run's score minus the second's, as polynomials in p with whole-number coefficients."""

    lists: list[_Lists]
    most: int
    """The largest gain, in the units that make all gains whole numbers."""
    names: dict[int, str]
    """Who is ahead, by the sign of the difference."""

    @classmethod
    def of(cls, lists: Sequence[_Lists], names: Sequence[str], largest: float) -> _Difference:
        levels = {float(level) for part in lists for level in np.unique(part.gain)} | {float(largest)}
        times = math.lcm(*(Fraction(level).limit_denominator(10**9).denominator for level in levels))
        exact = {level: int(Fraction(level).limit_denominator(10**9) * times) for level in levels}
        most = exact[float(largest)]
        if most * max(part.length.size for part in lists) >= 1 << 60:
            raise UsageError("The gains have too many digits for exact crossings.")
        table = sorted(exact)
        numbers = np.array([exact[level] for level in table])
        whole = [replace(part, gain=numbers[np.searchsorted(table, part.gain)]) for part in lists]
        return cls(whole, most, {1: names[0], -1: names[1], 0: TIED})

    def crossings(self, query_ids: Sequence[str], *, per_topic: bool) -> Crossings:
        parts = [(query, [topic]) for topic, query in enumerate(query_ids)] if per_topic else []
        parts.append((ALL, list(range(len(query_ids)))))
        return Crossings([region for query, topics in parts for region in self._regions(query, topics)])

    def _regions(self, query: str, topics: Sequence[int]) -> list[dict[str, Any]]:
        coefficients = {which: self.coefficients(topics, which) for which in ("value", "low", "high")}
        signs = {which: sign_near_zero(terms) for which, terms in coefficients.items()}
        turns = sorted(
            (change.at, which, change.after) for which, terms in coefficients.items() for change in sign_changes(terms)
        )
        regions: list[dict[str, Any]] = []
        start: list[tuple[float, Any]] = [(0.0, ())]
        for p, together in itertools.chain(start, itertools.groupby(turns, key=lambda turn: turn[0])):
            signs.update({which: after for _, which, after in together})
            ahead, sure = self.names[signs["value"]], bool(signs["low"] > 0 or signs["high"] < 0)
            if not regions or (ahead, sure) != (regions[-1]["ahead"], regions[-1]["sure"]):
                if regions:
                    regions[-1]["p_to"] = p
                regions.append({"query_id": query, "p_from": p, "p_to": 1.0, "ahead": ahead, "sure": sure})
        return regions

    def coefficients(self, topics: Sequence[int], which: str) -> list[int]:
        """Return the coefficients over these topics, times a positive number.

        ``value``: both runs' unjudged documents non-relevant. ``low``: the first's non-relevant, the second's and all
        beyond the end of its lists relevant. ``high``: the reverse.
        """
        chosen = list(topics)
        total = np.zeros(max(part.gain.shape[-1] for part in self.lists) + 2, dtype=np.int64)
        for part, sign in zip(self.lists, (1, -1), strict=True):
            gain = part.gain[chosen].sum(axis=0)
            if which != "value" and (which == "high") == (sign > 0):
                gain = gain + self.most * part.holes[chosen].sum(axis=0)
            total[: gain.size] += sign * gain
        if which != "value":
            total[1:] -= total[:-1].copy()  # times 1 - p, which the tails do not share
            open_lists, sign = (self.lists[1], -1) if which == "low" else (self.lists[0], 1)
            np.add.at(total, open_lists.length[chosen], sign * self.most)
        return total.tolist()
