"""Strata: the parts of a pool that were sampled for judging, each at its own rate."""

from __future__ import annotations

from dataclasses import dataclass

from rankbounds.arrays import Ints
from rankbounds.columns.ids import Ids


@dataclass(frozen=True, eq=False)
class Strata:
    """For each judgment the stratum that its document belongs to, as a number within ``names``."""

    names: tuple[str, ...]
    number: Ints

    @classmethod
    def of(cls, column: Ids) -> Strata:
        """From the names that stand beside the judgments."""
        names, number = column.codes(column.hashes())
        return cls(tuple(name.decode("utf-8", "surrogateescape") for name in names), number)

    @property
    def labels(self) -> list[str]:
        """The name of each row's stratum."""
        return [self.names[number] for number in self.number.tolist()]

    def taken(self, rows: Ints) -> Strata:
        """Of some of the judgments, which stand on these rows."""
        return Strata(self.names, self.number[rows])
