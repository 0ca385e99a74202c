"""Make paper.png: the table of a comparison as LaTeX sets it. Needs pdflatex with booktabs, pdftoppm and Pillow."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from PIL import Image, ImageOps

import rankbounds as rb
from rankbounds.commands.demo import DATA

found = rb.compare(rb.evaluate(DATA / "qrels.txt", DATA / "runs", ["RBP(p=0.8)", "AP", "nDCG@10", "P@10"]))
head = r"\documentclass{article}\usepackage{booktabs}\textwidth=241pt\pagestyle{empty}\begin{document}"
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "paper.tex").write_text(f"{head}\n{found.to_latex()}\n\\end{{document}}\n")
    subprocess.run(["pdflatex", "-interaction=batchmode", "paper.tex"], cwd=folder, check=True)
    subprocess.run(
        ["pdftoppm", "-r", "160", "-gray", "-png", "-singlefile", "paper.pdf", "paper"], cwd=folder, check=True
    )
    page = Image.open(Path(folder) / "paper.png").convert("L")
box = ImageOps.invert(page).getbbox()
assert box is not None
left, top, right, bottom = box
page.crop((left - 12, top - 12, right + 12, bottom + 12)).quantize(16).save(
    Path(__file__).with_name("paper.png"), optimize=True
)
