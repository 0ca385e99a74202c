"""Discounted cumulated gain, as it is and as a share of what an ideal ranking has."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints, read_only
from rankbounds.columns.places import Places
from rankbounds.columns.sums import running_sums
from rankbounds.errors import DataError, UsageError, did_you_mean
from rankbounds.measures.measure import Bounds, Measure, Normalised, RankWeighted, quotient, weighted_sum
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import order_by_worth
from rankbounds.rankings.topic_facts import TopicFacts

GAINS = ("linear", "exp")
LARGEST_EXPONENT = 1000
"""Of 2^g in sums over many documents: double precision ends at 2^1024."""


class DCG(RankWeighted):
    """The gains of the documents, each divided by the logarithm of its rank plus one, summed.

    There is no upper limit, and topics with many relevant documents dominate means: nDCG divides it away.

    DCG = sum over ranks i of g_i / log2(i + 1), as trec_eval has it. With ``base=b``, documents before rank b count
    in full and others are divided by log_b(i) (Jarvelin and Kekalainen, TOIS 20(4), 2002). ``gain=exp`` takes
    2^g - 1 for g.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.DCG @ 3).value.item(), 4)
    2.0
    """

    base: float | None = None
    gain: str = "linear"
    cutoff: int | None = None

    name = "DCG"
    examples = ("DCG", "DCG@3", "DCG(base=2)", "DCG(base=3,gain=exp)@4")
    sources = ("jarvelin2002cumulated",)
    graded = True
    value_range = (0.0, np.inf)

    def check(self) -> None:
        check_discount(self, self.base, self.gain)

    def cited(self) -> tuple[str, ...]:
        return (*self.sources, "burges2005learning") if self.gain == "exp" else self.sources

    def weights(self, n: int) -> Floats:
        return discounts(self.base, n)

    def worth(self, rankings: Rankings) -> Floats:
        return gains(rankings, self.gain)


def check_discount(measure: Measure, base: float | None, gain: str) -> None:
    """Reject parameters that no discounted gain has."""
    if base is not None and not base > 1:
        raise UsageError(f"{measure.name}: the logarithm's base must be above 1, not {base}.")
    if gain not in GAINS:
        raise UsageError(f'{measure.name}: gain must be linear or exp, not "{gain}".{did_you_mean(gain, list(GAINS))}')


@lru_cache(maxsize=16)
def discounts(base: float | None, n: int) -> Floats:
    """The weights of ranks 1 to n, not to be written to."""
    rank = np.arange(1, n + 1)
    if base is None:
        return read_only(1 / np.log2(rank + 1))
    return read_only(1 / np.maximum(1.0, np.log(np.maximum(rank, base)) / np.log(base)))


def transformed(gain: Floats | float, kind: str) -> Floats:
    """2^g - 1 for ``exp``, g itself for ``linear``."""
    if kind == "linear":
        return np.asarray(gain)
    if np.max(gain, initial=0.0) > LARGEST_EXPONENT:
        raise DataError(
            f"gain=exp takes 2^g - 1, but documents may have gain {np.max(gain):g}, and above {LARGEST_EXPONENT} that "
            'is more than a number holds. Use gain=linear, or a gain table such as "1=1,2=3".'
        )
    return np.exp2(gain) - 1


def gains(rankings: Rankings, kind: str) -> Floats:
    """The gain of every document; an unjudged one has its chance of the largest."""
    if kind == "linear":
        return rankings.gain()
    least, most = (transformed(gain, kind) for gain in (rankings.facts.nonrelevant_gain, rankings.facts.max_gain))
    return np.where(rankings.holes, least + rankings.chance * (most - least), transformed(rankings.gain(), kind))


IDEAL_CELLS = 1 << 18
"""So many gains of ideal rankings are laid out at a time."""


class nDCG(Normalised):  # noqa: N801 (the name everybody knows it by)
    """Discounted gain divided by that of the ideal ranking: 1 when the best documents known come first, best first.

    The ideal ranking holds all judged documents of the topic, retrieved or not. Without parameters this is
    trec_eval's ndcg: gains are the grades, the discount is log2(rank + 1). ``low`` and ``high`` are exact over the
    retrieved unjudged documents, each of which may have any gain up to the largest, and then also belongs to the
    ideal ranking; so judging more can lower the value. With ``open="collection"``, ``low`` also covers relevant
    documents that nobody retrieved, which can stand in the ideal ranking alone: to the depth, all of the largest gain;
    without a depth, as many as ``most_relevant`` says. Over ties and unjudged documents together, ``high`` is exact for
    binary gains; for graded ones it holds, but may be more than can be reached.

    Sources: Jarvelin and Kekalainen, TOIS 20(4), 2002 (``base=b``); ``gain=exp`` takes 2^g - 1 (Burges et al. 2005).

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.nDCG @ 3).value.item(), 4)
    0.7602
    """

    base: float | None = None
    gain: str = "linear"
    cutoff: int | None = None

    name = "nDCG"
    value_range = (0.0, 1.0)
    examples = ("nDCG", "nDCG@3", "nDCG(base=2)@4", "nDCG(gain=exp)")
    sources = ("jarvelin2002cumulated",)
    trec_names = ("ndcg", "ndcg_cut_{cutoff}")
    collection_exactness = "exact"
    graded = True

    @property
    def vanishes(self) -> bool:  # type: ignore[override]
        """To a depth, no more than so many documents belong to the ideal ranking."""
        return self.cutoff is None

    def check(self) -> None:
        check_discount(self, self.base, self.gain)

    def cited(self) -> tuple[str, ...]:
        return (*self.sources, "burges2005learning") if self.gain == "exp" else self.sources

    def weights(self, n: int) -> Floats:
        return discounts(self.base, n)

    def worth(self, rankings: Rankings) -> Floats:
        return gains(rankings, self.gain)

    def divisor(self, rankings: Rankings) -> Floats:
        if rankings.judged_alone:  # then it is the same for all lists of a topic
            facts = rankings.facts
            of_topics: Floats = facts.remembered(("ideal", self), lambda: self._ideal_of(facts))
            return of_topics[rankings.topic]
        most = int((rankings.facts.count_from_level[0][rankings.topic] + rankings.num_holes).max(initial=1))
        width = most if self.cutoff is None else min(most, self.cutoff)
        return weighted_sum(self.weights(width), transformed(rankings.ideal(width), self.gain))

    def _ideal_of(self, facts: TopicFacts) -> Floats:
        """What the judged documents of each topic come to in their ideal order."""
        most = int(facts.positive.max(initial=1))
        width = most if self.cutoff is None else min(most, self.cutoff)
        topics = np.arange(len(facts.query_ids))
        ideal = np.zeros(topics.size)
        for some in np.array_split(topics, 1 + topics.size * width // IDEAL_CELLS):
            ideal[some] = weighted_sum(self.weights(width), transformed(facts.ideal(some, width), self.gain))
        return ideal

    def shrinkage(self, rankings: Rankings) -> Floats:
        nothing_turned = np.zeros((rankings.length.size, 1), dtype=np.int64)
        return quotient(self.divisor(rankings.assume(0.0)), self._fullest_ideal(rankings, nothing_turned)[:, 0])

    def bounds(self, rankings: Rankings) -> Bounds:
        return self._extremes(rankings, over_ties=False)

    def joint_bounds(self, rankings: Rankings) -> Bounds:
        """Exact below; above exact for binary gains, and for graded ones an outer bound that may not be attained."""
        return self._extremes(rankings, over_ties=True)

    def joint_bounds_are_outer(self, facts: TopicFacts) -> bool:
        return facts.levels.size > 1

    def _extremes(self, rankings: Rankings, *, over_ties: bool) -> Bounds:
        """Write gains as sums over levels: a document counts once for each level that its gain reaches.

        At one level all that counts is how many unjudged documents reach it, and that they are the highest (best) or
        the lowest (worst) ones. The least value has every unjudged document at 0 or at the top level, because a linear
        sum over a convex one has its minimum at a corner. The greatest value t is the one where the best sum less t
        times the ideal sum is 0, and that difference splits into one small maximisation for each level.

        Relevant documents that nobody retrieved stand in the ideal ranking alone: there are none in the best case, and
        in the worst they are of the largest gain, as many as the unjudged documents turned relevant leave room for.
        """
        judged = rankings.assume(0.0)
        levels = transformed(rankings.facts.levels, self.gain)
        step = np.diff(levels, prepend=0.0)
        known = rankings.facts.count_from_level[:, rankings.topic]
        turned = np.minimum(np.arange(int(rankings.num_holes.max(initial=0)) + 1), rankings.num_holes[:, None])
        ideal_sums = np.append(0.0, np.cumsum(self._weights_to_depth(int(known.max(initial=0)) + turned.shape[1])))
        ideal = [ideal_sums[known[level][:, None] + turned] for level in range(levels.size)]

        reached = [judged.gain() >= level for level in rankings.facts.levels]
        falling = [self._sums(rankings, flags, turned, best=False, over_ties=over_ties) for flags in reached]
        rising = [self._sums(rankings, flags, turned, best=True, over_ties=over_ties) for flags in reached]
        if rankings.facts.nonrelevant_gain > 0:  # the first level: every document reaches it, whatever its judgment
            everything = ideal_sums[known[0] + rankings.num_holes]
            ideal[0] = np.broadcast_to(everything[:, None], turned.shape)
            all_present = rankings.present @ self._weights_to_depth(rankings.width)
            falling[0] = rising[0] = np.broadcast_to(all_present[:, None], turned.shape)
        least = self._fullest_ideal(rankings, turned) if rankings.most_relevant else _weighted(step, ideal)
        low = quotient(_weighted(step, falling), least).min(axis=-1)
        return low, _greatest_ratio(step, rising, ideal)

    def _fullest_ideal(self, rankings: Rankings, turned: Ints) -> Floats:
        """The ideal sums with 0, 1, 2, ... unjudged documents turned relevant, and the most that nobody retrieved."""
        facts = rankings.facts
        levels = transformed(facts.levels, self.gain)
        step = np.diff(levels, prepend=0.0)
        known = facts.count_from_level[:, rankings.topic]
        all_gain = facts.nonrelevant_gain > 0  # and there is no limit to documents that are not relevant
        relevant = known[min(int(all_gain), levels.size - 1)]
        more = np.maximum(turned, rankings.room(relevant)[:, None])
        deepest = np.inf if self.cutoff is None else self.cutoff
        reaching = [np.minimum(count[:, None] + more, deepest) for count in known]
        if all_gain:
            reaching[0] = np.full(turned.shape, deepest)
        finite = [np.where(np.isfinite(count), count, 0).astype(np.int64) for count in reaching]
        sums = np.append(0.0, np.cumsum(self.weights(max(int(count.max(initial=0)) for count in finite))))
        ideal = [np.where(np.isinf(count), np.inf, sums[at]) for count, at in zip(reaching, finite, strict=True)]
        return _weighted(step, ideal)

    def _weights_to_depth(self, n: int) -> Floats:
        weights = self.weights(n)
        return weights if self.cutoff is None else np.where(np.arange(n) < self.cutoff, weights, 0.0)

    def _sums(self, rankings: Rankings, reached: Flags, turned: Ints, *, best: bool, over_ties: bool) -> Floats:
        """The weights of the documents that reach a level, when 0, 1, 2, ... of the unjudged ones do so too."""
        holes = rankings.holes
        if over_ties and (groups := rankings.groups) is not None:
            # Documents that reach the level stand at the good (or bad) end of their group, unjudged ones next to them.
            source = order_by_worth(rankings, reached + 0.5 * holes, best=best)
            holes, reached = (groups.filled_from(flags, source) for flags in (holes, reached))
            places = Places.of(holes)
        else:
            places = rankings.places_of_holes
        weights = self._weights_to_depth(rankings.width)
        at_holes = np.zeros(turned.shape)
        # Unjudged documents from the top, in each list one behind the other; from the bottom in the opposite order.
        number = places.number + 1 if best else rankings.num_holes[places.row] - places.number
        at_holes[places.row, number] = weights[places.rank]
        sums = running_sums(at_holes)
        sums += (reached @ weights)[:, None]
        return sums


def _weighted(step: Floats, parts: list[Floats]) -> Floats:
    return sum((height * part for height, part in zip(step, parts, strict=True)), start=np.zeros(1))


def _greatest_ratio(step: Floats, sums: list[Floats], ideal: list[Floats]) -> Floats:
    """The greatest (sum of steps * sums) / (sum of steps * ideal), each level choosing its own column (Dinkelbach)."""
    base_sum, base_ideal = (_weighted(step, [part[:, 0] for part in parts]) for parts in (sums, ideal))
    ratio = quotient(base_sum, base_ideal)
    for _ in range(100):
        best = [
            np.argmax(part - ratio[:, None] * below, axis=-1)[:, None] for part, below in zip(sums, ideal, strict=True)
        ]
        top = _weighted(step, [np.take_along_axis(p, b, axis=-1)[:, 0] for p, b in zip(sums, best, strict=True)])
        bottom = _weighted(step, [np.take_along_axis(p, b, axis=-1)[:, 0] for p, b in zip(ideal, best, strict=True)])
        better = quotient(top, bottom)
        if not (better > ratio).any():
            break
        ratio = np.maximum(ratio, better)
    return ratio
