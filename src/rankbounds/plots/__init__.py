"""Figures: one module for each subject. Every function takes ``ax=None`` and returns the Axes it drew on.

A figure's function is found here under its own name, whichever module of this package it stands in:
``rankbounds.plots.bounds_by_depth(...)``.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        for module in pkgutil.iter_modules(__path__):
            found = getattr(importlib.import_module(f"{__name__}.{module.name}"), name, None)
            if getattr(found, "__module__", "").startswith(__name__):
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
