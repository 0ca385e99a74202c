"""Measures of effectiveness: one small file each. Putting a file here is all it takes to add one."""

from __future__ import annotations

import importlib
import pkgutil

from rankbounds.measures.formulas import Normalised, RankWeighted
from rankbounds.measures.measure import Measure
from rankbounds.measures.naming.parser import MeasureLike, parse_measure, parse_measures
from rankbounds.measures.naming.registry import REGISTRY

__all__ = ["REGISTRY", "Measure", "MeasureLike", "Normalised", "RankWeighted", "parse_measure", "parse_measures"]

for _module in sorted(module.name for module in pkgutil.walk_packages(__path__, f"{__name__}.")):
    importlib.import_module(_module)


def class_named(name: str) -> type[Measure] | None:
    """The registered measure whose class is called so: every measure is ``rankbounds.NAME``, also a newcomer's."""
    return next((kind for kind in REGISTRY.values() if kind.__name__ == name), None)
