"""Every example in a docstring of the rooms that analyse and draw runs, those of names that are not public too."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

ROOMS = ("collection", "stats", "rbp", "probability", "judging", "checking", "plots")
ALONE = ("rankbounds.interop.pytrec_eval",)
MODULES = [
    *(
        module.name
        for room in ROOMS
        for module in pkgutil.walk_packages(
            importlib.import_module(f"rankbounds.{room}").__path__, f"rankbounds.{room}."
        )
    ),
    *ALONE,
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    if module.startswith("rankbounds.plots."):
        pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    results = doctest.testmod(importlib.import_module(module))
    assert not results.failed
