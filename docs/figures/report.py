"""Make report*.png: parts of the report on the demo collection, as Chromium shows them. Needs selenium and Pillow."""

from __future__ import annotations

import base64
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

from rankbounds.cli import main
from rankbounds.commands.demo import DATA

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))
import browser  # noqa: E402

PARTS = {"report": "leaderboard", "report-changes": "changes-part", "report-pair": "pair", "report-topic": "topic"}
"""The figures, and the parts of the page that they show."""


def shown(driver, page: Path, *, scheme: str = "light", width: int = 1240) -> None:
    """A page, light or dark, on a screen or, where it is narrow, a phone."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": 1400, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    driver.get(page.as_uri())


def save(driver, name: str, part: str, *, from_top: bool = False) -> None:
    """A part of the page, or all from its top to the end of the part, as a picture of few colours."""
    box = driver.execute_script(
        "const box = document.getElementById(arguments[0]).getBoundingClientRect();"
        "return {x: box.x - 8, y: box.y + scrollY - 8, width: box.width + 16, height: box.height + 16, scale: 1}",
        part,
    )
    box |= {"x": 0, "y": 0, "width": 1240, "height": box["y"] + box["height"]} if from_top else {}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": box})
    picture = Image.open(io.BytesIO(base64.b64decode(shot["data"])))
    few = picture.convert("RGB").quantize(192, method=Image.Quantize.MAXCOVERAGE)  # (colours of single dots stay)
    few.save(HERE / f"{name}.png", optimize=True)


with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "report.html"
    main(["report", str(DATA / "qrels.txt"), str(DATA / "runs"), "-o", str(page)])
    two = Path(folder) / "two.html"
    pair = [str(DATA / "runs" / f"{name}.txt") for name in ("bm25", "dense")]
    main(["report", str(DATA / "qrels.txt"), *pair, "-o", str(two)])
    driver = browser.start(Path(folder) / "profile", width=1240, height=1400)
    shown(driver, page)
    for name, part in PARTS.items():
        save(driver, name, part, from_top=name == "report")
    shown(driver, two)
    save(driver, "report-two", "pair", from_top=True)
    shown(driver, two, scheme="dark")
    save(driver, "report-dark", "doubts", from_top=True)
    shown(driver, page, width=390)
    save(driver, "report-phone", "leaderboard")
    driver.quit()
