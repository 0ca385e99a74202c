"""A user's own key for tied documents: a value per document, such as its length or age."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.columns.decimals import finite_numbers
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError, Place
from rankbounds.files.records import filled_lines, read_decoded, separator_in


class TieKey:
    """Rank documents of equal score by rising value, and those of equal value by document id down, as in trec_eval.

    Values are compared as numbers if all of them are numbers, else as text.
    """

    def __init__(self, docs: list[Any], values: list[Any], source: Source) -> None:
        self._pairs = _of_any_topic(Ids.checked(docs, "a document id", lambda _: Place(source.name)), source)
        self._pairs.reject_repeats("Give one value for each document.")
        numbers, bad = finite_numbers(values)
        comparable: list[Any] = [str(value) for value in values] if bad.size else numbers.tolist()
        order = {value: place for place, value in enumerate(sorted(set(comparable)))}
        self._place = np.array([order[value] for value in comparable], dtype=np.int64)

    def places(self, pairs: Pairs, rows: Ints) -> Ints:
        """The place of these documents' values among all values."""
        tied = pairs.take(rows)
        found, here = self._pairs.index.find(_of_any_topic(tied.docs, tied.source), np.zeros(1, dtype=np.int64))
        if found.size < len(tied):
            row = int(np.setdiff1d(np.arange(len(tied)), found)[0])
            raise DataError(
                f"{tied.where(row)}: {tied.describe(row)} is tied, but has no value in the key for ties "
                f"({self._pairs.source.name}). Give it one."
            )
        return self._place[here]


def _of_any_topic(docs: Ids, source: Source) -> Pairs:
    return Pairs.numbered([""], np.zeros(len(docs), dtype=np.int64), docs, source)


def as_tie_key(given: Any) -> TieKey:
    """Read a dict ``{document: value}``, or a file of lines with a tab, a blank or a comma between the two."""
    if isinstance(given, TieKey):
        return given
    if isinstance(given, Mapping):
        return TieKey(list(given), list(given.values()), Source("ties_key"))
    content, name = read_decoded(given)
    docs, values = [], []
    for place, line in filled_lines(content, name):
        doc, _, value = line.partition(separator_in(line, "\t ,") or ",")
        if not doc or not value.strip():
            raise DataError(place, 'expected a document and its value, as in "doc1 217".')
        docs.append(doc.strip())
        values.append(value.strip())
    return TieKey(docs, values, Source(name))
