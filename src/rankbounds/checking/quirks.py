"""What other computations do otherwise than we do: the order of documents, grades, depth, names; and all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import get_args

import numpy as np

from rankbounds.checking.quirk import Quirk
from rankbounds.checking.quirks_of_collections import of_runs, of_topics, of_unretrieved
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.naming.elsewhere import DIFFERENT
from rankbounds.rankings.order import Order, Precision, ranks
from rankbounds.rankings.preparation import Preparation

DEPTHS = (1, 3, 5, 10, 20, 50, 100, 1000)
ANYWHERE = ("topics", "precision", "preparation")
"""Respects that are tried together with every other."""


def quirks(
    qrels: Qrels, run: Run, measures: Iterable[Measure], depths: Iterable[int], repeated: Run | None
) -> Iterator[Quirk]:
    """Every quirk that can make a difference for these judgments, this run and these measures."""
    yield from of_topics(qrels, run)
    yield from _of_order(run)
    yield from of_runs(qrels, run, repeated)
    yield Quirk(
        "unjudged",
        "unjudged: documents without a judgment are left out (trec_eval -J)",
        "--unjudged condensed",
        {"unjudged": "condensed"},
    )
    yield from _of_grades(qrels)
    cutoffs = sorted({measure.cutoff for measure in measures if measure.cutoff is not None})
    yield from of_unretrieved(cutoffs)
    yield from _of_depth(run, depths)
    yield from _of_names(measures)


# ---- in which order documents stand ----


def _of_order(run: Run) -> Iterator[Quirk]:
    single = run.score.astype(np.float32)
    if (single != run.score).any():
        yield Quirk(
            "precision",
            "precision: scores were compared in 32 bits, as trec_eval 9 and pytrec_eval do",
            "--score-precision single",
            {"score_precision": "single"},
        )
    fixed: dict[Order, str] = {
        "docid": "ties: documents of equal score in rising order of their ids",
        "line": "ties: documents of equal score in the order of the file",
        "rank": "ties: documents of equal score in the order of the stated rank",
        "run": "order: the file's line order, scores ignored",
    }
    if run.stated_rank is None:
        del fixed["rank"]
    seen = {_places(run, "trec")}
    for order, why in fixed.items():
        places = _places(run, order)
        if places not in seen:  # the same order under another name is no other reason
            seen.add(places)
            yield Quirk("ties", why, f"--ties {order}", {"ties": order})
    if len(seen) > 1:
        yield from (
            Quirk("ties", f"ties: {why}", f"--ties {order}", {"ties": order})
            for order, why in (
                ("expected", "the mean over all orders of documents of equal score"),
                ("best", "of documents of equal score the relevant ones first"),
                ("worst", "of documents of equal score the relevant ones last"),
            )
        )


def _places(run: Run, order: Order) -> bytes:
    """Where every row stands, in either precision."""
    return b"".join(ranks(run, order, precision).tobytes() for precision in get_args(Precision))


# ---- what grades are worth ----


def _of_grades(qrels: Qrels) -> Iterator[Quirk]:
    grades = sorted({float(grade) for grade in np.unique(qrels.grade) if grade > 0})
    for level in grades:
        if level != 1:
            yield Quirk(
                "grades",
                f"relevance level: documents are relevant from grade {level:g} on (trec_eval -l {level:g})",
                measure=partial(_at_level, level),
            )
    if len(grades) < 2:
        return
    exponential = ",".join(f"{grade:g}={2**grade - 1:g}" for grade in grades)
    why = "gains: 2^grade - 1 in place of the grade"
    yield Quirk("grades", why, measure=lambda measure: _with_gain(measure, "exp"))
    yield Quirk(
        "grades", "gains: the grade in place of 2^grade - 1", measure=lambda measure: _with_gain(measure, "linear")
    )
    yield Quirk("grades", why, f"--gain {exponential}", {"gain": exponential}, measure=_graded_without_gain)
    binary = ",".join(f"{grade:g}=1" for grade in grades)
    yield Quirk(
        "grades", "gains: every relevant document gains 1", f"--gain {binary}", {"gain": binary}, measure=_graded
    )
    for level in grades[1:]:
        lower = ",".join(f"{grade:g}=0" if grade < level else f"{grade:g}={grade:g}" for grade in grades)
        yield Quirk(
            "grades",
            f"gains: grades below {level:g} gain nothing, as in ranx with -l{level:g}",
            f"--gain {lower}",
            {"gain": lower},
            measure=_graded,
        )


def _graded(measure: Measure) -> Measure | None:
    return measure if measure.graded else None


def _with_gain(measure: Measure, gain: str) -> Measure | None:
    given = measure.parameters.get("gain", gain)
    return None if given == gain or not isinstance(given, str) else measure.changed(gain=gain)


def _graded_without_gain(measure: Measure) -> Measure | None:
    return measure if measure.graded and "gain" not in measure.parameters else None


def _at_level(level: float, measure: Measure) -> Measure | None:
    return measure.at_level(level) if "rel" in measure.parameters else None


# ---- how deep ----


def _of_depth(run: Run, depths: Iterable[int]) -> Iterator[Quirk]:
    deepest = int(np.bincount(run.pairs.topic).max(initial=0))
    for depth in sorted({*DEPTHS, *depths}):
        if 0 < depth < deepest:
            yield Quirk(
                "depth",
                f"depth: only the first {depth:,} documents of each list counted (trec_eval -M {depth})",
                f"--depth {depth}",
                run=Preparation(depth=depth),
            )
    for cutoff in (*DEPTHS, None):
        yield Quirk(
            "depth",
            "depth: the measure read the whole list" if cutoff is None else f"depth: the measure read {cutoff:,} ranks",
            measure=partial(_at_cutoff, cutoff),
        )


def _at_cutoff(cutoff: int | None, measure: Measure) -> Measure | None:
    if "cutoff" not in measure.parameters or measure.cutoff == cutoff:
        return None
    try:
        return measure.changed(cutoff=cutoff)
    except UsageError:
        return None


# ---- what others mean by a name ----


def _of_names(measures: Iterable[Measure]) -> Iterator[Quirk]:
    names = {measure.name for measure in measures}
    yield Quirk("name", "discount: log2(rank) from rank 2 on, as in the paper of 2002", measure=_with_base_2)
    for name, tool, spelling, what in DIFFERENT:
        if name in names and spelling and "," not in spelling:
            yield Quirk("name", f"name: {name} in {tool}: {what}", measure=partial(_spelt, name, spelling))


def _with_base_2(measure: Measure) -> Measure | None:
    return measure.changed(base=2.0) if measure.parameters.get("base", 0) is None else None


def _spelt(name: str, spelling: str, measure: Measure) -> Measure | None:
    if measure.name != name:
        return None
    try:
        other = parse_measure(spelling)
        if measure.cutoff is not None and "cutoff" in other.parameters:
            other = other.changed(cutoff=measure.cutoff)
    except UsageError:
        return None
    return None if other == measure else other
