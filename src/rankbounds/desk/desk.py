"""The desk that judges sit at: who judges what next, what was judged, and how it gets into the file.

A judgment goes into the journal, which is on the disk when the judge is told that it is saved, and from there into the
file of judgments, which is written in the background. The file holds one grade a document: that of whoever judged it
first. What others say of the same document stays in the journal.
"""

from __future__ import annotations

import hashlib
import math
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rankbounds.choices import whole_number
from rankbounds.collection.run import Run
from rankbounds.desk.journal import Entry, Journal
from rankbounds.desk.judgment_file import JudgmentFile, Pair
from rankbounds.errors import DataError, RankboundsError, UsageError
from rankbounds.files.document_texts import DocumentTexts
from rankbounds.files.pair_files import decimal, shown
from rankbounds.files.queries import QueryText
from rankbounds.files.writing import clear_copies
from rankbounds.report.observed import SHOWN_DOCUMENTS, snippet
from rankbounds.tables import render_rows

HANDED_OUT = 4
"""Documents handed to a page at a time: the one that is shown, and the next ones."""
GRADE_WORDS = {
    1: ("not relevant", "relevant"),
    2: ("not relevant", "relevant", "highly relevant"),
    3: ("not relevant", "related", "highly relevant", "perfectly relevant"),
}
"""By the largest grade, what the grades are called where nobody names them; three grades up to 3 as in TREC's Deep
Learning tracks."""
LEASE = 600.0
"""Seconds for which a document that was handed to one page is not handed to another."""
PATIENCE = 2.0
LONGEST_ID, LONGEST_NAME, LONGEST_KEY, LONGEST_WHY = 4000, 60, 100, 2000
EXPORTED = ("query_id", "doc_id", "judge", "grade", "grade_name", "explanation", "time")
MOST_SHOWN = 200


@dataclass(frozen=True)
class Settings:
    """How judging was set up."""

    judges: tuple[str, ...] = ()
    """Who may judge; whoever says a name where nobody is named."""
    grades: Mapping[float, str] = field(default_factory=dict)
    """The grades to choose from, with what each is called; those of the file where none are given."""
    queries: Mapping[str, QueryText] = field(default_factory=dict)
    documents: DocumentTexts | None = None
    worklist: tuple[Pair, ...] | None = None
    """The documents that are to be judged, in order, where they are not to be chosen."""
    user: str = ""
    """The name to begin with, where any may be said."""
    beside: tuple[str, ...] = ()
    """The runs whose results a judge may look at side by side; the first two where none are named."""
    retrieved: Callable[[str, str], bool] | None = None
    """Is this document in the list of a run for this query? Without it, any document may be judged."""


class Desk:
    """Judgments of one file, by one or several judges."""

    def __init__(self, file: JudgmentFile, settings: Settings | None = None) -> None:
        self.file, self.journal, self.settings = file, Journal(file.path), settings or Settings()
        self.grades = dict(self.settings.grades) or _grades_of(file.grades())
        self.planned: list[Pair] = []
        """The documents to judge next, as the plan has them."""
        self.version = 0
        """Grows with everything that changes what pages show."""
        self.trouble: str | None = None
        """Why the file could not be written, while it could not."""
        self.on_change: Callable[[], None] = lambda: None
        self._lock, self._writing = threading.RLock(), threading.Lock()
        self._leases: dict[Pair, tuple[str, float]] = {}
        self._changed, self._ended = threading.Event(), False
        clear_copies(file.path)
        self._bring_up_to_date()
        self._changed.set()
        self._writer = threading.Thread(target=self._write_in_background, daemon=True)
        self._writer.start()

    @property
    def name(self) -> str:
        return hashlib.sha256(str(self.journal.path).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    # ---- what judges do ----

    def judge(self, judge: str, pair: Pair, grade: float, key: str = "", why: str = "") -> tuple[Entry, str]:
        self._check(judge, key, pair)
        if len(why) > LONGEST_WHY:
            raise UsageError(f"The explanation is longer than {LONGEST_WHY:,} characters.")
        with self._lock:
            if again := self.journal.by_key.get(key):
                return again, ""
            if grade not in self.grades:
                raise UsageError(f"The grades are {', '.join(map(decimal, self.grades))}, not {grade:g}.")
            self._look_at_file()
            in_file, own, note = self.file.grade(pair), self.journal.for_the_file(pair), ""
            beside = in_file is not None and own is None
            if in_file is not None and own is None:
                note = f"The file keeps its grade {decimal(in_file)} for this document; yours is saved in the journal."
            else:
                self.file.reject_unheld(pair, grade, judge)
                if own is not None and own.judge != judge:
                    note = f"{own.judge} judged this document first; yours is saved in the journal."
            before = self.file.line(pair) if own is None else self.journal.given_to_file(pair)[-1].before
            return self._take_in(judge, pair, grade=grade, key=key, before=before, beside=beside, why=why), note

    def skip(self, judge: str, pair: Pair, key: str = "") -> Entry:
        self._check(judge, key, pair)
        with self._lock:
            return self.journal.by_key.get(key) or self._take_in(judge, pair, key=key)

    def undo(self, judge: str, key: str = "") -> Entry:
        self._check(judge, key)
        with self._lock:
            again = self.journal.by_key.get(key)
            if again is not None and again.undoes is not None:
                return next(entry for entry in self.journal.entries if entry.number == again.undoes)
            last = self.journal.last_of(judge)
            if last is None:
                raise UsageError("There is nothing to undo.")
            self._look_at_file()
            self._take_in(judge, last.pair, undoes=last.number, key=key)
            return last

    def _check(self, judge: str, key: str, pair: Pair | None = None) -> None:
        allowed = self.settings.judges
        if allowed and judge not in allowed:
            raise UsageError(f"The judges are {', '.join(allowed)}, not {shown(judge)}.")
        check_name(judge)
        if max(map(len, pair or ("",))) > LONGEST_ID or len(key) > LONGEST_KEY:
            raise UsageError(f"The id is longer than {LONGEST_ID:,} characters.")
        if pair is None:
            return
        with self._lock:
            listed = pair in self.planned or pair in (self.settings.worklist or ())
            known = listed or self.file.line(pair) is not None or pair in self.journal.by_pair
        if not known and self.settings.retrieved is not None and not self.settings.retrieved(*pair):
            query_id, doc_id = map(shown, pair)
            raise UsageError(f"No run, no list and no judgment has document {doc_id} of query {query_id}.")

    def _take_in(self, judge: str, pair: Pair, **fields: Any) -> Entry:
        entry = self.journal.append(judge, pair, **fields)
        self._leases.pop(pair, None)
        self._bring_to_file(pair)
        self.version += 1
        self._changed.set()
        self.on_change()
        return entry

    # ---- the file ----

    def _look_at_file(self) -> None:
        if self.file.changed_outside():
            try:
                self.file.load()
            except UsageError as error:
                raise DataError(f"The file was changed and no longer accepts judgments. {error}") from None
            self._bring_up_to_date()

    def _bring_up_to_date(self) -> None:
        for pair in self.journal.by_pair:
            self._bring_to_file(pair)

    def _bring_to_file(self, pair: Pair) -> None:
        """Give the file the grade that a document has by the journal, unless it got one from elsewhere.

        What went into the file once and was changed there since is somebody's work, and stays; what the file lacks is
        added.
        """
        given, in_file = self.journal.given_to_file(pair), self.file.grade(pair)
        ours = self.journal.is_pending(pair) and in_file in [entry.grade for entry in given]
        if not given or (in_file is not None and not ours):
            return
        wanted = self.journal.for_the_file(pair)
        if wanted is None and in_file is not None:
            self.file.take_back(pair, given[-1].before)
        elif wanted is not None and wanted.grade is not None and in_file != wanted.grade:
            self.file.put(pair, wanted.grade, wanted.judge)

    def _write_in_background(self) -> None:
        while not self._ended:
            self._changed.wait()
            self._changed.clear()
            if not self.write():
                time.sleep(PATIENCE)

    def write(self) -> bool:
        try:
            with self._writing:
                with self._lock:
                    if not self.file.dirty:
                        return True
                    self._look_at_file()
                    content, number = self.file.content(), self.journal.entries[-1].number
                    self.file.dirty = False
                self.file.write(content)
                self.journal.mark_written(number)
        except RankboundsError as error:
            with self._lock:
                self.file.dirty = True
                self.trouble = f"Judgments are safe in {self.journal.path}, but not yet in the file: {error}"
            self._changed.set()
            return False
        self.trouble = None
        return True

    def close(self) -> None:
        self._ended = True
        self._changed.set()
        self._writer.join()
        if not self.write():
            print(f"rankbounds: {self.trouble}", file=sys.stderr)
        self.journal.close()

    # ---- what is next ----

    def next_for(self, judge: str, page: str, holding: Pair | None = None) -> list[Pair]:
        """The next documents for a judge; those that other pages were just handed come last, as skipped ones do."""
        with self._lock:
            now = time.monotonic()
            self._leases = {
                pair: (owner, until) for pair, (owner, until) in self._leases.items() if until > now and owner != page
            }
            if holding is not None:
                self._leases.setdefault(holding, (page, now + LEASE))
            first: list[Pair] = []
            later: list[Pair] = []
            listed = self.planned if self.settings.worklist is None else self.settings.worklist
            for pair in dict.fromkeys(listed):
                elsewhere = self._leases.get(pair, (page, now))[0] != page
                if pair == holding or not self._is_open(pair):
                    continue
                (later if elsewhere or self.journal.has_skipped(judge, pair) else first).append(pair)
                if len(first) == HANDED_OUT:
                    break
            handed = (first + later)[:HANDED_OUT]
            for pair in handed:
                self._leases.setdefault(pair, (page, now + LEASE))
            return handed

    def take_plan(self, documents: Sequence[Pair]) -> None:
        with self._lock:
            self.planned = list(documents)
            self.version += 1

    def _is_open(self, pair: Pair) -> bool:
        return not self.journal.opinions(pair) and self.file.grade(pair) is None

    def document(self, pair: Pair) -> dict[str, Any]:
        query, documents = self.settings.queries.get(pair[0]), self.settings.documents
        text = documents.text(pair[1]) if documents else None
        missing = "This document has no text." if documents else "No texts were given (--documents)."
        with self._lock:
            opinions = self.journal.opinions(pair)
        return {
            "query": asdict(query) if query else None,
            "document": asdict(text) if text else None,
            "missing": "" if text else missing,
            "opinions": {judge: entry.grade for judge, entry in opinions.items()},
            "why": {judge: entry.why for judge, entry in opinions.items()},
        }

    # ---- what was judged ----

    def past(self, *, judge: str = "", grade: float | None = None, words: str = "") -> dict[str, Any]:
        with self._lock:
            entries = self.journal.judged()
            opinions = {entry.pair: self.journal.opinions(entry.pair) for entry in entries}
        rows = []
        for entry in reversed(entries):
            others = {name: one.grade for name, one in opinions[entry.pair].items() if name != entry.judge}
            query = self.settings.queries.get(entry.pair[0])
            text = f"{entry.pair[0]} {entry.pair[1]} {query.text if query else ''} {entry.why}".casefold()
            if (
                judge in ("", entry.judge)
                and grade in (None, entry.grade)
                and all(word in text for word in words.casefold().split())
            ):
                fields = {
                    "query": query.text if query else "",
                    "others": others,
                    "in_file": self.file.grade(entry.pair),
                }
                rows.append(entry.shown() | {"time": entry.time, "judge": entry.judge, "why": entry.why} | fields)
        return {"judgments": rows[:MOST_SHOWN], "fit": len(rows), "all": len(entries)}

    def export(self) -> str:
        with self._lock:
            entries = self.journal.judged()
        rows = (
            {
                "query_id": entry.query_id, "doc_id": entry.doc_id, "judge": entry.judge, "grade": entry.grade,
                "grade_name": self.grades.get(entry.grade or 0.0, ""), "explanation": entry.why, "time": entry.time,
            }
            for entry in entries
        )  # fmt: skip
        return render_rows(rows, "csv", EXPORTED)

    def results(self, runs: Sequence[Run], judge: str, query_id: str) -> list[dict[str, Any]]:
        """List the first results of the runs for a query, with what their texts say of it and the judge's own grades.

        Grades of other judges are not shown: whoever gives a second opinion should not know the first.
        """
        query, documents = self.settings.queries.get(query_id), self.settings.documents
        shown_runs = []
        for run in runs:
            rows: list[dict[str, Any]] = []
            for doc_id, _ in run[query_id][:SHOWN_DOCUMENTS] if query_id in run.query_ids else ():
                text = documents.text(doc_id) if documents else None
                said = {"title": text.title, "snippet": snippet(text.text, query.text if query else "")} if text else {}
                own = self.journal.opinions((query_id, doc_id)).get(judge)
                rows.append({"doc_id": doc_id, "grade": own and own.grade, "title": "", "snippet": "", **said})
            shown_runs.append({"run": run.name, "documents": rows})
        return shown_runs

    def progress(self, judge: str) -> dict[str, Any]:
        with self._lock:
            entries = self.journal.judged()
            last, listed = self.journal.last_of(judge), self.settings.worklist
            done = {
                "judged": len({entry.pair for entry in entries}),
                "by_judge": Counter(entry.judge for entry in entries),
                "undo": None,
                "trouble": self.trouble,
                "version": self.version,
            }
            if last is not None:
                what = "skip" if last.grade is None else f"grade {decimal(last.grade)}"
                done["undo"] = f"{what} for {last.pair[1]}"
            if listed is not None:
                judged = sum(not self._is_open(pair) for pair in listed)
                done["list"] = {"judged": judged, "all": len(listed)}
        return done


def check_name(judge: str) -> None:
    if judge != judge.strip() or not 1 <= len(judge) <= LONGEST_NAME or not judge.isprintable():
        raise UsageError(f"A judge's name has 1 to {LONGEST_NAME} letters, not {shown(judge)}.")


def _grades_of(grades: Sequence[float]) -> dict[float, str]:
    if all(grade == int(grade) and grade <= 9 for grade in grades):
        return _whole_grades(int(max(grades, default=1) or 1))
    return dict.fromkeys([0.0, *(grade for grade in grades if grade > 0)], "")


def _whole_grades(most: int) -> dict[float, str]:
    words = GRADE_WORDS.get(most, ("",) * (most + 1))
    return dict(zip(map(float, range(most + 1)), words, strict=True))


def grades_from(text: str) -> dict[float, str]:
    grades: dict[float, str] = {}
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1 and (most := whole_number(parts[0], 9)):
        return _whole_grades(most)
    for part in parts:
        number, _, name = part.partition("=")
        try:
            grade = float(number)
        except ValueError:
            grade = math.nan
        if not math.isfinite(grade) or grade < 0 or grade in grades:
            raise UsageError(f'"{text}" names no grades: expected 3 for 0 to 3, or 0=off topic,1=related,2=answers.')
        grades[grade] = name.strip()
    if not 2 <= len(grades) <= 10:
        raise UsageError("Give 2 to 10 grades: each has a key of its own.")
    return grades
