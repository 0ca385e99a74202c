"""What other computations do otherwise with topics, with the documents of lists, and with what lists lack."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from rankbounds.arrays import Flags, Ints
from rankbounds.checking.quirk import Quirk
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, number_pairs
from rankbounds.measures import Measure
from rankbounds.rankings.order import ranks
from rankbounds.rankings.preparation import Preparation

SEPARATORS = ("#", "_", "-", ":", ".", "/", "|", "@", "%")
"""What may stand between a document's id and its chunk's."""


# ---- which topics are averaged ----


def of_topics(qrels: Qrels, run: Run) -> Iterator[Quirk]:
    """Which topics are averaged."""
    judged, retrieved = set(qrels.query_ids), _topics_with_documents(run)
    if judged - retrieved:
        yield Quirk(
            "topics",
            "missing topics: without -c, trec_eval leaves out topics that the run lacks, and so do many others",
            "--topics shared",
            {"topics": "shared"},
        )
    if _without_relevant(qrels).any():
        yield Quirk(
            "topics",
            "empty topics: topics without a relevant document are left out of the mean",
            None,
            qrels=lambda judgments, _: judgments.take(
                np.flatnonzero(~_without_relevant(judgments)[judgments.pairs.topic])
            ),
        )
    unjudged = sorted(retrieved - judged)
    if unjudged:
        yield Quirk(
            "topics",
            f"unjudged topics: {len(unjudged):,} of the run's topics have no judgments and count as 0",
            None,
            qrels=lambda judgments, _: _with_topics(judgments, unjudged),
        )


def _topics_with_documents(run: Run) -> set[str]:
    present = np.bincount(run.pairs.topic, minlength=len(run.query_ids)) > 0
    return {topic for topic, there in zip(run.query_ids, present.tolist(), strict=True) if there}


def _without_relevant(qrels: Qrels) -> Flags:
    return np.bincount(qrels.pairs.topic[qrels.grade > 0], minlength=len(qrels.query_ids)) == 0


def _with_topics(qrels: Qrels, topics: list[str]) -> Qrels:
    """The judgments, and these topics with nothing relevant."""
    rows = [*qrels, *((topic, "", 0.0) for topic in topics)]
    queries, docs, grades = zip(*rows, strict=True)
    return Qrels.from_columns(queries, ["nothing" if doc == "" else doc for doc in docs], grades)


# ---- what stands in the run ----


def of_runs(qrels: Qrels, run: Run, repeated: Run | None) -> Iterator[Quirk]:
    """What is made of the documents of lists: duplicates, self-matches, chunks."""
    if repeated is not None:
        count = len(repeated) - len(run)
        repeat = "duplicates: 1 line names" if count == 1 else f"duplicates: {count:,} lines name"
        yield Quirk(
            "preparation",
            f"{repeat} a document again, and every line was counted",
            None,
            run=lambda _: repeated,
        )
        yield Quirk(
            "preparation",
            f"{repeat} a document again, and the last line of each was taken",
            None,
            run=lambda _: _last_of_each(repeated),
        )
    drop_self = Preparation(drop_self=True)
    if len(drop_self(run)) < len(run):
        yield Quirk(
            "preparation",
            "self-matches: documents with the id of their query were dropped, as BEIR does",
            "--drop-self",
            run=drop_self,
        )
    for separator in _separators(qrels, run):
        yield Quirk(
            "preparation",
            f'chunks: ids were cut at the last "{separator}", and each document counted once, by its best chunk',
            f"--documents-of '{separator}'",
            run=Preparation(documents_of=separator),
        )
        yield Quirk(
            "preparation",
            f'chunks: ids were cut at the last "{separator}", and every chunk counted as a document (duplicates)',
            None,
            run=partial(_cut_ids, separator),
        )


def _separators(qrels: Qrels, run: Run) -> Iterator[str]:
    """Those that, taken as such, make more of the run's documents judged."""
    judged = np.count_nonzero(_retrieved(qrels, run))
    for separator in SEPARATORS:
        if not np.isin(ord(separator), run.pairs.docs.text):
            continue
        if np.count_nonzero(_retrieved(qrels, Preparation(documents_of=separator)(run))) > judged:
            yield separator


def _cut_ids(separator: str, run: Run) -> Run:
    docs = [head or doc for doc in run.pairs.docs.to_list() for head in [doc.rpartition(separator)[0]]]
    pairs = run.pairs
    return Run(run.name, Pairs.numbered(pairs.topics, pairs.topic, Ids.of(docs), pairs.source), run.score)


def _last_of_each(run: Run) -> Run:
    (number,) = number_pairs([run.pairs])
    _, from_behind = np.unique(number[::-1], return_index=True)
    return run.take(np.sort(len(run) - 1 - from_behind))


# ---- relevant documents that nobody retrieved ----


def of_unretrieved(cutoffs: list[int]) -> Iterator[Quirk]:
    """What is made of relevant documents that the run lacks."""
    yield Quirk(
        "ideal",
        "ideal: relevant documents that the run did not retrieve were not counted (scikit-learn's nDCG; recall and AP "
        "divided by the relevant documents of the list)",
        None,
        qrels=lambda qrels, run: _relevant_only_where(qrels, _retrieved(qrels, run)),
    )
    for cutoff in cutoffs:
        yield Quirk(
            "ideal",
            f"ideal: relevant documents that are not among the first {cutoff} were not counted (the ideal sorts "
            f"the first {cutoff} alone; recall and AP divided by the relevant ones among them)",
            None,
            measure=partial(_to_depth, cutoff),
            qrels=partial(_of_first, cutoff),
        )
        yield Quirk(
            "ideal",
            f"ideal: divided by {cutoff} where a topic has more than {cutoff} relevant documents (min(k, R))",
            None,
            measure=partial(_to_depth_by_level, cutoff),
            qrels=partial(_at_most, cutoff),
        )


def _to_depth(cutoff: int, measure: Measure) -> Measure | None:
    return measure if measure.cutoff == cutoff else None


def _to_depth_by_level(cutoff: int, measure: Measure) -> Measure | None:
    return measure if measure.cutoff == cutoff and "rel" in measure.parameters else None


def _of_first(cutoff: int, qrels: Qrels, run: Run) -> Qrels:
    return _relevant_only_where(qrels, _retrieved(qrels, run, cutoff))


def _retrieved(qrels: Qrels, run: Run, depth: int | None = None) -> Flags:
    """Which judged documents the run has, to this depth."""
    if depth is not None:
        run = run.take(np.flatnonzero(ranks(run) <= depth))
    if not len(run) or not len(qrels):
        return np.zeros(len(qrels), dtype=bool)
    of_judgments, of_run = number_pairs([qrels.pairs, run.pairs])
    return np.isin(of_judgments, of_run)


def _relevant_only_where(qrels: Qrels, kept: Flags) -> Qrels:
    return Qrels(qrels.pairs, np.where(kept, qrels.grade, np.minimum(qrels.grade, 0.0)))


def _at_most(most: int, qrels: Qrels, run: Run) -> Qrels:
    """No more relevant documents than so many in a topic: those that the run has come first."""
    found, topic = _retrieved(qrels, run, most), qrels.pairs.topic
    order = np.lexsort((~found, qrels.grade <= 0, topic))
    count: Ints = np.bincount(topic, minlength=len(qrels.query_ids))
    place = np.empty(len(qrels), dtype=np.int64)
    place[order] = np.arange(len(qrels)) - np.repeat(np.cumsum(count) - count, count)
    return _relevant_only_where(qrels, place < most)
