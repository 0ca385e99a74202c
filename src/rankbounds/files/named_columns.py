"""Tables of (query, document) pairs: known names of columns, and the columns as read."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.columns.decimals import finite_numbers, whole_numbers
from rankbounds.columns.ids import Ids, is_missing
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError, UsageError, did_you_mean

QUERY_NAMES = ("query_id", "qid", "query-id", "q_id", "topic_id", "topic", "query")
QUESTION_NAMES = (*QUERY_NAMES[:-1], "question_id", "id", "_id", "query", "question", "user_input", "input", "inputs")
"""What a row with lists calls its question; ids before texts."""
DOC_NAMES = ("doc_id", "docno", "corpus-id", "corpus_id", "doc-id", "docid", "pid", "document", "doc")
TURN_NAMES = ("turn", "turn_id", "search", "step", "round", "hop", "iteration")
"""The place of a search among those of one question."""
POSITION_NAMES = ("doc position", "position", "rank")
"""The rank of a document, in tables that have no scores."""
LISTS = {
    "run": (
        *("retrieved_ids", "retrieved_context_ids", "retrieved_doc_ids", "retrieved_chunk_ids", "retrieved_docs"),
        *("retrieved_documents", "retrieved", "predictions", "contexts", "results", "candidates", "hits"),
    ),
    "judgments": (
        *("expected_ids", "reference_context_ids", "relevant_docs", "relevant_doc_ids", "relevant_ids"),
        *("relevant_chunk_ids", "ground_truth", "ground_truth_ids", "ground_truth_documents", "ground_truth_doc_ids"),
        *("targets", "gold_docs", "gold_ids", "gold_doc_ids", "evidence", "evidence_ids", "evidence_docs"),
        *("answer_session_ids", "expected", "relevant"),
    ),
}
"""Columns of lists with one row per question: retrieved documents, and expected (relevant) ones."""
NO_RUN, NAME_THE_RUN = "a row has no run", "Name its run, leave such rows out, or drop the column."
"""What is wrong with a row of no run in a table of several runs, and what to do."""
CANONICAL = {"query_id": "query", "doc_id": "doc"} | {name: name for name in ("rank", "source", "run", "subtopic")}
NAMED_ALONE = ("score", "relevance", "retrieved", "expected")
"""What a user may name beside these."""
SIDES = {"run": "run.", "judgments": "qrels."}
"""What begins the user's name of a column that only such files have."""
OPTIONAL = {"run": ("rank", "run"), "judgments": ("source", "subtopic", "importance", "stratum")}
"""The columns that a table may have beside query, document and value, by what it holds."""


@dataclass(frozen=True)
class ColumnNames:
    """Known names of a table's columns; earlier names win."""

    value: tuple[str, ...]
    what: str
    query: tuple[str, ...] = (*QUERY_NAMES, "query text", "query_text")
    doc: tuple[str, ...] = (*DOC_NAMES, "doc id")
    rank: tuple[str, ...] = ("rank",)
    source: tuple[str, ...] = ("source", "rater", "rater_id", "annotator", "assessor")
    """Who or what made a label: people, a language model, clicks."""
    run: tuple[str, ...] = ("run", "run_id", "system", "tag")
    subtopic: tuple[str, ...] = ("subtopic", "subtopic_id", "nugget", "nugget_id", "judgment_group")
    """What a document is judged for, where a query is about several things, or by whom."""
    importance: tuple[str, ...] = ("importance",)
    stratum: tuple[str, ...] = ("stratum",)
    """The part of the pool that a document was drawn from for judging, or could have been."""
    lists: tuple[str, ...] = ()
    """The user's name of the column that lists the documents of a question."""
    given: tuple[tuple[str, str], ...] = ()
    """All columns that the user named, for judgments and for runs."""
    called: str = ""
    """Our name of the value, where a user's table has another one for it."""

    @property
    def value_name(self) -> str:
        return self.called or self.value[0]

    @property
    def listed(self) -> Sequence[str]:
        return self.lists or LISTS.get(self.what, ())

    @property
    def of_judgments(self) -> bool:
        return self.what == "judgments"

    @property
    def of_run(self) -> bool:
        return self.what == "run"

    def renamed(self, columns: Mapping[str, str] | None) -> ColumnNames:
        """With a user's own names: ``{"qrels.query_id": "q", "doc_id": "d"}``; a plain key serves all files."""
        if not columns:
            return self
        known, side = [*CANONICAL, *NAMED_ALONE], SIDES.get(self.what, "")
        for name in columns:
            if str(name).removeprefix("qrels." if str(name).startswith("qrels.") else "run.") not in known:
                hint = did_you_mean(str(name), known)
                raise UsageError(f'There is no column "{name}" to be named.{hint} Known: {", ".join(known)}.')
        mine = {name: str(columns[key]).lower() for name in known for key in (name, side + name) if key in columns}
        own: dict[str, Any] = {field: (mine[name],) for name, field in CANONICAL.items() if name in mine}
        listed = "expected" if self.of_judgments else "retrieved"
        for name, ours in ((self.value_name, "value"), (listed, "lists")):
            own |= {ours: (mine[name],)} if name in mine else {}
        return replace(self, **own, given=tuple(columns.items()), called=self.value_name)

    def advice(self, ours: str, columns: Iterable[str], others: Iterable[str]) -> str:
        """How to name the first of the columns that is none of the others, as a shell and Python take it."""
        if self.what not in SIDES or ours not in ("query_id", "doc_id", *NAMED_ALONE):
            return "Rename it."
        side = SIDES[self.what]
        mine = {str(theirs).lower() for key, theirs in self.given if key.startswith(side) or "." not in key}
        own = next((name for name in columns if name.lower() not in {*others, *mine}), "NAME")
        key = side + ours if ours in ("query_id", "doc_id") else ours
        merged = {**dict(self.given), key: own}
        return f"Say which one it is: --columns {shlex.quote(columns_argument(merged))} (in Python columns={merged!r})."


def columns_argument(columns: Mapping[str, str]) -> str:
    """Names of columns as ``--columns`` takes them, in quotation marks where they hold commas."""
    parts = [f"{ours}={theirs}" for ours, theirs in columns.items()]
    return ",".join('"' + part.replace('"', '""') + '"' if {",", '"'} & {*part} else part for part in parts)


NO_NUMBER = ("nan", "inf", "infinity", "none", "nat")
RUN_COLUMNS = ColumnNames(value=("score", "sim", "similarity"), what="run")
QRELS_COLUMNS = ColumnNames(value=("relevance", "label", "rel", "grade", "rating", "score"), what="judgments")


class FoundColumns(NamedTuple):
    """A table's names of its columns; None for an optional one that it lacks."""

    query: str
    doc: str
    value: str
    rank: str | None = None
    source: str | None = None
    run: str | None = None
    subtopic: str | None = None
    importance: str | None = None
    stratum: str | None = None


def find_column(columns: Iterable[str], known: tuple[str, ...]) -> str | None:
    folded = {column.lower(): column for column in columns}
    return next((folded[name] for name in known if name in folded), None)


def found_columns(columns: list[str], names: ColumnNames, source: str) -> FoundColumns:
    """Return the columns of a run, or of judgments, in a table; raise if one is missing.

    Where a run has no score its rank is enough: it is the value, too.
    """

    def needed(ours: str, known: tuple[str, ...], what: str) -> str:
        found = find_column(columns, known)
        if found is None:
            others = {name for several in (names.query, names.doc, names.value) for name in several}
            problem = f"no column for the {what}: this table has {', '.join(columns) or 'no columns'}."
            raise DataError(source, problem, names.advice(ours, columns, others))
        if [name.lower() for name in columns].count(found.lower()) > 1:
            raise DataError(source, f'two columns are called "{found}".', "Rename or drop one.")
        return found

    further = {field: find_column(columns, getattr(names, field)) for field in OPTIONAL.get(names.what, ())}
    for field, found in further.items():
        if found is None and names.of_judgments and getattr(names, field) != getattr(ColumnNames, field):
            named = ", ".join(getattr(names, field))
            raise DataError(source, f'there is no column "{named}": this table has {", ".join(columns)}.')
    value = names.value
    if value == RUN_COLUMNS.value and find_column(columns, value) is None:
        further["rank"] = rank = find_column(columns, (*names.rank, *POSITION_NAMES))
        value = value if rank is None else (rank.lower(),)
    return FoundColumns(
        needed("query_id", names.query, "query id"),
        needed("doc_id", names.doc, "document id"),
        needed(names.value_name, value, names.value_name),
        **further,
    )


def list_candidates(columns: Iterable[str], names: ColumnNames) -> list[str]:
    """Return the columns that may hold lists: of retrieved documents, or for judgments of expected ones."""
    folded = {column.lower(): column for column in columns}
    return [folded[name] for name in names.listed if name in folded]


def has_lists(columns: Iterable[str], names: ColumnNames) -> bool:
    header = list(columns)
    if names.lists:  # the user named that column
        return bool(list_candidates(header, names))
    folded = {column.lower() for column in header}
    return find_column(header, names.doc) is None and any(folded.intersection(known) for known in LISTS.values())


def turn_column(columns: Iterable[str], names: ColumnNames) -> str | None:
    """Return the column that numbers the searches of a question, in a table with a list per search."""
    header = list(columns)
    return find_column(header, TURN_NAMES) if has_lists(header, names) else None


def question_column(columns: Iterable[str], names: ColumnNames) -> str | None:
    own = names.query if names.query != ColumnNames.query else QUESTION_NAMES
    return find_column(columns, own)


def wanted_columns(columns: list[str], names: ColumnNames, source: str) -> list[str]:
    if has_lists(columns, names):
        question, lists = question_column(columns, names), list_candidates(columns, names)
        more = [name for name in (question, turn_column(columns, names)) if name is not None]
        return [*lists, *more] if lists else columns
    return list(dict.fromkeys(name for name in found_columns(columns, names, source) if name is not None))


@dataclass(frozen=True)
class Columns:
    """Pairs with a value each, as lines or a table hold them: ids are checked now, values on demand."""

    pairs: Pairs
    values: Any
    value_name: str
    ranks: Ints | Callable[[], Ints] | None = None
    """The stated ranks, perhaps to be read when they are asked for."""
    tag: str | None = None
    distinct: bool = False
    headed: bool = True
    """Does something say what the values are?"""
    label_sources: Sequence[Any] | None = None
    runs: Any = None
    run_name: str = "run"
    subtopics: Ids | None = None
    by_subtopic: bool = True
    """Are documents judged by subtopic? In TREC lines that hold each document once, it may be something else."""
    subgroups: Ids | None = None
    """Within which subgroup each document is compared, where lines hold preferences."""
    importance: Sequence[Any] | None = None
    strata: Ids | None = None

    @classmethod
    def of(
        cls,
        query_ids: Iterable[Any],
        doc_ids: Iterable[Any],
        values: Iterable[Any] | None,
        *,
        value_name: str,
        source: Source | str,
        names: FoundColumns | None = None,
        **further: Any,
    ) -> Columns:
        """Make it from columns, called ``names`` in messages; without values the ranks order the documents."""
        where = source if isinstance(source, Source) else Source(source, "row")
        queries, docs = map(_with_length, (query_ids, doc_ids))
        numbers = _with_length(further["ranks"] if values is None else values)
        if not len(queries) == len(docs) == len(numbers):
            raise DataError(
                where.name,
                f"the columns differ in length ({len(queries)} query ids, {len(docs)} document ids, "
                f"{len(numbers)} values).",
            )
        topics, topic = Ids.checked(queries, id_in(names and names.query, "query id"), where.place).numbered()
        if further.get("ranks") is not None:
            column = _with_length(further["ranks"])
            further["ranks"], bad = whole_numbers(column)
            for row in bad[:1].tolist():
                name = (names and (names.rank or names.value)) or "rank"
                shown = shown_value(column[row])
                problem = f'the column "{name}" holds {shown}, which is not a whole number up to 2**53.'
                raise DataError(where.place(row), problem)
        numbers = -further["ranks"] if values is None else numbers
        checked = Ids.checked(docs, id_in(names and names.doc, "document id"), where.place)
        for field, what in (("subtopics", "subtopic"), ("strata", "stratum")):
            if further.get(field) is not None:
                further[field] = Ids.checked(further[field], id_in(getattr(names, what, None), what), where.place)
        pairs = Pairs.numbered(topics, topic, checked, where)
        return cls(pairs, numbers, value_name, run_name=(names and names.run) or "run", **further)

    @classmethod
    def of_rows(
        cls, rows: Sequence[tuple[Any, ...]], value_name: str, source: str, nothing: str, fourth: str = "ranks"
    ) -> Columns:
        """Make it from rows of query, document, value, perhaps a fourth entry; ``nothing`` is the error for no rows."""
        if not rows:
            raise DataError(source, nothing)
        queries, docs, values, *further = map(list, zip(*rows, strict=True))
        named: dict[str, Any] = dict(zip([fourth], further, strict=False))
        return cls.of(queries, docs, values, value_name=value_name, source=Source(source), **named)

    def __len__(self) -> int:
        return len(self.pairs)

    def numbered_runs(self, *, one: bool = False) -> tuple[list[str], Ints]:
        """Return the names of the runs in order of appearance, and the number of each row's run."""
        ids = self.runs
        if not isinstance(ids, Ids):
            ids = Ids.of(["" if is_missing(name) else str(name) for name in self.runs])
        names, number = ids.numbered()
        if "" in names and not (one and len(names) == 1):
            row = int(np.flatnonzero(number == names.index(""))[0])
            raise DataError(self.pairs.source.place(row), f'{NO_RUN} (column "{self.run_name}").', NAME_THE_RUN)
        return names, number

    @cached_property
    def numbers(self) -> Floats:
        if self.pairs.source.unit == "line":  # as they are read
            return self.values
        values, bad = finite_numbers(self.values)
        if bad.size:
            row = int(bad[0])
            value = shown_value(self.values[row])
            problem = f"the {self.value_name} of {self.pairs.describe(row)} is {value}, not a finite number."
            word = str(self.values[row])
            advice = "Write decimals with a point." if "," in value else ""
            if self.value_name in QRELS_COLUMNS.value[:-1] and word.isalpha() and word.lower() not in NO_NUMBER:
                advice = f'Words for grades need their numbers: --gain "{word}=3,..." (in Python gain="{word}=3,...").'
            raise DataError(self.pairs.where(row), problem, advice)
        return values


def _with_length(column: Iterable[Any]) -> Any:
    return column if isinstance(column, Ids | np.ndarray | list) else list(column)


def id_in(column: str | None, what: str) -> str:
    return f'the {what} (column "{column}")' if column else f"a {what}"


def shown_value(value: Any) -> str:
    try:
        return repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # a whole number of thousands of digits
        return "a number of thousands of digits"
