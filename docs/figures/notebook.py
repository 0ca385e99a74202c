"""Make notebook.png: scores and a comparison as notebooks show them, light and dark. Needs selenium and Pillow."""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

import rankbounds as rb
from rankbounds.commands.demo import DATA

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
import browser

scores = rb.evaluate(DATA / "qrels.txt", DATA / "runs", ["RBP(p=0.8)", "AP"])
cells = [("scores", scores), ("rb.compare(scores)", rb.compare(scores))]
shown = "".join(
    f"<pre style='background:rgba(128,128,128,.15);padding:.4em;margin:.6em 0 .2em'>{code}</pre>{result._repr_html_()}"
    for code, result in cells
)
themes = (("#ffffff", "#1a1a1a"), ("#111111", "#dddddd"))
page = "".join(
    f"<div style='background:{ground};color:{ink};padding:.4em 1em .6em;font:13px sans-serif'>{shown}</div>"
    for ground, ink in themes
)
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "page.html").write_text(f"<!doctype html><body style='margin:0;width:960px'>{page}</body>")
    driver = browser.start(Path(folder) / "profile", width=1000, height=1200)
    driver.get((Path(folder) / "page.html").as_uri())
    shot = Image.open(io.BytesIO(driver.find_element("tag name", "body").screenshot_as_png))
    driver.quit()
shot.convert("P", palette=Image.Palette.ADAPTIVE, colors=96).save(
    Path(__file__).with_name("notebook.png"), optimize=True
)
