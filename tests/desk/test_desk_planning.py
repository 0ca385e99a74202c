"""What to judge next at the desk, and how far it is to the goal; computed in a process of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from served import Served, judgment, waited_for

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.commands.demo import DATA
from rankbounds.desk import planning
from rankbounds.desk.planning import Worker, plan_next
from rankbounds.errors import UsageError
from rankbounds.judging.audits.labelled_pool import listed_documents
from rankbounds.report import Choices
from rankbounds.report.page import Live


@pytest.fixture
def collection(tmp_path):
    shutil.copy(DATA / "qrels.txt", tmp_path / "qrels.txt")
    shutil.copytree(DATA / "runs", tmp_path / "runs")
    return tmp_path


def goal_of(served):
    return waited_for(lambda: served.planning.plan if not served.planning.computing else None)


def test_the_goal_is_told_in_the_words_of_judge_next(collection, capsys):
    names = ["reranked", "dense"]
    with Served(collection, goal={"compare": ("reranked", "dense")}) as served:
        goal_of(served)
        goal, first = served.say("next", judge="ann", page="p")[1]["goal"], list(served.desk.planned)
        arguments = [str(served.qrels), str(collection / "runs"), "-m", "RBP", "--compare", *names]
        arguments += ["--until", "settled"]
        assert main(["judge-next", *arguments, "--format", "json", "--budget", "300"]) == 0
        told = capsys.readouterr()
        assert goal["sentences"] == [line.removeprefix("rankbounds: ") for line in told.err.splitlines()]
        assert first == [(row["query_id"], row["doc_id"]) for row in json.loads(told.out)]
        needed = re.search(r"About ([\d,]+ \[[\d,]+, [\d,]+\]) judgments", told.err)[1]
        assert (
            goal["headline"] == f"About {needed} more judgments until dense against reranked is settled by RBP(p=0.8)."
        )
        files = [str(collection / "runs" / f"{name}.txt") for name in names]
        (pair,) = rb.compare(str(served.qrels), files, "RBP(p=0.8)").pairs.rows()
        assert goal["runs"] == [pair["run"], pair["against"]] == ["dense", "reranked"]
        assert goal["bounds"] == pytest.approx([pair["certain_low"], pair["certain_high"]])
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
        assert served.desk.planned == first


def test_the_first_document_does_not_wait_for_the_plan(collection, monkeypatch):
    held = threading.Event()
    monkeypatch.setattr(planning, "SOON_RANKS", 1)  # what every topic ranks first is judged
    monkeypatch.setattr(planning, "plan_next", lambda *given, **named: (held.wait(600), plan_next(*given, **named))[1])
    with Served(collection, goal={"compare": ("reranked", "dense")}) as served:
        try:
            first = waited_for(lambda: served.say("next", judge="ann", page="p")[1]["next"])
            judged = rb.read_qrels(served.qrels).to_dict()
            assert all(doc not in judged.get(query, {}) for query, doc in first)
            asked = [rb.read_run(collection / "runs" / f"{name}.txt").to_dict() for name in ("reranked", "dense")]
            assert any(all(doc in run.get(query, {}) for query, doc in served.desk.planned) for run in asked)
        finally:  # the desk waits for its plan before it closes
            held.set()


def test_a_click_does_not_wait_for_the_plan(collection):
    with Served(collection, goal={}) as served:
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
        assert (query, doc) not in served.desk.planned
        assert after["open"] < served.planning.first["open"]


def test_goals_that_cannot_be_reached_are_told(collection, capsys):
    for more in (["--compare", "dense"], ["--compare", "dense", "reranked", "--until", "0.2"]):
        assert main(["serve", str(collection / "qrels.txt"), str(collection / "runs"), *more]) == 2
        assert len(capsys.readouterr().err.splitlines()) >= 1
    live = Live(str(collection / "qrels.txt"), [str(collection / "runs")], Choices.of(measures=["RBP(p=0.8)"]))
    documents, goal = plan_next(live, ("dense", "nobody"))
    assert 'no run "nobody"' in goal["trouble"]
    assert documents  # and there is something to judge all the same


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
    worker.close()
    worker = Worker(DiesOnce(str(tmp_path / "dead")))
    with pytest.raises(UsageError, match="was restarted"):
        worker()
    assert worker() not in (first, os.getpid())
    worker.close()
    script = (
        "import os, sys, time\nfrom rankbounds.desk.planning import Worker\n"
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


class DiesOnce:
    def __init__(self, mark):
        self.mark = mark

    def __call__(self):
        if not os.path.exists(self.mark):
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return os.getpid()


class FailsInTheEnd:
    calls = 0

    def __call__(self):
        self.calls += 1
        if self.calls == 3:
            raise UsageError("There is nothing to be done.")
        return os.getpid()


def sampled(collection, budget):
    """Labels of a model, a sample of them as a file, and people's grades of it in the order of judging."""
    people = rb.read_qrels(collection / "qrels.txt")
    shutil.copy(collection / "qrels.txt", collection / "labels.txt")
    names, runs = ("reranked", "bm25"), str(collection / "runs")  # not as the folder has them
    sample = rb.judging.draw_sample(people, runs, "RBP(p=0.8)", budget=budget, compare=names)
    rows = [row | {"relevance": ""} for row in sample.rows()]
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    (collection / "sample.csv").write_text("\n".join(lines) + "\n")
    grades = people.to_dict()
    (collection / "qrels.txt").write_text("".join(f"{r['query_id']} 0 {r['doc_id']} -1\n" for r in rows))
    goal = {"compare": names, "labels": str(collection / "labels.txt"), "sample": str(collection / "sample.csv")}
    return goal, [(r["query_id"], r["doc_id"], grades[r["query_id"]][r["doc_id"]]) for r in rows]


def test_judging_a_sample_shows_the_audit_and_says_when_it_is_settled(collection):
    goal, judged = sampled(collection, 260)
    listed = tuple((query, doc) for query, doc, _ in judged)
    with Served(collection, goal=goal, worklist=listed, grades={0.0: "", 1.0: "", 2.0: "", 3.0: ""}) as served:
        goal_of(served)
        began = served.say("next", judge="ann", page="p")[1]
        assert began["goal"]["headline"] == "The interval appears with the first judgment."
        assert [tuple(pair) for pair in began["next"][:2]] == list(listed[:2])
        shown = []
        for start, end in ((0, 5), (5, 40), (40, 260)):
            for query, doc, grade in judged[start:end]:
                assert served.say("judge", **judgment(doc, grade, query=query))[0] == 200
            goal_of(served)
            shown.append(served.say("next", judge="ann", page="p")[1]["goal"])
        rows = [{"query_id": query, "doc_id": doc, "relevance": grade} for query, doc, grade in judged]
        drawn = rb.judging.draw_sample(
            str(collection / "labels.txt"), str(collection / "runs"), "RBP(p=0.8)", budget=260, compare=goal["compare"]
        ).rows()
        rows = [one | two for one, two in zip(drawn, rows, strict=True)]
        two = [str(collection / "runs" / f"{name}.txt") for name in goal["compare"]]
        labels = str(collection / "labels.txt")
        expected = rb.audit(labels, rows, two, "RBP(p=0.8)", difference=True, sequential=True)
        (row,) = expected.rows()
    widths = [high - low for low, high in (shown[-1]["first"]["bounds"], *(now["bounds"] for now in shown))]
    assert widths == sorted(widths, reverse=True)
    assert list(shown[-1]["bounds"]) == pytest.approx([row["ci_low"], row["ci_high"]])
    assert list(shown[-1]["runs"]) == [row["run"], row["against"]] == ["bm25", "reranked"]
    assert [shown[0]["settled"], shown[-1]["settled"]] == [False, True]
    assert row["decided"]
    assert shown[0]["headline"].startswith("Not settled after 5 judgments")
    assert shown[-1]["headline"].startswith("Settled: reranked is better than bm25 in RBP(p=0.8). You may stop here.")
    assert "at every look" in shown[-1]["difference_left"]


def test_an_audit_at_the_desk_needs_its_sample(collection, capsys):
    asked = [
        "serve",
        str(collection / "qrels.txt"),
        str(collection / "runs"),
        "--labels",
        str(collection / "qrels.txt"),
    ]
    assert main(asked) == 2
    assert "--worklist" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:.*:rankbounds.errors.RankboundsWarning")
def test_worklists_are_what_sample_and_judge_next_write(collection, tmp_path):
    labels, runs = str(collection / "qrels.txt"), str(collection / "runs")
    sample = [(row["query_id"], row["doc_id"]) for row in rb.judging.draw_sample(labels, runs, budget=12).rows()]
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
