"""Draws the gallery and writes its page: ``python docs/gallery.py``.

Every function of ``rb.plots`` has an entry: Python that ends with ``axes``, and the command that draws the same.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE / "figures" / "gallery"
DEMO = HERE.parent / "src" / "rankbounds" / "demo"
BEGIN = """\
import rankbounds as rb

compared = rb.compare("qrels.txt", "runs", ["nDCG@10", "AP", "P@10"])
two = rb.compare("qrels.txt", ["runs/bm25.txt", "runs/dense.txt"], ["nDCG@10", "AP", "RBP(p=0.8)", "P@10", "RR"])
"""
PARTS = {
    "Runs": {
        "leaderboard": ("axes = rb.plots.leaderboard(compared)", "compare qrels.txt runs --figure leaderboard.pdf"),
    },
    "Differences": {
        "differences": ("axes = rb.plots.differences(two)", ""),
        "topic_differences": (
            "axes = rb.plots.topic_differences(two)",
            "compare qrels.txt runs/bm25.txt runs/dense.txt --figure topics.pdf",
        ),
        "forest": (
            'axes = rb.plots.forest(two.slices("classes.csv"))',
            "compare qrels.txt runs/bm25.txt runs/dense.txt --by classes.csv --figure forest.pdf",
        ),
    },
    "Rankings without judgments": {
        "similarity_matrix": (
            'axes = rb.plots.similarity_matrix(rb.similarity("runs"))',
            "similarity runs --figure alike.pdf",
        ),
    },
    "Labels of a model": {
        "labels_overview": (
            'judges = rb.judging.compare_judges("qrels.txt", "labels.txt", "runs", "nDCG@10")\n'
            "axes = rb.plots.labels_overview(judges)",
            "judges qrels.txt labels.txt --runs runs -m nDCG@10 --figure labels.pdf",
        ),
    },
    "Uncertainty": {
        "rbp_uncertainty": ("axes = rb.plots.rbp_uncertainty(topics=50)", ""),
    },
    "RBP and its persistence": {
        "contribution_of_ranks": ("axes = rb.plots.contribution_of_ranks((0.5, 0.8, 0.95))", ""),
        "bounds_by_depth": (
            'axes = rb.plots.bounds_by_depth(rb.rbp.bounds_by_depth("qrels.txt", "runs/bm25.txt", 40))',
            "",
        ),
        "bounds_by_persistence": (
            'files = ["runs/bm25.txt", "runs/learned.txt"]\n'
            'axes = rb.plots.bounds_by_persistence(rb.rbp.bounds_by_persistence("qrels.txt", files))',
            "",
        ),
        "range_over_persistence": (
            'axes = rb.plots.range_over_persistence(rb.rbp.Published("0.4321", 0.8, "0.0500"))',
            "rbp transfer 0.4321 --p 0.8 --to 0.95 --residual 0.0500 --figure range.pdf",
        ),
    },
}


def page() -> str:
    """The page."""
    import rankbounds as rb

    lines = [
        "# Gallery of figures\n",
        "Every plot that rankbounds draws, with its code and command, on the demo collection: 3.33 inches wide, one",
        "column of a two-column paper, or 7 inches (`--width page`).\n",
        "On the command line, `--figure FILE` (.pdf, .svg, .png) draws the usual figure. In Python every",
        "function of `rb.plots` takes `ax=` and returns matplotlib's Axes; `rb.plots.draw(result)` draws the",
        'usual figure of any result, and `rb.plots.save(axes, "figure.pdf", "column")` writes it.\n',
        "<!-- setup\ncp demo/*.csv demo/labels.txt .\n-->\n",
        f"```python\n{BEGIN}```\n",
    ]
    for part, figures in PARTS.items():
        lines.append(f"## {part}\n")
        for name, (code, command) in figures.items():
            lines.append(f"### {name}\n")
            lines.append(f"{getattr(rb.plots, name).__doc__.splitlines()[0]}\n")
            lines.append(f"![{name.replace('_', ' ')}](figures/gallery/{name}.png)\n")
            lines.append(f"```python\n{code}\n```\n")
            lines += [f"```sh\nrankbounds {command}\n```\n"] if command else []
    return "\n".join(lines)


def main() -> None:
    """Draw every figure in a copy of the demo, and write the page."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(DEMO, folder, dirs_exist_ok=True)
        os.chdir(folder)
        names: dict[str, object] = {}
        exec(BEGIN, names)
        for figures in PARTS.values():
            for name, (code, _) in figures.items():
                exec(code, names)
                axes = names["axes"]
                drawn = (axes.flat[0] if hasattr(axes, "flat") else axes).get_figure()  # type: ignore[attr-defined]
                drawn.savefig(FOLDER / f"{name}.png", dpi=160)
    (HERE / "gallery.md").write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
