"""A user's own key for tied documents: a value for each document, such as its length, its age or its address."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.columns.decimals import finite_numbers
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError, Place
from rankbounds.files.records import read_decoded, separator_in

_ANY_TOPIC = ("",)


class TieKey:
    """Documents of equal score are ranked by rising value; those of equal value by document id down, as trec_eval does.

    Values are compared as numbers if all of them are numbers, else as text.
    """

    def __init__(self, docs: list[Any], values: list[Any], source: Source) -> None:
        self._pairs = _of_any_topic(Ids.checked(docs, "a document id", lambda _: Place(source.name)), source)
        self._pairs.reject_repeats("Give one value for each document.")
        comparable = _comparable(values)
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
    """A document's value is the same for every topic."""
    return Pairs.numbered(_ANY_TOPIC, np.zeros(len(docs), dtype=np.int64), docs, source)


def _comparable(values: list[Any]) -> list[Any]:
    numbers, bad = finite_numbers(values)
    return [str(value) for value in values] if bad.size else numbers.tolist()


def read_tie_key(path: str | os.PathLike[str]) -> TieKey:
    """Read lines of a document and its value, with a tab, a blank or a comma between them."""
    content, name = read_decoded(path)
    docs, values = [], []
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        line = line.strip("\r ")
        doc, *value = line.split(separator_in(line, "\t ,") or ",", 1)
        if not doc or not value or not value[0].strip():
            raise DataError(Place(name, number), 'expected a document and its value, as in "doc1 217".')
        docs.append(doc.strip())
        values.append(value[0].strip())
    return TieKey(docs, values, Source(name))


def as_tie_key(given: Any) -> TieKey:
    """From a path, or a dict ``{document: value}``."""
    if isinstance(given, TieKey):
        return given
    if isinstance(given, Mapping):
        return TieKey(list(given), list(given.values()), Source("ties_key"))
    return read_tie_key(given)
