"""Measures of effectiveness: one small file each; a new file here is found without any registration.

Every measure, including those that you add, is an attribute of this package by the name of its class:
``rankbounds.measures.INST``.
"""

from __future__ import annotations

import importlib
import pkgutil

from rankbounds.loading import load_when_used
from rankbounds.measures.naming.registry import REGISTRY

for _module in sorted(module.name for module in pkgutil.walk_packages(__path__, f"{__name__}.")):
    importlib.import_module(_module)

_of_stub, __dir__, __all__ = load_when_used(__name__)


def __getattr__(name: str) -> object:
    """Return the measure class of this name, or what else the stub lists."""
    return next((kind for kind in REGISTRY.values() if kind.__name__ == name), None) or _of_stub(name)
