"""The names of measures: our own, what else people call them, and trec_eval's. A name belongs to one measure."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from rankbounds.errors import UsageError

if TYPE_CHECKING:
    from rankbounds.measures.measure import Measure

REGISTRY: dict[str, type[Measure]] = {}
"""Every measure by its own name."""

CLOSE = 0.75
"""How alike two words must be for one to be a misspelling of the other."""


def register(kind: type[Measure]) -> None:
    """Take a measure in under its names, unless another measure has one of them.

    The same class defined once more, as by running a notebook's cell again, takes the place of the first.
    """
    for name in _names_of(kind):
        owner = _owner(name)
        if owner is not None and (owner.__module__, owner.__qualname__) != (kind.__module__, kind.__qualname__):
            raise UsageError(
                f'The name "{name}" belongs to the measure {owner.name} ({owner.__module__}.{owner.__qualname__}). '
                f"Give {kind.__qualname__} another name or alias."
            )
    REGISTRY[kind.name] = kind


def class_named(name: str) -> type[Measure]:
    """The measure of this name or alias, in upper or lower case."""
    if not is_name(name):
        raise UsageError(f'There is no measure "{name}".{_suggestion(name)} "rankbounds measures" lists all.')
    return REGISTRY[_ours()[name.lower()]]


def is_name(text: str) -> bool:
    """Is this a measure's name or alias, without parameters?"""
    return text.lower() in _ours()


def _ours() -> dict[str, str]:
    """Names and aliases in lower case, and the name of the measure that each stands for."""
    return {known.lower(): kind.name for kind in REGISTRY.values() for known in (kind.name, *kind.aliases)}


def _names_of(kind: type[Measure]) -> tuple[str, ...]:
    return (kind.name, *kind.aliases, *kind.trec_names)


def _owner(name: str) -> type[Measure] | None:
    owners = (kind for kind in REGISTRY.values() if name.lower() in map(str.lower, _names_of(kind)))
    return next(owners, None)


def _suggestion(name: str) -> str:
    """``' Did you mean "P@10"?'`` for a depth without its @, letters swapped, or a word nearly alike; else nothing."""
    word = name.lower()
    ours = _ours()
    depth = re.fullmatch(r"(.*?[a-z*])[_-]?(\d+)", word)
    if depth and depth[1] in ours and class_named(depth[1]).takes_cutoff():
        return f' Did you mean "{ours[depth[1]]}@{depth[2]}"?'
    trec = {known.lower(): known for kind in REGISTRY.values() for known in kind.trec_names if "{" not in known}
    names = trec | ours
    swapped = [known for known in names if len(word) > 2 and sorted(known) == sorted(word)]
    close = swapped or difflib.get_close_matches(word, list(names), n=1, cutoff=CLOSE)
    return f' Did you mean "{names[close[0]]}"?' if close else ""
