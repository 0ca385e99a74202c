"""The names of measures: our own, what else people call them, and other tools' names. A name belongs to one measure.

A measure is imported when it is asked for. Where the name of its class says in which module it is (the stub of
``rankbounds.measures`` does), only that one is imported; for any other name, all modules of the stub; for a name that
is still unknown, and for lists of all, also files without a line in the stub and other packages.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from rankbounds.errors import UsageError
from rankbounds.loading import names_of_stub
from rankbounds.measures.naming.elsewhere import ABSENT, FAMILIES, NAMES, NICKNAMES
from rankbounds.plugins import load_plugins

if TYPE_CHECKING:
    from rankbounds.measures.measure import Measure

REGISTRY: dict[str, type[Measure]] = {}
"""Every measure that was imported, by its own name; as ``rankbounds.measures.REGISTRY`` it holds all."""
PACKAGE = "rankbounds.measures"
_owners: dict[str, str] = {}
"""The measure that last took a name, by its own name; it may be gone from the registry, or have given the name up."""

CLOSE = 0.75
"""How alike two words must be for one to be a misspelling of the other."""


def register(kind: type[Measure]) -> None:
    """Register a measure under its names, unless another measure has one; the same class again replaces the first."""
    if not kind.__module__.startswith(f"{PACKAGE}."):
        import_listed()
    for name in _names_of(kind):
        owner = REGISTRY.get(_owners.get(folded(name), ""))
        if owner is None or folded(name) not in map(folded, _names_of(owner)):
            continue
        if (owner.__module__, owner.__qualname__) != (kind.__module__, kind.__qualname__):
            raise UsageError(
                f'The name "{name}" belongs to the measure {owner.name} ({owner.__module__}.{owner.__qualname__}). '
                f"Give {kind.__qualname__} another name or alias."
            )
    REGISTRY[kind.name] = kind
    _owners.update((folded(name), kind.name) for name in _names_of(kind))


@cache
def listed() -> dict[str, str]:
    return {own: module for module, own in names_of_stub(PACKAGE).values()}


@cache
def import_listed() -> None:
    for module in dict.fromkeys(listed().values()):
        import_module(module)


def import_all() -> dict[str, type[Measure]]:
    """Import every measure there is: of the stub, of files without a line there, and of other packages."""
    from pkgutil import walk_packages

    import_listed()
    for module in walk_packages(import_module(PACKAGE).__path__, f"{PACKAGE}."):
        import_module(module.name)
    load_plugins(PACKAGE)
    return REGISTRY


def class_named(name: str) -> type[Measure]:
    if not is_name(name):
        import_all()
    if not is_name(name):
        raise UsageError(f'{_problem(name)} "rankbounds measures" lists all.')
    return REGISTRY[_ours()[folded(name)]]


def is_name(text: str) -> bool:
    word = folded(text)
    if word not in _ours():
        for own, module in listed().items():
            if folded(own) == word:
                import_module(module)
    if word not in _ours():
        import_listed()
    return word in _ours()


def label_elsewhere(name: str) -> str | None:
    return _theirs().get(folded(name))


def folded(name: str) -> str:
    """Return a name as it is looked up: without case, ``_`` and ``-``."""
    return name.lower().replace("_", "").replace("-", "")


def _names_of(kind: type[Measure]) -> tuple[str, ...]:
    return (kind.name, *kind.aliases, *kind.trec_names)


def _ours() -> dict[str, str]:
    return _lookup(tuple(REGISTRY.values()))


@lru_cache(maxsize=4)
def _lookup(kinds: tuple[type[Measure], ...]) -> dict[str, str]:
    return {folded(known): kind.name for kind in kinds for known in (*kind.aliases, kind.name)}


@lru_cache(maxsize=1)
def _theirs() -> dict[str, str]:
    return {folded(name): label for names in reversed(NAMES.values()) for name, label in names.items()}


def _problem(name: str) -> str:
    word = folded(name)
    templates = {folded(known.partition("_{")[0]): kind.name for kind in REGISTRY.values() for known in kind.trec_names}
    if word in templates or word in map(folded, (*FAMILIES, *NICKNAMES)):
        instead = f" Write {templates[word]} in its place." if word in templates else ""
        return (
            f'"{name}" is a name of trec_eval\'s, which takes no parameters, no prime, and no depth after @.{instead}'
        )
    for known, reason in ABSENT.items():
        if folded(known) == word:
            return f'There is no measure "{name}" here: it {reason}.'
    meant = _suggestion(name)
    return f'There is no measure "{name}".' + (f' Did you mean "{meant}"?' if meant else "")


def _suggestion(name: str) -> str:
    depth = re.fullmatch(r"(.*?[a-z*])[_-]?(\d+)", name.lower())
    if depth and is_name(depth[1]) and class_named(depth[1]).takes_cutoff():
        return f"{_ours()[folded(depth[1])]}@{depth[2]}"
    trec = {known for kind in REGISTRY.values() for known in kind.trec_names if "{" not in known}
    elsewhere = {known for names in NAMES.values() for known, label in names.items() if is_name(label.split("(")[0])}
    own = [known for kind in REGISTRY.values() for known in (kind.name, *kind.aliases)]
    names = {folded(known): known for known in (*sorted(elsewhere), *sorted(trec), *FAMILIES, *NICKNAMES, *own)}
    word = folded(name)
    close = [known for known in names if len(word) > 2 and sorted(known) == sorted(word)]
    if not close:
        import difflib

        close = difflib.get_close_matches(word, list(names), n=1, cutoff=CLOSE)
    return names[close[0]] if close else ""
