"""pytrec_eval's class on our measures, to take its place without a change elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankbounds.collection.inputs import judgments_from
from rankbounds.collection.run import as_run
from rankbounds.errors import RankboundsWarning, UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.score_sheet import RunResult, score_run
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.parser import trec_name
from rankbounds.rankings.topic_facts import TopicFacts

DEPTHS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
FAMILIES = {
    **dict.fromkeys(("P", "recall", "map_cut", "ndcg_cut"), DEPTHS),
    "success": ("1", "5", "10"),
    "iprec_at_recall": tuple(f"{tenth / 10:.2f}" for tenth in range(11)),
}
"""The values that trec_eval puts behind a name that stands alone."""
NICKNAMES = {
    "official": (
        *("num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
        *("iprec_at_recall", "P"),
    ),
    "all_trec": (
        *("num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
        *("recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg", "binG", "G", "ndcg", "ndcg_rel", "Rndcg"),
        *("ndcg_cut", "map_cut", "relative_P", "success", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
        "num_nonrel_judged_ret",
    ),
}
"""What trec_eval's names for several measures stand for."""


class RelevanceEvaluator:
    """Score runs held as dicts of dicts against judgments held so, as ``pytrec_eval.RelevanceEvaluator`` does.

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
        Leave unjudged documents out, as ``trec_eval -J`` does.
    ties
        As in ``rankbounds.evaluate``.
    score_precision
        Scores are compared in single precision, as trec_eval 9 and with it pytrec_eval do; ``"double"`` compares them
        as they are.

    Examples
    --------
    >>> import rankbounds as rb
    >>> evaluator = rb.RelevanceEvaluator({"q": {"a": 1, "b": 0}}, {"map", "P_5"})
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
        named = {name: measure for part in given for name, measure in _named(part)}
        self.names = list(named)
        self.measures = [_at_level(measure, relevance_level) for measure in named.values()]
        if judged_docs_only_flag:
            self.measures = [measure if measure.as_retrieved else Condensed(measure) for measure in self.measures]
        self._assumptions = Assumptions(ties, bounds="none", topics="shared", score_precision=score_precision)
        self._facts = TopicFacts(judgments_from(query_relevance))
        self._topics = set(self._facts.query_ids)
        self._facts.qrels.pairs.index  # noqa: B018 (built once, for all runs)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """``{query: {measure: value}}`` for the queries that the run and the judgments share."""
        shared = [query for query in scores if query in self._topics]
        if not shared:
            return {}
        rows = self._scored(scores).value.tolist()
        number = {query: number for number, query in enumerate(self._facts.query_ids)}
        return {query: dict(zip(self.names, rows[number[query]], strict=True)) for query in shared}

    def _scored(self, scores: Any) -> RunResult:
        return score_run(as_run(scores), self._facts, self.measures, self._assumptions)


def aggregate(name: str, values: Iterable[float]) -> float:
    """The mean over topics of a measure's values, or the sum for counts, as trec_eval's summary has it."""
    numbers = np.fromiter(values, np.float64)
    return float(numbers.sum() if parse_measure(name).total == "sum" else numbers.mean())


def _named(given: str | Measure) -> list[tuple[str, Measure]]:
    """Measures by the names under which their values are given back."""
    if isinstance(given, Measure):
        return [(trec_name(given), given)]
    if given in NICKNAMES:
        named, left_out = [], []
        for name in NICKNAMES[given]:
            try:
                named += _named(name)
            except UsageError:
                left_out.append(name)
        if left_out:
            warnings.warn(
                f'"{given}": left out are {", ".join(left_out)}, which rankbounds does not have.',
                RankboundsWarning,
                stacklevel=3,
            )
        return named
    family, dot, values = given.partition(".")
    if family in FAMILIES and (dot or given == family):
        names = [f"{family}_{value}" for value in (values.split(",") if dot else FAMILIES[family])]
        return [(name, parse_measure(name)) for name in names]
    measure = parse_measure(given)
    return [(given if trec_name(measure) == given else str(measure), measure)]


def _at_level(measure: Measure, level: float) -> Measure:
    return measure if level == 1 else measure.at_level(level)
