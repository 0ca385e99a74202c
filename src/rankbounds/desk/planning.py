"""What to judge next and how far it is to the goal, computed beside the server, so that a click never waits for it.

Everything is computed in a process of its own: the server answers from what it has, and takes what is new when it
comes.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from rankbounds.collection.qrels import POOLED_NOT_JUDGED
from rankbounds.desk.desk import Desk
from rankbounds.desk.judgment_file import Pair
from rankbounds.errors import RankboundsError, UsageError
from rankbounds.judging.audits.audit import audit
from rankbounds.judging.next.judge_next import judge_next
from rankbounds.judging.next.plan import SETTLED, JudgingPlan, SettlingPlan, difference_left
from rankbounds.report.page import Live

BUDGET = 300
SOON_TOPICS, SOON_RANKS = 100, 50
"""How many topics and ranks of one run are handed out before there is a plan."""
LOOK_AGAIN = 3.0

_PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    f"from {__name__} import work_when_asked; work_when_asked()"
)
"""Run in isolated mode: the processes of multiprocessing import it from the current folder, if that has such a file."""


def audit_so_far(
    live: Live, labels: str, sample: str, compare: tuple[str, str] | str | None = None
) -> tuple[list[Pair], dict[str, Any]]:
    """Audit labels by the documents of a sample that are judged so far; no documents, and what the page shows.

    The intervals hold at every look, so that people may stop as soon as the comparison is settled.
    """
    question, reader = live.choices.question.in_one_order(), live.choices.reading
    question = replace(question, compare=compare if isinstance(compare, tuple) else None)
    measure, chosen = question.measure, question.assumptions
    goal: dict[str, Any] = {"bounds": None, "runs": None, "open": None, "settled": False, "trouble": ""}
    goal |= {"headline": "", "sentences": [], "measure": str(measure), "difference_left": ""}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report tells
        runs = live.read_runs()
        judgments = reader.judgments(live.qrels)
        if not (judgments.grade != POOLED_NOT_JUDGED).any():
            return [], goal | {"headline": "The interval appears with the first judgment."}
        names = [run.name for run in runs]
        named = [runs[run] for run in question.runs_among(names)]  # in this order, which says who is the baseline
        audited = audit(
            reader.judgments(labels), sample, named, measure, difference=True, sequential=True, judgments=judgments,
            gain=chosen.gain, ties=chosen.ties, score_precision=chosen.score_precision,
        )  # fmt: skip
        rows, notes = audited.rows(), audited.notes()
    goal["settled"] = all(row["decided"] for row in rows)
    verdict = audited.settled(rows)
    goal["headline"] = f"{verdict} You may stop here." if goal["settled"] else verdict
    if len(rows) == 1:
        (row,) = rows
        goal |= {"bounds": (row["ci_low"], row["ci_high"]), "runs": (row["run"], row["against"])}
        goal["difference_left"] = (
            f"{measure} of {row['run']} minus that of {row['against']}: {row['estimate']:+.4f} "
            f"[{row['ci_low']:+.4f}, {row['ci_high']:+.4f}] (95% (sampled labels), at every look)."
        )
    return [], goal | {"sentences": [note for note in notes if note != verdict]}


def plan_next(
    live: Live, compare: tuple[str, str] | str | None = None, until: str | None = None, seed: int = 0
) -> tuple[list[Pair], dict[str, Any]]:
    """Plan from the files as they are: the documents to judge next, and what the page shows of the goal.

    The question is that of ``judge_next``, by the first measure; with ``compare`` it is to be settled. ``bounds`` are
    the least and the greatest difference that are left between two ``runs``; ``open`` is by how much a run's mean is
    open on average. Where the goal cannot be computed, ``trouble`` says why, and documents are those of the default
    measure for all runs.
    """
    question, reader = live.choices.question.in_one_order(), live.choices.reading
    measure, chosen = question.measure, question.assumptions
    goal: dict[str, Any] = {"bounds": None, "runs": None, "open": None, "settled": False, "trouble": ""}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report tells
        plan_for = partial(
            judge_next, reader.judgments(live.qrels), live.read_runs(), gain=chosen.gain, budget=BUDGET,
            ties=chosen.ties, score_precision=chosen.score_precision, seed=seed,
        )  # fmt: skip
        try:
            plan = plan_for(measure=measure, compare=compare, until=until or (SETTLED if compare else None))
        except RankboundsError as error:
            goal["trouble"] = str(error)
            plan = plan_for()
    if isinstance(plan, JudgingPlan):
        goal["open"] = plan.open_means()[0]
    elif len(plan.pairs) == 1:
        goal |= {"bounds": plan.bounds[0], "runs": plan.pairs[0]}
    goal["settled"] = isinstance(plan, SettlingPlan) and plan.is_settled
    goal |= {"headline": plan.headline(), "sentences": plan.sentences(), "measure": plan.settings["measure"]}
    return list(zip(plan.query_ids, plan.doc_ids, strict=True)), goal


class Planning:
    """Keeps a desk's plan up to date in the background; ``goal`` as in ``plan_next`` or ``audit_so_far``."""

    def __init__(self, desk: Desk, live: Live, goal: Mapping[str, Any], *, in_process: bool = True) -> None:
        self.desk, self.live = desk, live
        self._compared = goal.get("compare") or ()
        planner = partial(audit_so_far if "labels" in goal else plan_next, live, **goal)
        self._worker = Worker(planner) if in_process else None
        self._plan: Callable[[], tuple[list[Pair], dict[str, Any]]] = self._worker or planner
        self.plan: dict[str, Any] = {}
        self.first: dict[str, Any] = {}
        """The plan that judging began with, or the first one that has bounds."""
        self.computing, self.trouble = True, ""
        self._wanted, self._ended = threading.Event(), False
        self._wanted.set()
        desk.on_change = self.want
        self._thread = threading.Thread(target=self._keep_up, daemon=True)
        self._thread.start()

    def want(self) -> None:
        self.computing = True
        self._wanted.set()

    def goal(self) -> dict[str, Any]:
        plan, first = self.plan, self.first
        goal: dict[str, Any] = {"computing": self.computing, "trouble": self.trouble or plan.get("trouble", "")}
        if not plan:
            return goal
        left = plan.get("difference_left", "")
        if plan["bounds"] is not None and not left:
            left = difference_left(plan["runs"], plan["bounds"])
        began = {name: first[name] for name in ("bounds", "open")}
        return plan | goal | {"first": began, "difference_left": left}

    def _begin(self) -> None:
        if self.desk.settings.worklist is not None:
            return
        runs = (job.read() for job in self.live.runs())
        asked = self._compared
        run = next(run for run in runs if not isinstance(asked, tuple) or not asked or run.name in asked)
        best_first = ([(query, doc) for doc, _ in run[query]] for query in run.query_ids[:SOON_TOPICS])
        unjudged = ((pair for pair in one if self.desk.file.grade(pair) is None) for one in best_first)
        ranked = [list(itertools.islice(of_topic, SOON_RANKS)) for of_topic in unjudged]
        listed = [pair for row in itertools.zip_longest(*ranked) for pair in row if pair is not None]
        self.desk.take_plan(listed[:BUDGET])

    def _keep_up(self) -> None:
        state = ""
        with contextlib.suppress(RankboundsError, StopIteration):  # (planning reports it)
            self._begin()
        while not self._ended:
            try:
                if not self._wanted.wait(LOOK_AGAIN) and self.live.state() == state:
                    continue
                self._wanted.clear()
                self.computing = True
                self.desk.write()
                state = self.live.state()
                documents, self.plan = self._plan()
                if not self.first or (self.first["bounds"] is None and self.plan["bounds"] is not None):
                    self.first = self.plan
                self.trouble = ""
                self.desk.take_plan(documents)
            except RankboundsError as error:
                self.trouble = "" if self._ended else str(error)
            self.computing = self._wanted.is_set()

    def close(self) -> None:
        self._ended = True
        self._wanted.set()
        if self._worker:
            self._worker.close()
        self._thread.join()


# ---- the process ----


class Worker:
    """A function that is called in a process of its own, which ends when this one does, however it ends."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self) -> Any:
        with self._turn:
            try:
                process = self._running()
                _send(process, True)
                done, result = pickle.load(process.stdout)  # type: ignore[arg-type]
            except (EOFError, OSError, pickle.UnpicklingError):
                self.close()
                raise UsageError("The background process ended and was restarted.") from None
        if done:
            return result
        raise result

    def _running(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is None or process.poll() is not None:
            command = [sys.executable, "-I", "-c", _PROGRAM]
            process = self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            _send(process, sys.path)
            _send(process, self._function)
        return process

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            with contextlib.suppress(OSError):  # what was not sent yet
                process.communicate()


def _send(process: subprocess.Popen[bytes], message: Any) -> None:
    process.stdin.write(pickle.dumps(message))  # type: ignore[union-attr]
    process.stdin.flush()  # type: ignore[union-attr]


def work_when_asked() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    if hasattr(os, "nice"):
        os.nice(5)  # whoever judges comes first
    answers = open(os.dup(sys.stdout.fileno()), "wb")  # noqa: SIM115 (open as long as the process lives)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed is no answer
    function = pickle.load(sys.stdin.buffer)
    with contextlib.suppress(EOFError, OSError):
        while pickle.load(sys.stdin.buffer):
            try:
                answer: tuple[bool, Any] = True, function()
            except RankboundsError as error:
                answer = False, error
            except Exception as error:
                answer = False, UsageError(f"Computing failed ({type(error).__name__}: {error}).")
            answers.write(pickle.dumps(answer))
            answers.flush()
