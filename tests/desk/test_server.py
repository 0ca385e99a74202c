"""The server of the judging page: nothing that was called saved is lost, and nobody but the page itself may judge."""

from __future__ import annotations

import csv
import http.client
import io
import json
import pickle
import re
import shutil
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from served import Served, judgment

import rankbounds as rb
from rankbounds.choices import whole_number
from rankbounds.cli import main
from rankbounds.commands.demo import DATA
from rankbounds.desk import server as serving
from rankbounds.desk.desk import grades_from
from rankbounds.errors import UsageError
from rankbounds.report import Choices
from rankbounds.report.page import Live


@pytest.fixture
def collection(tmp_path):
    shutil.copy(DATA / "qrels.txt", tmp_path / "qrels.txt")
    shutil.copytree(DATA / "runs", tmp_path / "runs")
    return tmp_path


@pytest.fixture
def served(collection):
    with Served(collection, grades=grades_from("3")) as made:
        yield made


# ---- nothing is lost ----


def test_four_judges_at_once_lose_nothing(served):
    before = served.qrels.read_bytes()

    def client(judge):
        return [served.say("judge", **judgment(f"d{judge}{number}", number % 4, judge)) for number in range(50)]

    with ThreadPoolExecutor(4) as pool:
        answers = [answer for answers in pool.map(client, ["ann", "bob", "cat", "dan"]) for answer in answers]
    assert {status for status, _ in answers} == {200}
    assert len({answer["saved"]["number"] for _, answer in answers}) == 200
    served.desk.write()
    held = rb.read_qrels(served.qrels).to_dict()["1"]
    assert all(
        held[f"d{judge}{number}"] == number % 4 for judge in ("ann", "bob", "cat", "dan") for number in range(50)
    )
    assert served.qrels.read_bytes().startswith(before)
    for judge in ("ann", "bob", "cat", "dan"):
        for _ in range(50):
            assert served.say("undo", judge=judge)[0] == 200
    served.desk.write()
    assert served.qrels.read_bytes() == before


def test_four_judges_of_one_document_are_all_heard(served):
    """Whose grade comes second stands beside the first, and the judge reads why."""

    def client(judge):
        return served.say("judge", **judgment("same", "abcd".index(judge[0]), judge))

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(client, ["ann", "bob", "cat", "dan"]))
    assert {status for status, _ in answers} == {200}
    notes = [answer["note"] for _, answer in answers]
    assert sorted(map(bool, notes)) == [False, True, True, True]
    assert all("judged this document first" in note for note in notes if note)
    assert served.say("past")[1]["all"] == 4


def test_sent_twice_is_saved_once(served):
    first = served.say("judge", **judgment("new", key="k1"))
    again = served.say("judge", **judgment("new", key="k1"))
    assert first[1]["saved"] == again[1]["saved"]
    assert (
        served.say("undo", judge="ann", key="k2")[1]["undone"] == served.say("undo", judge="ann", key="k2")[1]["undone"]
    )
    assert len(served.desk.journal.entries) == 2


START = [sys.executable, "-m", "rankbounds", "serve"]


def started(collection):
    """A server of its own, and its port and token."""
    arguments = [*START, str(collection / "qrels.txt"), str(collection / "runs"), "--port", "0", "--grades", "3"]
    arguments += ["--worklist", str(collection / "list.csv"), "--judge", "ann"]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if found := re.search(r"open http://127\.0\.0\.1:(\d+)/", line):
            return process, int(found[1])
    raise AssertionError("the server did not start")


def test_a_kill_at_any_moment_loses_nothing_that_was_called_saved(collection):
    before = (collection / "qrels.txt").read_bytes()
    (collection / "list.csv").write_text("query_id,doc_id,weight\n1,new,1\n")
    found = [f"1 Q0 d{attempt}-{number} 1 {number} made" for attempt in range(3) for number in range(1, 2000)]
    (collection / "runs" / "made.txt").write_text("\n".join(found) + "\n")
    saved, undone = {}, set()
    for attempt, last in enumerate((4, 31, 59)):  # it is killed while it answers an undo, a judgment, an undo
        process, port = started(collection)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        connection.request("GET", "/")
        token = re.search('name="token" content="(.*?)"', connection.getresponse().read().decode())[1]
        number = 0
        try:
            while True:
                number += 1
                doc, undo = f"d{attempt}-{number}", number % 5 == 0
                sent = {"judge": "ann"} if undo else judgment(doc, number % 4)
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
                connection.request("POST", "/undo" if undo else "/judge", json.dumps(sent), {"X-Token": token})
                if number > last:
                    process.kill()
                answer = json.loads(connection.getresponse().read())
                if undo:
                    undone.add(answer["undone"]["doc_id"])
                    saved.pop(answer["undone"]["doc_id"])
                else:
                    saved[doc] = number % 4
        except (OSError, http.client.HTTPException, ValueError):
            if undo:  # the answer was lost, and whether the last judgment was taken back nobody was told
                saved.popitem()
        assert process.wait() == -signal.SIGKILL
        process.stderr.close()
    process, port = started(collection)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    process.stderr.close()
    held = rb.read_qrels(collection / "qrels.txt").to_dict()["1"]
    assert len(saved) >= 58  # three fifths of what was answered
    assert {doc: held.get(doc) for doc in saved} == saved
    assert not undone & set(held)
    assert (collection / "qrels.txt").read_bytes().startswith(before)
    left = {path.name for path in collection.iterdir()}
    assert left == {"qrels.txt", "qrels.txt.journal.jsonl", "runs", "list.csv"}


# ---- who may ask, and what ----


def test_only_the_page_itself_may_judge(served):
    token, before = {"X-Token": served.office.page_token}, served.qrels.read_bytes()
    sent = judgment("x")
    for headers in (
        {}, {"X-Token": "guess"}, token | {"Host": "evil.example"}, token | {"Origin": "http://evil.example"},
        token | {"Origin": "null"}, token | {"Origin": f"http://127.0.0.1:{served.port + 1}"},
        token | {"Sec-Fetch-Site": "cross-site"}, token | {"Sec-Fetch-Site": "same-site"},
    ):  # fmt: skip
        assert served.ask("POST", "/judge", sent, **headers)[0].status == 403
    assert served.ask("GET", "/", Host="evil.example:80")[0].status == 403
    for path in ("/../qrels.txt", "/judging.py", "/%2e%2e/qrels.txt", "/judging/page.html"):
        assert served.ask("GET", path)[0].status == 404
    assert served.desk.journal.entries == []
    own = f"127.0.0.1:{served.port}"
    assert served.ask("POST", "/judge", sent, **token, Origin=f"http://{own}", Host=own)[0].status == 200
    served.desk.write()
    assert served.qrels.read_bytes() == before + b"1 0 x 1\n"


@pytest.mark.parametrize("host", ["[", "[::1", "evil.example", "", "10.0.0.1", "localhost.evil.example"])
def test_other_hosts_are_refused(served, host, capfd):
    assert served.ask("GET", "/", Host=host)[0].status == 403
    assert capfd.readouterr().err == ""


def test_this_machine_has_several_names(served):
    for host in ("localhost", f"LOCALHOST:{served.port}", "127.0.0.1", "[::1]:80"):
        assert served.ask("GET", "/", Host=host)[0].status == 200


def test_where_others_can_reach_the_page_everybody_needs_the_token(collection):
    token = serving.check_token("0.0.0.0", "a long enough word")
    with Served(collection, host="0.0.0.0", token=token) as served:
        for path in ("/", "/judging.js", "/report", "/?token=", "/?token=guess", f"/?token={served.office.page_token}"):
            answer, text = served.ask("GET", path)
            assert answer.status == 403
            assert served.office.page_token not in text
        answer, _ = served.ask(
            "GET", serving.address("127.0.0.1", 1, token).removeprefix("http://127.0.0.1:1") + "&judge=a+b"
        )
        assert (answer.status, answer.getheader("Location")) == (303, "/?judge=a+b")
        cookie = answer.getheader("Set-Cookie")
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        kept = {"Cookie": f"other=1; {cookie.split(';')[0]}"}
        page_token = {"X-Token": served.office.page_token}
        assert served.ask("GET", "/", **kept)[0].status == 200
        assert served.ask("POST", "/start", {}, **page_token)[0].status == 403
        assert served.ask("POST", "/start", {}, **kept)[0].status == 403
        assert served.ask("POST", "/start", {}, **kept, **page_token)[0].status == 200
        assert served.ask("GET", "/", Host="10.1.2.3:80", **kept)[0].status == 200
        assert served.ask("GET", "/", Host=socket.gethostname(), **kept)[0].status == 200
        assert served.ask("GET", "/", Host="evil.example", **kept)[0].status == 403


def test_a_host_without_a_token_is_refused(collection, capsys):
    inputs = ["serve", str(collection / "qrels.txt"), str(collection / "runs"), "--port", "0"]
    for more in (["--host", "0.0.0.0"], ["--host", "192.0.2.1"], ["--host", "0.0.0.0", "--token", "short"]):
        assert main([*inputs, *more]) == 2
        assert "--token" in capsys.readouterr().err
    assert len(serving.check_token("0.0.0.0", "new")) >= 32
    assert serving.check_token("127.0.0.2", None) is None
    assert serving.address("127.0.0.1", 80, None) == "http://127.0.0.1:80/"
    assert serving.address("::1", 80, None) == "http://[::1]:80/"
    assert serving.address("192.0.2.1", 80, "a b&c") == "http://192.0.2.1:80/?token=a+b%26c"


@pytest.mark.parametrize(
    "message",
    [
        {}, {"judge": "ann"}, {"query_id": "1", "doc_id": "a", "grade": 1}, judgment("a b"), judgment("a", "x"),
        judgment("a", -1), judgment("a", 9), judgment("a", float("nan")), judgment(""), judgment("a" * 5000),
        judgment("a", judge="x" * 61), judgment("a", judge="a\nb"), judgment("a", key=7), judgment("a", query=["1"]),
        judgment("a", key="k" * 101), [], 1,
    ],
)  # fmt: skip
def test_nonsense_is_refused_in_words(served, message):
    answer, text = served.ask("POST", "/judge", message, **{"X-Token": served.office.page_token})
    assert answer.status == 400
    assert json.loads(text)["error"]
    assert served.desk.journal.entries == []


def test_only_named_judges_judge(collection):
    with Served(collection, judges=("ann", "bob")) as served:
        status, answer = served.say("judge", **judgment("a", judge="eve"))
        assert (status, answer["error"]) == (400, 'The judges are ann, bob, not "eve".')
        assert served.say("judge", **judgment("a", judge="bob"))[0] == 200


@pytest.mark.parametrize("body", [b"[" * 60000, b'{"a":' * 10000, b"\xff", b"", b'{"grade": 1' + b"0" * 400 + b"}"])
def test_bodies_that_are_no_judgment(served, body, capfd):
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=600)
    connection.request("POST", "/judge", body, {"X-Token": served.office.page_token})
    answer = connection.getresponse()
    assert answer.status == 400
    assert json.loads(answer.read())["error"]
    connection.close()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("length", ["-1", "x", "", "9" * 30, "70000", "0" * 20 + "70000", "0" * 5000 + "9" * 5000])
def test_lengths_that_are_none(served, length):
    headers = {"X-Token": served.office.page_token, "Content-Length": length}
    assert served.ask("POST", "/state", **headers)[0].status == 400


def test_zeros_before_a_number_do_not_count():
    assert [whole_number(text, 16) for text in ("0", "7", "16", "0016", "0" * 9000 + "16")] == [0, 7, 16, 16, 16]
    for text in ("17", "0017", "1600", "0" * 30 + "1600", "0" * 9000 + "9" * 9000, "", "-1", "+1", "1.0", "x"):
        assert whole_number(text, 16) is None


@pytest.mark.parametrize("given", [["--port", "0" * 20 + "70000"], ["--digits", "000400"], ["--grades", "0019"]])
def test_zeros_before_options_do_not_count(collection, given, capsys):
    command = "evaluate" if given[0] == "--digits" else "serve"
    assert main([command, str(collection / "qrels.txt"), str(collection / "runs"), *given]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_only_documents_of_a_file_are_judged(collection):
    (collection / "qrels.txt").write_text("1 0 judged 1\n1 0 pooled -1\n")
    live = Live(str(collection / "qrels.txt"), [str(collection / "runs")], Choices.of(), judging=True)
    run = rb.read_run(collection / "runs" / "bm25.txt")
    topic, other = run.query_ids[:2]
    retrieved = run[topic][0][0]
    with Served(collection, grades=grades_from("3"), retrieved=live.retrieves, worklist=(("9", "listed"),)) as served:
        for query, doc in (("1", "pooled"), ("9", "listed"), (topic, retrieved)):
            assert served.say("judge", **judgment(doc, query=query))[0] == 200

        def entries():
            return [line for line in served.desk.journal.path.read_bytes().splitlines() if b'"written"' not in line]

        before = entries()
        for query, doc in (("1", "nobody's"), ("nobody's", retrieved), ("9", retrieved), (other, "listed")):
            for what in ("judge", "skip"):
                status, answer = served.say(what, **judgment(doc, query=query))
                assert (status, answer["error"]) == (
                    400, f'No run, no list and no judgment has document "{doc}" of query "{query}".'
                )  # fmt: skip
        assert entries() == before
        (collection / "runs" / "new.txt").write_text("1 Q0 nobody's 1 1 new\n")
        assert served.say("judge", **judgment("nobody's"))[0] == 200
        assert served.say("undo", judge="ann")[0] == 200
        assert served.say("judge", **judgment("nobody's"))[0] == 200


def test_an_error_that_nobody_foresaw_is_an_answer_too(served, monkeypatch, capfd):
    def fail(*_):
        raise TypeError("oops")

    monkeypatch.setattr(served.office, "answer", fail)
    status, answer = served.say("state")
    assert (status, "TypeError: oops" in answer["error"]) == (500, True)
    assert capfd.readouterr().err == "rankbounds: TypeError: oops\n"
    monkeypatch.undo()
    for nothing in ("nothing", "_goal", "close", "answer", "judging_page"):
        assert served.say(nothing) == (400, {"error": f'There is no "{nothing}" here.'})


def test_requests_that_stop_half_way_are_ended(collection, monkeypatch, capfd):
    monkeypatch.setattr(serving, "PATIENCE", 0.2)
    with Served(collection) as served:
        for sent in (
            b"GET / HT",
            b"POST /state HTTP/1.0\r\nHost: localhost\r\n"
            + f"X-Token: {served.office.page_token}\r\nContent-Length: 100\r\n\r\nhalf".encode(),
        ):
            with socket.create_connection(("127.0.0.1", served.port), timeout=600) as connection:
                connection.sendall(sent)
                while connection.recv(4096):
                    pass
    assert capfd.readouterr().err == ""


def test_bytes_of_ids_come_back_as_they_were(served):
    assert served.say("judge", **judgment("caf\udce9"))[0] == 200
    served.desk.write()
    assert served.qrels.read_bytes().endswith(b"1 0 caf\xe9 1\n")
    assert served.say("past")[1]["judgments"][0]["doc_id"] == "caf\udce9"


def test_files_that_take_no_judgments_are_told_at_the_start(collection, capsys):
    words = collection / "words.txt"
    words.write_text((DATA / "qrels.txt").read_text().replace(" 2\n", " A\n"))
    runs = str(collection / "runs")
    assert main(["serve", str(words), runs, "--gain", "A=2,B=1", "--port", "0"]) == 2
    told = capsys.readouterr().err
    assert "--read-only" in told
    assert "words.txt" in told
    assert main(["serve", "-", runs]) == 2
    qrels = str(collection / "qrels.txt")
    assert main(["serve", qrels, runs, "--documents", qrels]) == 3
    assert main(["serve", qrels, runs, "--queries", str(collection / "none")]) == 3
    assert len(capsys.readouterr().err.splitlines()) == 3


# ---- the report beside it ----


def data_of(text):
    return json.loads(text.split('<script type="application/json" id="data">')[1].split("</script>")[0])


def test_the_report_follows_its_files_and_takes_no_judgments(served, collection):
    state = served.say("state")[1]["state"]
    text = served.ask("GET", "/report")[1]
    data = data_of(text)
    assert data["live"]["state"] == state
    assert "judge" not in data["live"]
    assert '<a href="/">' in text
    (collection / "runs" / "dense.txt").unlink()
    assert served.say("state")[1]["state"] != state
    assert len(data_of(served.ask("GET", "/report")[1])["runs"]) == 4
    (collection / "runs" / "new.txt").write_text("1 Q0 <b>\n")
    answer, text = served.ask("GET", "/report")
    assert answer.status == 200
    assert "cannot be read" in text
    assert "<b>" not in text


def test_read_only_shows_the_report_alone(collection):
    live = Live(str(collection / "qrels.txt"), [str(collection / "runs")], Choices.of(measures=["RR"]))
    office = serving.Office(live)
    assert '<a href="/">' not in office.report()
    with pytest.raises(UsageError, match='no "judge"'):
        office.answer("judge", judgment("x"))
    assert not (collection / "qrels.txt.journal.jsonl").exists()
    office.close()


# ---- what judges say, and what they see ----


def test_explanations_are_kept_and_exported(served):
    words = 'names the drug, "not" its effect; = 2\nlines'
    assert served.say("judge", **judgment("d1", 2, "ann", why=f"  {words} "))[0] == 200
    assert served.say("judge", **judgment("d1", 1, "bob"))[0] == 200
    assert served.say("document", query_id="1", doc_id="d1")[1]["why"] == {"ann": words, "bob": ""}
    assert [row["why"] for row in served.say("past", words="DRUG")[1]["judgments"]] == [words]
    exported = list(csv.DictReader(io.StringIO(served.say("export")[1]["csv"])))
    assert [
        (row["judge"], row["doc_id"], float(row["grade"]), row["grade_name"], row["explanation"]) for row in exported
    ] == [
        ("ann", "d1", 2, "highly relevant", words),
        ("bob", "d1", 1, "related", ""),
    ]
    status, answer = served.say("judge", **judgment("d2", 1, why="x" * 2001))
    assert (status, "longer than 2,000" in answer["error"]) == (400, True)


def test_results_side_by_side_show_nobody_elses_grades(collection):
    with Served(collection, grades=grades_from("3"), beside=("dense", "bm25")) as served:
        shown = served.say("results", judge="bob", query_id="1")[1]["results"]
        assert [one["run"] for one in shown] == ["bm25", "dense"]
        for one in shown:
            run = rb.read_run(collection / "runs" / f"{one['run']}.txt")
            assert [row["doc_id"] for row in one["documents"]] == [doc for doc, _ in run["1"][:10]]
        first = shown[0]["documents"][0]["doc_id"]
        assert served.say("judge", **judgment(first, 2, "ann"))[0] == 200
        grades = {
            judge: served.say("results", judge=judge, query_id="1")[1]["results"][0]["documents"][0]["grade"]
            for judge in ("ann", "bob")
        }
        assert grades == {"ann": 2, "bob": None}
        assert served.say("results", judge="bob", query_id="no such")[1]["results"][0]["documents"] == []


@pytest.mark.parametrize("command", ["serve", "report"])
def test_options_can_be_sent_to_the_process_that_plans(collection, command):
    """As the command hands them on: without the functions that made their values."""
    from rankbounds.commands import known_commands

    declared, _ = known_commands()[command].load()
    held = pickle.loads(pickle.dumps(tuple(declared)))
    assert [(option.dest, option.flags) for option in held] == [(option.dest, option.flags) for option in declared]
