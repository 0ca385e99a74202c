"""A real browser for the tests of pages; they are skipped where none is installed."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

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


@contextlib.contextmanager
def coloured(driver, scheme):
    """Meanwhile, the reader likes pages light or dark."""
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    try:
        yield
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


OWN_CHECKS = Path(__file__).with_name("accessible.js").read_text(encoding="utf-8")
AXE_RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, {preload: false}).then(({violations}) => done(violations.flatMap(({id, nodes}) =>
  nodes.map((node) => `${id}: ${node.html.slice(0, 120)} ${(node.any[0] || {message: ""}).message}`))));
"""


def lacks(driver):
    """What the page lacks for those who do not see it well, or use no mouse: by checks of our own, and by axe-core."""
    own = driver.execute_script(OWN_CHECKS)
    if own:
        return own
    package = pytest.importorskip(
        "axe_core_python", reason="pages are looked at by axe-core: pip install axe-core-python"
    )
    axe = Path(package.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
    driver.execute_script(axe)
    return driver.execute_async_script(AXE_RUN)
