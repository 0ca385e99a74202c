"""The papers behind the studies: what lists call them, and what people may call them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_ITEM = re.compile(r"\b(tables?|figures?|fig\.?|equations?|eq\.?|sections?)\s*([ivx]+|\d+)", re.IGNORECASE)
_ROMAN = {name: number for number, name in enumerate(("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"), 1)}
_KINDS = {"t": "Table", "f": "Figure", "e": "Equation", "s": "Section"}


@dataclass(frozen=True)
class Paper:
    """A paper whose tables and figures can be made from anybody's runs."""

    key: str
    label: str
    title: str
    venue: str


PAPERS = {
    paper.key: paper
    for paper in (
        Paper(
            "moffat-zobel",
            "Moffat and Zobel 2008",
            "Rank-Biased Precision for Measurement of Retrieval Effectiveness",
            "ACM Transactions on Information Systems 27(1)",
        ),
        Paper("sakai", "Sakai 2007", "Alternatives to Bpref", "SIGIR 2007"),
        Paper("zhang", "Zhang, Park and Moffat 2008", "Parameter Sensitivity in Rank-Biased Precision", "ADCS 2008"),
        Paper("yang", "Yang, Moffat and Turpin 2016", "How Precise Does Document Scoring Need to Be?", "AIRS 2016"),
        Paper("park", "Park 2016", "Uncertainty in Rank-Biased Precision", "ADCS 2016"),
        Paper(
            "zobel",
            "Zobel 1998",
            "How Reliable Are the Results of Large-Scale Information Retrieval Experiments?",
            "SIGIR 1998",
        ),
    )
}
"""By the word that ``study --paper`` takes."""


class Source(NamedTuple):
    """A paper, and one of its tables, figures, equations or sections; an empty item for the whole paper."""

    paper: str
    item: str = ""

    def __str__(self) -> str:
        return f"{self.paper}, {self.item}" if self.item else self.paper


def items_in(text: str) -> list[str]:
    """Tables, figures, equations and sections that a text names: "fig. 3" and "Table III" as Figure 3 and Table 3."""
    numbers = ((kind, number.lower()) for kind, number in _ITEM.findall(text))
    return [f"{_KINDS[kind[0].lower()]} {_ROMAN.get(number, number)}" for kind, number in numbers]


def sources_in(text: str) -> list[Source]:
    """The sources in ``Moffat and Zobel 2008, Table 3; Sakai 2007, Table 2``."""
    sources = []
    for part in text.split("; "):
        items = items_in(part)
        name = part[: part.index(items[0].split()[0])].rstrip(", ") if items else part
        sources += [Source(name, item) for item in items or [""]]
    return sources


def papers_called(text: str) -> list[Paper]:
    """The papers that some words may mean: a key, or words of authors, year or title."""
    if text.lower() in PAPERS:
        return [PAPERS[text.lower()]]
    words = re.findall(r"\w+", _ITEM.sub(" ", text).lower())
    spoken = {paper.key: re.findall(r"\w+", f"{paper.label} {paper.title}".lower()) for paper in PAPERS.values()}
    matching = [PAPERS[key] for key, known in spoken.items() if words and all(word in known for word in words)]
    first = [paper for paper in matching if paper.label.lower().startswith(words[0])]
    return first or matching
