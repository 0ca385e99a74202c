"""Judgments and measures prepared once, for run after run: what a training loop calls."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterable
from operator import eq
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.calls import ends_in_a_sentence
from rankbounds.collection.inputs import as_run
from rankbounds.collection.run import Run
from rankbounds.collection.shapes import QrelsLike, RunLike, RunsLike
from rankbounds.columns.native.reading import dict_of_rows
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.options import Options, chosen_options, shows_options
from rankbounds.evaluation.scores import Scores
from rankbounds.evaluation.scoring import Scoring, blaming_judgments, reject_for_preferences, score_runs
from rankbounds.measures import parse_measures
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.rankings.join import join, join_dict
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.threads import Progress, in_threads

if TYPE_CHECKING:
    from typing_extensions import Unpack

Values = tuple[float, ...]
Ranked = tuple[list[str], Ints, Iterable[Rankings]]
SHORT = 100
"""Lists of so many documents are ranked in Python: array calls would take longer than the work."""
LISTS_REMEMBERED = 10_000


class Evaluator:
    """Judgments and measures, prepared once for many runs.

    ``evaluate`` scores a run as the function ``evaluate`` does; ``score`` returns plain dicts of values, in
    microseconds for a short list.

    Parameters
    ----------
    qrels : path, Qrels, dict, frame or rows
        As in ``evaluate``. They are copied: later changes to a dict have no effect.
    measures : str, Measure, or iterable of them
        Such as ``"nDCG@10"``, ``"RBP(p=0.8)"``, ``"map"`` (trec_eval's names), ``rb.AP()``.
    ties, ties_key, unjudged, q, bounds, gain, topics, score_precision, open, most_relevant
        Assumptions, as in ``evaluate``.
    source, formats, columns, lenient, query_ids, doc_ids, threads
        How judgments and runs are read, as in ``evaluate``.

    Attributes
    ----------
    measures : list of Measure
        What is measured.
    query_ids : tuple of str
        The judged topics.

    Notes
    -----
    Values equal those of ``evaluate``. Values of a list are reused for later lists of the query with the same
    grades in the same order.

    Threads may share an Evaluator. If another thread changes a dict during a call, each query is scored as it is at
    one moment of the call.

    Examples
    --------
    >>> import rankbounds as rb
    >>> evaluator = rb.Evaluator({"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}, ["RR", "P@2"])
    >>> evaluator.score({"q1": {"a": 0.9, "b": 0.7}, "q2": {"x": 0.5}})
    {'q1': {'RR': 1.0, 'P@2': 0.5}, 'q2': {'RR': 0.0, 'P@2': 0.0}}
    >>> evaluator.evaluate({"q1": ["b", "a"], "q2": ["x", "c"]}).mean().high.tolist()
    [[[0.75, 0.75]]]
    """

    @shows_options(Options)
    @ends_in_a_sentence
    def __init__(self, qrels: QrelsLike, measures: MeasuresLike = DEFAULT_MEASURES, **options: Unpack[Options]) -> None:
        assumptions, self._reading = chosen_options(options, threads=None)
        scoring = Scoring(parse_measures(measures), assumptions, self._reading.threads)
        assumptions.check(scoring.measures)
        facts = TopicFacts(self._reading.judgments(qrels), assumptions.gain)
        self._prepared = PreparedScoring(facts, scoring, self._reading.run)
        self.measures, self.query_ids = list(scoring.measures), facts.query_ids
        self._names = list(map(str, scoring.measures))

    @ends_in_a_sentence
    def evaluate(
        self,
        runs: RunsLike,
        *,
        progress: Progress | None = None,
        observe: Callable[[int, Rankings], None] | None = None,
    ) -> Scores:
        """Score one run or many, as the function ``evaluate`` does."""
        prepared = self._prepared
        jobs = self._reading.runs_to_read(runs)
        return score_runs(prepared.facts, jobs, prepared.scoring, progress=progress, observe=observe)

    @ends_in_a_sentence
    def score(self, run: RunLike) -> dict[str, dict[str, float]]:
        """Return the values of one run as ``{query: {measure: value}}``, without bounds and warnings.

        It covers the queries that run and judgments share, in the run's order. ``{query: {document: score}}`` is
        fastest.
        """
        return self._prepared.by_name(run, self._names)

    def __repr__(self) -> str:
        return f"Evaluator({len(self.query_ids):,} topics, {', '.join(self._names)})"


class PreparedScoring:
    """The values of runs against judgments that are indexed once."""

    def __init__(self, facts: TopicFacts, scoring: Scoring, read: Callable[[Any], Run] = as_run) -> None:
        reject_for_preferences(scoring.measures, facts)
        self.facts, self.scoring, self._read = facts, scoring, read
        self._joining = scoring.joining | {"topics": "shared"}
        self._keeps_judgments = facts.some_only_pooled or self._joining["keep_judgments"]
        ties = scoring.assumptions.ties
        by_grades = (ties == "trec" or ties not in ORDERS) and not self._keeps_judgments
        self.short_lists = ShortLists(facts, scoring) if by_grades else None
        facts.qrels.pairs.index  # noqa: B018 (built once, for all runs)

    def by_name(self, run: RunLike, names: list[str]) -> dict[str, dict[str, float]]:
        if type(run) is dict:
            run = run.copy()  # another thread may change it
            if len(run) == 1 and self.short_lists is not None:
                ((query, documents),) = run.items()
                values = self.short_lists.values(query, documents)
                if values is not None:
                    return {query: dict(zip(names, values, strict=True))}
        queries, topic, batches = self._in_dicts(run) or self._in_table(run)
        by_topic = np.full((len(self.facts.query_ids), len(self.scoring.measures)), np.nan)
        for rankings in batches:
            by_topic[rankings.topic] = values_of(self.scoring, rankings)
        return dict_of_rows(queries, names, by_topic[topic])

    def _in_dicts(self, given: Any) -> Ranked | None:
        joined = join_dict(given, self.facts, **self._joining)
        if joined is None:
            return None
        number = self.facts.topic_number
        queries = [query for query in given if query in number] if joined.unknown else list(given)
        return queries, np.array([number[query] for query in queries]), joined.batches

    def _in_table(self, given: Any) -> Ranked:
        if type(given) is dict and all(type(inner) is dict for inner in given.values()):
            given = {query: inner.copy() for query, inner in given.items()}  # another thread may change them
        run = self._read(given)
        topic = self.facts.qrels.pairs.index.topics_of(run.pairs)
        shared = np.flatnonzero(topic >= 0)
        queries = [run.query_ids[number] for number in shared.tolist()]
        joined = join(run, self.facts, tie_key=self.scoring.assumptions.ties_key, **self._joining)
        slices = in_threads(lambda compute: compute(), joined.slices, self.scoring.threads)
        return queries, topic[shared], itertools.chain.from_iterable(slices)


def values_of(scoring: Scoring, rankings: Rankings) -> Floats:
    with blaming_judgments(rankings.facts):
        return scoring.assumptions.values(scoring.measures, rankings)


class ShortLists:
    """The values of short lists, ranked as ``collection.order`` does; unusual input is left to other code."""

    def __init__(self, facts: TopicFacts, scoring: Scoring) -> None:
        self._facts, self._scoring, self._number = facts, scoring, facts.topic_number
        self._precision = "f" if scoring.assumptions.score_precision == "single" else "d"
        self._grades: dict[str, dict[str, float]] = {}
        self._known: dict[tuple[Any, ...], Values] = {}

    def values(self, query: Any, documents: Any) -> Values | None:
        """Compute the measures of ``{document: score}`` of one query; None: unusual input."""
        if type(query) is not str or query not in self._number or type(documents) is not dict:
            return None
        documents = documents.copy()  # another thread may change it
        if not 0 < len(documents) <= SHORT or set(map(type, documents)) != {str} or "" in documents:
            return None
        try:
            "".join(documents).encode("utf-8")
            scores = array(self._precision, list(documents.values()))
        except (TypeError, ValueError, OverflowError):
            return None
        total = sum(scores)
        if total - total != 0.0:  # one is not finite
            return None
        ranked = sorted(zip(scores, documents, strict=True), reverse=True)
        grades = self._grades.get(query)
        if grades is None:
            rows = np.flatnonzero(self._facts.qrels.pairs.topic == self._number[query])
            judged = self._facts.qrels.pairs.docs.take(rows).to_list()
            grades = self._grades[query] = dict(zip(judged, self._facts.grade[rows].tolist(), strict=True))
        key: tuple[Any, ...] = (query, *(map(grades.get, [document for _, document in ranked])))
        if len(set(scores)) < len(scores):
            ordered = [score for score, _ in ranked]
            key = (*key, tuple(map(eq, ordered[1:], ordered)))
        known = self._known.get(key)
        return self._computed(key, len(ranked)) if known is None else known

    def _computed(self, key: tuple[Any, ...], length: int) -> Values:
        query, grades, tied = key[0], key[1 : length + 1], key[length + 1 :]
        rankings = Rankings(
            np.array([grades], dtype=np.float64),  # an unjudged document has None, which becomes NaN
            np.array([length]),
            np.array([self._number[query]]),
            self._facts,
            np.array([(False, *tied[0])]) if tied else None,
        )
        values = tuple(values_of(self._scoring, rankings)[0].tolist())
        if len(self._known) >= LISTS_REMEMBERED:
            self._known.clear()
        self._known[key] = values
        return values
