"""Differences of other computations from ours, one respect each, and the options that reproduce them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, get_args

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.order import Order, Precision, ranks
from rankbounds.collection.preparation import Preparation
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, number_pairs
from rankbounds.errors import UsageError
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.naming.elsewhere import DIFFERENT
from rankbounds.measures.precision.interpolated_precision import IPrec, interpolated
from rankbounds.rankings.rankings import Rankings

DEPTHS = (1, 3, 5, 10, 20, 50, 100, 1000)
ANYWHERE = ("topics", "precision", "preparation")
"""Respects that are tried together with every other."""
SEPARATORS = ("#", "_", "-", ":", ".", "/", "|", "@", "%")
"""What may stand between a document's id and its chunk's."""


@dataclass(frozen=True)
class Quirk:
    """A computation that differs from ours in one respect."""

    respect: str
    why: str
    switch: str | None = ""
    """The option that makes us do so too; empty: the measure is spelt otherwise; None: there is none."""
    options: dict[str, str] = field(default_factory=dict)
    measure: Callable[[Measure], Measure | None] = lambda measure: measure
    """The measure as it is computed; None: the quirk does not concern it."""
    run: Callable[[Run], Run] = lambda run: run
    qrels: Callable[[Qrels, Run], Qrels] = lambda qrels, _: qrels

    @classmethod
    def of_option(cls, respect: str, why: str, name: str, value: str, **more: Any) -> Quirk:
        return cls(respect, why, f"--{name.replace('_', '-')} {value}", {name: value}, **more)


def quirks(
    qrels: Qrels, run: Run, measures: Iterable[Measure], depths: Iterable[int], repeated: Run | None
) -> Iterator[Quirk]:
    yield from _of_topics(qrels, run)
    yield from _of_order(run)
    yield from _of_documents(qrels, run, repeated)
    why = "unjudged: documents without a judgment are left out (trec_eval -J)"
    yield Quirk.of_option("unjudged", why, "unjudged", "condensed")
    yield from _of_grades(qrels)
    yield from _of_unretrieved(sorted({measure.cutoff for measure in measures if measure.cutoff is not None}))
    yield from _of_depth(run, depths)
    yield from _of_names({measure.name for measure in measures})


def _of_topics(qrels: Qrels, run: Run) -> Iterator[Quirk]:
    present = np.bincount(run.pairs.topic, minlength=len(run.query_ids)) > 0
    retrieved = {topic for topic, there in zip(run.query_ids, present.tolist(), strict=True) if there}
    judged = set(qrels.query_ids)
    if judged - retrieved:
        why = "missing topics: without -c, trec_eval leaves out topics that the run lacks, and so do many others"
        yield Quirk.of_option("topics", why, "topics", "shared")
    if _without_relevant(qrels).any():
        why = "empty topics: topics without a relevant document are left out of the mean"
        yield Quirk("topics", why, None, qrels=_with_relevant_alone)
    unjudged = sorted(retrieved - judged)
    if unjudged:
        why = f"unjudged topics: {len(unjudged):,} of the run's topics have no judgments and count as 0"
        yield Quirk("topics", why, None, qrels=lambda judgments, _: _with_topics(judgments, unjudged))


def _without_relevant(qrels: Qrels) -> Flags:
    return np.bincount(qrels.pairs.topic[qrels.grade > 0], minlength=len(qrels.query_ids)) == 0


def _with_relevant_alone(qrels: Qrels, _: Run) -> Qrels:
    return qrels.take(np.flatnonzero(~_without_relevant(qrels)[qrels.pairs.topic]))


def _with_topics(qrels: Qrels, topics: list[str]) -> Qrels:
    queries, docs, grades = zip(*qrels, *((topic, "nothing", 0.0) for topic in topics), strict=True)
    return Qrels.from_columns(queries, docs, grades)


def _of_order(run: Run) -> Iterator[Quirk]:
    if (run.score.astype(np.float32) != run.score).any():
        why = "precision: scores were compared in 32 bits, as trec_eval 9 and pytrec_eval do"
        yield Quirk.of_option("precision", why, "score_precision", "single")
    fixed: dict[Order, str] = {
        "docid": "ties: documents of equal score in ascending order of their ids",
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
            yield Quirk.of_option("ties", why, "ties", order)
    if len(seen) > 1:
        for rule, what in (
            ("expected", "the mean over all orders of documents of equal score"),
            ("best", "of documents of equal score the relevant ones first"),
            ("worst", "of documents of equal score the relevant ones last"),
        ):
            yield Quirk.of_option("ties", f"ties: {what}", "ties", rule)


def _places(run: Run, order: Order) -> bytes:
    return b"".join(ranks(run, order, precision).tobytes() for precision in get_args(Precision))


def _of_documents(qrels: Qrels, run: Run, repeated: Run | None) -> Iterator[Quirk]:
    if repeated is not None:
        count = len(repeated) - len(run)
        every = f"duplicates: all lines of repeated documents were counted ({count:,} more)"
        final = f"duplicates: the last line of each repeated document was taken ({count:,} left out)"
        last = _last_of_each(repeated)
        yield Quirk("preparation", every, None, run=lambda _: repeated)
        yield Quirk("preparation", final, None, run=lambda _: last)
    drop_self = Preparation(drop_self=True)
    if len(drop_self(run)) < len(run):
        why = "self-matches: documents with the id of their query were dropped, as BEIR does"
        yield Quirk("preparation", why, "--drop-self", run=drop_self)
    for separator in _separators(qrels, run):
        cut = f'chunks: ids were cut at the last "{separator}", and'
        yield Quirk(
            "preparation",
            f"{cut} each document counted once, by its best chunk",
            f"--documents-of '{separator}'",
            run=Preparation(documents_of=separator),
        )
        why = f"{cut} every chunk counted as a document (duplicates)"
        yield Quirk("preparation", why, None, run=partial(_cut_ids, separator))


def _separators(qrels: Qrels, run: Run) -> Iterator[str]:
    judged = np.count_nonzero(_retrieved(qrels, run))
    for separator in SEPARATORS:
        if not np.isin(ord(separator), run.pairs.docs.text):
            continue
        if np.count_nonzero(_retrieved(qrels, Preparation(documents_of=separator)(run))) > judged:
            yield separator


def _cut_ids(separator: str, run: Run) -> Run:
    docs = [head or doc for doc in run.pairs.docs.to_list() for head in [doc.rpartition(separator)[0]]]
    pairs = run.pairs
    return Run._of_pairs(run.name, Pairs.numbered(pairs.topics, pairs.topic, Ids.of(docs), pairs.source), run.score)


def _last_of_each(run: Run) -> Run:
    (number,) = number_pairs([run.pairs])
    _, from_behind = np.unique(number[::-1], return_index=True)
    return run.take(np.sort(len(run) - 1 - from_behind))


def _of_grades(qrels: Qrels) -> Iterator[Quirk]:
    grades = sorted({float(grade) for grade in np.unique(qrels.grade) if grade > 0})
    for level in grades:
        if level != 1:
            why = f"relevance level: documents are relevant from grade {level:g} on (trec_eval -l {level:g})"
            yield Quirk("grades", why, measure=partial(_at_level, level))
    if len(grades) < 2:
        return
    exponential = ",".join(f"{grade:g}={2**grade - 1:g}" for grade in grades)
    why = "gains: 2^grade - 1 instead of the grade"
    yield Quirk("grades", why, measure=partial(_with_gain, "exp"))
    yield Quirk("grades", "gains: the grade instead of 2^grade - 1", measure=partial(_with_gain, "linear"))
    yield Quirk.of_option("grades", why, "gain", exponential, measure=partial(_graded, without="gain"))
    binary = ",".join(f"{grade:g}=1" for grade in grades)
    yield Quirk.of_option("grades", "gains: every relevant document gains 1", "gain", binary, measure=_graded)
    for level in grades[1:]:
        lower = ",".join(f"{grade:g}=0" if grade < level else f"{grade:g}={grade:g}" for grade in grades)
        why = f"gains: grades below {level:g} gain nothing, as in ranx with -l{level:g}"
        yield Quirk.of_option("grades", why, "gain", lower, measure=_graded)


def _graded(measure: Measure, without: str = "") -> Measure | None:
    return measure if measure.graded and without not in measure.parameters else None


def _with_gain(gain: str, measure: Measure) -> Measure | None:
    own = measure.parameters.get("gain", gain)
    return None if own == gain or not isinstance(own, str) else measure.changed(gain=gain)


def _at_level(level: float, measure: Measure) -> Measure | None:
    return measure.at_level(level) if "rel" in measure.parameters else None


def _of_unretrieved(cutoffs: list[int]) -> Iterator[Quirk]:
    yield Quirk(
        "ideal",
        "ideal: relevant documents that the run did not retrieve were not counted (scikit-learn's nDCG; recall and AP "
        "divided by the relevant documents of the list)",
        None,
        qrels=partial(_relevant_only_to, None),
    )
    for cutoff in cutoffs:
        yield Quirk(
            "ideal",
            f"ideal: relevant documents that are not among the first {cutoff} were not counted (the ideal sorts "
            f"the first {cutoff} alone; recall and AP divided by the relevant ones among them)",
            None,
            measure=partial(_read_to, cutoff),
            qrels=partial(_relevant_only_to, cutoff),
        )
        yield Quirk(
            "ideal",
            f"ideal: divided by {cutoff} where a topic has more than {cutoff} relevant documents (min(k, R))",
            None,
            measure=partial(_binary_to, cutoff),
            qrels=partial(_at_most, cutoff),
        )


def _read_to(cutoff: int, measure: Measure) -> Measure | None:
    return measure if measure.cutoff == cutoff else None


def _binary_to(cutoff: int, measure: Measure) -> Measure | None:
    return _read_to(cutoff, measure) if "rel" in measure.parameters else None


def _relevant_only_to(depth: int | None, qrels: Qrels, run: Run) -> Qrels:
    return _relevant_only_where(qrels, _retrieved(qrels, run, depth))


def _retrieved(qrels: Qrels, run: Run, depth: int | None = None) -> Flags:
    if depth is not None:
        run = run.take(np.flatnonzero(ranks(run) <= depth))
    if not len(run) or not len(qrels):
        return np.zeros(len(qrels), dtype=bool)
    of_judgments, of_run = number_pairs([qrels.pairs, run.pairs])
    return np.isin(of_judgments, of_run)


def _relevant_only_where(qrels: Qrels, kept: Flags) -> Qrels:
    return Qrels._of_pairs(qrels.pairs, np.where(kept, qrels.grade, np.minimum(qrels.grade, 0.0)))


def _at_most(most: int, qrels: Qrels, run: Run) -> Qrels:
    retrieved, topic = _retrieved(qrels, run, most), qrels.pairs.topic
    order = np.lexsort((~retrieved, qrels.grade <= 0, topic))
    count: Ints = np.bincount(topic, minlength=len(qrels.query_ids))
    place = np.empty(len(qrels), dtype=np.int64)
    place[order] = np.arange(len(qrels)) - np.repeat(np.cumsum(count) - count, count)
    return _relevant_only_where(qrels, place < most)


def _of_depth(run: Run, depths: Iterable[int]) -> Iterator[Quirk]:
    deepest = int(np.bincount(run.pairs.topic).max(initial=0))
    for depth in sorted({*DEPTHS, *depths}):
        if 0 < depth < deepest:
            why = f"depth: only the first {depth:,} documents of each list counted (trec_eval -M {depth})"
            yield Quirk("depth", why, f"--depth {depth}", run=Preparation(depth=depth))
    for cutoff in (*DEPTHS, None):
        what = "the whole list" if cutoff is None else f"{cutoff:,} ranks"
        yield Quirk("depth", f"depth: the measure read {what}", measure=partial(_at_cutoff, cutoff))


def _at_cutoff(cutoff: int | None, measure: Measure) -> Measure | None:
    if "cutoff" not in measure.parameters or measure.cutoff == cutoff:
        return None
    try:
        return measure.changed(cutoff=cutoff)
    except UsageError:
        return None


def _of_names(names: set[str]) -> Iterator[Quirk]:
    yield Quirk(
        "name",
        "discount: log2(rank) from rank 2 on, as in the paper of 2002",
        measure=lambda measure: measure.changed(base=2.0) if measure.parameters.get("base", 0) is None else None,
    )
    why = "interpolation: version 9 takes recall r to be reached with floor(r R + 0.9) documents, 10 with 0.5"
    yield Quirk(
        "name", why, None, measure=lambda measure: _IPrecOf9(**measure.parameters) if type(measure) is IPrec else None
    )
    for name, tool, spelling, what in DIFFERENT:
        if name in names and spelling and "," not in spelling:
            yield Quirk("name", f"name: {name} in {tool}: {what}", measure=partial(_spelt, name, spelling))


class _IPrecOf9(IPrec):
    def value(self, rankings: Rankings) -> Floats:
        return interpolated(rankings, self.rel, self.recalls, rounding=0.9)[0]


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
