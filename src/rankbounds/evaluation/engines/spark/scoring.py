"""What Spark's tasks do with rows: score whole lists, or cut them by topic so that lists become whole."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.gains import GainRule
from rankbounds.collection.qrels import Qrels, as_qrels
from rankbounds.collection.run import Run
from rankbounds.errors import RankboundsWarning
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.engines.spark.arrow_columns import column_of
from rankbounds.evaluation.engines.spark.file_parts import Pieces
from rankbounds.evaluation.engines.spark.lists import Edges, Found, Lists, lists_of, some_lists
from rankbounds.evaluation.engines.spark.packed_rows import (
    JUDGMENTS,
    PackedRows,
    RunKey,
    by_run,
    by_topic,
    pairs_of,
    reject_repeats,
    run_of,
)
from rankbounds.evaluation.engines.spark.whole_lists import MixedListsError, WholeLists
from rankbounds.measures import Measure
from rankbounds.rankings.preparation import Preparation
from rankbounds.rankings.topic_facts import TopicFacts

KEEP_ONE = "Keep one entry for each document."


class SharedJudgments:
    """Judgments that every process of Spark's has once, with what is derived from them."""

    def __init__(self, qrels: Qrels, gain: GainRule) -> None:
        self.qrels, self.gain = qrels, gain

    def __getstate__(self) -> tuple[Qrels, GainRule]:
        return self.qrels, self.gain

    def __setstate__(self, state: tuple[Qrels, GainRule]) -> None:
        self.qrels, self.gain = state

    @cached_property
    def facts(self) -> TopicFacts:
        """What the judgments say of each topic."""
        return TopicFacts(self.qrels, self.gain)


@dataclass(frozen=True)
class Scorer:
    """How lists are scored; ``judgments`` is a broadcast variable of ``SharedJudgments``, or these themselves."""

    judgments: Any
    measures: Sequence[Measure]
    assumptions: Assumptions
    preparation: Preparation
    lenient: bool = False

    @property
    def facts(self) -> TopicFacts:
        """What the judgments say of each topic."""
        shared = getattr(self.judgments, "value", self.judgments)
        facts: TopicFacts = shared.facts
        return facts

    def lists(self, key: RunKey, run: Run, facts: TopicFacts | None = None) -> Lists:
        """The scores of whole lists."""
        counts = None
        if self.preparation:
            run, counts = self.preparation.counted(run)
        return replace(lists_of(run, key, facts or self.facts, self.measures, self.assumptions), prepared=counts)

    def scored(self, pieces: Pieces, whole: bool) -> Iterator[Found]:
        """The scores of the lists in a partition, and its edges, unless the pieces have whole lists."""
        with warnings.catch_warnings(record=True) as met:
            warnings.simplefilter("always")
            if whole:
                for key, run in pieces:
                    yield replace(self.lists(key, run), label=run.name, said=_ours(met))
                    met.clear()
                return
            together = WholeLists()
            try:
                for key, piece in pieces:
                    for run in together.of(key, piece):
                        check_repeats(run)
                        yield self.lists(key, run)
                together.end()
            except MixedListsError:
                yield Edges([], mixed=True)
                return
            yield Edges(together.edges)

    def scored_edges(self, edges: Iterable[PackedRows], names: dict[RunKey, str]) -> Iterator[Lists]:
        """The scores of lists whose rows come from the edges of all partitions."""
        for key, parts in by_run(edges).items():
            run = run_of(parts, names.get(key, f'run "{key}"'))
            check_repeats(run)
            yield self.lists(key, run)

    def scored_together(
        self, parts: Iterable[PackedRows], names: dict[RunKey, str], grades: Floats | None
    ) -> Iterator[Lists]:
        """The scores of all lists in a part of the topics, from rows in any order.

        With ``grades``, those of the whole collection, the judgments are among the rows, and the lists that a run lacks
        are scored too.
        """
        rows = by_run(parts)
        judgments = rows.pop(JUDGMENTS, None)
        facts = None if grades is None else self._facts_of(judgments, grades)
        if grades is not None and facts is None:  # no topic of this part is judged
            for key, several in rows.items():
                unknown = pairs_of(several, names[key])[0].topics
                yield replace(_nothing(key, self), unknown=list(unknown))
            return
        for key, name in names.items() if facts is not None else ((key, names[key]) for key in rows):
            found = None
            if key in rows:
                run = run_of(rows[key], name)
                check_repeats(run)
                found = self.lists(key, run, facts)
                yield found
            if facts is not None:
                empty = lists_of(None, key, facts, self.measures, self.assumptions)
                met = set() if found is None else set(found.query_ids.to_list())
                yield lacking(empty, key, met)

    def _facts_of(self, parts: list[PackedRows] | None, grades: Floats) -> TopicFacts | None:
        if parts is None:
            return None
        pairs, value, _ = pairs_of(parts, "the judgments")
        reject_repeats(pairs, value, "the judgments")
        return TopicFacts(Qrels(pairs, value), self.assumptions.gain, grades=grades)


def lacking(empty: Lists, key: RunKey, met: set[str]) -> Lists:
    """Of empty lists those of topics that a run lacks, under its key."""
    rows = np.array([place for place, name in enumerate(empty.query_ids.to_list()) if name not in met], dtype=np.int64)
    return some_lists(empty, rows, key)


def _nothing(key: RunKey, scorer: Scorer) -> Lists:
    facts = TopicFacts(as_qrels([("any", "any", 0.0)]), scorer.assumptions.gain)
    return lacking(lists_of(None, key, facts, scorer.measures, scorer.assumptions), key, {"any"})


def check_repeats(run: Run) -> None:
    """Raise for a document that stands twice in a list, with its row where that is known."""
    if run.pairs.source.unit == "row":
        run.pairs.reject_repeats(KEEP_ONE)
    else:
        reject_repeats(run.pairs, run.score, run.name)


def _ours(met: list[warnings.WarningMessage]) -> list[RankboundsWarning]:
    said = (warning.message for warning in met)
    return [told if isinstance(told, RankboundsWarning) else RankboundsWarning(str(told)) for told in said]


def cut(pieces: Pieces, parts: int, need_rank: bool) -> Iterator[tuple[int, PackedRows]]:
    """Rows of any order by part of the topics."""
    for key, piece in pieces:
        ranks = piece.stated_rank if need_rank and key != JUDGMENTS else None
        yield from by_topic(piece.pairs, piece.score, ranks, key, parts)


def pickled(items: Iterable[Any]) -> Iterator[Any]:
    """What a task found as a column of bytes."""
    import pyarrow

    for item in items:
        yield pyarrow.RecordBatch.from_arrays([column_of([pickle.dumps(item)])], ["found"])
