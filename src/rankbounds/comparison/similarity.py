"""Similarity of rankings without judgments, per topic and on average: RBO, overlap, and the most measures can differ.

The last is the maximized effectiveness difference of Tan and Clarke (2015). ``low`` and ``high`` are the second run
minus the first, and ``value`` the larger in size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.choices import check_count, check_share
from rankbounds.collection.order import ranked_rows
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.columns.native import worth_starting
from rankbounds.columns.pairs import number_pairs
from rankbounds.comparison.evidence import Evidence
from rankbounds.comparison.pairs import build_rows
from rankbounds.errors import DataError, UsageError, did_you_mean, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.bounds import topic_bounds
from rankbounds.evaluation.options import OrderOptions, chosen_options
from rankbounds.evaluation.score_differences import drop_rounding
from rankbounds.measures import Measure, parse_measures
from rankbounds.phrases import counted
from rankbounds.results import Column, Result, build_table, interval
from rankbounds.stats.overlap import READINGS, TiedLists, deepest_rank, overlaps
from rankbounds.stats.significance import pairs_of
from rankbounds.tables import Table, percent
from rankbounds.threads import in_threads, processors

if TYPE_CHECKING:
    from typing_extensions import Unpack

CELLS = 1 << 21
"""So many topics times depths are looked at together."""
SHOWN_PAIRS, CHANGED = 10, 5
"""How many pairs of runs a table has, and how many of the topics that changed most are named."""
LARGEST, SHARE = "MED-", "Overlap@"
"""How labels begin: of the most that a measure can differ, and of the share of documents in common."""
UNKNOWN = "\0"
"""A document that no list holds, so that a topic without judgments is one that is known."""
USUAL_MEASURES = ("nDCG@10", "RBP(p=0.8)", "AP", "RR", "P@10")
"""Of two runs, what is asked for where nothing is."""


@dataclass(frozen=True, eq=False, repr=False)
class Similarity(Result):
    """The similarity of every two of several runs.

    Attributes
    ----------
    runs, query_ids, measures : list of str
        What is compared.
    first, second : array
        The numbers of the two runs of each pair.
    value, low, high : array
        By measure, pair and topic.

    Examples
    --------
    >>> import rankbounds as rb
    >>> before = {"1": ["a", "b", "c"], "2": ["x", "y", "z"]}
    >>> after = {"1": ["a", "c", "b"], "2": ["x", "y", "z"]}
    >>> alike = rb.similarity({"before": before, "after": after}, p=0.8)
    >>> alike.changed_most()
    ['1']
    >>> [round(float(part), 3) for part in alike.mean("RBO(p=0.8)")[0]]
    [0.96, 0.687, 0.96]
    """

    runs: list[str]
    query_ids: list[str]
    measures: list[str]
    first: Ints
    second: Ints
    value: Floats
    low: Floats
    high: Floats
    columns = (
        *map(Column, ("a", "b")),
        Column("query_id", "topic"),
        *map(Column, ("measure", "value")),
        interval("low", "high", "bounds"),
        *(Column(name, None) for name in ("low", "high")),
    )

    @property
    def figures(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("similarity_matrix",) if len(self.runs) > 2 else ()

    def mean(self, measure: str) -> Floats:
        place = self._place(measure)
        low, high = self.low[place].mean(axis=-1), self.high[place].mean(axis=-1)
        value = self.value[place].mean(axis=-1)
        if self.measures[place].startswith(LARGEST):
            value = np.maximum(-low, high)
        return np.stack([value, low, high], axis=-1)

    def matrix(self, measure: str | None = None) -> Floats:
        table = np.full((len(self.runs), len(self.runs)), np.nan)
        table[self.first, self.second] = table[self.second, self.first] = self.mean(measure or self.measures[0])[:, 0]
        np.fill_diagonal(table, 0.0 if (measure or self.measures[0]).startswith(LARGEST) else 1.0)
        return table

    def rows(self, *, topics: bool = True) -> list[dict[str, Any]]:
        query_ids = [*(self.query_ids if topics else ()), "all"]
        rows: list[dict[str, Any]] = []
        means = [self.mean(measure) for measure in self.measures]
        for pair, (a, b) in enumerate(zip(self.first.tolist(), self.second.tolist(), strict=True)):
            for place, measure in enumerate(self.measures):
                by_topic = [numbers[place, pair] if topics else [] for numbers in (self.value, self.low, self.high)]
                value, low, high = map(np.append, by_topic, means[place][pair])
                names = {"a": self.runs[a], "b": self.runs[b], "query_id": query_ids, "measure": measure}
                rows += build_rows(**names, value=value, low=low, high=high)
        return rows

    def changed_most(self, pair: int = 0, measure: str | None = None) -> list[str]:
        place = self._place(measure or self.measures[0])
        value = self.value[place, pair]
        if self.measures[place].startswith(LARGEST):
            value = 1 - value
        order = np.argsort(value, kind="stable")
        return [self.query_ids[topic] for topic in order.tolist() if value[topic] < 1 - 1e-12][:CHANGED]

    def _place(self, measure: str) -> int:
        if measure not in self.measures:
            raise UsageError(f'The rankings were not compared by "{measure}".{did_you_mean(measure, self.measures)}')
        return self.measures.index(measure)

    # ---- which belong together ----

    def tree(self, measure: str | None = None) -> list[tuple[list[float], list[float]]]:
        """Return the branches of the tree of runs: the dissimilarity of the runs that each joins, and their places.

        Clusters are joined by the mean similarity of their members.
        """
        drawn = self._dendrogram(measure)
        branches = zip(drawn["dcoord"], drawn["icoord"], strict=True)
        return [(list(unlike), [place / 10 - 0.5 for place in places]) for unlike, places in branches]

    def order(self, measure: str | None = None) -> list[int]:
        return [int(run) for run in self._dendrogram(measure)["leaves"]]

    def _dendrogram(self, measure: str | None) -> dict[str, Any]:
        from scipy.cluster.hierarchy import dendrogram, linkage
        from scipy.spatial.distance import squareform

        if len(self.runs) < 3:
            raise UsageError("Clusters need three runs or more.")
        label = measure or self.measures[0]
        unlike = self.matrix(label) if label.startswith(LARGEST) else 1 - self.matrix(label)
        joined = linkage(squareform(np.maximum(unlike, 0.0), checks=False), method="average")
        drawn: dict[str, Any] = dendrogram(joined, no_plot=True)
        return drawn

    # ---- for people ----

    def table(self, pairs: int | None = SHOWN_PAIRS, *, topics: bool = False) -> Table:
        order = np.argsort(-self.mean(self.measures[0])[:, 0], kind="stable")[:pairs].tolist()
        numbers = {name: getattr(self, name)[:, order] for name in ("value", "low", "high")}
        chosen = replace(self, first=self.first[order], second=self.second[order], **numbers)
        columns = [column for column in self.columns if topics or column.name != "query_id"]
        return build_table([row for row in chosen.rows(topics=topics) if ",ties=" not in row["measure"]], columns)

    def words(self) -> str:
        if self.first.size == 1:
            changed, depths = self.changed_most(), [label for label in self.measures if label.startswith(SHARE)]
            shares = [f"{percent(self.mean(label)[0, 0])} of the first {label[len(SHARE) :]}" for label in depths]
            shared = f"{' and '.join(self.runs)} have {' and '.join(shares)} documents in common. " if shares else ""
            return shared + (f"Topics that changed most: {', '.join(changed)}." if changed else "No topic changed.")
        same = int(np.count_nonzero(self.mean(self.measures[0])[:, 0] > 1 - 1e-9))
        pairs = f"{counted(self.first.size, 'pair')} over {counted(len(self.query_ids), 'topic')}"
        return f"{pairs}; in {same:,} of them the rankings are the same."


def similarity(
    runs: Any,
    *,
    p: float = 0.9,
    depths: Sequence[int] = (10,),
    measures: Sequence[str | Measure] = (),
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[OrderOptions],
) -> Similarity:
    """Compare rankings pair by pair, without judgments: how similar are they?

    Parameters
    ----------
    runs
        Two or more, as ``evaluate`` takes them.
    p : float
        The persistence of RBO.
    depths : sequence of int
        The depths at which to count documents in common.
    measures : sequence of str or Measure
        Measures whose largest possible difference is computed.
    progress : callable, optional
        Called with the numbers of pairs compared so far and in all.
    **options
        As in ``evaluate``, with ties in one fixed order, because overlap and differences of measures need one.

    Returns
    -------
    Similarity

    Examples
    --------
    >>> import rankbounds as rb
    >>> runs = {"a": {"1": {"x": 3, "y": 2, "z": 1}}, "b": {"1": {"y": 3, "x": 2, "w": 1}}}
    >>> alike = rb.similarity(runs, p=0.5, depths=[1, 2])
    >>> {row["measure"]: row["value"] for row in alike.rows(topics=False) if "@" in row["measure"]}
    {'Overlap@1': 0.0, 'Overlap@2': 1.0}
    """
    check_share("RBO's persistence p", p)
    for depth in depths:
        check_count("A depth", depth)
    assumptions, reading = chosen_options(
        options,
        OrderOptions,
        one_order="Rankings are compared in",
        refused={"gain": "without judgments nothing has a gain."},
        threads=worth_starting(),
    )
    compared = reading.runs(runs)
    if len(compared) < 2:
        raise UsageError("Give at least two runs to compare.")
    topics = shared_topics(compared)
    # The mean over orders of ties goes without saying.
    ties = ["" if reading == "a" else f",ties={reading}" for reading in READINGS]
    labels = [f"RBO(p={p:.12g}{words})" for words in ties] + [f"{SHARE}{depth}" for depth in depths]
    first, second = pairs_of(len(compared))
    value, low, high = (np.full((len(labels), first.size, len(topics)), np.nan) for _ in range(3))
    numbers = number_pairs([run.pairs for run in compared])
    longest = max(int(np.bincount(run.pairs.topic, minlength=1).max(initial=1)) for run in compared)
    depth_of_overlap = deepest_rank(p, longest)
    size = max(1, CELLS // depth_of_overlap)
    documents = int(max((own.max(initial=-1) for own in numbers), default=-1)) + 1
    begun = 0
    for start in range(0, len(topics), size):
        chunk = topics[start : start + size]
        lists = [tied_lists(run, own, chunk, assumptions) for run, own in zip(compared, numbers, strict=True)]
        cut = [own.to_depth(depth_of_overlap) for own in lists]
        columns = slice(start, start + len(chunk))

        def compare(run: int) -> int:
            place = np.full(documents, -1)
            for pair in np.flatnonzero(first == run).tolist():
                other = second[pair]
                measured = list(overlaps(cut[run], cut[other], p, READINGS, place).values())  # noqa: B023
                for row, parts in enumerate(measured):
                    value[row, pair, columns], low[row, pair, columns], high[row, pair, columns] = parts  # noqa: B023
                for row, depth in enumerate(depths, len(measured)):
                    value[row, pair, columns] = overlap_at(lists[run], lists[other], depth, place)  # noqa: B023
            return int(np.count_nonzero(first == run))

        for done in in_threads(compare, range(len(compared) - 1), processors()):
            begun += done
            if progress:
                progress(begun, first.size * -(-len(topics) // size))
    names = [run.name for run in compared]
    alike = Similarity(names, topics, labels, first, second, value, low, high)
    return with_largest_differences(alike, compared, measures, assumptions) if measures else alike


def with_largest_differences(
    alike: Similarity, runs: Sequence[Run], measures: Sequence[str | Measure], assumptions: Assumptions
) -> Similarity:
    chosen = parse_measures(list(measures))
    pooled = Qrels.from_columns(alike.query_ids, [UNKNOWN] * len(alike.query_ids), [-1] * len(alike.query_ids))
    evidence = Evidence(pooled, runs, assumptions)
    lists = evidence.shared_lists()
    assert lists.topics.size == len(alike.query_ids)
    low, high = (np.empty((len(chosen), alike.first.size, len(alike.query_ids))) for _ in range(2))
    for place, measure in enumerate(chosen):
        topics = topic_bounds(lists, measure, evidence.assumptions, (alike.second, alike.first))
        for topic, bounds in zip(lists.topics.tolist(), topics, strict=True):
            low[place, :, topic] = drop_rounding(bounds.low, 1.0)
            high[place, :, topic] = drop_rounding(bounds.high, 1.0)
    return replace(
        alike,
        measures=[*alike.measures, *(f"{LARGEST}{measure}" for measure in chosen)],
        value=np.concatenate([alike.value, np.maximum(-low, high)]),
        low=np.concatenate([alike.low, low]),
        high=np.concatenate([alike.high, high]),
    )


def shared_topics(runs: Sequence[Run]) -> list[str]:
    shared = set.intersection(*(set(run.query_ids) for run in runs))
    topics = [topic for topic in runs[0].query_ids if topic in shared]
    if not topics:
        raise DataError("The runs have no topic in common: their rankings cannot be compared.")
    others = len(set().union(*(run.query_ids for run in runs)) - shared)
    if others:
        warn(f"{others} of {others + len(topics)} topics are left out, because not every run has them.")
    return topics


def tied_lists(run: Run, numbers: Ints, topics: Sequence[str], assumptions: Assumptions) -> TiedLists:
    place = {topic: number for number, topic in enumerate(topics)}
    topic_here = np.array([place.get(topic, -1) for topic in run.pairs.topics])
    rows, tied = ranked_rows(run, order=assumptions.order, precision=assumptions.score_precision)
    topic = topic_here[run.pairs.topic[rows]]
    kept = topic >= 0
    topic, rows, tied = topic[kept], rows[kept], tied[kept]
    order = np.argsort(topic, kind="stable")
    return TiedLists.of(topic[order], numbers[rows[order]], tied[order], len(topics))


def overlap_at(a: TiedLists, b: TiedLists, depth: int, place: Ints) -> Floats:
    deepest = np.minimum(depth, np.maximum(a.length, b.length))
    cut_a, cut_b = (lists.rank <= depth for lists in (a, b))
    held = a.document[cut_a]
    place[held] = 1
    common = cut_b.copy()
    common[cut_b] = place[b.document[cut_b]] >= 0
    place[held] = -1
    return np.bincount(b.topic[common], minlength=b.length.size) / np.maximum(deepest, 1)
