"""Unusable lines: the first one stops the reading, or with ``lenient`` all are left out and counted."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rankbounds.errors import DataError, Place, RankboundsWarning, warn

REPEATED = "repeated documents left out"
SHORT = "lines with too few fields left out"
OVERLONG = "overlong lines cut"
NO_SCORE = "scores that are not numbers left out"


@dataclass(frozen=True)
class LeftOut:
    """The number of problems of one kind, and the place of the first; None if unknown."""

    count: int | None
    first: Place | None

    def __add__(self, other: LeftOut) -> LeftOut:
        places = [part.first for part in (self, other) if part.first is not None]
        counts = [part.count for part in (self, other) if part.count is not None]
        return LeftOut(sum(counts) if len(counts) == 2 else None, min(places, key=line_of, default=None))

    def describe(self, kind: str) -> str:
        count = "" if self.count is None else f": {self.count:,}"
        return f"{kind}{count}" + ("" if self.first is None else f" (first: {self.first})")


def line_of(place: Place | str | None) -> int:
    return (place.line or 0) if isinstance(place, Place) else 0


def line_of_error(error: DataError) -> int:
    return line_of(error.place)


class LeftOutWarning(RankboundsWarning):
    """A file was read leniently: ``left_out`` has what was left out of it, by kind."""

    def __init__(self, file: str, left_out: Mapping[str, LeftOut]) -> None:
        self.file, self.left_out = file, dict(left_out)
        in_order = sorted(left_out.items(), key=lambda item: line_of(item[1].first))
        told = "; ".join(part.describe(kind) for kind, part in in_order)
        super().__init__(f"{file}: {told}.")

    def __reduce__(self) -> tuple[type[LeftOutWarning], tuple[str, dict[str, LeftOut]]]:
        return type(self), (self.file, self.left_out)


@dataclass
class Problems:
    """The problems of a file: the first stops the reading, or with ``lenient`` all are counted."""

    lenient: bool
    most: int = 1
    model: str = "the first line"
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    errors: dict[str, list[DataError]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Threads read different parts of one file."""

    def add(self, kind: str, count: int, errors: Sequence[DataError]) -> None:
        """Count ``count`` problems of this kind; ``errors`` are the first of them, up to ``most``."""
        self._merge(kind, LeftOut(count, errors[0].place), errors)

    def _merge(self, kind: str, left_out: LeftOut, errors: Sequence[DataError]) -> None:
        self.left_out[kind] = self.left_out.get(kind, LeftOut(0, None)) + left_out
        self.errors[kind] = sorted([*self.errors.get(kind, ()), *errors], key=line_of_error)[: self.most]

    def take(self, part: Problems) -> None:
        if part.errors and not self.lenient:
            raise min((errors[0] for errors in part.errors.values()), key=line_of_error)
        with self._lock:
            for kind, left_out in part.left_out.items():
                self._merge(kind, left_out, part.errors[kind])

    def warn(self, file: str) -> None:
        if self.left_out:
            warn(LeftOutWarning(file, self.left_out))


def merge_warnings(said: Iterable[RankboundsWarning]) -> list[RankboundsWarning]:
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
