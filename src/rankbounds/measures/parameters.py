"""Parameters of measures: fields of frozen dataclasses, which values they may have, and how docstrings explain them."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

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
    """Declare a field of a measure with its meaning and allowed values (None is always allowed)."""
    return field(default=default, kw_only=kw_only, metadata={"meaning": meaning, "allowed": allowed})


@dataclass_transform(frozen_default=True, field_specifiers=(parameter,))
class Frozen:
    """Makes subclasses frozen dataclasses without a decorator: compared, hashed and shown by their fields."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    _allowed: ClassVar[dict[str, Allowed]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if inspect.get_annotations(cls) or not hasattr(cls, "__dataclass_fields__"):
            dataclass(frozen=True, eq=False, repr=False)(cls)
            del cls.__setattr__, cls.__delattr__  # one of each serves all
            cls._allowed = {one.name: rule for one in fields(cls) if (rule := one.metadata.get("allowed")) is not None}

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _values(self) -> list[Any]:
        return [getattr(self, declared.name) for declared in fields(self)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frozen) and type(other) is type(self) and other._values() == self._values()

    def __hash__(self) -> int:
        return hash((type(self), *self._values()))

    def __repr__(self) -> str:
        shown = (f"{declared.name}={getattr(self, declared.name)!r}" for declared in fields(self))
        return f"{type(self).__qualname__}({', '.join(shown)})"


SHARED = {
    "rel": "The lowest grade that counts as relevant.",
    "cutoff": "The depth, written after the @; None: the whole list.",
}
"""What parameters mean that every measure knows."""
TYPES = {"rel": "float", "cutoff": "int | None"}
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
