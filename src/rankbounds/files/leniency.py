"""Lines that cannot be used: the first stops the reading, or all are left out and counted, where that was asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rankbounds.errors import DataError, Place, RankboundsWarning, warn

REPEATED = "repeated documents left out"


@dataclass(frozen=True)
class LeftOut:
    """How many there are of one kind, and where the first stands; None where that is not known."""

    count: int | None
    first: Place | None

    def __add__(self, other: LeftOut) -> LeftOut:
        """What two parts of a file have, of which either may come first."""
        places = [part.first for part in (self, other) if part.first is not None]
        counts = [part.count for part in (self, other) if part.count is not None]
        return LeftOut(sum(counts) if len(counts) == 2 else None, min(places, key=_line, default=None))

    def told(self, kind: str) -> str:
        """``3 lines with too few fields left out (first: run.txt:7)``."""
        count = "" if self.count is None else f"{self.count} "
        return f"{count}{kind}" + ("" if self.first is None else f" (first: {self.first})")


def _line(place: Place) -> int:
    return place.line or 0


class LeftOutWarning(RankboundsWarning):
    """A file was read leniently: ``left_out`` has what was left out of it, by kind."""

    def __init__(self, file: str, left_out: Mapping[str, LeftOut]) -> None:
        self.file, self.left_out = file, dict(left_out)
        told = "; ".join(part.told(kind) for kind, part in left_out.items())
        super().__init__(f"{file}: read leniently: {told}.")


@dataclass
class Problems:
    """What is wrong with a file: the first problem stops the reading, or all are counted when that was asked for."""

    lenient: bool
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Threads read different parts of one file."""

    def add(self, kind: str, count: int, error: DataError) -> None:
        """Raise, or count ``count`` problems of this kind, of which the error tells the first."""
        if not self.lenient:
            raise error
        with self._lock:
            self.left_out[kind] = self.left_out.get(kind, LeftOut(0, None)) + LeftOut(count, error.place)

    def warn(self, file: str) -> None:
        """One warning for the file, if anything was counted."""
        if self.left_out:
            warn(LeftOutWarning(file, self.left_out))


def told_once(said: Iterable[RankboundsWarning]) -> list[RankboundsWarning]:
    """The warnings of several pieces as one for each file: what they counted is added up."""
    files: dict[str, dict[str, LeftOut]] = {}
    told: dict[str, RankboundsWarning] = {}
    for warning in said:
        if not isinstance(warning, LeftOutWarning):
            told[str(warning)] = warning
            continue
        kinds = files.setdefault(warning.file, {})
        for kind, part in warning.left_out.items():
            kinds[kind] = kinds[kind] + part if kind in kinds else part
    return [*told.values(), *(LeftOutWarning(file, kinds) for file, kinds in files.items())]
