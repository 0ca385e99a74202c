"""Judging in a browser: what the page shows, sends and keeps."""

from __future__ import annotations

import contextlib
import json
import shutil

import pytest
from served import Served, judgment, waited_for

import browser
from rankbounds.commands.demo import DATA
from rankbounds.files.document_texts import DocumentTexts
from rankbounds.files.queries import QueryText

HOSTILE = "</p><img src=x onerror=window.broken=1><script>window.broken=1</script>\x00\x07\u202eabc\ud800 minorities"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    driver = browser.start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


LISTED = [("1", f"doc{number}") for number in range(6)] + [("hostile</h2><b>", "x<img>\u202e"), ("1", "last")]


@contextlib.contextmanager
def judging_page(folder):
    (folder / "runs").mkdir()
    (folder / "runs" / "a.txt").write_text("1 Q0 doc0 1 2 a\n")
    (folder / "qrels.txt").write_bytes(b"1 0 known 1\r\n1 0 doc1 -1\r\n")
    (folder / "documents.jsonl").write_text(
        "".join(
            json.dumps({"doc_id": doc, "title": f"Title of {doc}", "text": text}) + "\n"
            for doc, text in [(doc, f"Minority rights.\n\nOn {doc} and Germany's cars.") for _, doc in LISTED[:6]]
            + [(LISTED[6][1], HOSTILE), ("last", "minor " * 3000)]
        )
    )
    queries = {"1": QueryText("foreign minorities, Germany", "What impedes integration?", "Causes only.")}
    queries[LISTED[6][0]] = QueryText("minorities <script>window.broken=1</script>")
    with Served(
        folder, queries=queries, documents=DocumentTexts([str(folder / "documents.jsonl")]), worklist=tuple(LISTED),
        judges=("ann", "bob"), grades={0.0: "off topic", 1.0: "related", 2.0: "answers"},
    ) as served:  # fmt: skip
        served.folder = folder
        yield served


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """One page for tests that go on where the one before left off."""
    with judging_page(tmp_path_factory.mktemp("judging")) as served:
        yield served


@pytest.fixture
def fresh_page(tmp_path):
    with judging_page(tmp_path) as served:
        yield served


def shown(chromium):
    return chromium.find_element("id", "doc-id").text


def press(chromium, key):
    chromium.execute_script("shownAt = -1000")
    chromium.find_element("css selector", "body").send_keys(key)


def status_of(chromium, word):
    return waited_for(lambda: (text := chromium.find_element("id", "status").text) and word in text and text)


def test_judging_in_a_browser(chromium, page):
    before = page.qrels.read_bytes()
    chromium.get(f"http://127.0.0.1:{page.port}/?judge=ann")
    waited_for(lambda: shown(chromium) == "doc0")
    assert chromium.find_element("id", "query-text").text == "foreign minorities, Germany"
    assert chromium.find_element("id", "description").text == "What impedes integration?"
    marked = [mark.text for mark in chromium.find_elements("css selector", "#doc-text mark")]
    assert marked == ["Minority", "Germany"]
    assert [button.text.split("\n") for button in chromium.find_elements("css selector", "#grades button")] == [
        ["0", "off topic"], ["1", "related"], ["2", "answers"],
    ]  # fmt: skip
    assert "0 of 8 documents" in chromium.find_element("id", "headline").text

    press(chromium, "2")
    assert "grade 2 (answers) for doc0" in status_of(chromium, "Saved")
    assert waited_for(lambda: shown(chromium) == "doc1")
    press(chromium, "0")
    status_of(chromium, "doc1")
    page.desk.write()
    assert page.qrels.read_bytes() == before.replace(b"doc1 -1", b"doc1 0") + b"1 0 doc0 2\r\n"
    waited_for(lambda: len(chromium.find_elements("css selector", "#past li")) == 2)

    press(chromium, "u")
    status_of(chromium, "Taken back: grade 0")
    waited_for(lambda: shown(chromium) == "doc1")
    press(chromium, "u")
    status_of(chromium, "Taken back: grade 2")
    waited_for(lambda: shown(chromium) == "doc0")
    page.desk.write()
    assert page.qrels.read_bytes() == before
    assert waited_for(lambda: not chromium.find_element("id", "undo").is_enabled())

    press(chromium, "s")
    status_of(chromium, "Skipped doc0")
    waited_for(lambda: shown(chromium) == "doc1")
    press(chromium, "1")
    status_of(chromium, "grade 1 (related) for doc1")
    waited_for(lambda: chromium.find_elements("css selector", "#past button"))
    chromium.execute_script("document.querySelector('#past button').click()")  # look at it again, and change it
    waited_for(lambda: shown(chromium) == "doc1")
    waited_for(lambda: chromium.find_elements("css selector", "#grades button[value='1'][aria-pressed=true]"))
    press(chromium, "2")
    status_of(chromium, "grade 2 (answers) for doc1")
    waited_for(lambda: shown(chromium) == "doc2")
    assert page.desk.file.grade(("1", "doc1")) == 2
    assert [entry["level"] for entry in chromium.get_log("browser")] == []


def test_the_browser_shows_hostile_texts_as_text(chromium, page):
    chromium.get(f"http://127.0.0.1:{page.port}/?judge=ann")
    while waited_for(lambda: shown(chromium)) != r"x<img>\u202e":
        document = shown(chromium)
        press(chromium, "0")
        waited_for(lambda document=document: shown(chromium) != document)
    waited_for(lambda: "broken" in chromium.find_element("id", "doc-text").text)
    assert chromium.find_element("id", "query-text").text == "minorities <script>window.broken=1</script>"
    text = chromium.find_element("id", "doc-text").text
    assert text.startswith("</p><img src=x onerror=window.broken=1>")
    assert "\x00" not in text
    assert "\x07" not in text
    assert chromium.execute_script("return window.broken") is None
    assert chromium.find_elements("css selector", "#doc-text img, #past img, h2 b, #doc-text script") == []
    press(chromium, "1")
    assert r"grade 1 (related) for x<img>\u202e" in status_of(chromium, "Saved")
    # In one step: the page may write its list anew between two.
    first = "return document.querySelector('#past li')?.innerText ?? ''"
    waited_for(lambda: r"x<img>\u202e" in chromium.execute_script(first))
    assert page.desk.file.grade(LISTED[6]) == 1
    assert chromium.execute_script("return window.broken") is None
    assert chromium.get_log("browser") == []


def test_past_judgments_of_two_judges_are_filtered_in_a_browser(chromium, page):
    page.say("judge", **judgment("elsewhere", 1, "bob", "2"))
    page.say("judge", **judgment("elsewhere", 1, "ann", "2"))
    chromium.get(f"http://127.0.0.1:{page.port}/?judge=bob")
    chromium.find_element("id", "words").send_keys("elsewhere")
    waited_for(lambda: chromium.find_element("id", "past-count").text.startswith("2 of"))
    press(chromium, "1")  # goes to the document, not to the filter
    chromium.find_element("id", "words").send_keys("1")
    waited_for(lambda: chromium.find_element("id", "past-count").text.startswith("0 of"))
    assert chromium.get_log("browser") == []


def test_what_could_not_be_sent_is_sent_later(chromium, fresh_page):
    chromium.get(f"http://127.0.0.1:{fresh_page.port}/?judge=ann")
    waited_for(lambda: shown(chromium))
    document = shown(chromium)
    chromium.execute_script("window.fetched = window.fetch; window.fetch = () => Promise.reject(new TypeError('lost'))")
    press(chromium, "1")
    assert "1 waiting" in status_of(chromium, "Not saved yet")
    count = len(fresh_page.desk.journal.entries)
    chromium.execute_script("window.onbeforeunload = null; window.fetch = window.fetched")
    status_of(chromium, "Saved")
    assert len(fresh_page.desk.journal.entries) == count + 1
    assert fresh_page.desk.journal.entries[-1].pair[1] == document.replace("\\u202e", "\u202e")


FITS = """
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const small = [...document.querySelectorAll("#grades button, #skip, #undo")].filter((node) => node.clientHeight < 24);
return [wide, small.length];
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_accessible(chromium, fresh_page, width, scheme):
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for judge in ("ann", "bob"):
            fresh_page.say("judge", **judgment("elsewhere", 1, judge, "2"))
        chromium.get(f"http://127.0.0.1:{fresh_page.port}/?judge=bob")
        waited_for(lambda: chromium.find_elements("css selector", "#past li"))
        waited_for(lambda: shown(chromium))
        reached = []
        for _ in range(12):  # everything can be reached by the keyboard, and shows that it is
            chromium.execute_cdp_cmd(
                "Input.dispatchKeyEvent", {"type": "keyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
            )
            outline = "return [document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]"
            reached.append(chromium.execute_script(outline))
        assert all(style != "none" for _, style in reached)
        assert "judge" in [name for name, _ in reached]
        assert chromium.execute_script(FITS) == [0, 0]
        with browser.coloured(chromium, scheme):
            assert browser.lacks(chromium) == []
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_settled_audit_in_a_browser(chromium, tmp_path):
    """The interval appears with the first judgment, shrinks, and the page says when it is settled."""
    from test_desk_planning import sampled

    shutil.copy(DATA / "qrels.txt", tmp_path / "qrels.txt")
    shutil.copytree(DATA / "runs", tmp_path / "runs")
    goal, judged = sampled(tmp_path, 260)
    listed = tuple((query, doc) for query, doc, _ in judged)
    with Served(
        tmp_path, goal=goal, worklist=listed, judges=("ann",), grades=dict.fromkeys((0.0, 1.0, 2.0, 3.0), "")
    ) as served:
        chromium.get(f"http://127.0.0.1:{served.port}/?judge=ann")
        headline = lambda word: waited_for(  # noqa: E731
            lambda: (text := chromium.find_element("id", "headline").text) and word in text and text
        )
        headline("appears with the first judgment")
        waited_for(lambda: shown(chromium) == listed[0][1])
        press(chromium, f"{judged[0][2]:g}")
        headline("Not settled after 1 judgment")
        assert chromium.find_element("id", "range").is_displayed()
        for query, doc, grade in judged[1:]:
            served.say("judge", **judgment(doc, grade, query=query))
        assert "Settled: reranked is better than bm25" in headline("Settled")
        assert "You may stop here." in headline("You may stop")
        now, first = (
            chromium.find_element("css selector", f".track .{name}").size["width"] for name in ("now", "first")
        )
        assert now < first
