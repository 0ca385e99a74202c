"""Make report*.png: parts of the report on the demo collection, as Chromium shows them. Needs selenium and Pillow."""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

from rankbounds.cli import main
from rankbounds.commands.demo import DATA

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
import browser

PARTS = {"report": "leaderboard", "report-changes": "changes-part", "report-pair": "pair", "report-topic": "topic"}
"""The figures, and the parts of the page that they show."""

with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "report.html"
    main(["report", str(DATA / "qrels.txt"), str(DATA / "runs"), "-o", str(page)])
    driver = browser.start(Path(folder) / "profile", width=1280, height=1400)
    driver.get(page.as_uri())
    for name, part in PARTS.items():
        shot = Image.open(io.BytesIO(driver.find_element("id", part).screenshot_as_png))
        shot.convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(
            Path(__file__).with_name(f"{name}.png"), optimize=True
        )
    driver.quit()
