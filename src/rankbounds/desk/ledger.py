"""What a journal says now: whose opinion is what, what was skipped, and what each judge can take back."""

from __future__ import annotations

from collections.abc import Iterable

from rankbounds.desk.journal import Entry
from rankbounds.desk.judgment_file import Pair


class Ledger:
    """The entries of a journal, by document and by judge."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._by_number: dict[int, Entry] = {}
        self._by_pair: dict[Pair, list[Entry]] = {}
        self._by_judge: dict[str, list[Entry]] = {}
        self._undone: set[int] = set()
        self._by_key: dict[str, Entry] = {}
        self._last_number: dict[Pair, int] = {}
        self._judged: list[Entry] | None = None
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Take one more line in."""
        self._by_number[entry.number] = entry
        self._last_number[entry.pair] = entry.number
        self._judged = None
        if entry.key:
            self._by_key[entry.key] = entry
        if entry.undoes is not None:
            self._undone.add(entry.undoes)
            return
        self._by_pair.setdefault(entry.pair, []).append(entry)
        self._by_judge.setdefault(entry.judge, []).append(entry)

    def with_key(self, key: str) -> Entry | None:
        """The entry that the page knows by this key, if it was written already."""
        return self._by_key.get(key) if key else None

    def with_number(self, number: int) -> Entry:
        """The entry of this number."""
        return self._by_number[number]

    def last_number(self, pair: Pair) -> int:
        """The number of the last entry about a document."""
        return self._last_number[pair]

    def last_of(self, judge: str) -> Entry | None:
        """What a judge did last and did not take back."""
        entries = self._by_judge.get(judge, [])
        while entries and entries[-1].number in self._undone:
            entries.pop()
        return entries[-1] if entries else None

    def opinions(self, pair: Pair) -> dict[str, Entry]:
        """By judge, the judgment of a document that holds now; whoever judged first stands first."""
        held: dict[str, Entry] = {}
        for entry in self._by_pair.get(pair, ()):
            if entry.grade is not None and entry.number not in self._undone:
                held[entry.judge] = entry
        return held

    def for_the_file(self, pair: Pair) -> Entry | None:
        """The judgment that the file is to hold: that of the first judge, unless the file had one of its own."""
        return next((entry for entry in self.opinions(pair).values() if not entry.beside), None)

    def before(self, pair: Pair) -> str | None:
        """The record that the file had of a document before it was judged here."""
        written = (
            entry for entry in reversed(self._by_pair.get(pair, [])) if entry.grade is not None and not entry.beside
        )
        return next((entry.before for entry in written), None)

    def grades_given(self, pair: Pair) -> set[float]:
        """Every grade that was ever given to a document here and written to the file, taken back or not."""
        entries = self._by_pair.get(pair, ())
        return {entry.grade for entry in entries if entry.grade is not None and not entry.beside}

    def has_skipped(self, judge: str, pair: Pair) -> bool:
        """Did this judge pass over the document?"""
        return any(
            entry.judge == judge and entry.grade is None and entry.number not in self._undone
            for entry in self._by_pair.get(pair, ())
        )

    def pairs(self) -> list[Pair]:
        """All documents that stand in the journal, in the order in which they came."""
        return list(self._by_pair)

    def judged(self) -> list[Entry]:
        """Every judgment that holds now, in the order of the journal."""
        if self._judged is None:
            held = (entry for pair in self._by_pair for entry in self.opinions(pair).values())
            self._judged = sorted(held, key=lambda entry: entry.number)
        return self._judged
