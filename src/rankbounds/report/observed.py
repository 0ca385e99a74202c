"""What the report shows of ranked lists, gathered while they are scored, and of the texts and classes beside them."""

from __future__ import annotations

import base64
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.order import ranked
from rankbounds.collection.run import position_in_topic
from rankbounds.comparison import Comparison, Evidence
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.score_differences import equal, merge_equal, merit
from rankbounds.evaluation.scores import Scores
from rankbounds.files.document_texts import DocumentTexts
from rankbounds.files.queries import read_query_texts
from rankbounds.measures import Measure
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS, group_means, reorder

STRIP_DEPTHS = (100, 50, 20, 10, 0)
"""How many ranks of a list can be looked at: the most, and fewer where a page would become too large."""
PERSISTENCE_DEPTH = 2000
"""How many ranks the persistence slider reads: 0.99^2000 is too small for any digit shown."""
COVERAGE_DEPTHS = (10, 100)
ABSENT, UNJUDGED, NONRELEVANT = 0, 1, 2
"""Codes of a cell; higher ones are the positive grades of the collection, in order."""
TIED = 128
"""Added to a cell's code where the document has the score of the one before."""
SHOWN_DOCUMENTS = 10
MOST_LISTS = 1000
"""Documents of more lists than this are left out: their ids and texts would make the page large."""
LONGEST_QUERY, LONGEST_TITLE, LONGEST_SNIPPET = 200, 120, 220
MOST_SLICED = 20
MOST_SLICED_SHOWN = 6
SLICE_KEYS = (
    "measure", "by", "slice", "topics", "run", "against", "difference", "ci_low", "ci_high", "p_value", "p_adjusted",
    "won", "lost",
)  # fmt: skip
WORD = re.compile(r"\w{3,}")


@dataclass
class Lists:
    """One run's lists: sums over topics for each rank, and what the first ranks hold."""

    sure: Floats = field(default_factory=lambda: np.zeros(PERSISTENCE_DEPTH))
    """At each rank, the worth of its documents summed over topics, unjudged ones as worthless."""
    most: Floats = field(default_factory=lambda: np.zeros(PERSISTENCE_DEPTH))
    """As ``sure``, unjudged documents as relevant."""
    strips: dict[int, Ints] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)
    tied: list[int] = field(default_factory=lambda: [0, 0])
    """How many documents share their score with another one, in the first ten and in all."""
    judged: list[int] = field(default_factory=lambda: [0] * (len(COVERAGE_DEPTHS) + 1))
    """How many documents are judged down to each depth of coverage, and in all."""
    seen: list[int] = field(default_factory=lambda: [0] * (len(COVERAGE_DEPTHS) + 1))
    """How many documents there are down to these depths."""


class Observed:
    """Gathers from batches of rankings, which may come from several threads."""

    def __init__(self, measures: Sequence[Measure], assumptions: Assumptions) -> None:
        self.assumptions = assumptions
        self.rbp = next((measure for measure in measures if isinstance(measure, RBP) and not measure.by_topic), RBP())
        self.runs: dict[int, Lists] = {}
        self.grades: Floats = np.empty(0)
        self.largest = 1.0
        """What the worth of a document is to be multiplied with to be a gain."""
        self._lock = Lock()

    def __call__(self, run: int, rankings: Rankings) -> None:
        sure, most = (self._worth(rankings.assume(chance)).sum(axis=0) for chance in (0.0, 1.0))
        cutoff = self.rbp.cutoff or PERSISTENCE_DEPTH
        depth = min(rankings.width, PERSISTENCE_DEPTH, cutoff)
        read = rankings.length if self.rbp.cutoff is None else np.minimum(rankings.length, cutoff)
        strips = self._strips(rankings)
        with self._lock:
            lists = self.runs.setdefault(run, Lists())
            lists.sure[:depth] += sure[:depth]
            lists.most[:depth] += most[:depth]
            lists.lengths += read.tolist()
            lists.strips.update(zip(rankings.topic.tolist(), strips, strict=True))
            self._count(lists, rankings)

    def _worth(self, rankings: Rankings) -> Floats:
        worth = self.rbp.worth(rankings)
        rule = self.assumptions.ties
        if rule == "expected":
            return group_means(rankings, worth)
        if rule in ("best", "worst"):
            return self.rbp.worth(reorder(rankings, worth, best=rule == "best"))
        return worth

    def _strips(self, rankings: Rankings) -> Ints:
        if not self.grades.size:
            grade = rankings.facts.grade
            self.grades = np.unique(grade[grade > 0])
            if self.rbp.graded:
                self.largest = self.rbp.max_grade or rankings.facts.scale
        depth = min(rankings.width, STRIP_DEPTHS[0])
        grade = rankings.grade[:, :depth]
        level = np.searchsorted(self.grades, grade, side="right")
        code = np.where(rankings.holes[:, :depth], UNJUDGED, np.minimum(NONRELEVANT + level, TIED - 1))
        code = np.where(rankings.present[:, :depth], code, ABSENT)
        if rankings.tied is not None:
            code = code + TIED * rankings.tied[:, :depth]
        return code.astype(np.uint8)

    def _count(self, lists: Lists, rankings: Rankings) -> None:
        judged = rankings.present & ~rankings.holes
        for at, depth in enumerate((*COVERAGE_DEPTHS, rankings.width)):
            lists.judged[at] += int(np.count_nonzero(judged[:, :depth]))
            lists.seen[at] += int(np.minimum(rankings.length, depth).sum())
        if rankings.tied is not None:
            shared = rankings.tied.copy()
            shared[:, :-1] |= rankings.tied[:, 1:]
            for at, depth in enumerate((COVERAGE_DEPTHS[0], rankings.width)):
                lists.tied[at] += int(np.count_nonzero(shared[:, :depth]))


@dataclass
class Thinning:
    """How much of the input a page holds, and what to say of the rest."""

    runs: list[int]
    topics: list[int]
    depth: int = STRIP_DEPTHS[0]
    notes: list[str] = field(default_factory=list)


def lists_of(scores: Scores, observed: Observed, evidence: Evidence | None, thinning: Thinning) -> dict[str, Any]:
    strips = np.zeros((len(thinning.runs), len(thinning.topics), thinning.depth), dtype=np.uint8)
    for place, run in enumerate(thinning.runs):
        known = observed.runs[run].strips
        for row, topic in enumerate(thinning.topics):
            cells = known.get(topic, np.empty(0, dtype=np.uint8))[: thinning.depth]
            strips[place, row, : cells.size] = cells
    unknown = np.full((len(scores.runs), len(scores.measures), 2), np.nan)
    ends = unknown if evidence is None else np.moveaxis(evidence.over_ties(scores.measures), 0, -1)
    moving = _ties_change_places(scores, ends)

    def shares(parts: Sequence[int], seen: Sequence[int]) -> list[float | None]:
        return [part / whole if whole else None for part, whole in zip(parts, seen, strict=True)]

    return {
        "strips": pack(strips, "|u1"),
        "grades": [f"{grade:g}" for grade in observed.grades.tolist()],
        "coverage_depths": [*COVERAGE_DEPTHS, "all"],
        "lists": [
            {
                "topics": len(observed.runs[run].lengths),
                "missing": len(scores.run_notes[run].missing),
                "tied_topics": scores.run_notes[run].tied_topics,
                "tied": shares(observed.runs[run].tied, [observed.runs[run].seen[0], observed.runs[run].seen[-1]]),
                "judged": shares(observed.runs[run].judged, observed.runs[run].seen),
                "tie_range": [None if np.isnan(pair).any() else pair.tolist() for pair in ends[run]],
                "ties_matter": [] if evidence is None else moving[run].tolist(),
            }
            for run in thinning.runs
        ],
    }


def _ties_change_places(scores: Scores, ends: Floats) -> Flags:
    mean = merge_equal(scores.mean().value[:, 0].T)[:, :, None]
    others = np.swapaxes(mean, 1, 2)
    low, high = (ends[:, :, end].T[:, :, None] for end in (0, 1))
    with np.errstate(invalid="ignore"):
        above, below = (others > mean) & (high >= others), (others < mean) & (low <= others)
    return np.asarray(((above | below) & ~equal(low, high)).any(axis=-1).T)


def persistence_of(observed: Observed, thinning: Thinning) -> dict[str, Any]:
    """RBP of every run as coefficients of powers of p, so that the page can compute it at any p."""

    def coefficients(lists: Lists) -> Floats:
        sums = observed.largest * np.stack([lists.sure, lists.most - lists.sure])
        nearest = np.rint(sums)
        return nearest if np.allclose(sums, nearest, rtol=0, atol=1e-6) else sums

    def one_run(sums: Floats, lists: Lists) -> dict[str, Any]:
        last = int(np.flatnonzero(sums.any(axis=0)).max(initial=0)) + 1
        kind = ("<u2" if sums.max() < 1 << 16 else "<u4") if in_integers and sums.max() < 1 << 32 else "<f8"
        return {"sums": pack(sums[:, :last], kind), "lengths": sorted(Counter(lists.lengths).items())}

    shown = [observed.runs[run] for run in thinning.runs]
    sums = [coefficients(lists) for lists in shown]
    in_integers = all((one == np.rint(one)).all() for one in sums)
    return {
        "measure": str(observed.rbp),
        "p": observed.rbp.p,
        "unit": observed.largest,
        "in_order": observed.assumptions.ties in ORDERS,
        "runs": [one_run(one, lists) for one, lists in zip(sums, shown, strict=True)],
    }


def pack(array: Any, kind: str = "<f8") -> dict[str, Any]:
    """An array as the page reads it: type, shape, and its bytes, deflated (RFC 1951) and in base64."""
    values = np.ascontiguousarray(array, dtype=kind)
    deflating = zlib.compressobj(7, wbits=-15)  # (9 takes ten times as long for 2% less)
    squeezed = deflating.compress(values.tobytes()) + deflating.flush()
    return {"type": kind[1:], "shape": list(values.shape), "data": base64.b64encode(squeezed).decode("ascii")}


@dataclass(frozen=True)
class Beside:
    """Which texts and classes a report was given."""

    queries: str | None = None
    """A file of the texts of queries."""
    documents: Sequence[str] | None = None
    """Files of the texts of documents."""
    by: str | None = None
    """A file of the classes of topics that runs are compared by, or the mark that ends them in a query's id."""

    def query_texts(self, topics: Sequence[str]) -> dict[str, str]:
        if self.queries is None:
            return {}
        known = read_query_texts(self.queries)
        return {topic: shorten(known[topic].text, LONGEST_QUERY) for topic in topics if topic in known}

    def lists(self, evidence: Evidence | None, runs: Sequence[str], topics: Sequence[str]) -> dict[str, Any] | None:
        """List the first documents of these runs, topic by topic, with what their texts say of the query.

        None where the runs are too many, or not in memory.
        """
        if evidence is None or len(runs) * len(topics) > MOST_LISTS:
            return None
        firsts = [first_documents(evidence, run) for run in runs]
        listed = [[documents.get(topic, []) for topic in topics] for documents in firsts]
        texts: dict[str, dict[str, list[str]]] = {}
        if self.documents:
            known, asked = DocumentTexts(self.documents), self.query_texts(topics)
            for at, topic in enumerate(topics):
                for document in dict.fromkeys(doc for documents in listed for doc in documents[at]):
                    if text := known.text(document):
                        said = snippet(text.text, asked.get(topic, ""))
                        texts.setdefault(topic, {})[document] = [shorten(text.title, LONGEST_TITLE), said]
        return {"documents": listed, "texts": texts}

    def slices(self, compared: Comparison | None, shown: Sequence[str]) -> dict[str, Any] | None:
        """Compare the runs by class of topic: rows of the pairs of the leading runs, and what they say in words."""
        if self.by is None:
            return None
        if compared is None or len(compared.runs) > MOST_SLICED:
            raise UsageError(
                f'--by in a report compares 2 to {MOST_SLICED} runs by class of topic; "rankbounds compare --by" takes '
                "more."
            )
        sliced = compared.slices(self.by)
        names = leading_runs(compared)[:MOST_SLICED_SHOWN]
        rows = [row for row in sliced.rows() if row["run"] in names and row["against"] in names]
        return {
            "rows": [[row[key] for key in SLICE_KEYS] for row in rows if {row["run"], row["against"]} <= set(shown)],
            "method": sliced.method(),
        }


def leading_runs(compared: Comparison) -> list[str]:
    order = (-merit(compared.numbers.means()[0], compared.measures[0])).argsort(kind="stable")
    return [compared.runs[run] for run in order.tolist()]


def first_documents(evidence: Evidence, name: str) -> dict[str, list[str]]:
    """List the first documents of one run by topic, in the order in which they were scored."""
    assumed = evidence.assumptions
    run = ranked(evidence.runs[evidence.names.index(name)], assumed.order, assumed.score_precision, assumed.ties_key)
    by_topic: dict[str, list[str]] = {}
    for topic, document, _ in run.take((position_in_topic(run.pairs) <= SHOWN_DOCUMENTS).nonzero()[0]):
        by_topic.setdefault(topic, []).append(document)
    return by_topic


def shorten(text: str, longest: int) -> str:
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    cut = line[: longest - 1]
    return f"{cut[: cut.rfind(' ') if ' ' in cut[longest // 2 :] else None].rstrip()}\u2026"


def snippet(text: str, query: str) -> str:
    """Cut out the part of a text that holds most of the query's words; its beginning, where none does."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_SNIPPET:
        return line
    stems = {word[:5] for word in WORD.findall(query.casefold())}
    hits = [(word.start(), word[0][:5]) for word in WORD.finditer(line.casefold()) if word[0][:5] in stems]
    best, begin = 0, 0
    for at, (start, _) in enumerate(hits):
        near = hits[at : at + LONGEST_SNIPPET // 4]  # (a word and a space take four letters or more)
        inside = {stem for place, stem in near if place < start + LONGEST_SNIPPET - 40}
        if len(inside) > best:
            best, begin = len(inside), start
    begin = 0 if begin < LONGEST_SNIPPET // 3 else line.rfind(" ", 0, max(0, begin - 30)) + 1
    cut = line[begin:]
    return ("\u2026 " if begin else "") + shorten(cut, LONGEST_SNIPPET)
