"""The documents of several runs, each (query, document) numbered once: where every run has it, and its grade.

Numbers follow the topics, and within a topic the hashes of documents: they do not depend on the order of the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.columns.pairs import number_pairs
from rankbounds.rankings.rankings import Rankings

MATCHED = 1 << 20
"""About so many entries are matched at a time."""

NOTHING: Ints = np.empty((4, 0), dtype=np.int32)


def entries_of(run: int | Ints, rankings: Rankings, chosen: Flags) -> Ints:
    """Return the topics, runs, ranks and rows of chosen cells; ``run`` is the run of all lists, or that of each."""
    assert rankings.row is not None
    line, column = np.nonzero(chosen)
    columns = rankings.topic[line], np.broadcast_to(run, chosen.shape[:1])[line], column + 1, rankings.row[line, column]
    return np.stack(columns, dtype=np.int32, casting="same_kind")


@dataclass(frozen=True, eq=False)
class RetrievedDocuments:
    """Documents of several runs, each once, and parallel entries of where the runs have them (``rank`` from 1)."""

    runs: Sequence[Run]
    topic: Ints
    grade: Floats
    run: Ints
    rank: Ints
    row: Ints
    document: Ints

    @classmethod
    def at(cls, runs: Sequence[Run], entries: Ints, grade: Floats | None = None) -> RetrievedDocuments:
        """Number the documents of entries, which are topics (numbered equally in all runs), runs, ranks and rows."""
        topic, run, rank, row = entries
        document, of_topics = np.empty(topic.size, dtype=np.int32), [np.empty(0, dtype=np.int64)]
        order = None if (topic[1:] >= topic[:-1]).all() else np.argsort(topic, kind="stable")
        ends = np.cumsum(np.bincount(topic))
        numbered = begin = 0
        while begin < topic.size:  # whole topics at a time, whose documents fit into memory
            later = ends[ends > begin]
            end = int(later[max(int(np.searchsorted(later, begin + MATCHED, side="right")) - 1, 0)])
            part = np.arange(begin, end) if order is None else order[begin:end]
            part = part[np.argsort(run[part].astype(np.int16), kind="stable")]  # (small numbers are sorted faster)
            rows = np.split(row[part], np.cumsum(np.bincount(run[part], minlength=len(runs)))[:-1])
            pairs = [one.pairs_in(of_run.astype(np.int64)) for one, of_run in zip(runs, rows, strict=True)]
            number = np.concatenate(number_pairs(pairs))
            distinct = int(number.max()) + 1
            topic_of, key = np.zeros(distinct, dtype=np.int64), np.zeros(distinct, dtype=np.uint64)
            topic_of[number], key[number] = topic[part], np.concatenate([one.keys for one in pairs])
            by_key = np.lexsort((key, topic_of))
            place = np.empty(distinct, dtype=np.int32)
            place[by_key] = np.arange(numbered, numbered + distinct)
            document[part] = place[number]
            of_topics.append(topic_of[by_key])
            numbered, begin = numbered + distinct, end
        graded = np.full(numbered, np.nan)
        if grade is not None:
            graded[document] = grade
        return cls(runs, np.concatenate(of_topics), graded, run, rank, row, document)

    @classmethod
    def in_lists(
        cls,
        runs: Sequence[Run],
        rankings_of_runs: Sequence[Sequence[Rankings]],
        choice: Callable[[Rankings], Flags] = lambda rankings: rankings.present,
    ) -> RetrievedDocuments:
        """Number the documents in chosen cells of the runs' lists; entries are run after run, batch after batch."""
        several = [(number, part, choice(part)) for number, parts in enumerate(rankings_of_runs) for part in parts]
        grades = [np.empty(0), *(part.grade[chosen] for _, part, chosen in several)]
        return cls.at(runs, np.concatenate([NOTHING, *starmap(entries_of, several)], axis=1), np.concatenate(grades))

    def __len__(self) -> int:
        return self.topic.size

    @property
    def judged(self) -> Flags:
        return ~np.isnan(self.grade)

    @cached_property
    def held(self) -> Ints:
        return np.bincount(self.run, minlength=len(self.runs))

    @cached_property
    def number_of_runs(self) -> Ints:
        return np.bincount(self.document, minlength=len(self))

    @cached_property
    def best_rank(self) -> Ints:
        best = np.full(len(self), np.iinfo(np.int32).max, dtype=np.int64)
        np.minimum.at(best, self.document, self.rank)
        return best

    @cached_property
    def entries(self) -> list[Ints]:
        return np.split(np.argsort(self.run, kind="stable"), np.cumsum(self.held)[:-1])

    @cached_property
    def numbers(self) -> list[Ints]:
        of_rows = [np.full(len(run), -1) for run in self.runs]
        for of_row, mine in zip(of_rows, self.entries, strict=True):
            of_row[self.row[mine]] = self.document[mine]
        return of_rows

    @cached_property
    def _entry(self) -> Ints:
        entry = np.empty(len(self), dtype=np.int64)
        entry[self.document] = np.arange(self.document.size)
        return entry

    def doc_ids(self, documents: Ints) -> list[str]:
        entry, names = self._entry[documents], np.empty(documents.size, dtype=object)
        for number in np.unique(self.run[entry]).tolist():
            mine = np.flatnonzero(self.run[entry] == number)
            names[mine] = self.runs[number].pairs_in(self.row[entry[mine]]).docs.to_list()
        return names.tolist()

    def judgments(self, qrels: Qrels) -> Ints:
        judgment = np.full(len(self), -1)
        for number in np.unique(self.run[self._entry]).tolist():
            mine = np.flatnonzero(self.run[self._entry] == number)
            found, there = qrels.pairs.index.find(self.runs[number].pairs_in(self.row[self._entry[mine]]))
            judgment[mine[found]] = there
        return judgment

    def by_topic(self, topics: Ints) -> list[RetrievedDocuments]:
        """Return the documents of each of these topics, numbered from 0, if entries are given topic after topic."""
        first = np.searchsorted(self.topic, np.arange(int(topics.max(initial=-1)) + 2))
        entry = np.searchsorted(self.topic[self.document], np.arange(first.size))
        found = []
        for topic in topics.tolist():
            mine, entries = slice(first[topic], first[topic + 1]), slice(entry[topic], entry[topic + 1])
            run, rank, row = (column[entries] for column in (self.run, self.rank, self.row))
            document = self.document[entries] - first[topic]
            found.append(RetrievedDocuments(self.runs, self.topic[mine], self.grade[mine], run, rank, row, document))
        return found

    # ---- two runs at a time ----

    @property
    def most_of_two(self) -> int:
        return 2 * int(self.held.max(initial=0))

    def by_run(self, values: Floats) -> Floats:
        matrix: Floats = np.zeros((len(self.runs), len(self)))
        matrix[self.run, self.document] = values
        return matrix

    @cached_property
    def tables(self) -> tuple[Ints, Ints]:
        """Return each run's documents in order, padded with ``len(self)``, and its rank of each (0: not there)."""
        place = np.arange(self.run.size) - np.repeat(np.cumsum(self.held) - self.held, self.held)
        listed = np.full((len(self.runs), int(self.held.max(initial=0))), len(self))
        listed[self.run, place] = self.document
        ranks = np.zeros((len(self.runs), len(self) + 1), dtype=np.int32)
        ranks[self.run, self.document] = self.rank
        return listed, ranks

    def of_either(self, a: Ints, b: Ints) -> tuple[Ints, Ints]:
        """Return for each pair the documents of either list, each once: its rank in A and in B (0: not there)."""
        listed, ranks = self.tables
        documents = np.concatenate((listed[a], listed[b]), axis=-1)
        rank_a, rank_b = ranks[a[:, None], documents], ranks[b[:, None], documents]
        # What stands in both was listed with A's.
        again = rank_a[:, listed.shape[1] :] > 0
        rank_a[:, listed.shape[1] :][again] = 0
        rank_b[:, listed.shape[1] :][again] = 0
        return rank_a, rank_b

    def shared(self, chosen: Flags | None = None) -> Floats:
        member = np.zeros((len(self.runs), -(-len(self) // 64) * 64), dtype=bool)
        member[self.run, self.document] = True if chosen is None else chosen
        sets = np.packbits(member, axis=-1).view(np.uint64)  # (a product of matrices takes threads that wait)
        shared: Floats = np.zeros((len(sets), len(sets)))
        for line, of_run in enumerate(sets):
            shared[line] = np.bitwise_count(sets & of_run).sum(axis=-1, dtype=np.int64)
        return shared

    @cached_property
    def overlap(self) -> Floats:
        return self.shared()
