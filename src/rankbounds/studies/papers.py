"""The papers behind the studies: what lists call them, what people may call them, and what is in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, NamedTuple

_NUMBER = r"(?:[ivx]+|\d+(?:\.\d+)?)\b"
_ITEM = re.compile(
    rf"\b(tables?|figures?|fig\.?|equations?|eqs?\.?|sections?)\s*({_NUMBER}(?:(?:, | and | to ){_NUMBER})*)",
    re.IGNORECASE,
)
_ROMAN = {name: number for number, name in enumerate(("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"), 1)}
_KINDS = {"t": "Table", "f": "Figure", "e": "Equation", "s": "Section"}


@dataclass(frozen=True)
class Row:
    """Something in a paper, the command and the Python that make it, and what comes out."""

    item: str
    command: str = ""
    python: str = ""
    shows: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper whose tables and figures can be made from anybody's runs."""

    key: str
    label: str
    title: str
    venue: str
    rows: Sequence[Row]
    printed: Mapping[str, Sequence[tuple[Any, Any, float]]]
    """What the paper prints, by table: of the row, of the column, and the number."""


PAPERS = {
    paper["key"]: Paper(**paper | {"rows": [Row(**row) for row in paper["rows"]]})
    for paper in json.loads(Path(__file__).with_name("papers.json").read_text("utf-8"))
}
"""By the word that ``study`` takes."""


class Source(NamedTuple):
    """A paper, and one of its tables, figures, equations or sections; an empty item for the whole paper."""

    paper: str
    item: str = ""

    def __str__(self) -> str:
        return f"{self.paper}, {self.item}" if self.item else self.paper


def items_in(text: str) -> list[str]:
    items = []
    for kind, numbers in _ITEM.findall(text):
        for part in re.split(", | and ", numbers.lower()):
            first, _, last = part.partition(" to ")
            whole = range(int(first), int(last) + 1) if last else [_ROMAN.get(first, first)]
            items += [f"{_KINDS[kind[0].lower()]} {number}" for number in whole]
    return items


def sources_in(text: str) -> list[Source]:
    sources = []
    for part in text.split("; "):
        items = items_in(part)
        name = part[: part.index(items[0].split()[0])].rstrip(", ") if items else part
        sources += [Source(name, item) for item in items or [""]]
    return sources


def papers_called(text: str) -> list[Paper]:
    if text.lower() in PAPERS:
        return [PAPERS[text.lower()]]
    words = re.findall(r"\w+", _ITEM.sub(" ", text).lower())
    spoken = {paper.key: re.findall(r"\w+", f"{paper.label} {paper.title}".lower()) for paper in PAPERS.values()}
    matching = [PAPERS[key] for key, known in spoken.items() if words and all(word in known for word in words)]
    first = [paper for paper in matching if paper.label.lower().startswith(words[0])]
    return first or matching


def rows_called(text: str) -> list[tuple[Paper, Row]]:
    # Section 4 and Section 4.1 are one within the other, Table 1 and Table 10 are not.
    wanted, words = [f"{item}." for item in items_in(text)], re.findall(r"[\w']+", _ITEM.sub(" ", text).lower())
    found = [
        (paper, row)
        for paper in PAPERS.values()
        for row in paper.rows
        if words and all(word in f"{paper.label} {paper.title} {astuple(row)}".lower() for word in words)
        if not wanted or any(max(a, f"{b}.").startswith(min(a, f"{b}.")) for a in wanted for b in items_in(row.item))
    ]
    return [(paper, row) for paper, row in found if paper.label.lower().startswith(words[0])] or found


def describe_rows(rows: Sequence[tuple[Paper, Row]]) -> str:
    told = ""
    for paper, row in rows:
        shows = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", row.shows)
        lines = [f"{paper.label}, {row.item}", *filter(None, (row.command, row.python, shows))]
        told += "\n" * bool(told) + "\n  ".join(lines) + "\n"
    return told
