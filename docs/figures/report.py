"""Make report.png: the report on the demo collection, as Chromium shows it. Needs selenium and Pillow."""

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

with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "report.html"
    main(["report", str(DATA / "qrels.txt"), str(DATA / "runs"), "-o", str(page)])
    driver = browser.start(Path(folder) / "profile", width=1330, height=1400)
    driver.get(page.as_uri())
    shot = Image.open(io.BytesIO(driver.get_screenshot_as_png()))
    driver.quit()
shot.convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(
    Path(__file__).with_name("report.png"), optimize=True
)
