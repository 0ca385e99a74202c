"""The common table of judgments and runs: a number per pair of query and document."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.columns.pairs import Pairs
from rankbounds.errors import UnknownNameError, did_you_mean
from rankbounds.files import pair_files
from rankbounds.frames import Column, Framed
from rankbounds.notebook import shown
from rankbounds.tables import Table

Self = TypeVar("Self", bound="PairTable")

ROWS_SHOWN = 5


class PairTable(Framed):
    """A table ``query_id, doc_id`` and a number. It is immutable: arrays are read-only, methods return new tables."""

    value_name: ClassVar[str]
    pairs: Pairs
    _value: Floats

    def _take(self: Self, pairs: Pairs, rows: Any) -> Self:
        raise NotImplementedError

    def _further_columns(self) -> dict[str, Column]:
        return {}

    def _columns_to_write(self) -> tuple[Pairs, dict[str, Any]]:
        raise NotImplementedError

    def _trec_lines(self) -> Iterable[str]:
        raise NotImplementedError

    @property
    def query_ids(self) -> tuple[str, ...]:
        """The topics, in the order of their first row."""
        return self.pairs.topics

    def __iter__(self) -> Iterator[tuple[str, str, float]]:
        return self.pairs.rows(self._value)

    def __len__(self) -> int:
        return len(self.pairs)

    def __contains__(self, wanted: object) -> bool:
        if not isinstance(wanted, tuple):
            return _as_id(wanted) in self._rows_of
        query, *rest = wanted
        if _as_id(query) not in self._rows_of or not 1 <= len(rest) <= 2:
            return False
        of_topic = self._of_topic(query)
        return _as_id(rest[0]) in of_topic and (len(rest) == 1 or of_topic[_as_id(rest[0])] == rest[1])

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query_id: {doc_id: number}}`` in the order given.

        Examples
        --------
        >>> import rankbounds as rb
        >>> rb.Qrels.from_columns(["301", "301"], ["a", "b"], [1, 0]).to_dict()
        {'301': {'a': 1.0, 'b': 0.0}}
        """
        return self.pairs.nested(self._value)

    def filter(self: Self, topics: str | Iterable[str] | Callable[[str], bool]) -> Self:
        """Return the table of some of the topics, with the rows in the same order.

        Parameters
        ----------
        topics : str, iterable of str, or callable
            A topic, several, or a function that returns true for topics to keep. Unknown topics are ignored, so
            ``run.filter(qrels.query_ids)`` is the judged part of the run.

        Examples
        --------
        >>> import rankbounds as rb
        >>> qrels = rb.Qrels.from_columns(["301", "302", "401"], ["a", "b", "c"], [1, 0, 2])
        >>> qrels.filter(["302", "401"]).query_ids
        ('302', '401')
        >>> qrels.filter(lambda topic: topic < "400").to_dict()
        {'301': {'a': 1.0}, '302': {'b': 0.0}}
        """
        if callable(topics):
            names = {name for name in self.query_ids if topics(name)}
        else:
            names = {_as_id(name) for name in ([topics] if isinstance(topics, str | int) else topics)}
        return self._take(*self.pairs.of_topics(names))

    def _columns(self) -> dict[str, Column]:
        return {
            "query_id": [self.query_ids[number] for number in self.pairs.topic.tolist()],
            "doc_id": self.pairs.docs.to_list(),
            self.value_name: self._value,
            **self._further_columns(),
        }

    def text(self) -> str:
        """Return the contents of a TREC file.

        Examples
        --------
        >>> import rankbounds as rb
        >>> print(rb.Run.from_columns(["301", "301"], ["a", "b"], [2.5, 1]).text(), end="")
        301 Q0 a 1 2.5 run
        301 Q0 b 2 1.0 run
        """
        return "".join(pair_files.recognisable(self._trec_lines(), "standard output"))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, in the format of the name's ending.

        Parameters
        ----------
        path : str or path
            ``.csv``, ``.tsv`` and ``.jsonl`` are tables with named columns, any other ending is a TREC file. Only TREC
            files hold a run's name. Documents without stated ranks are numbered in the order given.

        Examples
        --------
        >>> import rankbounds as rb
        >>> import os, tempfile
        >>> run = rb.Run.from_columns(["301", "301"], ["a", "b"], [2.5, 1], [1, 2], name="bm25")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.txt")
        ...     run.write(path)
        ...     rb.read_run(path) == run
        True
        """
        pairs, columns = self._columns_to_write()
        listed = {
            name: column.tolist() if isinstance(column, np.ndarray) else column for name, column in columns.items()
        }
        pair_files.write_pairs(path, pairs, listed, self._trec_lines)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        ours, theirs = self.pairs, other.pairs
        return (
            len(ours) == len(theirs)
            and ours.topics == theirs.topics
            and np.array_equal(ours.topic, theirs.topic)
            and np.array_equal(self._value, other._value)
            and bool(ours.docs.equals(theirs.docs).all())
        )

    __hash__ = None  # type: ignore[assignment]  # two that are equal may be large: nothing short stands for them

    def _repr_html_(self) -> str:
        first = self.pairs.take(slice(ROWS_SHOWN))
        rows = [[query, doc, f"{value:g}"] for query, doc, value in first.rows(self._value[:ROWS_SHOWN])]
        table = Table(["query_id", "doc_id", self.value_name], rows, frozenset({0, 1}))
        more = f"and {len(self) - ROWS_SHOWN:,} more" if len(self) > ROWS_SHOWN else None
        return shown(repr(self), table, more)

    @cached_property
    def _rows_of(self) -> dict[str, Ints]:
        ends = np.cumsum(np.bincount(self.pairs.topic, minlength=len(self.query_ids)))
        return dict(zip(self.query_ids, np.split(self.pairs.rows_by_topic(), ends[:-1]), strict=True))

    def _of_topic(self, query: Any) -> dict[str, float]:
        name = _as_id(query)
        if name not in self._rows_of:
            known = list(self.query_ids)
            raise UnknownNameError(f'There is no topic "{name}" here.{did_you_mean(str(name), known)}')
        rows = self._rows_of[name]
        return dict(zip(self.pairs.docs.take(rows).to_list(), self._value[rows].tolist(), strict=True))


def _as_id(name: Any) -> Any:
    return str(name) if isinstance(name, int | np.integer) and not isinstance(name, bool) else name
