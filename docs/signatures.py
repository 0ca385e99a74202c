"""How functions and measures are called, for the pages on public names, where mkdocstrings sees less than Python."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import griffe

from rankbounds.measures import Measure
from rankbounds.results import Result


class Signatures(griffe.Extension):
    """Gives measures and figures the signatures and docstrings that Python has at run time.

    Measures declare parameters without a decorator, and shared parameters are filled into docstrings. Results are
    made by functions: what their classes are made from is not shown.
    """

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Called for each class of the package."""
        kind = getattr(importlib.import_module(cls.module.path), cls.name, None)
        if not isinstance(kind, type):
            return
        if issubclass(kind, Result):
            cls.members.pop("__init__", None)
        if issubclass(kind, Measure):
            known = griffe.Parameters(
                griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword),
                *(
                    griffe.Parameter(
                        name,
                        annotation=str(parameter.annotation),
                        kind=griffe.ParameterKind[parameter.kind.name.lower()],
                        default=None if parameter.default is parameter.empty else repr(parameter.default),
                    )
                    for name, parameter in inspect.signature(kind).parameters.items()
                ),
            )
            if kind.__doc__:  # with the parameters that are explained once for all measures
                cls.docstring = griffe.Docstring(inspect.cleandoc(kind.__doc__), parent=cls)
            cls.set_member("__init__", griffe.Function("__init__", parameters=known, returns="None"))

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called when the whole package is read."""
        for called in _called(pkg):
            if called.docstring:
                if isinstance(called, griffe.Function) and called.module.path.startswith("rankbounds.plots."):
                    drawing = getattr(importlib.import_module(called.module.path), called.name, None)
                    called.docstring.value = inspect.getdoc(drawing) or called.docstring.value
                if any(parameter.name == "options" for parameter in called.parameters):
                    _name_options(called)
                sections = called.docstring.parse("numpy", warnings=False)
                for section in sections:
                    if section.kind is griffe.DocstringSectionKind.parameters:
                        _set_apart(section.value, called.parameters)
                called.docstring.__dict__["parsed"] = sections


def _name_options(called: griffe.Function | griffe.Class) -> None:
    """Show options that a function takes as ``**options`` by name, where Python's own signature does."""
    live = getattr(importlib.import_module(called.module.path), called.name, None)
    if isinstance(called, griffe.Class):
        live = getattr(live, "__init__", None)
    named = getattr(getattr(live, "__signature__", None), "parameters", {})
    if named:  # behind it Python allows no other name, and nothing could be laid out
        rest = called.parameters["options"]
        del called.parameters["options"]
    for name, parameter in named.items():
        if parameter.kind is parameter.KEYWORD_ONLY and name not in called.parameters:
            default = None if parameter.default is parameter.empty else repr(parameter.default)
            annotation = str(parameter.annotation)
            kind = griffe.ParameterKind.keyword_only
            called.parameters.add(griffe.Parameter(name, annotation=annotation, kind=kind, default=default))
    if "options" in named:
        called.parameters.add(rest)


def _called(within: griffe.Module | griffe.Class) -> Iterator[griffe.Function | griffe.Class]:
    """What of a module or class can be called, at any depth."""
    for part in within.members.values():
        if isinstance(part, griffe.Function) or (isinstance(part, griffe.Class) and "__init__" in part.members):
            yield part
        if isinstance(part, griffe.Module | griffe.Class):
            yield from _called(part)


def _set_apart(described: list[griffe.DocstringParameter], known: griffe.Parameters) -> None:
    """Of parameters that are explained in one go (``alpha, seed``) each has its own type and default."""
    of_others = {id(parameter.annotation) for parameter in known if parameter.annotation is not None}
    for parameter in described:
        if parameter.name in known:
            own = known[parameter.name]
            parameter.value = None if own.default is None else str(own.default)
            if id(parameter.annotation) in of_others:
                parameter.annotation = own.annotation
