"""Runs: what a system retrieved for each query."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints, read_only
from rankbounds.calls import ends_in_a_sentence
from rankbounds.choices import check_choice
from rankbounds.collection.order import ORDERS, TieKey, as_tie_key, check_tie_key, ranked
from rankbounds.collection.pair_table import PairTable
from rankbounds.columns.pairs import PackedPairs, Pairs, Source
from rankbounds.errors import DataError
from rankbounds.files import pair_files
from rankbounds.files.named_columns import Columns
from rankbounds.frames import Column
from rankbounds.phrases import counted

if TYPE_CHECKING:
    from rankbounds.collection.bands import Rho
    from rankbounds.collection.order import Order
    from rankbounds.collection.shapes import RunLike, SameAs

KEEP_ONE = "Keep one entry for each document."


class Run(PairTable):
    """What a system retrieved: a table ``query_id, doc_id, score``, with stated ranks if there are any.

    It is immutable: ``score`` is read-only, and methods return new runs. Rows keep the order given. Two are equal
    (``==``) if they have the same name, the same rows in the same order, and the same stated ranks.

    Parameters
    ----------
    given : path, dict, frame or rows
        As in ``evaluate``: a file, ``{query: {document: score}}``, ``{query: [document, ...]}`` (in ranked order), a
        pandas, polars or pyarrow frame, rows ``(query, document, score)``.
    name : str, optional
        The name in results; by default the tag or name of its file, or ``"run"``.
    formats, columns, lenient
        As for ``read_run``.
    query_ids, doc_ids : sequence of str, optional
        The rows and columns of a matrix of scores, as for ``evaluate``.

    Attributes
    ----------
    name : str
        The name in results.
    query_ids : tuple of str
        The topics, in the order of their first document.
    score : array
        The score of each row.
    prepared : str
        The preparation applied to the run; empty if none.

    Examples
    --------
    >>> import rankbounds as rb
    >>> run = rb.Run({"301": {"a": 1.5, "b": 2}, "302": {"c": 7}}, name="bm25")
    >>> run
    Run('bm25', 3 documents, 2 topics)
    >>> run["301"]
    [('b', 2.0), ('a', 1.5)]
    >>> len(run), "302" in run, ("301", "c") in run
    (3, True, False)
    >>> list(run)
    [('301', 'a', 1.5), ('301', 'b', 2.0), ('302', 'c', 7.0)]
    """

    value_name = "score"
    name: str
    score: Floats
    prepared: str
    _held: Pairs | PackedPairs
    _given_ranks: Ints | Callable[[], Ints | None] | None

    @ends_in_a_sentence
    def __init__(
        self,
        given: RunLike,
        *,
        name: str | None = None,
        formats: str | None = None,
        columns: Mapping[str, str] | None = None,
        lenient: bool = False,
        query_ids: Sequence[Any] | None = None,
        doc_ids: Sequence[Any] | None = None,
    ) -> None:
        from rankbounds.collection.inputs import Reading

        formats_of_both = None if formats is None else (None, formats)
        reading = Reading(formats_of_both, None, columns, lenient, query_ids=query_ids, doc_ids=doc_ids)
        self.__dict__.update(vars(reading.run(given)))
        self.name = self.name if name is None else name

    @classmethod
    def _of_pairs(
        cls,
        name: str,
        pairs: Pairs | PackedPairs,
        score: Floats,
        ranks: Ints | Callable[[], Ints | None] | None = None,
        prepared: str = "",
    ) -> Run:
        run = cls.__new__(cls)
        run.name, run._held, run.prepared = name, pairs, prepared
        run.score = run._value = read_only(score)
        run._given_ranks = ranks  # what a file states is read when it is asked for
        return run

    def __reduce__(self) -> tuple[Any, ...]:
        return Run._of_pairs, (self.name, self.pairs, self.score, self.stated_rank, self.prepared)

    @classmethod
    @ends_in_a_sentence
    def from_positions(
        cls,
        positions: Any,
        scores: Any | None = None,
        *,
        query_ids: Sequence[Any],
        doc_ids: Sequence[Any],
        name: str = "run",
        smaller_is_better: bool = False,
    ) -> Run:
        """Make a run from what an index returns: FAISS, hnswlib, usearch, cuVS, scikit-learn, ``torch.topk``.

        Parameters
        ----------
        positions : array of whole numbers, queries x ranks
            Positions in ``doc_ids``, the best first; -1 means none. Any package's array, also on a device.
        scores : array of the same shape, optional
            Their scores; without them the order counts.
        query_ids, doc_ids : sequence of str
            The ids of the rows, and of the documents that were indexed.
        name : str, default "run"
            The name in results.
        smaller_is_better : bool, default False
            The scores are distances.

        Returns
        -------
        Run

        Examples
        --------
        >>> import rankbounds as rb
        >>> distances, positions = [[0.1, 0.4], [0.2, 9.9]], [[2, 0], [1, -1]]
        >>> ids = {"query_ids": ["q1", "q2"], "doc_ids": ["a", "b", "c"]}
        >>> run = rb.Run.from_positions(positions, distances, **ids, smaller_is_better=True)
        >>> list(run)
        [('q1', 'c', -0.1), ('q1', 'a', -0.4), ('q2', 'b', -0.2)]
        """
        from rankbounds.collection.score_matrix import run_of_positions

        return run_of_positions(positions, scores, query_ids, doc_ids, name=name, smaller_is_better=smaller_is_better)

    @classmethod
    @ends_in_a_sentence
    def from_columns(
        cls,
        query_ids: Iterable[Any],
        doc_ids: Iterable[Any],
        scores: Iterable[Any],
        ranks: Iterable[int] | None = None,
        *,
        name: str = "run",
    ) -> Run:
        """Make a run from columns of equal length.

        Parameters
        ----------
        query_ids, doc_ids : iterable of str
            Ids; whole numbers are taken as they are written.
        scores : iterable of float
            Higher is better.
        ranks : iterable of int, optional
            The stated ranks; used only with ``ties="rank"``.
        name : str
            The name in results.

        Examples
        --------
        >>> import rankbounds as rb
        >>> rb.Run.from_columns(["301", "301"], ["a", "b"], [2.5, 1], name="bm25").to_dict()
        {'301': {'a': 2.5, 'b': 1.0}}
        """
        columns = Columns.of(query_ids, doc_ids, scores, value_name="score", source=name, ranks=ranks)
        return cls._of(columns, name)

    @classmethod
    def _of(cls, table: Columns, name: str) -> Run:
        score = table.numbers
        if not table.distinct:
            table.pairs.reject_repeats(KEEP_ONE)
        return cls._of_pairs(name, table.pairs, score, table.ranks)

    @property
    def pairs(self) -> Pairs:  # type: ignore[override]
        """Queries and documents; a packed run recreates them on demand."""
        return self._held.unpacked() if isinstance(self._held, PackedPairs) else self._held

    def pairs_in(self, rows: Ints) -> Pairs:
        """Queries and documents of some rows; of a packed run, only these are recreated."""
        return self._held.take(rows)

    @property
    def source(self) -> Source:
        return self._held.source

    @property
    def query_ids(self) -> tuple[str, ...]:
        """The topics, in the order of their first document."""
        return self._held.topics

    def __len__(self) -> int:
        return len(self._held)

    def packed(self, again: Callable[[], Run]) -> Run:
        """Return the same run in less memory, without its text: ranks are read ``again`` on demand."""
        packed, given = PackedPairs.of(self.pairs), self._given_ranks
        if packed is None:
            return self
        score, file = self.score, self.source.name

        def ranks() -> Ints:
            run = again()
            if run.stated_rank is None or not np.array_equal(run.score, score):
                raise DataError(file, "the file has changed since it was read.", "Start again.")
            return run.stated_rank

        return Run._of_pairs(self.name, packed, score, ranks if callable(given) else given, self.prepared)

    @cached_property
    def stated_rank(self) -> Ints | None:
        """The rank that the file states for each document; None if it states none."""
        return self._given_ranks() if callable(self._given_ranks) else self._given_ranks

    def _take(self, pairs: Pairs, rows: slice | Ints) -> Run:
        held = (isinstance(self._held, PackedPairs) and PackedPairs.of(pairs)) or pairs
        return Run._of_pairs(
            self.name, held, self.score[rows], lambda: None if self.stated_rank is None else self.stated_rank[rows]
        )

    def _further_columns(self) -> dict[str, Column]:
        return {} if self.stated_rank is None else {"rank": self.stated_rank}

    def __getitem__(self, query_id: str) -> list[tuple[str, float]]:
        """Return ``(doc_id, score)`` of one topic, best first: score down, then document id down, as in trec_eval."""
        by_document = self._of_topic(query_id).items()
        return sorted(by_document, key=lambda item: (item[1], item[0].encode("utf-8", "surrogateescape")), reverse=True)

    def __eq__(self, other: object) -> bool:
        """Compare name, rows in their order, and stated ranks."""
        if not isinstance(other, Run):
            return NotImplemented
        ours, theirs = self.stated_rank, other.stated_rank
        same_ranks = ours is theirs if ours is None or theirs is None else np.array_equal(ours, theirs)
        return self.name == other.name and same_ranks and super().__eq__(other)

    __hash__ = None

    def take(self, rows: slice | Ints) -> Run:
        """Return some of the rows, in the order given; topics that lose all their rows are kept."""
        return self._take(self.pairs.take(rows), rows)

    def renamed(self, name: str) -> Run:
        return self.changed(name=name)

    def changed(self, *, name: str | None = None, prepared: str | None = None, score: Floats | None = None) -> Run:
        """Return the same run with another name, note on its preparation, or scores."""
        return Run._of_pairs(
            self.name if name is None else name,
            self._held,
            self.score if score is None else score,
            self._given_ranks,
            self.prepared if prepared is None else prepared,
        )

    def prepare(
        self,
        *,
        drop_self: bool = False,
        documents_of: str | None = None,
        depth: int | None = None,
        ties: Order = "trec",
        ties_key: TieKey | Mapping[Any, Any] | str | os.PathLike[str] | None = None,
        same_as: SameAs | None = None,
        budget: float | None = None,
        costs: Mapping[Any, float] | str | os.PathLike[str] | None = None,
    ) -> Run:
        """Return the run prepared for scoring, as some collections require.

        Parameters
        ----------
        drop_self : bool, default False
            Leave out a document whose id is that of its query, as BEIR does for ArguAna and Quora.
        documents_of : str, optional
            The separator between a document's id and its chunk's (``"#"`` for ``d7#3``). The chunk with the highest
            score is kept, under the document's id.
        depth : int, optional
            The largest number of documents to keep per list.
        ties : {"trec", "run", "line", "rank", "stated", "docid", "key"}, default "trec"
            The order of documents of equal score, if the depth cuts between them.
        ties_key : mapping or path, optional
            ``{document: value}``, or a file of such lines; implies ``ties="key"``.
        same_as : path or lists of ids, optional
            Groups of ids of the same document, of which the first stands for all. Judgments are joined by
            ``evaluate(same_as=...)``.
        budget, costs : float, and mapping or path; optional
            Each list ends where the costs of its documents, such as tokens, would add up to more than the budget.

        Returns
        -------
        Run
            A new run. Judgments are not changed: they concern documents.

        Notes
        -----
        The order is: chunks to documents, equal ids, self-matches, depth, budget.

        Examples
        --------
        >>> import rankbounds as rb
        >>> run = rb.Run({"q": {"q#1": 4, "d#1": 2, "d#2": 3, "e#1": 1}})
        >>> run.prepare(documents_of="#", drop_self=True).to_dict()
        {'q': {'d': 3.0, 'e': 1.0}}
        >>> run.prepare(depth=1).to_dict()
        {'q': {'q#1': 4.0}}
        """
        from rankbounds.collection.preparation import Preparation

        key, order = _order_of_ties(ties, ties_key)
        how: dict[str, Any] = {"tie_key": key, "same_as": same_as, "budget": budget, "costs": costs}
        return Preparation(drop_self, documents_of, depth, order, **how)(self)

    def banded(
        self,
        rho: Rho,
        *,
        ties: Order = "trec",
        ties_key: TieKey | Mapping[Any, Any] | str | os.PathLike[str] | None = None,
    ) -> Run:
        """Return the run with its documents in bands that grow with rank, tied inside each band.

        Parameters
        ----------
        rho : float, str or Fraction
            The growth factor: after the band that begins at rank b, the next begins at ceil(rho * b). It is the decimal
            that you write: 1.1 is eleven tenths.
        ties, ties_key
            As for ``prepare``: the order of documents of equal score before they are put in bands.

        Returns
        -------
        Run
            With the score 1/g for every document in the g-th band of its topic. Score it with ``ties="expected"``.

        Examples
        --------
        >>> import rankbounds as rb
        >>> run = rb.Run({"q": {"a": 5, "b": 4, "c": 3, "d": 2, "e": 1}})
        >>> [round(score, 3) for _, score in run.banded(2)["q"]]
        [1.0, 0.5, 0.5, 0.333, 0.333]
        """
        from rankbounds.collection.bands import band_starts

        key, order = _order_of_ties(ties, ties_key)
        in_order = ranked(self, order, tie_key=key)
        rank = position_in_topic(in_order.pairs)
        band = np.searchsorted(band_starts(rho, int(rank.max(initial=1))), rank, side="right")
        return Run._of_pairs(self.name, in_order.pairs, 1 / band, lambda: rank)

    def rounded(self, *, bits: str | None = None, digits: int | None = None) -> Run:
        """Return the run with rounded scores, in the order given.

        Parameters
        ----------
        bits : str, optional
            ``"float32"``, ``"float16"`` or ``"bfloat16"``.
        digits : int, optional
            The number of significant decimal digits.

        Returns
        -------
        Run
            The same documents; equal rounded scores are ties.

        Examples
        --------
        >>> import rankbounds as rb
        >>> rb.Run({"q": {"a": 0.734, "b": 0.7301, "c": 0.2}}).rounded(digits=2).to_dict()
        {'q': {'a': 0.73, 'b': 0.73, 'c': 0.2}}
        """
        from rankbounds.collection.bands import rounded

        score = rounded(self.score.astype(np.float64), bits, digits)
        return Run._of_pairs(self.name, self.pairs, score, lambda: self.stated_rank)

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {counted(len(self), 'document')}, {counted(len(self.query_ids), 'topic')})"

    def _trec_lines(self) -> Iterable[str]:
        pair_files.reject_for_trec(self.pairs)
        tag = re.sub(r"[\x00-\x20]", "_", self.name) or "run"
        return (
            f"{query} Q0 {doc} {rank} {score!r} {tag}\n"
            for (query, doc, score), rank in zip(self, self._ranks().tolist(), strict=True)
        )

    def _columns_to_write(self) -> tuple[Pairs, dict[str, Any]]:
        return self.pairs, {"rank": self._ranks(), "score": self.score}

    def _ranks(self) -> Ints:
        return position_in_topic(self.pairs) if self.stated_rank is None else self.stated_rank


def _order_of_ties(ties: Order, ties_key: Any) -> tuple[TieKey | None, Order]:
    key = None if ties_key is None else as_tie_key(ties_key)
    order: Order = "key" if key is not None and ties == "trec" else ties
    check_choice("ties", order, ORDERS)
    check_tie_key(order, key)
    return key, order


def position_in_topic(pairs: Pairs) -> Ints:
    order = np.argsort(pairs.topic, kind="stable")
    counts = np.bincount(pairs.topic, minlength=len(pairs.topics))
    positions = np.empty(len(pairs), dtype=np.int64)
    positions[order] = np.arange(len(pairs)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    return positions
