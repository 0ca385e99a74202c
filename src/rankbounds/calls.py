"""Calls by users: a mistake ends with one sentence below the user's own line, without our internals.

Public functions are wrapped on first use (``loading``); deep methods are decorated where they are defined.
``RANKBOUNDS_TRACEBACK=1`` in the environment shows every frame.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from rankbounds.errors import RankboundsError, UnknownOptionError

Function = TypeVar("Function", bound=Callable[..., Any])


def ends_in_a_sentence(function: Function) -> Function:
    """Show our errors as one sentence, and name what an unknown keyword probably meant."""

    @wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except RankboundsError as mistake:
            error = mistake
            if isinstance(error, UnknownOptionError) and error.option in named:
                error = _unknown_option(function, error.option, error.known)
        except TypeError as mistake:
            traceback = mistake.__traceback__
            known = _parameters(function)
            unknown = next((name for name in named if name not in known), None)
            if unknown is None or traceback is None or traceback.tb_next is not None:  # it was raised further down
                raise
            error = _unknown_option(function, unknown)
        if os.environ.get("RANKBOUNDS_TRACEBACK"):
            raise error
        raise error.with_traceback(None) from None

    return called  # type: ignore[return-value]


def as_public(function: Function, package: str, name: str) -> Function:
    """Give the function its public name, which pickles store too."""
    public = ends_in_a_sentence(function)
    public.__module__, public.__qualname__ = package, name
    return public


def _unknown_option(function: Callable[..., Any], option: str, known: Iterable[str] = ()) -> UnknownOptionError:
    of = function.__qualname__.removesuffix(".__init__")
    return UnknownOptionError(option, dict.fromkeys((*_parameters(function), *known)), of)


def _parameters(function: Callable[..., Any]) -> list[str]:
    from inspect import Parameter, signature

    variable = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return [name for name, one in signature(function).parameters.items() if one.kind not in variable and name != "self"]
