"""The names of measures: our own, what else people call them, and other tools' names. A name belongs to one measure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from rankbounds.errors import UsageError
from rankbounds.measures.naming.elsewhere import ABSENT, FAMILIES, NAMES, NICKNAMES

if TYPE_CHECKING:
    from rankbounds.measures.measure import Measure

REGISTRY: dict[str, type[Measure]] = {}
"""Every measure by its own name."""
_owners: dict[str, str] = {}
"""The measure that last took a name, by its own name; it may be gone from the registry, or have given the name up."""

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
    _owners.update((folded(name), kind.name) for name in _names_of(kind))


def class_named(name: str) -> type[Measure]:
    """The measure of this name or alias, whatever the case."""
    if not is_name(name):
        problem = _stands_alone(name) or f"{_unknown(name)}{_suggestion(name)}"
        raise UsageError(f'{problem} "rankbounds measures" lists all.')
    return REGISTRY[_ours()[folded(name)]]


def is_name(text: str) -> bool:
    """Is this a measure's name or alias, without parameters?"""
    return folded(text) in _ours()


def label_elsewhere(name: str) -> str | None:
    """Our label for a name that another tool has for a measure; None where no tool has it."""
    return _theirs().get(folded(name))


def folded(name: str) -> str:
    """A name as it is looked up: without case, ``_`` and ``-``."""
    return name.lower().replace("_", "").replace("-", "")


def _ours() -> dict[str, str]:
    """Names and aliases as they are looked up, and the name of the measure that each stands for."""
    return _lookup(tuple(REGISTRY.values()))


@lru_cache(maxsize=4)
def _lookup(kinds: tuple[type[Measure], ...]) -> dict[str, str]:
    return {folded(known): kind.name for kind in kinds for known in (*kind.aliases, kind.name)}


@lru_cache(maxsize=1)
def _theirs() -> dict[str, str]:
    return {folded(name): label for names in reversed(NAMES.values()) for name, label in names.items()}


def _names_of(kind: type[Measure]) -> tuple[str, ...]:
    return (kind.name, *kind.aliases, *kind.trec_names)


def _owner(name: str) -> type[Measure] | None:
    owner = REGISTRY.get(_owners.get(folded(name), ""))
    return owner if owner is not None and folded(name) in map(folded, _names_of(owner)) else None


def _stands_alone(name: str) -> str:
    """What to tell of a name of trec_eval's that something was added to; empty for any other."""
    word = folded(name)
    templates = {folded(known.partition("_{")[0]): kind.name for kind in REGISTRY.values() for known in kind.trec_names}
    if word not in templates and word not in map(folded, (*FAMILIES, *NICKNAMES)):
        return ""
    instead = f" Write {templates[word]} in its place." if word in templates else ""
    return f'"{name}" is a name of trec_eval\'s, which takes no parameters, no prime and no depth behind @.{instead}'


def _unknown(name: str) -> str:
    reason = next((reason for known, reason in ABSENT.items() if folded(known) == folded(name)), None)
    return f'There is no measure "{name}".' if reason is None else f'There is no measure "{name}" here: it {reason}.'


def _suggestion(name: str) -> str:
    """``' Did you mean "P@10"?'`` for a depth without its @, letters swapped, or a word nearly alike; else nothing."""
    if folded(name) in map(folded, ABSENT):
        return ""
    word = name.lower()
    ours = _ours()
    depth = re.fullmatch(r"(.*?[a-z*])[_-]?(\d+)", word)
    if depth and is_name(depth[1]) and class_named(depth[1]).takes_cutoff():
        return f' Did you mean "{ours[folded(depth[1])]}@{depth[2]}"?'
    trec = {known for kind in REGISTRY.values() for known in kind.trec_names if "{" not in known}
    elsewhere = {known for names in NAMES.values() for known, label in names.items() if is_name(label.split("(")[0])}
    own = [known for kind in REGISTRY.values() for known in (kind.name, *kind.aliases)]
    names = {folded(known): known for known in (*sorted(elsewhere), *sorted(trec), *FAMILIES, *NICKNAMES, *own)}
    word = folded(name)
    swapped = [known for known in names if len(word) > 2 and sorted(known) == sorted(word)]
    import difflib

    close = swapped or difflib.get_close_matches(word, list(names), n=1, cutoff=CLOSE)
    return f' Did you mean "{names[close[0]]}"?' if close else ""
