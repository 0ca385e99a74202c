"""What to judge next and how far it is to the goal, computed beside the server, so that a click never waits for it.

Everything is computed in a process of its own: the server answers from what it has, and takes what is new when it
comes.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from rankbounds.desk.desk import Desk
from rankbounds.desk.judgment_file import Pair
from rankbounds.desk.worker import Worker
from rankbounds.errors import RankboundsError, UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.judging.next.judge_next import criterion, judge_next
from rankbounds.judging.next.plan import SETTLED, JudgingPlan, difference_left
from rankbounds.judging.next.residuals import plan_by_residual
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rankings.ties import ORDERS
from rankbounds.report.page import Live

BUDGET = 300
"""Documents planned ahead."""
LEAST_WEIGHT = 1e-4
"""RBP looks no deeper than where all ranks below together weigh less than this."""
LOOK_AGAIN = 3.0
"""Seconds until files are looked at again, whether somebody else changed them."""


@dataclass(frozen=True)
class Goal:
    """What judging is for: to settle a comparison, or to narrow what all runs leave open."""

    compare: tuple[str, str] | str | None = None
    until: str = SETTLED
    seed: int = 0

    def check(self) -> None:
        """An error where the goal is none that can be reached."""
        if self.compare is not None:
            criterion(self.until, self.compare)


@dataclass(frozen=True)
class Plan:
    """What comes next, and how far it is."""

    documents: tuple[Pair, ...]
    headline: str
    """How far it is to the goal."""
    sentences: tuple[str, ...]
    measure: str
    bounds: tuple[float, float] | None = None
    """Of two runs, the least and the greatest difference that are left."""
    runs: tuple[str, str] | None = None
    open: float | None = None
    """Without a comparison, by how much a run's mean is open on average."""
    settled: bool = False
    trouble: str = ""
    """Why the goal cannot be computed; documents are then in the order of their weights in all runs."""


class Planner:
    """Plans from files as they are; made in the process that plans."""

    def __init__(self, live: Live, goal: Goal) -> None:
        self.live, self.goal = live, goal

    def __call__(self) -> Plan:
        """The plan for the files as they are now."""
        choices = self.live.choices
        chosen = choices.assumptions()
        ties = chosen.ties if chosen.ties in ORDERS else "trec"
        order: dict[str, Any] = {"ties": ties, "score_precision": chosen.score_precision}
        measure: Measure = parse_measures(choices.measures)[0]
        found: dict[str, Any] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the report tells
            qrels, runs = choices.reading().judgments(self.live.qrels), self.live.read_runs()
            plan_for = partial(judge_next, qrels, runs, gain=choices.gain, budget=BUDGET, **order)
            plan: Any = None
            if self.goal.compare is not None:
                try:
                    plan = plan_for(measure=measure, **asdict(self.goal))
                    found = {"settled": all(plan.settled)}
                    if len(plan.pairs) == 1:
                        found |= {"bounds": plan.bounds[0], "runs": plan.pairs[0]}
                except RankboundsError as error:
                    found = {"trouble": str(error)}
            if plan is None and isinstance(measure, RBP) and 0 < measure.p < 1 and not choices.gain:
                depth = math.ceil(math.log(LEAST_WEIGHT) / math.log(measure.p))
                plan = plan_by_residual(qrels, runs, measure, BUDGET, assumptions=Assumptions(**order), depth=depth)
            elif plan is None:
                try:
                    plan = plan_for(measure=measure)
                except UsageError:  # nothing can be planned for this measure
                    measure = RBP(0.8)
                    plan = plan_for(measure=measure)
        if isinstance(plan, JudgingPlan):
            found["open"] = plan.open_means()[0]
        documents = tuple(zip(plan.query_ids, plan.doc_ids, strict=True))
        return Plan(documents, plan.headline(), tuple(plan.sentences()), str(measure), **found)


class Planning:
    """Keeps a desk's plan up to date in the background."""

    def __init__(self, desk: Desk, live: Live, goal: Goal, *, in_process: bool = True) -> None:
        self.desk, self.live = desk, live
        planner = Planner(live, goal)
        self._worker = Worker(planner) if in_process else None
        self._plan: Callable[[], Plan] = self._worker or planner
        self.plan: Plan | None = None
        self.first: Plan | None = None
        """The plan that judging began with."""
        self.computing, self.trouble = True, ""
        self._wanted, self._ended = threading.Event(), False
        self._wanted.set()
        desk.on_change = self.want
        self._thread = threading.Thread(target=self._keep_up, daemon=True)
        self._thread.start()

    def want(self) -> None:
        """Something changed: plan again."""
        self.computing = True
        self._wanted.set()

    def goal(self) -> dict[str, Any]:
        """How far it is to the goal, for the page."""
        plan, first = self.plan, self.first
        goal: dict[str, Any] = {"computing": self.computing, "trouble": self.trouble}
        if plan is None or first is None:
            return goal
        left = ""
        if plan.bounds is not None and plan.runs is not None:
            left = difference_left(plan.runs, plan.bounds, first.bounds)
        shown = {name: value for name, value in asdict(plan).items() if name != "documents"}
        began = {"bounds": first.bounds, "open": first.open}
        return shown | goal | {"trouble": self.trouble or plan.trouble, "first": began, "difference_left": left}

    def _keep_up(self) -> None:
        state = ""
        while not self._ended:
            try:
                if not self._wanted.wait(LOOK_AGAIN) and self.live.state() == state:
                    continue
                self._wanted.clear()
                self.computing = True
                self.desk.write()
                state = self.live.state()
                self.plan, self.trouble = self._plan(), ""
                self.first = self.first or self.plan
                self.desk.take_plan(self.plan.documents)
            except RankboundsError as error:
                self.trouble = "" if self._ended else str(error)
            self.computing = self._wanted.is_set()

    def close(self) -> None:
        """Stop."""
        self._ended = True
        self._wanted.set()
        if self._worker:
            self._worker.close()
        self._thread.join()
