"""Tables compiled by LaTeX, where one is installed."""

from __future__ import annotations

import shutil
import subprocess

import pytest

TWO_COLUMNS = r"""\documentclass[10pt,twocolumn]{article}\usepackage{booktabs}
\setlength{\textwidth}{506.3pt}\setlength{\columnsep}{24pt}\setlength{\oddsidemargin}{-30pt}
\begin{document}\typeout{column \the\columnwidth}"""
"""As wide as acmart's proceedings: columns of 241.15 pt."""
ONE_COLUMN = r"\documentclass{article}\usepackage{booktabs}\begin{document}"


def compiled(tables, folder, head=TWO_COLUMNS):
    """The log of pdflatex; skips where there is none."""
    if shutil.which("pdflatex") is None:
        pytest.skip("no LaTeX is installed here (Debian: texlive-latex-recommended); balance is checked without it")
    breaks = "\n\\clearpage\n"
    (folder / "table.tex").write_text(f"{head}\n{breaks.join(tables)}\n\\end{{document}}\n", "utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"],
        cwd=folder, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert (folder / "table.pdf").stat().st_size > 5000
    return done.stdout
