"""Figures under other people's settings of matplotlib: in notebooks, and with a matplotlibrc of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rankbounds as rb

pytest.importorskip("matplotlib.pyplot")
DEMO = Path(rb.__file__).parent / "demo"
FIGURE = ["similarity", str(DEMO / "runs"), "--figure"]
NOTEBOOK = """
import sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.displaypub import DisplayPublisher

class Publisher(DisplayPublisher):
    def publish(self, data, *given, **named):
        shown.append("image/png" in data)

shell, shown = InteractiveShell.instance(), []
shell.display_pub = Publisher(parent=shell)
for cell in sys.argv[1:]:
    before = len(shown)
    shell.run_cell(cell, store_history=False).raise_error()
    print(shown[before:].count(True))
"""


def python(folder, program, *arguments, **variables):
    """Run a program of its own in this folder; ``folder/matplotlibrc`` counts there."""
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"} | variables
    asked = [sys.executable, *program, *arguments]
    return subprocess.run(asked, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_every_figure_of_a_notebook_appears(tmp_path):
    pytest.importorskip("matplotlib_inline", reason="notebooks show figures with it: pip install ipython")
    cells = [
        "import rankbounds as rb",
        "_ = rb.plots.contribution_of_ranks([0.5], depth=3)",
        "_ = rb.plots.contribution_of_ranks([0.8], depth=3)",
        f"_ = rb.plots.leaderboard(rb.evaluate('{DEMO}/qrels.txt', '{DEMO}/runs', 'AP'))",
        "import matplotlib.pyplot as plt; _ = plt.plot([1, 2])",
        "_ = rb.plots.contribution_of_ranks([0.9], depth=3); plt.figure(); _ = plt.plot([2, 1])",
    ]
    done = python(tmp_path, ["-c", NOTEBOOK], *cells, MPLBACKEND="module://matplotlib_inline.backend_inline")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "1", "1", "1", "1", "2"]


@pytest.fixture(scope="module")
def without_settings(tmp_path_factory):
    """The figure that is drawn where matplotlibrc is empty."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "matplotlibrc").write_text("")
    assert python(folder, ["-m", "rankbounds"], *FIGURE, "drawn.svg").returncode == 0
    return (folder / "drawn.svg").read_bytes()


@pytest.mark.parametrize(
    "settings",
    [
        "text.usetex: True", "image.cmap: no-colours", "axes.prop_cycle: cycler('color', [])", "font.size: 40",
        "figure.constrained_layout.use: True\nfigure.autolayout: True", "backend: module://missing_backend",
    ],
)  # fmt: skip
def test_figures_have_settings_of_their_own(settings, tmp_path, without_settings):
    (tmp_path / "matplotlibrc").write_text(f"{settings}\n")
    done = python(tmp_path, ["-m", "rankbounds"], *FIGURE, "drawn.svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "drawn.svg").read_bytes() == without_settings


def test_ticks_that_are_drawn_later_are_in_the_same_style(tmp_path):
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nbackend: agg\n")
    program = (
        "import io, rankbounds as rb\naxes = rb.plots.contribution_of_ranks([0.5], depth=3)\n"
        "axes.get_figure().savefig(io.BytesIO())\n"
    )
    done = python(tmp_path, ["-c", program])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("settings", "variables"),
    [
        ("backend: module://missing_backend", {}), ("", {"MPLBACKEND": "nonsense"}),
        ("", {"MPLBACKEND": "module://missing_backend"}),
    ],
)  # fmt: skip
def test_a_backend_that_does_not_exist_gets_a_sentence(settings, variables, tmp_path):
    (tmp_path / "matplotlibrc").write_text(f"{settings}\n")
    program = (
        "import rankbounds as rb\ntry:\n    rb.plots.contribution_of_ranks([0.5], depth=3)\n"
        "except rb.UsageError as error:\n    print(error)\n"
    )
    done = python(tmp_path, ["-c", program], **variables)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("matplotlib cannot be used as it is set up (")
    assert done.stdout.endswith("): correct its file matplotlibrc, or set MPLBACKEND=agg.\n")
    assert len(done.stdout) < 250


@pytest.mark.parametrize("content", [b"\xff\xfe: x", None])
def test_a_command_says_what_is_wrong_with_the_settings(content, tmp_path):
    (tmp_path / "matplotlibrc").write_bytes(content or b"")
    variables = {"MPLBACKEND": "nonsense"} if content is None else {}
    done = python(tmp_path, ["-m", "rankbounds"], *FIGURE, "drawn.svg", **variables)
    assert done.returncode == 2, done.stderr
    assert "rankbounds: matplotlib cannot be used as it is set up (" in done.stderr
    assert "Traceback" not in done.stderr
