"""Parameters of measures: declared as in a frozen dataclass, checked, and explained in docstrings.

``@dataclass(frozen=True)`` writes and compiles six functions per class, which takes 40 ms at start for the hundred
classes of measures. Here one set of functions serves every class, in 3 ms. ``dataclasses.fields`` and ``replace`` work
as for any dataclass, and ``@dataclass(frozen=True)`` over a class has its usual effect.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

from rankbounds.errors import UnknownOptionError, UsageError

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        """Do nothing: type checkers alone read this."""
        return lambda kind: kind


@dataclass(frozen=True)
class Allowed:
    """Which values a parameter may have, in words and as a condition."""

    words: str
    holds: Callable[[float], bool]


POSITIVE = Allowed("must be positive and finite", lambda value: 0 < value < inf)
NOT_NEGATIVE = Allowed("must be at least 0 and finite", lambda value: 0 <= value < inf)
SHARE = Allowed("must lie between 0 and 1", lambda value: 0 <= value <= 1)
PERSISTENCE = Allowed("must be at least 0 and below 1", lambda value: 0 <= value < 1)
AT_LEAST_1 = Allowed("must be at least 1 and finite", lambda value: 1 <= value < inf)
ABOVE_1 = Allowed("must be above 1 and finite", lambda value: 1 < value < inf)
COUNT = Allowed("must be a whole number from 1 on", lambda value: value >= 1 and value % 1 == 0)


def parameter(meaning: str, allowed: Allowed | None = None, *, default: Any, kw_only: bool = False) -> Any:
    """Declare a field of a measure with its meaning and allowed values (None is always allowed).

    ``kw_only`` is for parameters of every measure, shown only for measures that name them in ``takes``.
    """
    return field(default=default, kw_only=kw_only, metadata={"meaning": meaning, "allowed": allowed})


class FrozenClass(type):
    """The type of classes of parameters, which knows how they are called."""

    @property
    def __signature__(cls) -> inspect.Signature:
        if cls.__init__ is not Frozen.__init__:  # type: ignore[misc]
            raise AttributeError("its __init__ shows how it is called")
        shown = []
        for declared in fields(cls):  # type: ignore[arg-type]  # each has its fields
            default = inspect.Parameter.empty if declared.default is MISSING else declared.default
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            shown.append(inspect.Parameter(declared.name, kind, default=default, annotation=declared.type))
        return inspect.Signature(shown, return_annotation=None)


@dataclass(frozen=True)
class _Plain:
    """What dataclasses that are frozen have in common."""


@dataclass_transform(frozen_default=True, field_specifiers=(parameter,))
class Frozen:
    """Parameters as attributes: set by position or name, compared, hashed and shown together."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]] = {}
    __dataclass_params__: ClassVar[Any] = _Plain.__dict__["__dataclass_params__"]
    _names: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}
    _allowed: ClassVar[dict[str, Allowed]] = {}
    _own: ClassVar[dict[str, Field[Any]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        declare(cls)

    def __init__(self, *given: Any, **by_name: Any) -> None:
        names = self._names
        chosen = {**self._defaults, **dict(zip(names, given, strict=False)), **by_name}
        if len(given) == 1 and type(given[0]) is int and given[0] > 1 and "cutoff" in names and not by_name:
            name, number = type(self).__name__, given[0]
            raise UsageError(f"For the depth write rb.{name} @ {number}; for {names[0]}, {name}({names[0]}={number}).")
        taken = names[: len(given)]
        if len(taken) < len(given) or not by_name.keys().isdisjoint(taken) or chosen.keys() != set(names):
            raise _call_mistake(type(self), given, by_name)
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


def declare(cls: Any) -> None:
    """Add a new class's parameters to those of its base classes."""
    annotations = inspect.get_annotations(cls)
    own = {name: cls.__dict__[name] for name in annotations if name in cls.__dict__}
    around = {"__annotations__": annotations, "__module__": cls.__module__, "__doc__": "Its own parameters."}
    alone: Any = type(cls.__name__, (), {**own, **around})
    dataclass(init=False, repr=False, eq=False, match_args=False)(alone)
    cls._own = alone.__dataclass_fields__
    every = [one for base in reversed(cls.__mro__) for one in base.__dict__.get("_own", {}).values()]
    shown, common = ({one.name: one for one in every if one.kw_only is known} for known in (False, True))
    cls.__dataclass_fields__ = shown | {name: common[name] for name in getattr(cls, "takes", ()) if name not in shown}
    parameters = fields(cls)
    cls._names = cls.__match_args__ = tuple(one.name for one in parameters)  # type: ignore[misc]
    cls._defaults = {declared.name: declared.default for declared in parameters if declared.default is not MISSING}
    cls._allowed = {one.name: allowed for one in parameters if (allowed := one.metadata.get("allowed")) is not None}
    for name, declared in cls._own.items():
        if declared.default is not MISSING:
            setattr(cls, name, declared.default)


def _call_mistake(kind: Any, given: tuple[Any, ...], by_name: dict[str, Any]) -> Exception:
    unknown = next((name for name in by_name if name not in kind._names), None)
    if unknown is not None:
        return UnknownOptionError(unknown, kind._names, kind.__name__)
    try:
        inspect.signature(kind).bind(*given, **by_name)
    except TypeError as problem:
        return TypeError(f"{kind.__qualname__}() {problem}")
    raise AssertionError("all parameters are known")


SHARED = {
    "rel": "The lowest grade that counts as relevant.",
    "cutoff": "The depth, written after the @; None: the whole list.",
}
"""What parameters mean that every measure knows."""
DATA = {
    "binary": 'qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}',
    "graded": 'qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 3, "b": 2, "c": 1}}',
    "unjudged": 'qrels, run = {"q": {"a": 1, "c": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}',
    "subtopics": 'qrels = {"query_id": ["q"] * 3, "subtopic": [1, 1, 2], "doc_id": ["a", "b", "b"], '
    '"relevance": [1, 1, 1]}\n>>> run = {"q": ["a", "b", "c"]}',
    "sample": 'qrels = {"query_id": ["q"] * 4, "stratum": [1, 2, 2, 2], "doc_id": list("abcd"), '
    '"relevance": [1, 1, -1, 0]}\n>>> run = {"q": ["a", "c", "b", "d"]}',
}
"""What the examples in docstrings of measures are about."""
_PARAMETERS, _EXAMPLES = "Parameters\n----------\n", "Examples\n--------\n"


def document(cls: Any) -> str:
    """Return a measure's docstring with every parameter explained, and its example."""
    above, _, examples = inspect.cleandoc(cls.__doc__).partition(f"\n\n{_EXAMPLES}")
    above, _, own = above.partition(f"\n\n{_PARAMETERS}")
    own, _, below = own.partition("\n\n")
    explained = {entry.partition(" :")[0]: entry for entry in re.split(r"\n(?=\S)", own) if entry}
    entries = [explained.pop(one.name, None) or _entry(one, cls.needs_cutoff) for one in fields(cls)]
    if cls.__dict__.get("example") is not None:
        expression, value, *data = cls.example
        kind = (
            "sample" if cls.estimates else "subtopics" if cls.reads_judgments else "graded" if cls.graded else "binary"
        )
        # Measures that everybody knows are names of the package itself, which is being imported.
        namespace = "rb" if cls.__name__ in sys.modules["rankbounds"].__all__ else "rb.measures"
        scored = f"round(rb.evaluate(qrels, run, {namespace}.{expression}).value.item(), 4)"
        examples = f">>> import rankbounds as rb\n>>> {DATA[data[0] if data else kind]}\n>>> {scored}\n{value!r}"
    section = _PARAMETERS + "\n".join([*explained.values(), *entries]) if entries or explained else ""
    return "\n\n".join(filter(None, (above, section, below, examples and _EXAMPLES + examples)))


def _entry(declared: Field[Any], needs_cutoff: bool) -> str:
    if declared.name == "cutoff" and needs_cutoff:
        return "cutoff : int\n    The depth, written after the @."
    default, kind = declared.default, str(declared.type)
    if default is not MISSING:
        kind += f", default {default:g}" if isinstance(default, float) else f", default {default!r}"
    meaning = declared.metadata.get("meaning") or SHARED.get(declared.name)
    return f"{declared.name} : {kind}" + (f"\n    {meaning}" if meaning else "")
