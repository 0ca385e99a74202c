"""A provider for the package ``ir_measures``, with our measures and our rules for ties.

    import ir_measures, rankbounds.interop.ir_measures
    rankbounds.interop.ir_measures.RankboundsProvider(ties="expected").calc_aggregate([ir_measures.AP], qrels, run)
    rankbounds.interop.ir_measures.use_first()      # from now on ir_measures asks rankbounds before all others

Measures are computed as ir_measures defines them, or refused with the reason. Those of the C/W/L family are of the
package cwl_eval (Azzopardi, Thomas and Moffat, SIGIR 2019): over 1,000 ranks, whatever the list is, so that values
for users who may read further (INSQ, INST, NERR11) are slightly above ours, whose sums are infinite.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.inputs import Reading, as_run
from rankbounds.collection.qrels import Qrels
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.scoring import ScoreSheet, Scoring, join_run
from rankbounds.interop.trec_eval import weighted_mean
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.cwl.continuing import INSQ, INST, SDCG, Continuing, ContinuingByRelevance
from rankbounds.measures.cwl.nearly_err import NERR8, NERR9, NERR10, NERR11
from rankbounds.measures.cwl.stopping_by_gain import BPM
from rankbounds.measures.precision.interpolated_precision import interpolated
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.measures.reciprocal_rank import ERR
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts

try:
    theirs: Any = importlib.import_module("ir_measures")
except ImportError:
    raise UsageError("This needs the package ir_measures: pip install ir_measures.") from None

SAME = frozenset(
    [
        *("P", "RR", "Rprec", "AP", "nDCG", "R", "NumQ", "NumRet", "NumRel", "Success", "Bpref"),
        *("infAP", "SetP", "SetR", "SetAP", "RBP", "ERR"),
    ]
)
"""Measures of ir_measures that we have too: what they print is read as any other name of a measure."""
BY_SUBTOPIC = frozenset(("ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall"))
"""The same of measures that read subtopics, from the field ``iteration`` of judgments."""
OF_CWL_EVAL: dict[str, tuple[type[Continuing] | type[ContinuingByRelevance], dict[str, str]]] = {
    "INSQ": (INSQ, {"T": "T"}),
    "INST": (INST, {"T": "T"}),
    "BPM": (BPM, {"T": "T", "K": "cutoff"}),
    "SDCG": (SDCG, {"cutoff": "cutoff"}),
    "NERR8": (NERR8, {"cutoff": "cutoff"}),
    "NERR9": (NERR9, {"cutoff": "cutoff"}),
    "NERR10": (NERR10, {"p": "p"}),
    "NERR11": (NERR11, {"T": "T"}),
}
"""Measures of cwl_eval: ours, whose user reads on as theirs does, and the names of its parameters here and there."""
RANKS = 1000
NEEDS_DEPTH = frozenset(("P", "R", "Success", "ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG", "P_IA", "StRecall"))


class Computed(Measure):
    """A measure that has another definition there than our measure of its name."""

    compute: Callable[[Rankings], Floats] = np.zeros_like

    promotable = False
    exactness = "unknown"

    def value(self, rankings: Rankings) -> Floats:
        return self.compute(rankings)


Computed.name = "ir_measures"  # a name of its own would make it one of ours


@dataclass(frozen=True)
class Converted:
    """Our measure for one of theirs, and what of the judgments it reads: other gains for grades, or subtopics."""

    measure: Measure
    gains: tuple[tuple[float, float], ...] = ()
    by_subtopic: bool = False


class OurMeasure(theirs.Measure):  # type: ignore[misc]
    """One of our measures where ir_measures expects one of its own."""

    NAME = "rankbounds"
    SUPPORTED_PARAMS = {"label": theirs.ParamInfo(dtype=str, required=True)}  # noqa: RUF012

    def __repr__(self) -> str:
        return str(self.params["label"])

    def aggregator(self) -> Any:
        return theirs.SumAgg() if parse_measure(self["label"]).total == "sum" else theirs.MeanAgg()


def measure(label: str | Measure) -> OurMeasure:
    """One of our measures, such as ``"AP*@10"`` or ``"nDCG'"``, for use in ir_measures."""
    chosen = parse_measure(label)
    if chosen.total == "geometric":
        raise UsageError(f"{chosen} has a geometric mean over topics, which ir_measures does not take.")
    return OurMeasure(label=str(chosen))


class RankboundsProvider(theirs.Provider):  # type: ignore[misc]
    """Computes with rankbounds whatever both packages have, with these rules for ties and unjudged documents."""

    NAME = "rankbounds"

    def __init__(self, ties: str = "trec", unjudged: str = "nonrelevant", score_precision: str = "double") -> None:
        super().__init__()
        self.assumptions = Assumptions(ties, unjudged, "none", topics="shared", score_precision=score_precision)

    def supports(self, measure: Any) -> bool:
        measure.validate_params()
        return not why_not(measure)

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Any:
        return _Evaluator(list(dict.fromkeys(measures)), qrels, self.assumptions)


class _Evaluator(theirs.Evaluator):  # type: ignore[misc]
    def __init__(self, measures: list[Any], qrels: Any, assumptions: Assumptions) -> None:
        rows = list(theirs.util.QrelsConverter(qrels).as_namedtuple_iter())
        super().__init__(measures, {row.query_id for row in rows})
        self.assumptions = assumptions
        reasons = [f"{measure}: {reason}" for measure in measures if (reason := why_not(measure))]
        if reasons:
            raise ValueError("unsupported measure " + "; ".join(reasons))
        self.converted = [_ours(measure) for measure in measures]
        assumptions.check([one.measure for one in self.converted])
        self.facts = {
            key: TopicFacts(_judgments(rows, *key)) for key in {(one.gains, one.by_subtopic) for one in self.converted}
        }

    def iter_calc(self, run: Any) -> Iterator[Any]:
        known: set[tuple[Any, str]] = set()
        for metric in self._iter_calc(run):
            known.add((metric.measure, metric.query_id))
            yield metric
        for measure in sorted(set(self.measures), key=str):
            for query in sorted(self.qrel_qids):
                if (measure, query) not in known:
                    yield theirs.Metric(query_id=query, measure=measure, value=measure.DEFAULT)

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        nested = theirs.util.RunConverter(run).as_dict_of_dict()
        if not nested.keys() & self.qrel_qids:
            return
        given = as_run(nested)
        for key, facts in self.facts.items():
            chosen = [at for at, one in enumerate(self.converted) if (one.gains, one.by_subtopic) == key]
            scoring = Scoring([self.converted[at].measure for at in chosen], self.assumptions)
            sheet = ScoreSheet(scoring, len(facts.query_ids))
            value = sheet.score(join_run(given, facts, scoring), facts).value.tolist()
            for query, numbers in zip(facts.query_ids, value, strict=True):
                for at, number in zip(chosen, numbers, strict=True):
                    if number == number:
                        yield theirs.Metric(query_id=query, measure=self.measures[at], value=number)


def _judgments(rows: list[Any], gains: tuple[tuple[float, float], ...], by_subtopic: bool) -> Qrels:
    if by_subtopic:
        columns: dict[str, list[Any]] = {"query_id": [], "subtopic": [], "doc_id": [], "relevance": []}
        for row in rows:
            entry = (row.query_id, getattr(row, "iteration", "0"), row.doc_id, row.relevance)
            for name, value in zip(columns, entry, strict=True):
                columns[name].append(value)
        return Reading().judgments(columns)
    nested: dict[str, dict[str, float]] = {}
    gain = dict(gains)
    for row in rows:
        nested.setdefault(row.query_id, {})[row.doc_id] = gain.get(row.relevance, row.relevance)
    judgments = Reading().judgments(nested)
    return judgments.only_judged(judgments.grade >= 0)


def why_not(given: Any) -> str:
    if isinstance(given, OurMeasure):
        return ""
    if given.NAME in NEEDS_DEPTH and "cutoff" not in given.params:
        return "it needs a depth"
    if given.NAME == "nDCG" and "gains" in given.params and any(gain < 0 for gain in given["gains"].values()):
        return "gains below 0 count as unjudged in trec_eval"
    if given.NAME == "nDCG" and "gains" in given.params and given["dcg"] != "log2":
        return "no provider of ir_measures has gains with this dcg"
    if given.NAME in OF_CWL_EVAL and "max_rel" not in given.params:
        return "it needs max_rel"
    if given.NAME not in SAME | BY_SUBTOPIC | _OTHERS.keys() | OF_CWL_EVAL.keys():
        return "it is not known here"
    try:
        _ours(given)
    except UsageError as error:
        return str(error)
    return ""


def _ours(given: Any) -> Converted:
    if isinstance(given, OurMeasure):
        return Converted(parse_measure(given["label"]))
    if given.NAME in _OTHERS:
        return _OTHERS[given.NAME](given)
    if given.NAME in OF_CWL_EVAL:
        kind, names = OF_CWL_EVAL[given.NAME]
        user = kind(**{own: given[name] for own, name in names.items()})
        return Converted(Computed(compute=partial(_gain_per_document, user, given["min_rel"], given["max_rel"])))
    gains: tuple[tuple[float, float], ...] = ()
    if "gains" in given.params:
        gains = tuple(sorted(given["gains"].items()))
        given = type(given)(**{name: value for name, value in given.params.items() if name != "gains"})
    if given.NAME in ("SetP", "SetR") and "cutoff" in given.params:  # which they ignore
        given = type(given)(**{name: value for name, value in given.params.items() if name != "cutoff"})
    ours = parse_measure(str(given))
    if isinstance(ours, RBP) and "rel" not in given.params:
        ours = replace(ours, graded=True)
    elif isinstance(ours, ERR):
        ours = replace(ours, max_grade=4.0)
    return Converted(ours, gains, given.NAME in BY_SUBTOPIC)


def _on_condensed(given: Any, compute: Callable[[Rankings], Floats]) -> Converted:
    measure = Computed(compute=compute)
    return Converted(Condensed(measure) if given["judged_only"] else measure)


def _interpolated(recall: float, rel: float, rankings: Rankings) -> Floats:
    return interpolated(rankings, rel, (recall,), rounding=0.9)[0]


def _gain_per_document(
    user: Continuing | ContinuingByRelevance, least: float, most: float, rankings: Rankings
) -> Floats:
    gain = np.zeros((rankings.length.size, RANKS))
    grade = np.nan_to_num(rankings.grade[:, :RANKS])
    gain[:, : grade.shape[1]] = np.clip((grade - least) / (most - least), 0.0, 1.0)
    going_on = user.continuation(RANKS) if isinstance(user, Continuing) else user.continuation(gain)
    examined = np.cumprod(np.broadcast_to(going_on, gain.shape), axis=-1)
    examined = np.concatenate((np.ones((gain.shape[0], 1)), examined[:, :-1]), axis=1)
    return (examined * gain).sum(axis=-1) / examined.sum(axis=-1)


_OTHERS: dict[str, Callable[[Any], Converted]] = {
    "IPrec": lambda given: _on_condensed(given, partial(_interpolated, given["recall"], float(given["rel"]))),
    "SetF": lambda given: _on_condensed(given, partial(weighted_mean, given["beta"], float(given["rel"]))),
}
"""Measures of theirs that are not ours of that name."""


def use_first(chosen: RankboundsProvider | None = None) -> None:
    first = chosen or RankboundsProvider()
    theirs.providers.register(first)
    pipeline = theirs.DefaultPipeline.providers
    pipeline[:] = [first, *(other for other in pipeline if other.NAME != "rankbounds")]
