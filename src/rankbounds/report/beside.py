"""What a report shows beside numbers: texts of queries, documents of lists, and differences by class of topic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankbounds.collection.order import ranked
from rankbounds.collection.run import position_in_topic
from rankbounds.comparison import Comparison, Evidence
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import merit
from rankbounds.files.document_texts import DocumentTexts
from rankbounds.files.queries import labels_by_prefix, read_query_labels, read_query_texts
from rankbounds.tables import p_words

SHOWN_DOCUMENTS = 10
"""How deep lists are shown document by document."""
MOST_LISTS = 1000
"""Documents of more lists than this are left out: their ids and texts would make the page large."""
LONGEST_QUERY, LONGEST_TITLE, LONGEST_SNIPPET = 200, 120, 220
MOST_SLICED = 20
"""Up to this many runs are compared by class of topics."""
MOST_SLICED_SHOWN = 6
"""The pairs of this many leading runs are shown by class."""
SLICE_KEYS = (
    "measure", "by", "slice", "topics", "run", "against", "difference", "ci_low", "ci_high", "p_value", "p_adjusted",
    "won", "lost",
)  # fmt: skip
WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True)
class Beside:
    """Which texts and classes a report was given."""

    queries: str | None = None
    documents: Sequence[str] | None = None
    by: str | None = None
    by_prefix: str | None = None

    def query_texts(self, topics: Sequence[str]) -> dict[str, str]:
        """Read what these topics ask."""
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
        found = [first_documents(evidence, run) for run in runs]
        listed = [[documents.get(topic, []) for topic in topics] for documents in found]
        texts: dict[str, dict[str, list[str]]] = {}
        if self.documents:
            held, asked = DocumentTexts(self.documents), self.query_texts(topics)
            for at, topic in enumerate(topics):
                for document in dict.fromkeys(doc for documents in listed for doc in documents[at]):
                    if text := held.text(document):
                        said = snippet(text.text, asked.get(topic, ""))
                        texts.setdefault(topic, {})[document] = [shorten(text.title, LONGEST_TITLE), said]
        return {"documents": listed, "texts": texts}

    def slices(self, compared: Comparison | None, shown: Sequence[str]) -> dict[str, Any] | None:
        """Compare the runs by class of topic: rows of the pairs of the leading runs, and what they say in words."""
        if self.by is None and self.by_prefix is None:
            return None
        if compared is None or len(compared.runs) > MOST_SLICED:
            raise UsageError(
                f'--by in a report compares 2 to {MOST_SLICED} runs by class of topic; "rankbounds compare --by" takes '
                "more."
            )
        labels = read_query_labels(self.by) if self.by else {}
        if self.by_prefix:
            labels |= labels_by_prefix(compared.scores.query_ids, self.by_prefix)
        sliced = compared.slices(labels)
        names = leading_runs(compared)[:MOST_SLICED_SHOWN]
        rows = [row for row in sliced.rows() if row["run"] in names and row["against"] in names]
        return {
            "rows": [[row[key] for key in SLICE_KEYS] for row in rows if {row["run"], row["against"]} <= set(shown)],
            "words": [
                f"{row['measure']} by {row['by']}: does the difference depend on the slice? Interaction "
                f"{p_words(row['p_adjusted'])}."
                for row in sliced.interactions
                if len(compared.runs) == 2 and row["p_value"] is not None
            ],
            "method": sliced.method(),
        }


def leading_runs(compared: Comparison) -> list[str]:
    """List the runs by the first measure, the best first."""
    order = (-merit(compared.means()[0], compared.measures[0])).argsort(kind="stable")
    return [compared.runs[run] for run in order.tolist()]


def first_documents(evidence: Evidence, name: str) -> dict[str, list[str]]:
    """List the first documents of one run by topic, in the order in which they were scored."""
    assumed = evidence.assumptions
    run = ranked(evidence.runs[evidence.names.index(name)], assumed.order, assumed.score_precision, assumed.ties_key)
    found: dict[str, list[str]] = {}
    for topic, document, _ in run.take((position_in_topic(run.pairs) <= SHOWN_DOCUMENTS).nonzero()[0]).rows():
        found.setdefault(topic, []).append(document)
    return found


def shorten(text: str, longest: int) -> str:
    """Put a text on one line of at most so many letters."""
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
    hits = [(found.start(), found[0][:5]) for found in WORD.finditer(line.casefold()) if found[0][:5] in stems]
    best, begin = 0, 0
    for at, (start, _) in enumerate(hits):
        near = hits[at : at + LONGEST_SNIPPET // 4]  # (a word and a space take four letters or more)
        inside = {stem for place, stem in near if place < start + LONGEST_SNIPPET - 40}
        if len(inside) > best:
            best, begin = len(inside), start
    begin = 0 if begin < LONGEST_SNIPPET // 3 else line.rfind(" ", 0, max(0, begin - 30)) + 1
    cut = line[begin:]
    return ("\u2026 " if begin else "") + shorten(cut, LONGEST_SNIPPET)
