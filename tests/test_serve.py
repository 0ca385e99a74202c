"""The live report: it follows its files, and no judgment is lost or overwritten."""

from __future__ import annotations

import http.client
import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import browser
import rankbounds as rb
from rankbounds.cli import main
from rankbounds.commands.demo import DATA
from rankbounds.errors import DataError, UsageError
from rankbounds.report import Choices
from rankbounds.report import live as serving


@pytest.fixture
def collection(tmp_path):
    shutil.copy(DATA / "qrels.txt", tmp_path / "qrels.txt")
    shutil.copytree(DATA / "runs", tmp_path / "runs")
    return tmp_path


@pytest.fixture
def live(collection):
    documents = collection / "documents.jsonl"
    documents.write_text(
        '{"doc_id": "d1", "title": "One", "text": "<b>two</b>"}\n\n{"doc_id": "d2", "text": "three"}\n'
    )
    made = serving.Live(
        str(collection / "qrels.txt"),
        [str(collection / "runs")],
        Choices(measures=["RBP(p=0.8)"]),
        serving.Documents(str(documents)),
    )
    listening = serving.server(made, "127.0.0.1", 0)
    thread = threading.Thread(target=listening.serve_forever, args=(0.05,))
    thread.start()
    made.port = listening.server_address[1]
    yield made
    listening.shutdown()
    listening.server_close()
    thread.join()


def ask(live, method, path, message=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=120)
    body = None if message is None else json.dumps(message)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def data_of(text):
    return json.loads(text.split('<script type="application/json" id="data">')[1].split("</script>")[0])


def test_a_judgment_closes_the_bounds(live):
    before = data_of(ask(live, "GET", "/")[1])
    query, doc, _ = before["next"]["documents"][0]
    status, text = ask(
        live, "POST", "/judge", {"query_id": query, "doc_id": doc, "grade": 1}, **{"X-Token": live.token}
    )
    assert (status, json.loads(text)) == (200, {"judged": doc})
    after = data_of(ask(live, "GET", "/")[1])
    assert rb.read_qrels(live.qrels).to_dict()[query][doc] == 1
    assert after["next"]["open"] == pytest.approx(before["next"]["open_after"][0])
    assert [query, doc] not in [row[:2] for row in after["next"]["documents"]]


def test_only_the_page_itself_may_judge(live):
    judgment = {"query_id": "1", "doc_id": "x", "grade": 1}
    before = rb.read_qrels(live.qrels).to_dict()
    assert ask(live, "POST", "/judge", judgment)[0] == 403
    assert ask(live, "POST", "/judge", judgment, **{"X-Token": "guess"})[0] == 403
    assert ask(live, "POST", "/judge", judgment, **{"X-Token": live.token, "Host": "evil.example"})[0] == 403
    assert ask(live, "GET", "/", Host="evil.example:80")[0] == 403
    assert ask(live, "GET", "/../qrels.txt")[0] == 404
    assert rb.read_qrels(live.qrels).to_dict() == before


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"query_id": "1", "doc_id": "a b", "grade": 1},
        {"query_id": "1\n2", "doc_id": "a", "grade": 1},
        {"query_id": "1", "doc_id": "a", "grade": "x"},
        {"query_id": "1", "doc_id": "a", "grade": -1},
        {"query_id": "1", "doc_id": "", "grade": 1},
        [],
    ],
)
def test_nonsense_is_refused(live, message):
    before = (live.judgments.path).read_bytes()
    status, text = ask(live, "POST", "/judge", message, **{"X-Token": live.token})
    assert status in (400, 409)
    assert json.loads(text)["error"]
    assert live.judgments.path.read_bytes() == before


def test_documents_are_text(live):
    status, text = ask(live, "POST", "/document", {"doc_id": "d1"}, **{"X-Token": live.token})
    assert (status, json.loads(text)["text"]) == (200, "One\n<b>two</b>")
    assert "no text" in ask(live, "POST", "/document", {"doc_id": "?"}, **{"X-Token": live.token})[1]


def test_page_follows_its_files(live, collection):
    state = json.loads(ask(live, "POST", "/state", {}, **{"X-Token": live.token})[1])["state"]
    (collection / "runs" / "dense.txt").unlink()
    assert json.loads(ask(live, "POST", "/state", {}, **{"X-Token": live.token})[1])["state"] != state
    assert len(data_of(ask(live, "GET", "/")[1])["runs"]) == 4
    (collection / "runs" / "new.txt").write_text("1 Q0 <b>\n")
    status, text = ask(live, "GET", "/")
    assert status == 200
    assert "cannot be read" in text
    assert "<b>" not in text


def test_writers_at_once_lose_nothing(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 first 1\n1 0 pooled -1\n1 0 last 0")  # no newline at the end

    def judge(number):  # each writer opens the file for itself, as two servers would
        serving.JudgmentFile(str(path)).add(str(number % 3), f"d{number}", number % 2)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(judge, range(60)))
    serving.JudgmentFile(str(path)).add("1", "pooled", 2)
    held = rb.read_qrels(path).to_dict()
    assert sum(map(len, held.values())) == 63
    assert held["1"]["pooled"] == 2
    assert held["1"]["last"] == 0
    assert all(held[str(number % 3)][f"d{number}"] == number % 2 for number in range(60))
    assert {one.name for one in tmp_path.iterdir()} == {"qrels.txt", ".qrels.txt.lock"}


def test_a_second_opinion_does_not_overwrite_the_first(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 1\n")
    file = serving.JudgmentFile(str(path))
    file.add("1", "a", 1)
    with pytest.raises(DataError, match="grade 1"):
        file.add("1", "a", 0)
    assert path.read_text() == "1 0 a 1\n"


def test_a_crash_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 1\n")

    def crash(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(serving.os, "replace", crash)
    with pytest.raises(DataError, match="No space left"):
        serving.JudgmentFile(str(path)).add("1", "b", 1)
    assert path.read_text() == "1 0 a 1\n"
    assert {one.name for one in tmp_path.iterdir()} == {"qrels.txt", ".qrels.txt.lock"}


def test_only_plain_files_take_judgments(tmp_path, capsys):
    path = tmp_path / "qrels.csv"
    path.write_text("query_id,doc_id,relevance\n1,a,1\n")
    with pytest.raises(UsageError, match="--read-only"):
        serving.JudgmentFile(str(path)).check()
    assert main(["serve", str(path), str(DATA / "runs")]) == 2
    assert main(["serve", "-", str(DATA / "runs")]) == 2
    assert main(["serve", str(DATA / "qrels.txt"), str(DATA / "runs"), "--documents", str(path)]) == 3
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_judging_in_a_browser(live, tmp_path):
    driver = browser.start(tmp_path / "profile")
    try:
        driver.get(f"http://127.0.0.1:{live.port}/")
        first = data_of(ask(live, "GET", "/")[1])["next"]["documents"][0]
        button = driver.find_element("css selector", "#next-board tbody button")
        assert first[1] in button.get_attribute("aria-label")
        driver.execute_script("window.old = true; arguments[0].click()", button)
        for _ in range(100):
            if driver.execute_script("return window.old === undefined && document.readyState === 'complete'"):
                break
            threading.Event().wait(0.1)
        assert first[1] not in driver.find_element("css selector", "#next-board tbody").text
        assert rb.read_qrels(live.qrels).to_dict()[first[0]][first[1]] == 0
        assert [one for one in driver.get_log("browser") if "favicon" not in one["message"]] == []
    finally:
        driver.quit()


def test_words_for_grades_are_told_of_before_anything_is_served(collection, capsys):
    words = collection / "words.txt"
    words.write_text((DATA / "qrels.txt").read_text().replace(" 2\n", " A\n"))
    arguments = ["serve", str(words), str(collection / "runs"), "--gain", "A=2,1=1", "--port", "0"]
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert "--read-only" in told
    assert "words.txt" in told
