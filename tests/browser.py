"""A real browser for the tests of pages; they are skipped where none is installed."""

from __future__ import annotations

import shutil

import pytest

SWITCHES = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


def start(folder, width=1200, height=1600):
    """Chromium with a profile of its own in this folder."""
    selenium = pytest.importorskip("selenium", reason="pages are tested in a browser by selenium: pip install selenium")
    from selenium.webdriver import Chrome
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    assert selenium
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    browser, driver = next(filter(None, found), None), shutil.which("chromedriver")
    if not browser or not driver:
        pytest.skip("pages are tested in Chromium: install chromium and chromedriver")
    options = Options()
    options.binary_location = browser
    for switch in (*SWITCHES.split(), f"--user-data-dir={folder}", f"--window-size={width},{height}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return Chrome(options=options, service=Service(driver))
