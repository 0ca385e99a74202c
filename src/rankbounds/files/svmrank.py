"""Learning-to-rank files: ``grade qid:query 1:0.5 2:1.2 # document``.

A document is known by the first word of the comment (behind ``docid =`` in LETOR's files); in a file without comments
by its number within the query.
"""

from __future__ import annotations

import os
import re

from rankbounds.columns.pairs import Source
from rankbounds.errors import DataError
from rankbounds.files.json_formats import Format
from rankbounds.files.named_columns import Columns
from rankbounds.files.opening import Text, read_text
from rankbounds.files.records import decoded, filled_lines

_LINE = re.compile(r"(?P<grade>\S+)\s+qid:(?P<query>\S+)(?P<features>[^#]*)(?:#\s*(?P<comment>.*))?")
_DOCUMENT = re.compile(r"(?:doc(?:id|no)?\s*[=:]\s*)?(?P<id>\S+)", re.IGNORECASE)


def _is_svmrank(text: Text) -> bool:
    """Does the first line of data name its query with ``qid:``?"""
    first = next((line for line in text.lines() if line.strip() and not line.lstrip().startswith(b"#")), b"")
    return b"qid:" in first and _LINE.match(first[:65536].decode("utf-8", "replace").strip()) is not None


def _judgments(text: Text) -> Columns:
    return Columns.of(*_columns(text), value_name="grade", source=Source(text.name))


def read_predictions(judgments_path: str | os.PathLike[str], path: str | os.PathLike[str]) -> Columns:
    """A ranker's predictions, one number per line, in the order of a learning-to-rank file."""
    file = os.fspath(path)
    queries, docs, _ = _columns(read_text(os.fspath(judgments_path)))
    predicted = decoded(read_text(file)).split()
    if len(predicted) != len(queries):
        raise DataError(
            file,
            f"there are {len(predicted)} predictions for {len(queries)} lines of "
            f"{os.fspath(judgments_path)}; the two must go together line by line.",
        )
    return Columns.of(queries, docs, predicted, value_name="prediction", source=file)


def _columns(text: Text) -> tuple[list[str], list[str], list[str]]:
    """The query, the document and the grade of every line."""
    rows: list[tuple[str, str, str]] = []
    counts: dict[str, int] = {}
    for place, line in filled_lines(decoded(text), text.name):
        stripped = line.strip()
        if stripped.startswith("#"):
            continue
        match = _LINE.fullmatch(stripped)
        if match is None:
            raise DataError(place, f'expected a line like "2 qid:7 1:0.5 2:1.2 # document", got "{stripped[:60]}".')
        query = match["query"]
        counts[query] = counts.get(query, 0) + 1
        named = _DOCUMENT.match(match["comment"] or "")
        rows.append((query, named["id"] if named else str(counts[query]), match["grade"]))
    if not rows:
        raise DataError(text.name, "the file holds no line of data.")
    queries, docs, grades = map(list, zip(*rows, strict=True))
    return queries, docs, grades


SVMRANK = Format("learning-to-rank files in SVMrank's format", _is_svmrank, _judgments)
