"""Reports of the demo data, and a browser to look at them."""

from __future__ import annotations

import pytest
from report_pages import MEASURES

import browser
import rankbounds as rb
from rankbounds.commands.demo import DATA
from rankbounds.comparison import Evidence
from rankbounds.report import Choices, gather, page


@pytest.fixture(scope="session")
def demo():
    return gather(DATA / "qrels.txt", [DATA / "runs"], Choices.of(measures=MEASURES))


@pytest.fixture(scope="session")
def demo_scores():
    return rb.evaluate(DATA / "qrels.txt", DATA / "runs", MEASURES)


@pytest.fixture(scope="session")
def demo_compared():
    return Evidence.read(DATA / "qrels.txt", DATA / "runs").compare(MEASURES)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    driver = browser.start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def demo_page(demo, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "demo.html"
    path.write_text(page(demo))
    return path
