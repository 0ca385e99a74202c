"""Measures of effectiveness: one small file each. Putting a file here is all it takes to add one."""

from __future__ import annotations

import importlib
import pkgutil

from rankbounds.measures.measure import Measure, Normalised, RankWeighted
from rankbounds.measures.names import REGISTRY
from rankbounds.measures.parser import MeasureLike, parse_measure, parse_measures

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")

__all__ = ["REGISTRY", "Measure", "MeasureLike", "Normalised", "RankWeighted", "parse_measure", "parse_measures"]
