"""Judgments: which grade a document has for a query."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints, read_only
from rankbounds.calls import ends_in_a_sentence
from rankbounds.collection.pair_table import PairTable
from rankbounds.collection.subtopics import POOLED_NOT_JUDGED as POOLED_NOT_JUDGED
from rankbounds.collection.subtopics import Strata, Subtopics, by_document
from rankbounds.columns.decimals import finite_numbers
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, number_pairs
from rankbounds.errors import DataError, UsageError, did_you_mean, warn
from rankbounds.files import pair_files
from rankbounds.files.formats import read
from rankbounds.files.named_columns import QRELS_COLUMNS, Columns
from rankbounds.files.objects import columns_of
from rankbounds.phrases import counted

if TYPE_CHECKING:
    from rankbounds.collection.shapes import QrelsLike

RATERS = ("mean", "majority", "first")
"""How judgments of a document by several raters become one."""
OR_JOIN = ", or say how several raters' become one: --raters majority (in Python raters='majority')."


class Qrels(PairTable):
    """Judgments: a table ``query_id, doc_id, relevance``.

    Relevance -1 means pooled but not judged. It is immutable: ``grade`` is read-only, and methods return new tables.
    Two are equal (``==``) if they have the same rows in the same order. A document judged for subtopics has its largest
    relevance for any of them.

    Parameters
    ----------
    given : path, dict, frame or rows
        As in ``evaluate``: a file, ``{query: {document: grade}}``, ``{query: {document, ...}}`` (relevant documents), a
        pandas, polars or pyarrow frame, rows ``(query, document, grade)``.
    formats, source, columns, lenient, raters
        As for ``read_qrels``.
    complete : bool, default False
        Nothing relevant is missing: documents that are not listed are judged non-relevant.

    Attributes
    ----------
    query_ids : tuple of str
        The topics, in the order of their first judgment.
    grade : array
        The relevance of each row.
    strata : Strata or None
        The stratum of each row, if judgments are a stratified sample.
    subtopics : Subtopics or None
        The relevance of documents for each subtopic of their query, if judgments have subtopics.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = rb.Qrels({"301": {"a": 1, "b": 0}, "302": {"c": 2}})
    >>> qrels
    Qrels(3 judgments, 2 topics, judgments)
    >>> qrels["301"]
    {'a': 1.0, 'b': 0.0}
    >>> len(qrels), "302" in qrels, ("301", "c") in qrels
    (3, True, False)
    >>> for query, document, relevance in qrels:
    ...     print(query, document, relevance)
    301 a 1.0
    301 b 0.0
    302 c 2.0
    """

    value_name = "relevance"
    grade: Floats
    strata: Strata | None
    complete: bool = False
    _subtopics: Subtopics | Callable[[], Subtopics] | None

    @ends_in_a_sentence
    def __init__(
        self,
        given: QrelsLike,
        *,
        formats: str | None = None,
        source: str | Sequence[str] | None = None,
        columns: Mapping[str, str] | None = None,
        lenient: bool = False,
        raters: str | None = None,
        complete: bool = False,
    ) -> None:
        from rankbounds.collection.inputs import Reading

        reading = Reading(formats, source, columns, lenient, raters=raters, complete=complete)
        self.__dict__.update(vars(reading.judgments(given)))

    @classmethod
    def _of_pairs(
        cls,
        pairs: Pairs,
        grade: Floats,
        subtopics: Subtopics | Callable[[], Subtopics] | None = None,
        strata: Strata | None = None,
        complete: bool = False,
    ) -> Qrels:
        qrels = cls.__new__(cls)
        qrels.pairs, qrels.strata, qrels.complete = pairs, strata, complete
        qrels.grade = qrels._value = read_only(grade)
        qrels._subtopics = subtopics
        return qrels

    def __reduce__(self) -> tuple[Any, ...]:
        return Qrels._of_pairs, (self.pairs, self.grade, self.subtopics, self.strata, self.complete)

    def __eq__(self, other: object) -> bool:
        alike = super().__eq__(other)
        if alike is not True or not isinstance(other, Qrels):
            return alike
        ours, theirs = (None if table.strata is None else table.strata.labels for table in (self, other))
        same_subtopics = not isinstance(self._subtopics, Subtopics) or self._subtopics.same(other.subtopics)
        return ours == theirs and same_subtopics

    __hash__ = None

    @cached_property
    def subtopics(self) -> Subtopics | None:
        """The relevance of documents per subtopic of their query, if there are any."""
        given = self._subtopics
        return given() if callable(given) else given

    @property
    def are_preferences(self) -> bool:
        return isinstance(self._subtopics, Subtopics) and self._subtopics.subgroup is not None

    def _take(self, pairs: Pairs, rows: Ints) -> Qrels:
        subtopics = None if self.subtopics is None else self.subtopics.taken(rows)
        strata = None if self.strata is None else self.strata.taken(rows)
        return Qrels._of_pairs(pairs, self.grade[rows], subtopics, strata, self.complete)

    def take(self, rows: Ints) -> Qrels:
        """Return some of the rows, in the order given; topics that lose all of them are left out."""
        return self._take(self.pairs.take(rows).without_unused_topics(), rows)

    def only_judged(self, kept: Flags) -> Qrels:
        subtopics = None if self.subtopics is None else self.subtopics.kept(kept)
        return Qrels._of_pairs(self.pairs, np.where(kept, self.grade, POOLED_NOT_JUDGED), subtopics, self.strata)

    def completed(self) -> Qrels:
        """The same judgments, with every document that they do not list judged non-relevant."""
        pooled = np.flatnonzero(self.grade == POOLED_NOT_JUDGED)
        if pooled.size:
            problem = f"{self.pairs.describe(int(pooled[0]))} has relevance -1 (pooled, not judged)"
            raise DataError(self.pairs.where(int(pooled[0])), f"{problem}, so the judgments are not complete.")
        return Qrels._of_pairs(self.pairs, self.grade, self._subtopics, self.strata, complete=True)

    @classmethod
    @ends_in_a_sentence
    def from_columns(
        cls, query_ids: Iterable[Any], doc_ids: Iterable[Any], grades: Iterable[Any], *, source: str = "judgments"
    ) -> Qrels:
        """Make judgments from three columns of equal length.

        Parameters
        ----------
        query_ids, doc_ids : iterable of str
            Ids; whole numbers are taken as they are written.
        grades : iterable of float
            Relevance; -1 means pooled but not judged.
        source : str
            The name of the judgments in error messages.

        Examples
        --------
        >>> import rankbounds as rb
        >>> rb.Qrels.from_columns([301, 301], ["a", "b"], [1, 0]).to_dict()
        {'301': {'a': 1.0, 'b': 0.0}}
        """
        return cls._of(Columns.of(query_ids, doc_ids, grades, value_name="relevance", source=source))

    @classmethod
    @ends_in_a_sentence
    def by_source(
        cls, given: QrelsLike, *, formats: str | None = None, columns: Mapping[str, str] | None = None
    ) -> dict[str, Qrels]:
        r"""Return the judgments of each source in the column ``source`` separately.

        Parameters
        ----------
        given : path, frame or dict of columns
            A table with the columns query, document, relevance and ``source``: a file (CSV, TSV, JSON lines, Parquet)
            or a frame.
        formats, columns
            As for ``read_qrels``.

        Returns
        -------
        dict of str to Qrels
            Judgments by source, in the order in which sources first appear.

        Examples
        --------
        >>> import rankbounds as rb
        >>> columns = {"query_id": [1, 1, 1], "doc_id": ["a", "a", "b"], "relevance": [1, 0, 1]}
        >>> qrels = rb.Qrels.by_source(columns | {"source": ["human", "llm", "llm"]})
        >>> {source: len(judgments) for source, judgments in qrels.items()}
        {'human': 1, 'llm': 2}
        """
        names = QRELS_COLUMNS.renamed(columns)
        if isinstance(given, str | os.PathLike):
            table = read(os.fspath(given), names, kind=formats)
        else:
            table = columns_of(given, names, source="judgments")
        return {name: cls._of(table, name) for name in LabelSources.of(table).names}

    @classmethod
    def _of(cls, table: Columns, source: str | Sequence[str] | None = None, raters: str | None = None) -> Qrels:
        if raters is not None:
            table = joined_raters(table, raters, apart=source is not None)
        pairs, grade, subtopic = table.pairs, table.numbers, table.subtopics
        if table.label_sources is not None or source is not None:
            return cls._of_pairs(*LabelSources.of(table).chosen(pairs, grade, source))
        if subtopic is None:
            if not table.distinct:
                pairs.reject_repeats(f"Keep one judgment for each document{OR_JOIN}")
            return cls._of_pairs(pairs, grade, strata=None if table.strata is None else Strata.of(table.strata))
        if not table.by_subtopic:
            return cls._of_pairs(pairs, grade, lambda: by_document(pairs, grade, subtopic)[2])
        if not table.distinct and table.subgroups is None:
            pairs.reject_repeats("Keep one judgment for each document and subtopic.", further=subtopic)
        return cls._of_pairs(*by_document(pairs, grade, subtopic, table.importance, table.subgroups))

    def __getitem__(self, query_id: str) -> dict[str, float]:
        """``{doc_id: relevance}`` of one topic, in the order given."""
        return self._of_topic(query_id)

    def __repr__(self) -> str:
        by_subtopic = ", by subtopic" if isinstance(self._subtopics, Subtopics) else ""
        judgments, topics = counted(len(self), "judgment"), counted(len(self.query_ids), "topic")
        return f"Qrels({judgments}, {topics}{by_subtopic}, {self.pairs.source.name})"

    def _trec_lines(self) -> Iterable[str]:
        pair_files.reject_for_trec(self.pairs)
        pairs, columns = self._columns_to_write()
        second = columns.get("subtopic", itertools.repeat("0"))
        nothing = itertools.repeat("")
        before = (f"{name} " for name in columns["judgment_subgroup"]) if "judgment_subgroup" in columns else nothing
        behind = (f"{name} " for name in columns["stratum"]) if "stratum" in columns else nothing
        return (
            f"{query} {subtopic} {subgroup}{doc} {stratum}{pair_files.decimal(grade)}\n"
            for (query, doc, grade), subtopic, subgroup, stratum in zip(
                pairs.rows(columns["relevance"]), second, before, behind, strict=False
            )
        )

    def _columns_to_write(self) -> tuple[Pairs, dict[str, Any]]:
        if isinstance(self._subtopics, Subtopics):
            of_subtopics = self._subtopics
            columns = {"subtopic": of_subtopics.labels, "relevance": of_subtopics.grade}
            if of_subtopics.subgroup is not None:
                columns["judgment_subgroup"] = of_subtopics.subgroup_labels
            if of_subtopics.okay.any():
                columns["importance"] = ["okay" if okay else "vital" for okay in of_subtopics.okay.tolist()]
            return self.pairs.take(of_subtopics.row), columns
        strata = {} if self.strata is None else {"stratum": self.strata.labels}
        return self.pairs, {**strata, "relevance": self.grade}


def read_qrels(
    path: str | os.PathLike[str],
    *,
    formats: str | None = None,
    source: str | Sequence[str] | None = None,
    grade_of: Mapping[str, float] | None = None,
    columns: Mapping[str, str] | None = None,
    lenient: bool = False,
    threads: int = 1,
    raters: str | None = None,
) -> Qrels:
    r"""Read judgments from a file.

    Parameters
    ----------
    path : path
        A file in any known format; ``"-"`` is standard input, ``"ir_datasets:ID"`` a data set of that package.
    formats, columns, lenient, threads
        As for ``read_run``; ``columns`` may also name the relevance: ``{"relevance": "r"}``.
    source : str or sequence of str, optional
        Whose judgments to use, by the column ``source``: ``"human"``, or ``"human,llm"`` for the first that exists.
    grade_of : mapping, optional
        The grades of words, ``{"S": 3, "A": 2, "B": 1}``; other words count as non-relevant, with a warning.
    raters : {"mean", "majority", "first"}, optional
        How several people's judgments of a document become one; by default they are an error. Of a tie the lowest
        grade is the majority's.

    Returns
    -------
    Qrels

    Examples
    --------
    >>> import os, tempfile
    >>> from rankbounds import read_qrels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "qrels.txt")
    ...     with open(path, "w") as file:
    ...         _ = file.write("q1 0 a 1\nq1 0 b 0\n")
    ...     read_qrels(path).to_dict()
    {'q1': {'a': 1.0, 'b': 0.0}}
    """
    name = os.fspath(path)
    words = Words(grade_of or {}, "standard input" if name == "-" else name)
    found = read(
        name,
        QRELS_COLUMNS.renamed(columns),
        kind=formats,
        lenient=lenient,
        threads=threads,
        words=words if grade_of else None,
        distinct=raters is not None,
    )
    return Qrels._of(words.put_into(found), source, raters)


class Words:
    """Words for grades in one table of judgments; unknown ones count as 0, with their number."""

    def __init__(self, grade_of: Mapping[str, float], source: str) -> None:
        self.grade_of, self.source = dict(grade_of), source
        self.unknown: Counter[str] = Counter()

    def __call__(self, word: str) -> float:
        if word not in self.grade_of:
            self.unknown[word] += 1
        return self.grade_of.get(word, 0.0)

    def put_into(self, table: Columns) -> Columns:
        values = table.values
        if self.grade_of and table.pairs.source.unit != "line":
            values = list(values)
            for row in finite_numbers(values)[1].tolist():
                values[row] = self(values[row]) if isinstance(values[row], str) else values[row]
        if self.unknown:
            words = ", ".join(f"{word} ({count} times)" for word, count in self.unknown.most_common(5))
            warn(f"{self.source}: grades that the gain rule does not name count as not relevant: {words}.")
        return replace(table, values=values)


def as_qrels(
    given: Any,
    grade_of: Mapping[str, float] | None = None,
    source: str | Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    raters: str | None = None,
) -> Qrels:
    table = columns_of(given, QRELS_COLUMNS.renamed(columns), source="judgments")
    if not len(table):
        raise DataError("The judgments are empty.")
    return Qrels._of(Words(grade_of or {}, "judgments").put_into(table), source, raters)


def joined_raters(table: Columns, how: str, *, apart: bool = False) -> Columns:
    """Turn the judgments of a document by several raters into one; ``apart``: by those of each source."""
    pairs, grade, name = table.pairs, table.numbers, table.pairs.source.name
    if table.subgroups is not None or table.importance is not None:
        raise UsageError(f"{name}: raters= joins people's grades of documents, but these are preferences or nuggets.")
    sources = None if table.label_sources is None else LabelSources.of(table)
    raters = table.subtopics if sources is None or apart else Ids.of(sources.names).take(sources.number)
    if raters is not None and (again := pairs.repeats(further=raters).tolist()):
        problem = f'{pairs.describe(again[0])} has two judgments by "{raters[again[0]]}".'
        raise DataError(pairs.where(again[0]), problem, "Keep one judgment of a rater for each document.")
    (number,) = number_pairs([pairs])
    if apart and sources is not None:
        number = number * len(sources.names) + sources.number
    _, first, group = np.unique(number, return_index=True, return_inverse=True)
    joined, known = np.full(first.size, float(POOLED_NOT_JUDGED)), np.flatnonzero(grade != POOLED_NOT_JUDGED)
    if how == "mean":
        times = np.bincount(group[known], minlength=first.size)
        total = np.bincount(group[known], grade[known], first.size)
        joined[times > 0] = total[times > 0] / times[times > 0]
    else:
        if how == "majority":
            level = np.unique(grade, return_inverse=True)[1]
            _, same, times = np.unique(group * len(pairs) + level, return_inverse=True, return_counts=True)
            known = known[np.lexsort((grade[known], -times[same[known]]))]
        found, at = np.unique(group[known], return_index=True)
        joined[found] = grade[known[at]]
    order = np.argsort(first)
    rows = first[order]
    kept = None if not apart or sources is None else [sources.names[at] for at in sources.number[rows].tolist()]
    strata = None if table.strata is None else table.strata.take(rows)
    table = replace(table, subtopics=None, strata=strata, label_sources=kept, distinct=kept is None)
    return replace(table, pairs=pairs.take(rows), values=joined[order])


@dataclass(frozen=True)
class LabelSources:
    """Who made each label of a table."""

    names: list[str]
    number: Ints

    @classmethod
    def of(cls, table: Columns) -> LabelSources:
        if table.label_sources is None:
            name = table.pairs.source.name
            raise DataError(f'{name}: there is no column "source" to choose labels by.')
        seen: dict[str, int] = {}
        stated = ("" if one is None else str(one) for one in table.label_sources)
        number = np.fromiter((seen.setdefault(one, len(seen)) for one in stated), np.int64, len(table))
        return cls(list(seen), number)

    def chosen(self, pairs: Pairs, grade: Floats, wanted: str | Sequence[str] | None) -> tuple[Pairs, Floats]:
        """Select one label per pair: of the sources wanted, the first that has one; of all, if they agree."""
        if wanted is None:
            return self._where_all_agree(pairs, grade)
        wanted = [name.strip() for name in wanted.split(",")] if isinstance(wanted, str) else list(wanted)
        for name in wanted:
            if name not in self.names:
                hint = did_you_mean(name, self.names)
                raise UsageError(
                    f'{pairs.source.name}: no label has the source "{name}".{hint} Known: {", ".join(self.names)}.'
                )
        kept = []
        for name in wanted:
            rows = np.flatnonzero(self.number == self.names.index(name))
            pairs.take(rows).reject_repeats(f'Keep one judgment of the source "{name}" for each document.')
            kept.append(rows)
        rows = np.concatenate(kept)
        again = pairs.take(rows).repeats()
        rows = np.sort(np.delete(rows, again))
        return pairs.take(rows).without_unused_topics(), grade[rows]

    def _where_all_agree(self, pairs: Pairs, grade: Floats) -> tuple[Pairs, Floats]:
        _, first, code = np.unique(number_pairs([pairs])[0], return_index=True, return_inverse=True)
        again = np.flatnonzero(first[code] != np.arange(len(pairs)))
        for row, one in zip(again.tolist(), first[code][again].tolist(), strict=True):
            if self.number[one] == self.number[row]:
                raise DataError(
                    f"{pairs.where(row)}: {pairs.describe(row)} has two judgments of the source "
                    f'"{self.names[self.number[row]]}" (column "source"). Keep one{OR_JOIN}'
                )
            if grade[one] != grade[row]:
                raise DataError(
                    f"{pairs.where(row)}: sources disagree on {pairs.describe(row)}: {grade[one]:g} by "
                    f'"{self.names[self.number[one]]}", {grade[row]:g} by "{self.names[self.number[row]]}". '
                    f"Choose one: --source {self.names[self.number[one]]} uses one source, --source "
                    f"{self.names[self.number[one]]},{self.names[self.number[row]]} the first that has a label, "
                    "--raters majority (or mean, or first) joins all (in Python source=, raters=)."
                )
        keep = np.delete(np.arange(len(pairs)), again)
        return pairs.take(keep), grade[keep]
