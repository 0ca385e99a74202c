"""Classes of parameters that never change: what a frozen dataclass is, without code made for each class.

``@dataclass(frozen=True)`` writes and compiles six functions for a class. For the hundred classes of measures that
takes 40 ms, and this module 3 ms, of the 360 ms that a small ``rankbounds evaluate`` takes in all: here one set of
functions serves every class. ``dataclasses.fields`` and ``replace`` work as for any dataclass, and who writes
``@dataclass(frozen=True)`` over a class all the same gets what that makes.
"""

from __future__ import annotations

import inspect
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, fields
from typing import Any, ClassVar


@dataclass(frozen=True)
class _Plain:
    """What dataclasses that are frozen have in common."""


class FrozenClass(type):
    """The type of such classes, which knows how they are called."""

    @property
    def __signature__(cls) -> inspect.Signature:
        if cls.__init__ is not Frozen.__init__:  # type: ignore[misc]
            raise AttributeError("its __init__ shows how it is called")
        named = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature(
            [
                inspect.Parameter(declared.name, named, default=_shown_default(declared), annotation=declared.type)
                for declared in fields(cls)  # type: ignore[arg-type]  # each has its fields
            ],
            return_annotation=None,
        )


class Frozen:
    """Parameters as attributes: given by place or by name, compared, hashed and shown together."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]] = {}
    __dataclass_params__: ClassVar[Any] = _Plain.__dict__["__dataclass_params__"]
    _names: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, *given: Any, **by_name: Any) -> None:
        names = self._names
        chosen = {**self._defaults, **dict(zip(names, given, strict=False)), **by_name}
        taken = names[: len(given)]
        if len(taken) < len(given) or not by_name.keys().isdisjoint(taken) or chosen.keys() != set(names):
            try:
                inspect.signature(type(self)).bind(*given, **by_name)
            except TypeError as problem:
                raise TypeError(f"{type(self).__qualname__}() {problem}") from None
        for name in names:
            self.__dict__[name] = chosen[name]
        self.__post_init__()

    def __post_init__(self) -> None:
        """Called when all parameters are there."""

    def _values(self) -> tuple[Any, ...]:
        return tuple(map(self.__dict__.__getitem__, self._names))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frozen) or other.__class__ is not self.__class__:
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        hashed: int | None = self.__dict__.get("_hash")
        if hashed is None:
            hashed = self.__dict__["_hash"] = hash((type(self), *self._values()))
        return hashed

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}  # another process has another

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in zip(self._names, self._values(), strict=True))
        return f"{type(self).__qualname__}({shown})"

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")


def declare(cls: type[Frozen]) -> None:
    """Take in the parameters that a new class declares, behind those of the classes that it derives from."""
    annotations = inspect.get_annotations(cls)
    declared = {name: cls.__dict__[name] for name in annotations if name in cls.__dict__}
    around = {"__annotations__": annotations, "__module__": cls.__module__, "__doc__": "Its own parameters."}
    alone = type(cls.__name__, (), {**declared, **around})
    dataclass(init=False, repr=False, eq=False, match_args=False)(alone)
    every: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        every |= base.__dict__.get("__dataclass_fields__", {})
    every |= alone.__dict__["__dataclass_fields__"]
    cls.__dataclass_fields__ = every
    parameters = fields(cls)
    cls._names = tuple(parameter.name for parameter in parameters)
    cls.__match_args__ = cls._names  # type: ignore[attr-defined, misc]
    cls._defaults = {parameter.name: parameter.default for parameter in parameters if parameter.default is not MISSING}
    for name in annotations:
        if isinstance(cls.__dict__.get(name), Field) and name in cls._defaults:
            setattr(cls, name, cls._defaults[name])


def _shown_default(declared: Field[Any]) -> Any:
    return inspect.Parameter.empty if declared.default is MISSING else declared.default
