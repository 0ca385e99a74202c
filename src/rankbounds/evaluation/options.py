"""Options that functions share, declared once: how files are read, and what is assumed before measures score.

A function that takes judgments and runs has its own parameters and ``**options: Unpack[Options]``; it starts with
``assumptions, reading = chosen_options(options)``. Type checkers and editors know every option, its docstring refers to
``evaluate``, and an option that the function cannot honour is refused with a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, TypedDict

from rankbounds.collection.gains import GainRule
from rankbounds.collection.inputs import Formats, Reading
from rankbounds.columns.native import worth_starting
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.rankings.ties import ORDERS


class FileOptions(TypedDict, total=False):
    """How files and tables are read, as in ``evaluate``."""

    formats: Formats | None
    columns: Mapping[str, str] | None
    lenient: bool
    threads: int


class ReadingOptions(FileOptions, total=False):
    """How judgments and runs are read, as in ``evaluate``."""

    labels: str | Sequence[str] | None


class OrderOptions(FileOptions, total=False):
    """What questions take that decide themselves about unjudged documents: reading, the order of ties, gains."""

    ties: str
    gain: str | Mapping[Any, float] | GainRule | None
    score_precision: str


class ScoringOptions(OrderOptions, total=False):
    """Everything that ``evaluate`` is told, except for whose labels to use: for functions whose labels are given."""

    ties_key: Any
    unjudged: str
    q: float | None
    bounds: str
    topics: str
    open: str
    most_relevant: int | None


class Options(ScoringOptions, ReadingOptions, total=False):
    """Everything that ``evaluate`` is told about reading, ties, unjudged documents, gains and topics."""


READING = frozenset(ReadingOptions.__annotations__)
ASSUMED = frozenset(signature(Assumptions).parameters)


def chosen_options(
    options: Mapping[str, Any], *, refused: Mapping[str, str] | None = None, **defaults: Any
) -> tuple[Assumptions, Reading]:
    """Split options into assumptions and reading.

    ``refused`` maps options that the function cannot honour to the reason; ``defaults`` are the function's own where
    they differ from ``evaluate``'s.
    """
    for name in options:
        if refused and name in refused:
            raise UsageError(f"{name}= cannot be given here: {refused[name]}")
        if name not in READING | ASSUMED:
            raise TypeError(f"There is no option {name}=.{did_you_mean(name, sorted(READING | ASSUMED))}")
    chosen = {**defaults, **options}
    assumptions = Assumptions(**{name: value for name, value in chosen.items() if name in ASSUMED})
    reading = {name: value for name, value in chosen.items() if name in READING}
    return assumptions, Reading(**reading, gain=assumptions.gain)


def order_options(options: Mapping[str, Any], question: str) -> tuple[Assumptions, Reading]:
    """Split ``OrderOptions`` of a question that needs one order of tied documents, which is what it says otherwise."""
    unused = Options.__annotations__.keys() - OrderOptions.__annotations__.keys()
    refused = dict.fromkeys(unused, "this question does not depend on it.")
    assumptions, reading = chosen_options(options, refused=refused, threads=worth_starting())
    if assumptions.ties not in ORDERS:
        raise UsageError(f'{question} one order of tied documents: {", ".join(ORDERS)}, not "{assumptions.ties}".')
    return assumptions, reading
