"""Judging in the browser: nothing that was called saved is lost, and nobody but the page itself may judge."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import browser
import rankbounds as rb
from rankbounds.choices import whole_number
from rankbounds.cli import main
from rankbounds.commands.demo import DATA
from rankbounds.desk import server as serving
from rankbounds.desk.desk import Desk, Settings, grades_from
from rankbounds.desk.judgment_file import JudgmentFile
from rankbounds.desk.planning import Goal, Planner, Planning
from rankbounds.desk.worker import Worker
from rankbounds.errors import DataError, UsageError
from rankbounds.files.document_texts import LONGEST_SHOWN, DocumentTexts
from rankbounds.files.queries import QueryText
from rankbounds.judging.audits.judged_sample import listed_documents
from rankbounds.report import Choices
from rankbounds.report.page import Live

HOSTILE = "</p><img src=x onerror=window.broken=1><script>window.broken=1</script>\x00\x07\u202eabc\ud800 minorities"


@pytest.fixture
def collection(tmp_path):
    shutil.copy(DATA / "qrels.txt", tmp_path / "qrels.txt")
    shutil.copytree(DATA / "runs", tmp_path / "runs")
    return tmp_path


class Served:
    """A server with everything behind it, and what a page would ask of it."""

    def __init__(self, collection, *, goal=None, token=None, host="127.0.0.1", **settings):
        self.qrels = collection / "qrels.txt"
        self.live = Live(str(self.qrels), [str(collection / "runs")], Choices(measures=["RBP(p=0.8)"]), judging=True)
        self.desk = Desk(JudgmentFile(self.qrels), Settings(**settings))
        self.planning = Planning(self.desk, self.live, goal, in_process=False) if goal else None
        self.office = serving.Office(self.live, self.desk, self.planning)
        self.office.report = self.live.page  # in this process
        self.listening = serving.server(self.office, host, 0, token)
        self.port = self.listening.server_address[1]
        self.thread = threading.Thread(target=self.listening.serve_forever, args=(0.05,))
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listening.shutdown()
        self.listening.server_close()
        self.thread.join()
        self.office.close()

    def ask(self, method, path, message=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, path, None if message is None else json.dumps(message), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer, text

    def say(self, what, **message):
        """What a page says: the status, and the answer."""
        answer, text = self.ask("POST", f"/{what}", message, **{"X-Token": self.office.page_token})
        return answer.status, json.loads(text)


@pytest.fixture
def served(collection):
    with Served(collection, grades=grades_from("3")) as made:
        yield made


def judgment(doc, grade=1, judge="ann", query="1", **more):
    return {"query_id": query, "doc_id": doc, "grade": grade, "judge": judge, "page": judge, **more}


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
    for attempt, moment in enumerate((0.02, 0.13, 0.31)):
        process, port = started(collection)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/")
        token = re.search('name="token" content="(.*?)"', connection.getresponse().read().decode())[1]
        threading.Timer(moment, process.kill).start()
        number = 0
        try:
            while True:
                number += 1
                doc, undo = f"d{attempt}-{number}", number % 5 == 0
                sent = {"judge": "ann"} if undo else judgment(doc, number % 4)
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("POST", "/undo" if undo else "/judge", json.dumps(sent), {"X-Token": token})
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
    assert len(saved) > 3
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
    token = serving.checked_token("0.0.0.0", "a long enough word")
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
    assert len(serving.checked_token("0.0.0.0", "new")) >= 32
    assert serving.checked_token("127.0.0.2", None) is None
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
        assert (status, answer["error"]) == (400, 'Judges here are ann, bob, not "eve".')
        assert served.say("judge", **judgment("a", judge="bob"))[0] == 200


@pytest.mark.parametrize("body", [b"[" * 60000, b'{"a":' * 10000, b"\xff", b"", b'{"grade": 1' + b"0" * 400 + b"}"])
def test_bodies_that_are_no_judgment(served, body, capfd):
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
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
    live = Live(str(collection / "qrels.txt"), [str(collection / "runs")], Choices(), judging=True)
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
            with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
                connection.sendall(sent)
                while connection.recv(4096):
                    pass
    assert capfd.readouterr().err == ""


def test_bytes_of_ids_come_back_as_they_were(served):
    assert served.say("judge", **judgment("caf\udce9"))[0] == 200
    served.desk.write()
    assert served.qrels.read_bytes().endswith(b"1 0 caf\xe9 1\n")
    assert served.say("past")[1]["judgments"][0]["doc_id"] == "caf\udce9"


# ---- documents ----


def test_documents_are_text(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text(
        '{"doc_id": "d1", "title": "One", "text": "<b>two</b>"}\n\n{"docno": "d2", "body": "x"}\n{"id": "d3"}\n'
    )
    documents = DocumentTexts([str(path)])
    assert vars(documents.text("d1")) == {"title": "One", "text": "<b>two</b>", "cut": 0}
    assert documents.text("d2").text == "x"
    assert documents.text("d3").text == ""
    assert documents.text("../d1") is None
    path.write_text(json.dumps({"doc_id": "long", "text": "x" * (LONGEST_SHOWN + 5)}) + "\n")
    assert DocumentTexts([str(path)]).text("long").cut == 5
    with pytest.raises(DataError, match="start again"):
        documents.text("d2")
    path.write_text("[" * 200_000 + "\n")
    with pytest.raises(DataError, match="no documents that can be read"):
        DocumentTexts([str(path)])


# ---- what comes next, and how far it is to the goal ----


def waited_for(condition):
    for _ in range(1200):
        if held := condition():
            return held
        time.sleep(0.05)
    raise AssertionError("it did not come")


def goal_of(served):
    return waited_for(lambda: served.planning.plan if not served.planning.computing else None)


def test_the_goal_is_told_in_the_words_of_judge_next(collection, capsys):
    names = ["reranked", "dense"]
    with Served(collection, goal=Goal(("reranked", "dense"))) as served:
        goal_of(served)
        goal, first = served.say("next", judge="ann", page="p")[1]["goal"], served.planning.plan.documents
        arguments = [str(served.qrels), str(collection / "runs"), "--compare", *names, "--until", "settled"]
        assert main(["judge-next", *arguments, "--format", "json", "--budget", "300"]) == 0
        told = capsys.readouterr()
        assert goal["sentences"] == [line.removeprefix("rankbounds: ") for line in told.err.splitlines()]
        assert list(first) == [(row["query_id"], row["doc_id"]) for row in json.loads(told.out)]
        needed = re.search(r"about ([\d,]+) judgments", told.err)[1]
        assert goal["headline"] == f"About {needed} more until reranked against dense is settled by RBP(p=0.8)."
        before = rb.read_qrels(served.qrels).to_dict()
        for query, doc in first[:3]:
            assert served.say("judge", **judgment(doc, 0, query=query))[0] == 200
        goal_of(served)
        after = served.say("next", judge="ann", page="p")[1]
        low, high = after["goal"]["bounds"]
        assert goal["bounds"][0] <= low < high <= goal["bounds"][1]
        assert high - low < goal["bounds"][1] - goal["bounds"][0]
        assert after["goal"]["first"]["bounds"] == goal["bounds"]
        assert not {tuple(pair) for pair in after["next"]} & set(first[:3])
        for _ in range(3):
            served.say("undo", judge="ann")
        goal_of(served)
        assert rb.read_qrels(served.qrels).to_dict() == before
        assert served.planning.plan.documents == first


def test_a_click_does_not_wait_for_the_plan(collection):
    with Served(collection, goal=Goal()) as served:
        goal_of(served)
        go_on, plan = threading.Event(), served.planning._plan
        served.planning._plan = lambda: (go_on.wait(), plan())[1]
        query, doc = served.say("next", judge="ann", page="p")[1]["next"][0]
        status, answer = served.say("judge", **judgment(doc, 1, query=query))  # answered while the plan is computed
        assert status == 200
        assert answer["goal"]["computing"]
        assert answer["next"]
        go_on.set()
        after = goal_of(served)
        assert (query, doc) not in after.documents
        assert after.open < served.planning.first.open


def test_goals_that_cannot_be_reached_are_told(collection, capsys):
    for more in (["--compare", "dense"], ["--compare", "dense", "reranked", "--until", "0.2"], ["--shared", "2"]):
        assert main(["serve", str(collection / "qrels.txt"), str(collection / "runs"), *more]) == 2
        assert len(capsys.readouterr().err.splitlines()) >= 1
    live = Live(str(collection / "qrels.txt"), [str(collection / "runs")], Choices(measures=["RBP(p=0.8)"]))
    plan = Planner(live, Goal(("dense", "nobody")))()
    assert 'no run "nobody"' in plan.trouble
    assert plan.documents  # and there is something to judge all the same


def test_a_worker_imports_nothing_from_the_current_folder(tmp_path, monkeypatch):
    for name in ("multiprocessing", "pickle", "rankbounds"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place not in ("", os.getcwd())])
    worker = Worker(os.getpid)
    assert worker() != os.getpid()
    worker.close()
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="whether a process lives is read from /proc")
def test_a_worker_works_elsewhere_and_ends_with_us(tmp_path):
    worker = Worker(FailsInTheEnd())
    first = worker()
    assert first != os.getpid()
    assert worker() == first
    with pytest.raises(UsageError, match="nothing to be done"):
        worker()
    os.kill(first, signal.SIGKILL)
    with pytest.raises(UsageError, match="started again"):
        worker()
    worker.close()
    script = (
        "import os, sys, time\nfrom rankbounds.desk.worker import Worker\n"
        "worker = Worker(os.getpid)\nprint(worker(), flush=True)\ntime.sleep(600)\n"
    )
    (tmp_path / "script.py").write_text(
        f"if __name__ == '__main__':\n    {script.replace(chr(10), chr(10) + '    ')}\n"
    )
    process = subprocess.Popen([sys.executable, str(tmp_path / "script.py")], stdout=subprocess.PIPE, text=True)
    number = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()
    waited_for(lambda: not _lives(number))


def _lives(number):
    try:
        return "State:\tZ" not in Path(f"/proc/{number}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


class FailsInTheEnd:
    calls = 0

    def __call__(self):
        self.calls += 1
        if self.calls == 3:
            raise UsageError("There is nothing to be done.")
        return os.getpid()


@pytest.mark.filterwarnings("ignore:.*:rankbounds.errors.RankboundsWarning")
def test_worklists_are_what_sample_and_judge_next_write(collection, tmp_path):
    labels, runs = str(collection / "qrels.txt"), str(collection / "runs")
    sample = [(row["query_id"], row["doc_id"]) for row in rb.draw_sample(labels, runs, budget=12).rows()]
    plan = rb.judge_next(labels, runs, budget=12)
    next_ones = list(zip(plan.query_ids, plan.doc_ids, strict=True))
    settling = rb.judge_next(labels, runs, budget=12, measure="nDCG@10", compare=("dense", "reranked"))
    for command, more, expected in (
        ("sample", [], sample),
        ("judge-next", [], next_ones),
        ("judge-next", ["-m", "nDCG@10", "--compare", "dense", "reranked"],
         list(zip(settling.query_ids, settling.doc_ids, strict=True))),
    ):  # fmt: skip
        for kind in ("csv", "json", "jsonl", "trec"):
            path = tmp_path / f"list.{kind}"
            assert main([command, labels, runs, "--budget", "12", *more, "--format", kind, "-o", str(path)]) == 0
            listed = listed_documents(str(path))
            assert listed == expected or (command == "sample" and kind == "trec" and set(expected) <= set(listed))


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
    live = Live(str(collection / "qrels.txt"), [str(collection / "runs")], Choices(measures=["RR"]))
    office = serving.Office(live)
    assert '<a href="/">' not in office.report()
    with pytest.raises(UsageError, match='no "judge"'):
        office.answer("judge", judgment("x"))
    assert not (collection / "qrels.txt.journal.jsonl").exists()
    office.close()


# ---- in a browser ----


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    driver = browser.start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


LISTED = [("1", f"doc{number}") for number in range(6)] + [("hostile</h2><b>", "x<img>\u202e"), ("1", "last")]


@pytest.fixture(scope="module")
def page(chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp("judging")
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
        judges=("ann", "bob"), grades={0.0: "off topic", 1.0: "related", 2.0: "answers"}, shared=1.0,
    ) as served:  # fmt: skip
        served.folder = folder
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
    assert "grade 2 for doc0" in status_of(chromium, "Saved")
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
    status_of(chromium, "grade 1 for doc1")
    waited_for(lambda: chromium.find_elements("css selector", "#past button"))
    chromium.execute_script("document.querySelector('#past button').click()")  # look at it again, and change it
    waited_for(lambda: shown(chromium) == "doc1")
    waited_for(lambda: chromium.find_elements("css selector", "#grades button[value='1'][aria-pressed=true]"))
    press(chromium, "2")
    status_of(chromium, "grade 2 for doc1")
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
    assert r"grade 1 for x<img>\u202e" in status_of(chromium, "Saved")
    # In one step: the page may write its list anew between two.
    first = "return document.querySelector('#past li')?.innerText ?? ''"
    waited_for(lambda: r"x<img>\u202e" in chromium.execute_script(first))
    assert page.desk.file.grade(LISTED[6]) == 1
    assert chromium.execute_script("return window.broken") is None
    assert chromium.get_log("browser") == []


def test_two_judges_in_a_browser_see_how_far_they_agree(chromium, page):
    for number in range(6):
        page.say("judge", **judgment(f"doc{number}", number % 3, "bob"))
        page.say("judge", **judgment(f"doc{number}", min(number % 3 + number // 4, 2), "ann"))
    page.say("judge", **judgment("elsewhere", 1, "bob", "2"))
    page.say("judge", **judgment("elsewhere", 1, "ann", "2"))
    chromium.get(f"http://127.0.0.1:{page.port}/?judge=bob")
    # In one step: the page may write its table anew between two.
    rows = "return [...document.querySelectorAll('#agreement tbody tr')].map(row => [...row.children])"
    rows += ".map(cells => cells.map(cell => cell.innerText))"
    cells = waited_for(lambda: chromium.execute_script(rows))[0]
    (expected,) = page.desk.agreement()
    assert set(cells[0].split(", ")) == {"ann", "bob"}
    assert cells[1] == str(expected["documents"])
    assert cells[2] == f"{round(100 * expected['same'] / expected['documents'])}%"
    assert expected["kappa_low"] is None  # of two topics
    assert cells[3] == f"{expected['kappa']:.2f}\ntoo few topics".replace("-", "\N{MINUS SIGN}")
    everything = int(chromium.find_element("id", "past-count").text.split()[0])
    chromium.execute_script("document.getElementById('disputed').click()")
    fit = waited_for(lambda: re.match(r"(\d+) of", chromium.find_element("id", "past-count").text))
    assert int(fit[1]) == 2 * (expected["documents"] - expected["same"]) < everything
    chromium.execute_script("document.getElementById('disputed').click()")
    chromium.find_element("id", "words").send_keys("elsewhere")
    waited_for(lambda: chromium.find_element("id", "past-count").text.startswith("2 of"))
    press(chromium, "1")  # goes to the document, not to the filter
    chromium.find_element("id", "words").send_keys("1")
    waited_for(lambda: chromium.find_element("id", "past-count").text.startswith("0 of"))
    assert chromium.get_log("browser") == []


def test_what_could_not_be_sent_is_sent_later(chromium, page):
    chromium.get(f"http://127.0.0.1:{page.port}/?judge=ann")
    waited_for(lambda: shown(chromium))
    document = shown(chromium)
    chromium.execute_script("window.fetched = window.fetch; window.fetch = () => Promise.reject(new TypeError('lost'))")
    press(chromium, "1")
    assert "1 waiting" in status_of(chromium, "Not saved yet")
    count = len(page.desk.journal.entries)
    chromium.execute_script("window.onbeforeunload = null; window.fetch = window.fetched")
    status_of(chromium, "Saved")
    assert len(page.desk.journal.entries) == count + 1
    assert page.desk.journal.entries[-1].pair[1] == document.replace("\\u202e", "\u202e")


FITS = """
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const small = [...document.querySelectorAll("#grades button, #skip, #undo")].filter((node) => node.clientHeight < 24);
return [wide, small.length];
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_accessible(chromium, page, width, scheme):
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for judge in ("ann", "bob"):
            page.say("judge", **judgment("elsewhere", 1, judge, "2"))
        chromium.get(f"http://127.0.0.1:{page.port}/?judge=bob")
        waited_for(lambda: chromium.find_elements("css selector", "#agreement tbody tr"))
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
