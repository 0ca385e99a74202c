"""The live report: it follows its files, and no judgment is lost or overwritten."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

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

    monkeypatch.setattr(os, "replace", crash)
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


# ---- files that do not expect it ----


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"1 0 a 1\n1 0 b 0\r", b"1 0 a 1\n1 0 b 0\r\n1 0 new 1\n"),
        (b"1 0 a 1\r\n1 0 b 0\r\n", b"1 0 a 1\r\n1 0 b 0\r\n1 0 new 1\n"),
        (b"\xef\xbb\xbf1 0 a 1\n", b"\xef\xbb\xbf1 0 a 1\n1 0 new 1\n"),
        (b"\xef\xbb\xbf1 0 new -1\n1 0 a 1\n", b"\xef\xbb\xbf1 0 new 1\n1 0 a 1\n"),
        (b"# 0 new -1\n1\t0  new -1\n1 0 a 1", b"# 0 new -1\n1 0 new 1\n1 0 a 1\n"),
        (b"1 0 \xe9 1\n", b"1 0 \xe9 1\n1 0 new 1\n"),
    ],
)
def test_lines_are_added_to_files_of_every_kind(tmp_path, before, after):
    path = tmp_path / "qrels.txt"
    path.write_bytes(before)
    file = serving.JudgmentFile(str(path))
    file.check()
    held = rb.read_qrels(path).to_dict()
    file.add("1", "new", 1)
    assert path.read_bytes() == after
    held["1"]["new"] = 1.0
    assert rb.read_qrels(path).to_dict() == held


@pytest.mark.parametrize(
    ("topic", "doc"),
    [("1", "a\x01b"), ("1", "a\x7f\n"), ("#x", "a"), ("1", "\ud800"), ("\ufeff1", "a"), ("1", "a\x1f"), ("", "a")],
)
def test_ids_that_the_file_cannot_hold_are_refused(live, topic, doc):
    before = live.judgments.path.read_bytes()
    judgment = {"query_id": topic, "doc_id": doc, "grade": 1}
    status, text = ask(live, "POST", "/judge", judgment, **{"X-Token": live.token})
    assert status == 400
    assert "cannot hold" in json.loads(text)["error"]
    assert live.judgments.path.read_bytes() == before


def test_bytes_of_ids_come_back_as_they_were(live):
    judgment = {"query_id": "1", "doc_id": "caf\udce9", "grade": 1}
    assert ask(live, "POST", "/judge", judgment, **{"X-Token": live.token})[0] == 200
    assert b"1 0 caf\xe9 1\n" in live.judgments.path.read_bytes()


def test_grades_are_stored_in_full(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 1\n")
    serving.JudgmentFile(str(path)).add("1", "b", 1234567)
    serving.JudgmentFile(str(path)).add("1", "c", 0.1234567890123)
    assert path.read_text() == "1 0 a 1\n1 0 b 1234567\n1 0 c 0.1234567890123\n"


@pytest.mark.parametrize("content", [b"query_id,doc_id,relevance\n1,a,1\n", b"1 0 a yes\n", b"", b"\x1f\x8b\x08junk"])
def test_a_file_that_became_something_else_is_left_alone(live, content):
    live.judgments.path.write_bytes(content)
    judgment = {"query_id": "1", "doc_id": "new", "grade": 1}
    status, text = ask(live, "POST", "/judge", judgment, **{"X-Token": live.token})
    assert status == 409
    assert "qrels.txt" in json.loads(text)["error"]
    assert live.judgments.path.read_bytes() == content


def test_a_judgment_that_cannot_be_read_back_is_not_written(live, monkeypatch):
    before = live.judgments.path.read_bytes()
    monkeypatch.setattr(serving, "_with_line", lambda content, line: content + line.replace(b" ", b"_"))
    judgment = {"query_id": "1", "doc_id": "new", "grade": 1}
    status, text = ask(live, "POST", "/judge", judgment, **{"X-Token": live.token})
    assert (status, "read back" in text) == (409, True)
    assert live.judgments.path.read_bytes() == before


def test_a_file_that_another_program_changed_meanwhile_is_told(tmp_path, monkeypatch):
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 1\n")
    file = serving.JudgmentFile(str(path))
    contents = iter([path.read_bytes(), b"something else"])
    monkeypatch.setattr(file, "_content", lambda: next(contents))
    with pytest.raises(DataError, match="another program changed the file"):
        file.add("1", "b", 1)


# ---- links, modes, what was left behind ----


def test_links_modes_and_other_names_stay(tmp_path):
    (tmp_path / "kept").mkdir()
    real = tmp_path / "kept" / "qrels.txt"
    real.write_text("1 0 a 1\n")
    real.chmod(0o600)
    (tmp_path / "link").symlink_to("kept/qrels.txt")
    serving.JudgmentFile(str(tmp_path / "link")).add("1", "b", 1)
    assert (tmp_path / "link").is_symlink()
    assert real.read_text() == "1 0 a 1\n1 0 b 1\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert {one.name for one in tmp_path.iterdir()} == {"kept", "link"}  # one lock, where the file is
    (tmp_path / "hard").hardlink_to(real)
    serving.JudgmentFile(str(real)).add("1", "c", 1)
    assert (tmp_path / "hard").read_text() == "1 0 a 1\n1 0 b 1\n1 0 c 1\n"
    assert (tmp_path / "hard").samefile(real)


def test_copies_that_a_kill_left_are_cleared_at_the_next_start(collection):
    path = collection / "qrels.txt"
    script = (
        "import os, signal, sys; from rankbounds.report import live\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "live.JudgmentFile(sys.argv[1]).add('1', 'new', 1)\n"
    )
    before = path.read_bytes()
    subprocess.run([sys.executable, "-c", script, path], check=False)
    assert path.read_bytes() == before
    left = {"qrels.txt", "runs", ".qrels.txt.lock"}
    assert len({one.name for one in collection.iterdir()} - left) == 1
    serving.JudgmentFile(str(path)).check()
    assert {one.name for one in collection.iterdir()} == left


# ---- every error is an answer, and the right one ----


def test_errors_say_what_they_are(live, monkeypatch):
    headers = {"X-Token": live.token}
    query, documents = next(iter(rb.read_qrels(live.qrels).to_dict().items()))
    doc, grade = next(iter(documents.items()))
    status, text = ask(live, "POST", "/judge", {"query_id": query, "doc_id": doc, "grade": grade + 1}, **headers)
    assert (status, f"{doc} has grade" in json.loads(text)["error"]) == (409, True)

    def full(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("rankbounds.files.writing.os.fsync", full)
        status, text = ask(live, "POST", "/judge", {"query_id": "1", "doc_id": "new", "grade": 1}, **headers)
    assert (status, "No space left on device" in json.loads(text)["error"]) == (409, True)
    monkeypatch.setattr(serving, "PATIENCE", 0.05)
    lock = live.judgments.path.with_name(".qrels.txt.lock")
    with open(lock, "ab") as held:
        serving._wait_for(held, lock)
        status, text = ask(live, "POST", "/judge", {"query_id": "1", "doc_id": "new", "grade": 1}, **headers)
    assert (status, "another program holds the judgments" in json.loads(text)["error"]) == (409, True)
    status, text = ask(live, "POST", "/nothing", {}, **headers)
    assert (status, json.loads(text)["error"]) == (400, 'There is no "nothing" here.')


def test_a_folder_that_takes_no_file(live, monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("rankbounds.files.writing._new_copy", refused)
    judgment = {"query_id": "1", "doc_id": "new", "grade": 1}
    status, text = ask(live, "POST", "/judge", judgment, **{"X-Token": live.token})
    assert (status, "Permission denied" in json.loads(text)["error"]) == (409, True)


def test_a_folder_that_takes_no_lock_is_told_of_at_the_start(collection, capsys):
    (collection / ".qrels.txt.lock").mkdir()
    assert main(["serve", str(collection / "qrels.txt"), str(collection / "runs"), "--port", "0"]) == 3
    told = capsys.readouterr().err
    assert "judgments cannot be written in this folder" in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    "body", [b"[" * 60000, b'{"a":' * 10000, b"\xff", b"", b"1", b'{"grade": 1' + b"0" * 400 + b"}"]
)
def test_bodies_that_are_no_judgment(live, body, capfd):
    connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=60)
    connection.request("POST", "/judge", body, {"X-Token": live.token})
    answer = connection.getresponse()
    assert answer.status == 400
    assert json.loads(answer.read())["error"]
    connection.close()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("length", ["-1", "x", "9" * 30, "70000"])
def test_lengths_that_are_none(live, length):
    assert ask(live, "POST", "/state", **{"X-Token": live.token, "Content-Length": length})[0] == 400


@pytest.mark.parametrize("host", ["[", "[::1", "evil.example", "", "10.0.0.1", "localhost.evil.example"])
def test_other_hosts_are_refused(live, host, capfd):
    assert ask(live, "GET", "/", Host=host)[0] == 403
    assert capfd.readouterr().err == ""


def test_this_machine_has_several_names(live):
    for host in ("localhost", f"LOCALHOST:{live.port}", "127.0.0.1", "[::1]:80"):
        assert ask(live, "GET", "/", Host=host)[0] == 200


def test_an_error_that_nobody_foresaw_is_an_answer_too(live, monkeypatch, capfd):
    def fail(*_):
        raise TypeError("oops")

    monkeypatch.setattr(live, "answer", fail)
    status, text = ask(live, "POST", "/state", {}, **{"X-Token": live.token})
    assert (status, "TypeError: oops" in json.loads(text)["error"]) == (500, True)
    assert capfd.readouterr().err == "rankbounds: TypeError: oops\n"


# ---- many, and slow ----


def test_many_judgments_at_once_are_all_taken(live):
    def judge(number):
        judgment = {"query_id": "1", "doc_id": f"d{number}", "grade": number % 3}
        return ask(live, "POST", "/judge", judgment, **{"X-Token": live.token})

    with ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(judge, range(200)))
    assert {status for status, _ in answers} == {200}
    held = rb.read_qrels(live.qrels).to_dict()["1"]
    assert all(held[f"d{number}"] == number % 3 for number in range(200))


def test_requests_that_stop_half_way_are_ended(collection, monkeypatch, capfd):
    monkeypatch.setattr(serving, "PATIENCE", 0.2)
    made = serving.Live(str(collection / "qrels.txt"), [str(collection / "runs")], Choices(measures=["RR"]))
    with serving.server(made, "127.0.0.1", 0) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.05,))
        thread.start()
        begun = time.monotonic()
        for sent in (
            b"GET / HT",
            b"POST /state HTTP/1.0\r\nHost: localhost\r\n"
            + f"X-Token: {made.token}\r\nContent-Length: 100\r\n\r\nhalf".encode(),
        ):
            with socket.create_connection(listening.server_address, timeout=10) as connection:
                connection.sendall(sent)
                while connection.recv(4096):
                    pass
        assert time.monotonic() - begun < 5
        listening.shutdown()
        thread.join()
    assert capfd.readouterr().err == ""


# ---- others can reach it ----


def test_where_others_can_reach_the_page_it_has_a_key(collection):
    made = serving.Live(str(collection / "qrels.txt"), [str(collection / "runs")], Choices(measures=["RR"]))
    with serving.server(made, "0.0.0.0", 0) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.05,))
        thread.start()
        made.port = listening.server_address[1]
        printed = urlsplit(serving.address(made, "0.0.0.0", made.port))
        asked = f"{printed.path}?{printed.query}"
        status, text = ask(made, "GET", asked)
        assert status == 200
        assert data_of(text)["live"]["token"] == made.token
        for path in ("/", "/?key=", "/?key=guess", f"/?key={made.token}"):
            status, text = ask(made, "GET", path)
            assert status == 403
            assert made.token not in text
        assert ask(made, "GET", asked, Host="10.1.2.3:80")[0] == 200
        assert ask(made, "GET", asked, Host=socket.gethostname())[0] == 200
        assert ask(made, "GET", asked, Host="evil.example")[0] == 403
        assert ask(made, "POST", "/state", {}, **{"X-Token": made.key})[0] == 403
        listening.shutdown()
        thread.join()


def test_addresses_to_open(collection):
    made = serving.Live(str(collection / "qrels.txt"), [str(collection / "runs")], Choices(measures=["RR"]))
    assert serving.address(made, "127.0.0.1", 80) == "http://127.0.0.1:80/"
    assert serving.address(made, "::1", 80) == "http://[::1]:80/"
    assert serving.address(made, "127.0.0.2", 80) == "http://127.0.0.2:80/"
    assert serving.address(made, "192.0.2.1", 80) == f"http://192.0.2.1:80/?key={made.key}"
    assert len(made.key) >= 32


def test_documents_that_are_no_json_are_told(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text("[" * 200_000 + "\n")
    with pytest.raises(DataError, match="line 1"):
        serving.Documents(str(path))


def test_documents_that_went_away_are_told(live):
    live.documents.offset["d9"] = 5
    status, text = ask(live, "POST", "/document", {"doc_id": "d9"}, **{"X-Token": live.token})
    assert (status, "Start it again" in text) == (409, True)
    os.unlink(live.documents.path)
    assert ask(live, "POST", "/document", {"doc_id": "d1"}, **{"X-Token": live.token})[0] == 409


@pytest.mark.filterwarnings("ignore:.*:rankbounds.errors.RankboundsWarning")
def test_a_sample_is_a_worklist(collection, tmp_path):
    """What is left of it is offered for judging, in its order, and nothing else."""
    labels, runs = str(collection / "qrels.txt"), str(collection / "runs")
    assert main(["sample", labels, runs, "--budget", "12", "-o", str(tmp_path / "sample.csv")]) == 0
    again = ["sample", labels, runs, "--budget", "12", "--format", "trec", "-o", str(tmp_path / "judged.qrels")]
    assert main(again) == 0
    listed = [(row["query_id"], row["doc_id"]) for row in rb.draw_sample(labels, runs, budget=12).rows()]
    choices = Choices(measures=["RBP(p=0.8)"], worklist=str(tmp_path / "sample.csv"))
    live = serving.Live(str(tmp_path / "judged.qrels"), [runs], choices)
    data = data_of(live.page())
    assert [tuple(row[:2]) for row in data["next"]["documents"]] == listed[: len(data["next"]["documents"])]
    live.judgments.add(*listed[0], 1.0)
    after = data_of(live.page())
    assert next(tuple(row[:2]) for row in after["next"]["documents"]) == listed[1]
    assert after["next"]["words"].startswith("1 of the 12 documents")
