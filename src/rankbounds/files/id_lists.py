"""Lists of document ids: rows with one list per question (retrieved, expected), in every notation.

RAG and memory benchmarks, evaluation frameworks and rerankers keep one row per question, with the retrieved ids, the
expected ids, or both. An entry is an id, ``(id, score)``, an object with an id and perhaps a score, or a hit with such
attributes.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.columns.decimals import finite_numbers, whole_numbers
from rankbounds.columns.ids import Ids, is_missing
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.files.named_columns import (
    DOC_NAMES,
    LISTS,
    QUERY_NAMES,
    QUESTION_NAMES,
    ColumnNames,
    Columns,
    find_column,
    id_in,
    list_candidates,
    question_column,
    shown_value,
    turn_column,
)

ENTRY_NAMES = (*DOC_NAMES, "id", "_id", "chunk_id", "context_id", "node_id", "passage_id", "document_id", "id_")
ENTRY_VALUES = {"run": ("score", "_score", "sim", "similarity"), "judgments": ("relevance", "label", "grade", "rating")}
"""What an entry of a list calls its value, by what the list holds."""
_NAMES_OF_LISTS = frozenset(name for names in LISTS.values() for name in names)
_PARTS = ("start", "end", "begin", "offset", "span", "start_char", "end_char", "start_char_idx", "end_char_idx")
"""What an entry says of the part of a document that it is."""
IDS = (str, bytes, int, np.integer, np.str_)
ENTRY_SHAPES = 'An entry is an id, [id, score], or an object with an id, such as {"id": "d1", "score": 0.5}.'


# ---- tables with a column of lists ----


def columns_of_list_table(header: list[str], get: Callable[[str], Any], names: ColumnNames, source: str) -> Columns:
    found = list_candidates(header, names)
    role, other = ("expected", LISTS["run"]) if names.of_judgments else ("retrieved", LISTS["judgments"])
    if not found:
        problem = f"no column lists the {role} documents: this table has {', '.join(header) or 'no columns'}."
        raise DataError(source, problem, names.advice(role, header, (*QUESTION_NAMES, *other)))
    lists = {name: list(get(name)) for name in found}
    if len(found) > 1:
        lists = {name: column for name, column in lists.items() if _may_hold_lists(column)} or lists
    if len(lists) > 1:
        two = " and ".join(list(lists)[:2])
        raise UsageError(f"{source}: {two} may both list the {role} documents. {names.advice(role, lists, ())}")
    ((column, cells),) = lists.items()
    question, turn = question_column(header, names), turn_column(header, names)
    known = {*_NAMES_OF_LISTS, *(str(theirs).lower() for _, theirs in names.given), column, question, turn}
    unread = [name for name in header if not known & {name, name.lower()}] if names.of_run else []
    if unread := [name for name in unread if _lists_ids(list(get(name)))]:
        warn(f"{source}: these columns hold lists of ids too, and are not read: {', '.join(unread)}.")
    if question is None:
        warn(f"{source}: no column identifies the questions, so rows are numbered from 1.")
    queries = list(range(1, len(cells) + 1)) if question is None else list(map(_question, get(question)))
    where = Source(source, "row")
    topics = Ids.checked(queries, id_in(question, "query id"), where.place).to_list()
    entries = [_cell(cell, column, where.place(row)) for row, cell in enumerate(cells)]
    first: dict[str, int] = {}
    again = [row for row, topic in enumerate(topics) if first.setdefault(topic, row) != row]
    if again and turn is not None and names.of_run:
        return _columns_of_turns(topics, list(get(turn)), entries, names, where, turn)
    for row in again:
        shown = topics[row][:60]
        if turn is None:
            problem = f'the question "{shown}" (column "{question}") has a row already.'
            remedy = "Keep one row per question, or name a column of ids: --columns query_id=NAME."
            raise DataError(where.place(row), problem, remedy)
        mine, theirs = ([] if entries[at] is None else list(entries[at]) for at in (row, first[topics[row]]))
        if mine != theirs:
            problem = f'the question "{shown}" expects different documents than in its first row.'
            raise DataError(where.place(row), problem, "All rows of a question must expect the same documents.")
    topics, entries = list(first), [entries[row] for row in first.values()]
    lacking = [topic for topic, entry in zip(topics, entries, strict=True) if entry is None]
    if lacking and names.of_run:
        questions = "1 question has" if len(lacking) == 1 else f"{len(lacking):,} questions have"
        warn(
            f'{source}: {questions} no list of retrieved documents (column "{column}"; first: "{lacking[0][:60]}"), '
            "which counts as an empty list."
        )
    return columns_of_lists(topics, entries, names, source, column)


def _columns_of_turns(
    topics: Sequence[str], turns: Sequence[Any], entries: Sequence[Any], names: ColumnNames, where: Source, column: str
) -> Columns:
    numbers, bad = whole_numbers(turns)
    if bad.size:
        row = int(bad[0])
        problem = f'the column "{column}" holds {shown_value(turns[row])}, which is not a whole number.'
        raise DataError(where.place(row), problem, "Number the searches of each question: 1, 2, 3.")
    places = list(dict.fromkeys(topics))
    number = {topic: place for place, topic in enumerate(places)}
    returned: dict[tuple[int, str], list[Any]] = {}
    for row, (turn, topic, entry) in enumerate(zip(numbers.tolist(), topics, entries, strict=True)):
        if (turn, topic) in returned:
            raise DataError(where.place(row), f'the question "{topic[:60]}" has a row of {column} {turn} already.')
        try:
            own, stated = ([], None) if entry is None else entries_of(entry, names)
        except TypeError as error:
            raise DataError(where.place(row), f"the list cannot be read: {error}.", ENTRY_SHAPES) from None
        if stated is not None:
            scores, bad = finite_numbers(stated)
            if bad.size:
                at = int(bad[0])
                problem = f'the score of document "{own[at]}" is {shown_value(stated[at])}, not a finite number.'
                raise DataError(where.place(row), problem)
            own = [own[place] for place in np.argsort(-scores, kind="stable").tolist()]
        returned[turn, topic] = [str(doc) for doc in own]
    seen: dict[str, dict[str, None]] = {topic: {} for topic in places}
    docs: list[str] = []
    topic_of: list[int] = []
    values: list[float] = []
    runs: list[str] = []
    for turn in sorted({turn for turn, _ in returned}):
        for topic in places:
            seen[topic] |= dict.fromkeys(returned.get((turn, topic), []))
            docs += seen[topic]
            topic_of += [number[topic]] * len(seen[topic])
            values += map(float, range(len(seen[topic]), 0, -1))
            runs += [f"after {turn}"] * len(seen[topic])
    ids = Ids.checked(docs, "a document id", where.place)
    pairs = Pairs.numbered(places, np.array(topic_of, dtype=np.int32), ids, where)
    return Columns(pairs, values, names.value_name, runs=runs)


_ADJACENT = re.compile(r"""^\s*\[\s*(?:'[^']*'|"[^"]*")\s+['"]""")


def _may_hold_lists(column: Sequence[Any]) -> bool:
    first = next((cell for cell in column if not _is_nothing(cell)), None)
    return first is None or not isinstance(first, str) or first.lstrip()[:1] in ("[", "{")


def _lists_ids(column: Sequence[Any]) -> bool:
    first = next((cell for cell in column if not _is_nothing(cell)), None)
    try:
        entries = (
            list(_cell(first, "", "") or ()) if not isinstance(first, Mapping) and _may_hold_lists([first]) else []
        )
    except (DataError, TypeError):
        return False
    ids = (is_hit(entry) or (isinstance(entry, str) and len(entry.split()) == 1) for entry in entries)
    return bool(entries) and all(ids)


def _is_nothing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip()) or (is_missing(cell) and np.ndim(cell) == 0)


def _question(entry: Any) -> Any:
    if isinstance(entry, Mapping):
        inside = find_column(map(str, entry), QUESTION_NAMES)
        return entry.get(inside) if inside else entry
    return entry


def _cell(cell: Any, column: str, place: Any) -> Any:
    if _is_nothing(cell):
        return None
    if isinstance(cell, str):
        if _ADJACENT.search(cell):  # Python reads 'd1' 'd2' as one text
            raise DataError(
                place,
                f'the column "{column}" holds {shown_value(cell)[:60]}, an array as NumPy prints it, without commas.',
                'Write lists as ["d1", "d2"]: call .tolist() before the table is written.',
            )
        for read in (json.loads, ast.literal_eval):
            try:
                parsed = read(cell)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if isinstance(parsed, list | tuple | dict | set):
                return parsed
    elif isinstance(cell, list | tuple | set | frozenset | np.ndarray | Mapping):
        return cell
    elif hasattr(cell, "to_list"):
        return cell.to_list()
    raise DataError(
        place, f'the column "{column}" holds {shown_value(cell)[:60]}, not a list.', 'Write lists as ["d1", "d2"].'
    )


# ---- answers of search engines: {"hits": {"hits": [...]}}, of _msearch under "responses" ----


def answers_in(given: Any) -> Mapping[Any, Any] | list[Any] | None:
    """Return the answers in their order, or by query; None where these are no answers to searches."""
    given = _body(given)
    if is_answer(given):
        return [given]
    if isinstance(given, Mapping) and isinstance(given.get("responses"), list):
        return list(given["responses"])
    if not isinstance(given, Mapping | list | tuple) or not given:
        return None
    first = list(given.values() if isinstance(given, Mapping) else given)[:20]
    return given if all(map(is_answer, first)) else None  # type: ignore[return-value]


def _body(given: Any) -> Any:
    return given.body if type(given).__name__ == "ObjectApiResponse" else given


def is_answer(given: Any) -> bool:
    given = _body(given)
    if not isinstance(given, Mapping):
        return False
    hits, failed = given.get("hits"), isinstance(given.get("error"), Mapping | str) and "status" in given
    return failed or (isinstance(hits, Mapping) and isinstance(hits.get("hits"), list))


def hits_by_query(
    answers: Mapping[Any, Any] | list[Any], source: str, query_ids: Sequence[Any] | None = None
) -> dict[Any, list[Any]]:
    """Return each query's hits; answers in a list are those of ``query_ids``, or numbered from 1."""
    if not isinstance(answers, Mapping):
        if query_ids is None:
            warn(
                f"{source}: answers to searches do not name their queries, so these are numbered from 1 in their "
                "order. Write {query: answer}, or give query_ids=[...] in Python, to name them."
            )
        queries = list(range(1, len(answers) + 1) if query_ids is None else query_ids)
        if len(queries) != len(answers) or len({*map(str, queries)}) < len(queries):
            raise UsageError(f"There are {len(answers):,} answers to searches, which need as many different query_ids.")
        answers = dict(zip(queries, answers, strict=True))
    found: dict[Any, list[Any]] = {}
    for query, given in answers.items():
        answer = _body(given)
        if not is_answer(answer) or "hits" not in answer:
            reason = answer.get("error", answer) if isinstance(answer, Mapping) else answer
            reason = reason.get("reason") or reason if isinstance(reason, Mapping) else reason
            problem = f'the answer to query "{query}" holds no hits: {str(reason)[:100]!r}.'
            raise DataError(source, problem, "Send this search again, or leave it out.")
        found[query] = answer["hits"]["hits"]
    rows = by_id([(query, hit) for query, hits in found.items() for hit in hits], source)
    for (query, doc), times in Counter((str(query), str(doc)) for query, doc in rows).most_common(1):
        if times > 1:
            raise DataError(source, f'document "{doc}" of topic "{query}" is listed twice.', "Keep one of its hits.")
    return found


def id_checked(hit: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(hit, Mapping) or "_id" not in hit:
        raise DataError(name, f'a document has no "_id": {shown_value(hit)[:100]}.')
    return hit


def by_id(rows: list[Any], name: str) -> list[tuple[Any, ...]]:
    home: dict[tuple[str, str], str] = {}
    for query, hit, *_ in rows:
        doc, index = id_checked(hit, name)["_id"], str(hit.get("_index", ""))
        first = home.setdefault((str(query), str(doc)), index)
        if first != index:
            problem = f'the _id "{doc}" of query "{query}" comes from two indices ("{first}" and "{index}").'
            raise DataError(name, problem, "Documents are identified by _id; evaluate the indices separately.")
    return [(query, hit["_id"], *rest) for query, hit, *rest in rows]


# ---- entries ----


def is_hit(entry: Any) -> bool:
    """Return whether an entry is more than an id: ``(id, score)``, or an object with an id."""
    if isinstance(entry, tuple | list):
        return len(entry) == 2 and isinstance(entry[0], IDS) and isinstance(entry[1], int | float | np.number)
    if isinstance(entry, Mapping):
        if any(isinstance(value, list | tuple) and str(key).lower() in _NAMES_OF_LISTS for key, value in entry.items()):
            return False  # the row of a question
        return find_column(map(str, entry), QUERY_NAMES) is None and _field(entry, ENTRY_NAMES, IDS) is not None
    if isinstance(entry, (*IDS, float, np.generic, np.ndarray, set, frozenset)) or hasattr(entry, "query_id"):
        return False
    return _field(entry, ENTRY_NAMES, IDS) is not None


def _field(entry: Any, known: Sequence[str], kinds: tuple[type, ...]) -> Any:
    if isinstance(entry, Mapping):
        folded = {str(key).lower(): value for key, value in entry.items()}
        values: Iterable[Any] = (folded[name] for name in known if name in folded)
    else:
        values = (getattr(entry, name, None) for name in known)
    return next((value for value in values if isinstance(value, kinds)), None)


def entries_of(listed: Any, names: ColumnNames) -> tuple[list[Any], list[Any] | None]:
    """Return the ids of one question's list, and values if entries have them; ``TypeError`` if one has no id."""
    if isinstance(listed, Mapping):
        return list(listed), list(listed.values())
    entries = listed.tolist() if isinstance(listed, np.ndarray) else list(listed)
    if all(isinstance(entry, IDS) for entry in entries):
        return entries, None
    docs, values = [], []
    for entry in entries:
        doc, value = entry, None
        if isinstance(entry, tuple | list) and len(entry) == 2:
            doc, value = entry
        elif not isinstance(entry, IDS):
            doc = _field(entry, ENTRY_NAMES, IDS)
            value = _field(entry, ENTRY_VALUES[names.what], (int, float, np.number, str))
        if not isinstance(doc, IDS):
            raise TypeError(f"an entry is {shown_value(entry)[:80]}, which has no id")
        docs.append(doc)
        values.append(value)
    stated = [value is not None for value in values]
    if any(stated) and not all(stated):
        raise TypeError(f"some entries state a {names.value_name} and others do not")
    return docs, values if all(stated) and values else None


def columns_of_lists(
    topics: Sequence[str], lists: Sequence[Any], names: ColumnNames, source: str, column: str = ""
) -> Columns:
    """Read a list per question; if entries have no score, their order is the ranking.

    A repeated document counts once: with its best score, so at its first rank.
    """
    docs: list[Any] = []
    values: list[Any] = []
    counts = np.zeros(len(topics), dtype=np.int64)
    falls: list[bool] = []
    parts: dict[str, None] = {}
    for number, (topic, listed) in enumerate(zip(topics, lists, strict=True)):
        try:
            own, stated = ([], None) if listed is None else entries_of(listed, names)
        except TypeError as error:
            raise DataError(source, f'the list of "{topic}" cannot be read: {error}.', ENTRY_SHAPES) from None
        counts[number] = len(own)
        docs += own
        if isinstance(listed, list | tuple) and listed and isinstance(listed[0], Mapping):
            parts |= {name: None for name in map(str, listed[0]) if name.lower() in _PARTS}
        if stated is not None:
            values += stated
            if names.of_run and len(stated) > 1 and not isinstance(listed, Mapping):
                falls.append(stated[0] >= stated[-1])
        else:
            values += [1.0] * len(own) if names.of_judgments else map(float, range(len(own), 0, -1))
    if parts:
        what = "expected" if names.of_judgments else "retrieved"
        warn(
            f"{source}: the {what} entries are parts of documents ({', '.join(parts)}), but only their ids are read: "
            "any part of a document counts as the whole. Give each part an id of its own to tell them apart."
        )
    where = Source(source)
    ids = Ids.checked(docs, "a document id", where.place)
    topic_of = np.repeat(np.arange(len(topics), dtype=np.int32), counts)
    pairs = Pairs.numbered(topics, topic_of, ids, where)
    table = Columns(pairs, values, names.value_name)
    again = pairs.repeats()
    if again.size:
        kept = pairs.best_rows(table.numbers)
        entries = "1 entry repeats" if again.size == 1 else f"{again.size:,} entries repeat"
        first = pairs.describe(int(again[0]))
        warn(f"{source}: {entries} a document of the same list, which counts once, at its best rank (first: {first}).")
        table = Columns(pairs.take(kept), table.numbers[kept], names.value_name)
    _note_what_is_odd(counts, falls, names, source, column)
    if names.of_judgments:
        table = Columns(table.pairs.without_unused_topics(), table.values, names.value_name)
    return Columns(table.pairs, table.values, names.value_name, distinct=True)


def _note_what_is_odd(counts: Ints, falls: list[bool], names: ColumnNames, source: str, column: str) -> None:
    if len(falls) > 1 and not any(falls):
        warn(
            f"{source}: in every list the scores rise from first to last. Documents are ranked by score, so the last "
            "one ranks first. If these are distances, rank by the order of the lists: --ties run (in Python "
            'ties="run").'
        )
    empty = int(np.count_nonzero(counts == 0))
    if empty and names.of_judgments:
        called = f' (column "{column}")' if column else ""
        questions = "1 question expects" if empty == 1 else f"{empty:,} questions expect"
        warn(f"{source}: {questions} no document{called}: a query that expects no document is not scored.")
