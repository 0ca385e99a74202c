"""Measures of effectiveness: one small file each, which is imported when its measure is asked for.

Every measure, including those that you add, is an attribute of this package by the name of its class:
``rankbounds.measures.INST``.
"""

from __future__ import annotations

from rankbounds.loading import load_when_used
from rankbounds.measures.naming.registry import REGISTRY as _REGISTRY
from rankbounds.measures.naming.registry import import_all as _import_all

_of_stub, __dir__, __all__ = load_when_used(__name__)


def __getattr__(name: str) -> object:
    """Return what the stub lists, or the class of a measure that it does not list."""
    if name == "REGISTRY" or (name not in __all__ and not name.startswith("_")):
        _import_all()
    own = (kind for kind in _REGISTRY.values() if kind.__name__ == name)
    return next(own, None) or _of_stub(name)
