"""Options that functions share, declared once: how files are read, and what is assumed before measures score.

A function that takes judgments and runs has its own parameters and ``**options: Unpack[Options]``, and starts with
``assumptions, reading = chosen_options(options)``. Editors know every option, docstrings refer to ``evaluate``, and an
option that the function cannot honour is refused with a reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature, signature
from typing import Any, TypedDict, TypeVar

from rankbounds.collection.gains import GainRule
from rankbounds.collection.inputs import Formats, Reading
from rankbounds.collection.preparation import Preparation
from rankbounds.collection.shapes import SameAs
from rankbounds.columns.native import worth_starting
from rankbounds.errors import RankboundsError, UnknownOptionError, UsageError
from rankbounds.evaluation.assumptions import ASSUMPTIONS, Assumptions
from rankbounds.measures.naming.parser import parse_measures
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS

Function = TypeVar("Function", bound=Callable[..., Any])


class FileOptions(TypedDict, total=False):
    """How files and tables are read, as in ``evaluate``."""

    formats: Formats | None
    columns: Mapping[str, str] | None
    lenient: bool
    threads: int | None
    query_ids: Sequence[Any] | None
    doc_ids: Sequence[Any] | None


class ReadingOptions(FileOptions, total=False):
    """How judgments and runs are read, as in ``evaluate``."""

    source: str | Sequence[str] | None
    raters: str | None
    complete: bool
    same_as: SameAs | None


class OrderOptions(FileOptions, total=False):
    """Options of pools, samples, plans and audits: reading, one order of ties, gains."""

    ties: str
    gain: str | Mapping[Any, float] | GainRule | None
    score_precision: str


class PlanOptions(OrderOptions, total=False):
    """Options of plans: those of one order, and how judgments by several raters become one."""

    raters: str | None


class RankingOptions(OrderOptions, ReadingOptions, total=False):
    """Options of ``evaluate`` without unjudged documents: reading, ties, gains and topics."""

    ties_key: Any
    topics: str


class ScoringOptions(OrderOptions, total=False):
    """Options of ``evaluate`` without ``source``, for functions with their own labels."""

    ties_key: Any
    topics: str
    unjudged: str
    q: float | None
    bounds: str
    open: str
    most_relevant: int | None


class Options(ScoringOptions, RankingOptions, total=False):
    """The options of ``evaluate`` on reading, ties, unjudged documents, gains and topics."""


class EvaluateOptions(Options, total=False):
    """All options of ``evaluate``; some engines take more of them than others."""

    preparation: Preparation | None
    progress: Callable[[int, int], None] | None
    observe: Callable[[int, Rankings], None] | None
    memory: int | str | None
    master: str | None


READING = frozenset(ReadingOptions.__annotations__)


def chosen_options(
    options: Mapping[str, Any],
    declared: type[FileOptions] = Options,
    *,
    refused: Mapping[str, str] | None = None,
    one_order: str = "",
    **defaults: Any,
) -> tuple[Assumptions, Reading]:
    """Split options into assumptions and reading; ``refused`` maps options that cannot be honoured to the reason."""
    known = declared.__annotations__
    for name in options:
        if refused and name in refused:
            raise UsageError(f"{name}= cannot be given here: {refused[name]}")
        if name not in known:
            raise UnknownOptionError(name, known)
    chosen = {**defaults, **options}
    assumptions = Assumptions(**{name: value for name, value in chosen.items() if name in ASSUMPTIONS})
    if one_order and assumptions.ties not in ORDERS:
        raise UsageError(f'{one_order} one order of tied documents: {", ".join(ORDERS)}, not "{assumptions.ties}".')
    reading = {name: value for name, value in chosen.items() if name in READING}
    if "threads" in reading:
        reading["threads"] = reading["threads"] or worth_starting()
    return assumptions, Reading(**reading, gain=assumptions.gain)


def check_no_measures(runs: Any) -> None:
    """Tell apart the name of a measure, where a run is expected, from a file that does not exist."""
    for one in runs if isinstance(runs, list | tuple) else [runs]:
        if isinstance(one, str) and not os.path.exists(one):
            try:
                parse_measures(one)
            except RankboundsError:
                continue
            raise UsageError(f'There is no file "{one}". Measures are named by measures=["{one}"].')


def shows_options(options: type, *declaring: type, more: bool = False) -> Callable[[Function], Function]:
    """Show a function's ``**options`` by name, with their defaults, in ``help`` and notebooks."""
    classes = (Reading, Assumptions, *declaring)
    known = {name: one for each in classes for name, one in signature(each).parameters.items()}
    by_name = []
    for name, annotation in options.__annotations__.items():
        default = None if name == "threads" or name not in known else known[name].default
        text = getattr(annotation, "__forward_arg__", annotation)
        by_name.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=text))

    def shown(function: Function) -> Function:
        plain = signature(function)
        own = [one for one in plain.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        rest = list(plain.parameters.values())[len(own) :] if more else []
        function.__signature__ = Signature([*own, *by_name, *rest], return_annotation=plain.return_annotation)  # type: ignore[attr-defined]
        return function

    return shown
