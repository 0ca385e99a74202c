"""Every public name of the rooms that analyse and draw says what it takes, gives back and does, with an example."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

import rankbounds as rb

ROOMS = ("stats", "rbp", "probability", "judging", "checking", "plots")
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
UNTOLD = {"diagnose"}
"""Names whose docstrings are checked elsewhere."""
SHARED = {"fresh_axes", "draw_band"}
"""What figures are drawn with."""


def public_names():
    """Names of ``rankbounds`` that these rooms hold, those of ``rankbounds.pools``, and every plot."""
    names = {}
    for name in sorted(set(rb.__all__) - UNTOLD):
        value = getattr(rb, name)
        if getattr(value, "__module__", "") in MODULES:
            names[name] = value
    for name in rb.judging.pools.__all__:
        if callable(getattr(rb.judging.pools, name)) and name not in ("groups_of", "unique_to_group"):
            names[f"pools.{name}"] = getattr(rb.judging.pools, name)
    for module in MODULES:
        if module.startswith("rankbounds.plots."):
            for name, value in vars(importlib.import_module(module)).items():
                takes_axes = inspect.isfunction(value) and {"ax", "axes"} & set(inspect.signature(value).parameters)
                if takes_axes and value.__module__ == module and name not in SHARED and name[0] != "_":
                    names[f"plots.{name}"] = value
    return names


PUBLIC = public_names()


def test_the_names_are_found():
    assert {"crossings", "draw_sample", "Published", "uncertainty", "banded", "pools.pool", "plots.leaderboard"} <= set(
        PUBLIC
    )


@pytest.mark.parametrize("name", PUBLIC)
def test_docstrings_have_their_sections(name):
    value = PUBLIC[name]
    doc = inspect.getdoc(value) or ""
    parameters = inspect.signature(value).parameters
    summary, blank, *_ = doc.splitlines()
    assert summary.endswith(".")
    assert blank == ""
    wanted = ["Parameters"] if parameters else []
    wanted += ["Examples"] if inspect.isclass(value) or name == "plots.save" else ["Returns", "Examples"]
    for section in wanted:
        assert f"\n{section}\n{'-' * len(section)}\n" in doc, section
    described = doc[doc.index("Parameters\n") : doc.index("Examples\n")]
    for parameter in parameters:
        assert parameter in described, parameter


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    if module.startswith("rankbounds.plots."):
        pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    results = doctest.testmod(importlib.import_module(module))
    assert not results.failed
