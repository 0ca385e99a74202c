"""pytrec_eval's class on our measures, to take its place without a change elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from rankbounds.collection.inputs import Reading
from rankbounds.errors import DataError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.evaluator import PreparedScoring
from rankbounds.evaluation.scoring import Scoring
from rankbounds.interop.trec_eval import at_level, family
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.naming.elsewhere import FAMILIES, NICKNAMES
from rankbounds.measures.naming.parser import trec_name
from rankbounds.rankings.topic_facts import TopicFacts

T = TypeVar("T")
_NO_NUMBERS = ("runid", "relstring")  # pytrec_eval gives 0
_WITH_PARAMETERS = re.compile(rf"({'|'.join(sorted(FAMILIES, key=len, reverse=True))})[._]([0-9.,]+)")
supported_nicknames: dict[str, set[str]] = {
    nickname: {name for name in names if not name.startswith("rbp") and name != "unj"}
    for nickname, names in NICKNAMES.items()
}
"""trec_eval's names for several measures, and the names that each stands for, as in pytrec_eval."""
supported_measures: set[str] = set(supported_nicknames["all_trec"])
"""The names that pytrec_eval takes; ``RelevanceEvaluator`` takes ours too."""


class RelevanceEvaluator:
    """Score runs as dicts of dicts against judgments as dicts, as ``pytrec_eval.RelevanceEvaluator`` does.

    Parameters
    ----------
    query_relevance
        Judgments: ``{query: {document: grade}}``, or another form that ``rankbounds.evaluate`` takes.
    measures
        trec_eval's names (``"map"``, ``"ndcg_cut_10"``, ``"P.5,10"``, ``"ndcg_cut"`` for its usual depths) or ours
        (``"RBP(p=0.8)"``); one or several.
    relevance_level
        The lowest grade that counts as relevant.
    judged_docs_only_flag
        Leave out unjudged documents, as ``trec_eval -J`` does.
    ties
        As in ``rankbounds.evaluate``.
    score_precision
        ``"single"`` as in trec_eval 9 and so in pytrec_eval, or ``"double"``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> evaluator = rb.interop.RelevanceEvaluator({"q": {"a": 1, "b": 0}}, {"map", "P_5"})
    >>> sorted(evaluator.evaluate({"q": {"b": 2.0, "a": 1.0}})["q"].items())
    [('P_5', 0.2), ('map', 0.5)]
    """

    def __init__(
        self,
        query_relevance: Any,
        measures: str | Iterable[str | Measure],
        relevance_level: float = 1,
        judged_docs_only_flag: bool = False,
        *,
        ties: str = "trec",
        score_precision: str = "single",
    ) -> None:
        given = [measures] if isinstance(measures, str | Measure) else list(measures)
        named, self._no_numbers = _named(given)
        self.names = list(named)
        self.measures = [
            measure if relevance_level == 1 else at_level(measure, relevance_level) for measure in named.values()
        ]
        if judged_docs_only_flag:
            self.measures = [Condensed(measure) for measure in self.measures]
        assumptions = Assumptions(ties, bounds="none", topics="shared", score_precision=score_precision)
        self._topics: set[str] = set()
        if isinstance(query_relevance, Mapping) and not any(map(len, query_relevance.values())):
            return  # nothing is judged, and nothing is scored
        judgments = Reading().judgments(query_relevance)
        facts = TopicFacts(judgments.only_judged(judgments.grade >= 0))
        self._topics = set(facts.query_ids)
        self._prepared = PreparedScoring(facts, Scoring(self.measures, assumptions))

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return ``{query: {measure: value}}`` for the queries that the run and the judgments share."""
        if self._topics.isdisjoint(scores):
            return {}
        values = self._prepared.by_name(scores, self.names)
        if not self._no_numbers:
            return values
        return {query: of_query | self._no_numbers for query, of_query in values.items()}


def aggregate(name: str, values: Iterable[float]) -> float:
    """Return trec_eval's summary over all topics: the mean of a measure's values, or the sum for counts.

    For gm_map and gm_bpref, whose values are logarithms, it is the geometric mean.
    """
    numbers = np.fromiter(values, np.float64)
    total = parse_measure(name).total
    if total == "sum":
        return float(numbers.sum())
    return float(np.exp(numbers.mean()) if total == "geometric" else numbers.mean())


compute_aggregated_measure = aggregate


def parse_run(lines: Iterable[str]) -> dict[str, dict[str, float]]:
    """The lines of a run in TREC's format as ``{query: {document: score}}``."""
    return _parse(lines, 6, 4, float)


def parse_qrel(lines: Iterable[str]) -> dict[str, dict[str, int]]:
    """The lines of judgments in TREC's format as ``{query: {document: grade}}``."""
    return _parse(lines, 4, 3, lambda text: int(float(text)))


def _parse(lines: Iterable[str], count: int, column: int, number_in: Callable[[str], T]) -> dict[str, dict[str, T]]:
    nested: dict[str, dict[str, T]] = {}
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if len(fields) != count:
            raise DataError(f"line {number}", f"{len(fields)} fields, but {count} are expected.")
        query, _, document = fields[:3]
        if document in nested.setdefault(query, {}):
            raise DataError(f"line {number}", f'document "{document}" is listed twice for query "{query}".')
        try:
            nested[query][document] = number_in(fields[column])
        except (ValueError, OverflowError):
            raise DataError(f"line {number}", f'"{fields[column]}" is not a number.') from None
    return nested


def _named(given: Iterable[str | Measure]) -> tuple[dict[str, Measure], dict[str, float]]:
    names: dict[str | Measure, None] = {}
    for one in given:
        several = NICKNAMES.get(one) if isinstance(one, str) else None
        names |= dict.fromkeys([one] if several is None else [name for name in several if name in supported_measures])
    parameters: dict[str, set[str]] = {}
    for name in names:
        base, values = _family_of(name)
        parameters.setdefault(base, set()).update(values)
    named: dict[str, Measure] = {}
    for name in names:
        base = _family_of(name)[0]
        if base:
            named |= family(base, ",".join(parameters[base]))
        elif name not in _NO_NUMBERS:
            measure = parse_measure(name)
            same = isinstance(name, Measure) or trec_name(measure) == name
            named[trec_name(measure) if same else str(measure)] = measure
    return named, {name: 0.0 for name in _NO_NUMBERS if name in names}


def _family_of(name: str | Measure) -> tuple[str, list[str]]:
    match = _WITH_PARAMETERS.fullmatch(name) if isinstance(name, str) else None
    if match:
        return match[1], match[2].split(",")
    return (str(name) if name in FAMILIES else ""), []
