"""Which measures are imported when: the one that is asked for, or all; and what tells where each of them is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rankbounds.measures import REGISTRY
from rankbounds.measures.naming.registry import PACKAGE, listed

IMPORTED = """
import sys, rankbounds as rb
{}
names = (name.removeprefix("rankbounds.measures.") for name in sys.modules if name.startswith("rankbounds.measures."))
always = ("naming", "facts", "parameters", "measure", "condensed", "formulas")
print(*sorted(name for name in names if not name.startswith(always)))
"""


def imported(line: str) -> list[str]:
    """The modules of measures that a new interpreter imports for a line of Python."""
    code = [sys.executable, "-c", IMPORTED.format(line)]
    return subprocess.run(code, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize(
    ("line", "modules"),
    [
        ("rb.parse_measure('nDCG@10')", ["discounted_gain"]),
        ("rb.parse_measure('ndcg@10')", ["discounted_gain"]),
        ("rb.parse_measure('Bpref(k=10)')", ["bpref"]),
        ("rb.parse_measure(rb.RBP(p=0.5))", ["rank_biased_precision"]),
        ("rb.measures.ESL", ["search_effort"]),
        ("rb.Measure", []),
    ],
)
def test_one_measure_is_one_module(line, modules):
    assert imported(line) == modules


@pytest.mark.parametrize("line", ["rb.parse_measure('map_cut_10')", "rb.measures.parse_measure('S-Recall@2')"])
def test_other_names_are_looked_up_in_all_of_them(line):
    assert len(imported(line)) > 15


def test_every_measure_has_a_line_in_the_stub():
    lines = [
        f"from {kind.__module__} import {kind.__name__} as {kind.__name__}"
        for kind in REGISTRY.values()
        if kind.__module__.startswith(PACKAGE) and listed().get(kind.__name__) != kind.__module__
    ]
    assert not lines, "add to src/rankbounds/measures/__init__.pyi:\n" + "\n".join(lines)


def test_names_of_measures_that_were_not_imported_are_taken_too():
    code = [sys.executable, "-c", "import rankbounds as rb\nclass Mine(rb.Measure):\n    name = 'MAP'"]
    assert 'The name "MAP" belongs to the measure AP' in subprocess.run(code, capture_output=True, text=True).stderr
