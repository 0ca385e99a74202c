"""Where two runs cross: the persistences at which the one that is ahead in RBP changes, and where that is sure.

The difference of two RBP scores is 1 - p times a polynomial in p whose coefficients count relevant documents by rank;
the differences of bounds are polynomials too. Their signs change at roots that are found exactly, not on a grid.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import UsageError
from rankbounds.evaluation.options import RankingOptions, chosen_options
from rankbounds.evaluation.scores import ALL
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rankings.join import join
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.rbp.polynomials import sign_changes, sign_near_zero

if TYPE_CHECKING:
    from typing_extensions import Unpack

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
        return asdict(self)


def lead_changes(
    runs: Sequence[tuple[str, Sequence[Rankings]]], facts: TopicFacts, measure: RBP
) -> list[tuple[float, str, str]]:
    """Where the lead of two runs changes, from their rankings: p, who leads below it, who above.

    These are the winners' rows of ``crossings``, for callers that have the rankings.
    """
    lists = [_from_rankings(name, batches, facts, measure) for name, batches in runs]
    scaled, most = _whole_numbers(lists, (measure.max_grade or facts.max_gain) if measure.graded else 1.0)
    value = _difference(scaled, range(len(facts.query_ids)), most, "value")
    names = {1: runs[0][0], -1: runs[1][0], 0: TIED}
    before, leads = sign_near_zero(value), []
    for change in sign_changes(value):
        leads.append((change.at, names[before], names[change.after]))
        before = change.after
    return leads


def crossings(
    qrels: Any,
    runs: Any,
    *,
    measure: RBP | None = None,
    per_topic: bool = False,
    **options: Unpack[RankingOptions],
) -> list[dict[str, Any]]:
    """The values of p at which the winner of two runs changes, or whether it is sure to win.

    Parameters
    ----------
    qrels, runs
        Judgments and two runs, in any form that ``evaluate`` takes.
    measure
        RBP with everything but p, such as ``RBP(graded=True)``; its p is not looked at.
    per_topic
        Add the crossings of each topic to those of the mean over topics.
    **options
        Ties (one fixed order), gains and reading options of ``evaluate``.

    Returns
    -------
    list of dict
        Rows ``query_id`` (``"all"`` for the mean over topics), ``p``, ``change`` (``"winner"`` or ``"certainty"``),
        and what there was ``from`` smaller p on and what there is ``to`` larger p: the name of the run ahead, or
        ``"undecided"`` and ``"NAME surely"``. Surely means: the run's low is above the other's high.

    See Also
    --------
    crossings_of_gains : the same of bare lists of gains, without judgments.

    Notes
    -----
    Exact: the difference of two RBP scores is 1 - p times a polynomial in p, and every change of its sign between 0
    and 1 is found, to the nearest floating point number. No grid is involved, and none is missed.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"q": {"d1": 1, "d2": 0, "d3": 1, "d4": 1}}
    >>> runs = {"top": {"q": {"d1": 2.0, "d2": 1.0}}, "deep": {"q": {"d2": 3.0, "d3": 2.0, "d4": 1.0}}}
    >>> [(row["from"], row["to"], round(row["p"], 4)) for row in rb.crossings(qrels, runs) if row["change"] == "winner"]
    [('top', 'deep', 0.618)]

    """
    return crossings_of(regions(qrels, runs, measure=measure, per_topic=per_topic, **options))


def crossings_of_gains(a: Any, b: Any, *, measure: RBP | None = None, per_topic: bool = False) -> list[dict[str, Any]]:
    """The values of p at which the winner of two ranked lists changes, from their gains alone.

    Parameters
    ----------
    a, b
        The gains of one ranked list each, from the top (1 relevant, 0 not, None unjudged), or lists of such lists,
        topic by topic.
    measure
        RBP with everything but p.
    per_topic
        Add the crossings of each topic, which are numbered from 1 on.

    Returns
    -------
    list of dict
        As of ``crossings``; the two are called ``"a"`` and ``"b"``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> [row["to"] for row in rb.crossings_of_gains([1, 0, 0, 0], [0, 1, 1, 1])]
    ['undecided', 'b']

    """
    return crossings_of(regions_of_gains(a, b, measure=measure, per_topic=per_topic))


def crossings_of(stretches: Sequence[Region]) -> list[dict[str, Any]]:
    """The crossings between neighbouring regions of the same topic."""
    rows = []
    for before, after in itertools.pairwise(stretches):
        if before.query_id == after.query_id:
            winner = before.ahead != after.ahead
            was, becomes = (
                region.ahead if winner else f"{region.ahead} surely" if region.sure else UNDECIDED
                for region in (before, after)
            )
            cells = (after.query_id, after.p_from, was, becomes, "winner" if winner else "certainty")
            rows.append(dict(zip(FIELDS, cells, strict=True)))
    return rows


def regions(
    qrels: Any,
    runs: Any,
    *,
    measure: RBP | None = None,
    per_topic: bool = False,
    **options: Unpack[RankingOptions],
) -> list[Region]:
    """The range of p from 0 to 1 cut wherever another run is ahead, or the lead becomes sure or unsure.

    Arguments are those of ``crossings``.
    """
    template = _template(measure)
    refused = {"topics": "every judged topic counts."}
    assumptions, reading = chosen_options(options, RankingOptions, refused=refused, one_order="Crossings need")
    facts = TopicFacts(reading.judgments(qrels), assumptions.gain)
    order, precision, tie_key = assumptions.order, assumptions.score_precision, assumptions.ties_key
    pair = reading.runs(runs)
    if len(pair) != 2:
        raise UsageError(f"Exactly two runs are wanted here, but {len(pair)} were given.")
    lists = []
    for run in pair:
        joined = join(run, facts, order=order, precision=precision, tie_key=tie_key)
        lists.append(_from_rankings(run.name, list(joined.batches), facts, template))
    largest = (template.max_grade or facts.max_gain) if template.graded else 1.0
    return _regions_of_lists(lists, list(facts.query_ids), largest, per_topic=per_topic)


def regions_of_gains(a: Any, b: Any, *, measure: RBP | None = None, per_topic: bool = False) -> list[Region]:
    """As ``regions``, from bare gains; arguments are those of ``crossings_of_gains``."""
    template = _template(measure)
    lists = [_from_gains(name, gains, template) for name, gains in (("a", a), ("b", b))]
    if lists[0].length.size != lists[1].length.size:
        raise UsageError("The two runs have lists for different numbers of topics.")
    query_ids = [str(number) for number in range(1, lists[0].length.size + 1)]
    return _regions_of_lists(lists, query_ids, template.max_grade or 1.0, per_topic=per_topic)


def _template(measure: RBP | None) -> RBP:
    template = measure or RBP()
    if template.by_topic:
        raise UsageError("Crossings need one scale for all topics: leave out by_topic.")
    return template


def _regions_of_lists(lists: list[_Lists], query_ids: list[str], largest: float, *, per_topic: bool) -> list[Region]:
    scaled, most = _whole_numbers(lists, largest)
    parts = [(query, [topic]) for topic, query in enumerate(query_ids)] if per_topic else []
    parts.append((ALL, list(range(len(query_ids)))))
    return [region for query, topics in parts for region in _regions_of(query, scaled, topics, most)]


def _from_gains(name: str, given: Any, template: RBP) -> _Lists:
    several = list(given)
    if not several or not isinstance(several[0], Sequence | np.ndarray):
        several = [several]
    width = max(1, *(len(gains) for gains in several))
    gain, holes = np.zeros((len(several), width)), np.zeros((len(several), width), dtype=np.int64)
    for topic, gains in enumerate(several):
        values = np.array([np.nan if value is None else value for value in gains], dtype=np.float64)
        holes[topic, : values.size] = np.isnan(values)
        gain[topic, : values.size] = np.nan_to_num(values)
    if gain.min(initial=0.0) < 0 or gain.max(initial=0.0) > (template.max_grade or 1.0):
        raise UsageError("Gains must lie between 0 and 1 (or max_grade); None stands for an unjudged document.")
    return _cut(_Lists(name, gain, holes, np.array([len(gains) for gains in several])), template)


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
    depth = template.cutoff
    length = lists.length if depth is None else np.minimum(lists.length, depth)
    return replace(lists, gain=lists.gain[:, :depth], holes=lists.holes[:, :depth], length=length)


def _whole_numbers(lists: list[_Lists], largest: float) -> tuple[list[_Lists], int]:
    """Gains times a number that makes them all whole, and the largest gain times that number."""
    levels = {float(level) for part in lists for level in np.unique(part.gain)} | {float(largest)}
    times = math.lcm(*(Fraction(level).limit_denominator(10**9).denominator for level in levels))
    exact = {level: int(Fraction(level).limit_denominator(10**9) * times) for level in levels}
    most = exact[float(largest)]
    if most * max(part.length.size for part in lists) >= 1 << 60:
        raise UsageError("The gains have too many digits for exact crossings.")
    table = sorted(exact)
    numbers = np.array([exact[level] for level in table])
    return [replace(part, gain=numbers[np.searchsorted(table, part.gain)]) for part in lists], most


def _regions_of(query: str, lists: list[_Lists], topics: Sequence[int], most: int) -> list[Region]:
    coefficients = {which: _difference(lists, topics, most, which) for which in ("value", "low", "high")}
    signs = {which: sign_near_zero(terms) for which, terms in coefficients.items()}
    turns = sorted(
        (change.at, which, change.after) for which, terms in coefficients.items() for change in sign_changes(terms)
    )
    names = {1: lists[0].name, -1: lists[1].name, 0: TIED}

    def state() -> tuple[str, bool]:
        return names[signs["value"]], bool(signs["low"] > 0 or signs["high"] < 0)

    edges, states = [0.0], [state()]
    for p, together in itertools.groupby(turns, key=lambda turn: turn[0]):  # (nearer than floating point tells apart)
        signs.update({which: after for _, which, after in together})
        if state() != states[-1]:
            edges.append(p)
            states.append(state())
    return [
        Region(query, p_from, p_to, ahead, sure)
        for p_from, p_to, (ahead, sure) in zip(edges, [*edges[1:], 1.0], states, strict=True)
    ]


def _difference(lists: list[_Lists], topics: Sequence[int], most: int, which: str) -> list[int]:
    """The coefficients of the first run's score minus the second's, over these topics, times a positive number.

    ``value``: both runs' unjudged documents non-relevant. ``low``: the first's non-relevant, the second's and all
    beyond the end of its lists relevant. ``high``: the other way round.
    """
    chosen = list(topics)
    width = max(part.gain.shape[-1] for part in lists) + 2
    total = np.zeros(width, dtype=np.int64)
    for part, sign in zip(lists, (1, -1), strict=True):
        gain = part.gain[chosen].sum(axis=0)
        relevant = which != "value" and (which == "high") == (sign > 0)
        if relevant:
            gain = gain + most * part.holes[chosen].sum(axis=0)
        total[: gain.size] += sign * gain
    if which == "value":
        return total.tolist()
    total[1:] -= total[:-1].copy()  # times 1 - p, which the tails do not share
    sure, sign = (lists[1], -1) if which == "low" else (lists[0], 1)
    np.add.at(total, sure.length[chosen], sign * most)
    return total.tolist()
