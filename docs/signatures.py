"""How measures are called, for the pages on public names: their parameters are declared without a decorator."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import griffe

from rankbounds.measures import Measure


class Signatures(griffe.Extension):
    """Gives every measure the signature that Python knows (mkdocstrings reads the source, and sees none)."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Called for each class of the package."""
        if not cls.module.path.startswith("rankbounds.measures."):
            return
        kind = getattr(importlib.import_module(cls.module.path), cls.name, None)
        if isinstance(kind, type) and issubclass(kind, Measure):
            known = griffe.Parameters(
                griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword),
                *(
                    griffe.Parameter(
                        name,
                        annotation=str(parameter.annotation),
                        kind=griffe.ParameterKind.positional_or_keyword,
                        default=None if parameter.default is parameter.empty else repr(parameter.default),
                    )
                    for name, parameter in inspect.signature(kind).parameters.items()
                ),
            )
            cls.set_member("__init__", griffe.Function("__init__", parameters=known, returns="None"))
