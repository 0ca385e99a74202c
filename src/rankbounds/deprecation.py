"""Calls as they were made before: understood for one release, with a warning that shows the new way."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from rankbounds.errors import UsageError, warn

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional and named arguments."""


def warn_of_old_call(what: str) -> None:
    """Say that a call is of the old kind, and what to write instead."""
    warn(f"{what} The old way goes away with the next release.", DeprecationWarning)


def renamed_arguments(
    **new_names: str,
) -> Callable[[Callable[Parameters, Returned]], Callable[Parameters, Returned]]:
    """Let a function take arguments under their old names too: ``@renamed_arguments(order="ties")``."""

    def decorate(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
        @functools.wraps(function)
        def call(*args: Parameters.args, **named: Parameters.kwargs) -> Returned:
            for old, new in new_names.items():
                if old in named:
                    if new in named:
                        raise UsageError(f"{function.__name__}: {old}= is the old name of {new}=. Give one of them.")
                    warn_of_old_call(f"{function.__name__}: {old}= is now called {new}=.")
                    named[new] = named.pop(old)
            return function(*args, **named)

        return call

    return decorate


def reordered_arguments(
    new_call: str, recognise: Callable[[tuple[Any, ...], dict[str, Any]], Call | None]
) -> Callable[[Callable[Parameters, Returned]], Callable[Parameters, Returned]]:
    """Let a function take its arguments in the old order where ``recognise`` can tell, and returns the new call."""

    def decorate(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
        @functools.wraps(function)
        def call(*args: Parameters.args, **named: Parameters.kwargs) -> Returned:
            rewritten = recognise(args, named)
            if rewritten is None:
                return function(*args, **named)
            warn_of_old_call(f"{function.__name__} is now called as {new_call}.")
            new_args, new_named = rewritten
            return function(*new_args, **new_named)

        return call

    return decorate
