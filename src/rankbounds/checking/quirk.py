"""One respect in which another computation differs from ours, and the option of ours that does the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.measures import Measure


@dataclass(frozen=True)
class Quirk:
    """A computation that differs from ours in one respect."""

    respect: str
    why: str
    switch: str | None = ""
    """The option that makes us do so too; empty: the measure is spelt otherwise; None: there is none."""
    options: dict[str, str] = field(default_factory=dict)
    measure: Callable[[Measure], Measure | None] = lambda measure: measure
    """The measure as it is computed; None: the quirk does not concern it."""
    run: Callable[[Run], Run] = lambda run: run
    qrels: Callable[[Qrels, Run], Qrels] = lambda qrels, _: qrels
