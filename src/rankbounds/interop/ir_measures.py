"""A provider for the package ``ir_measures``: its users get our measures, our rules for ties, and more measures.

    import ir_measures, rankbounds.interop.ir_measures
    rankbounds.interop.ir_measures.provider(ties="expected").calc_aggregate([ir_measures.AP], qrels, run)
    rankbounds.interop.ir_measures.use_first()      # from now on ir_measures asks rankbounds before all others

Importing this module registers the provider as ``rankbounds``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from rankbounds.collection.inputs import Reading
from rankbounds.collection.run import as_run
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.scoring import ScoreSheet, Scoring, join_run
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.measures.reciprocal_rank import ERR
from rankbounds.rankings.topic_facts import TopicFacts

try:
    theirs: Any = importlib.import_module("ir_measures")
except ImportError:
    raise UsageError("This needs the package ir_measures: pip install ir_measures.") from None

SAME = frozenset(
    [
        *("P", "RR", "Rprec", "AP", "nDCG", "R", "NumQ", "NumRet", "NumRel", "Success", "IPrec", "Judged", "Bpref"),
        *("infAP", "SetP", "SetR", "SetF", "SetAP", "RBP", "ERR"),
    ]
)
"""Measures of ir_measures that we have too: what they print is read as any other name of a measure."""


class OurMeasure(theirs.Measure):  # type: ignore[misc]
    """One of our measures where ir_measures expects one of its own."""

    NAME = "rankbounds"
    SUPPORTED_PARAMS = {"label": theirs.ParamInfo(dtype=str, required=True)}  # noqa: RUF012

    def __repr__(self) -> str:
        return str(self.params["label"])

    def aggregator(self) -> Any:
        """The mean over topics, or the sum for counts."""
        return theirs.SumAgg() if parse_measure(self["label"]).total == "sum" else theirs.MeanAgg()


def measure(label: str | Measure) -> OurMeasure:
    """One of our measures, such as ``"AP*@10"`` or ``"nDCG'"``, for use in ir_measures."""
    chosen = parse_measure(label)
    if chosen.total == "geometric":
        raise UsageError(f"{chosen} has a geometric mean over topics, which ir_measures does not take.")
    return OurMeasure(label=str(chosen))


class RankboundsProvider(theirs.Provider):  # type: ignore[misc]
    """Computes with rankbounds whatever both packages have."""

    NAME = "rankbounds"

    def __init__(self, assumptions: Assumptions | None = None) -> None:
        super().__init__()
        self.assumptions = assumptions or Assumptions(bounds="none", topics="shared")

    def supports(self, measure: Any) -> bool:
        """Is this one of our measures, or one that we have too, with these parameters?"""
        measure.validate_params()
        try:
            return _ours(measure) is not None
        except UsageError:
            return False

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Any:
        return _Evaluator(list(measures), qrels, self.assumptions)


class _Evaluator(theirs.Evaluator):  # type: ignore[misc]
    def __init__(self, measures: list[Any], qrels: Any, assumptions: Assumptions) -> None:
        nested = theirs.util.QrelsConverter(qrels).as_dict_of_dict()
        super().__init__(measures, set(nested))
        self.facts = TopicFacts(Reading().judgments(nested))
        self.assumptions = assumptions
        self.ours = []
        for measure in measures:
            converted = _ours(measure)
            if converted is None:
                raise ValueError(f"unsupported measure {measure}")
            self.ours.append(converted)
        assumptions.check(self.ours)

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        nested = theirs.util.RunConverter(run).as_dict_of_dict()
        if not nested.keys() & self.qrel_qids:
            return
        scoring = Scoring(self.ours, self.assumptions)
        sheet = ScoreSheet(scoring, len(self.facts.query_ids))
        value = sheet.score(join_run(as_run(nested), self.facts, scoring), self.facts).value.tolist()
        for query, numbers in zip(self.facts.query_ids, value, strict=True):
            for measure, number in zip(self.measures, numbers, strict=True):
                if number == number:
                    yield theirs.Metric(query_id=query, measure=measure, value=number)


def _ours(given: Any) -> Measure | None:
    """Our measure for one of theirs; None where we have none of these parameters."""
    if isinstance(given, OurMeasure):
        return parse_measure(given["label"])
    if given.NAME not in SAME or "gains" in given.params:
        return None
    ours = parse_measure(str(given))
    if isinstance(ours, RBP) and "rel" not in given.params:
        return replace(ours, graded=True)
    return replace(ours, max_grade=4.0) if isinstance(ours, ERR) else ours


def provider(ties: str = "trec", unjudged: str = "nonrelevant", score_precision: str = "double") -> RankboundsProvider:
    """A provider with these rules for ties and unjudged documents."""
    return RankboundsProvider(
        Assumptions(ties, unjudged, bounds="none", topics="shared", score_precision=score_precision)
    )


def use_first(chosen: RankboundsProvider | None = None) -> None:
    """Let ir_measures ask rankbounds before all other providers."""
    first = chosen or theirs.providers.registry["rankbounds"]
    pipeline = theirs.DefaultPipeline.providers
    pipeline[:] = [first, *(other for other in pipeline if other.NAME != "rankbounds")]


theirs.providers.register(RankboundsProvider())
