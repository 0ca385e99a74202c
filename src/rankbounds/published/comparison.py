"""Two published scores at different persistences: who wins, where they meet, and what would decide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from rankbounds.errors import UsageError
from rankbounds.published.score import Published
from rankbounds.published.transfer import Method, Transferred, _relaxed, interval, relaxed_range, transferred
from rankbounds.published.vectors import (
    check_persistence,
)

BY_CLOSED_FORM = " by the closed-form range."
Verdict: TypeAlias = Literal["A", "B", "undecided"]


@dataclass(frozen=True, eq=False)
class Meeting:
    """Two published scores at one persistence."""

    a: Transferred
    b: Transferred

    @property
    def p(self) -> float:
        """Where they meet."""
        return self.a.to

    @property
    def verdict(self) -> Verdict:
        """Which has the higher score whatever the lists were."""
        if self.a.low > self.b.high:
            return "A"
        return "B" if self.b.low > self.a.high else "undecided"


@dataclass(frozen=True, eq=False)
class PublishedComparison:
    """What two published scores say of each other, at the persistence asked for and at the others' own."""

    meetings: tuple[Meeting, ...]
    """The first is the one that was asked for."""
    advice: tuple[str, ...]
    """What further information would decide, where nothing is decided yet."""

    @property
    def verdict(self) -> Verdict:
        """The verdict at the persistence asked for."""
        return self.meetings[0].verdict

    def __str__(self) -> str:
        lines = []
        for meeting in self.meetings:
            ranges = ", ".join(
                f"{name} {interval(one.low, one.high)}" for name, one in (("A", meeting.a), ("B", meeting.b))
            )
            decided = "undecided" if meeting.verdict == "undecided" else f"{meeting.verdict} is surely better"
            lines.append(f"at p={meeting.p:g}: {decided} ({ranges})")
        return "\n".join([*lines, *self.advice])


def compare_published(
    a: Published, b: Published, to: float | None = None, *, method: Method | None = None, time_limit: float = 1.0
) -> PublishedComparison:
    """Which of two systems is surely better, at persistence ``to`` and at either system's own.

    Without ``to`` it is the lower of the two, where ranges are narrower. With ``method="greedy"`` this is the paper's
    comparison in six steps, whose verdict can be wrong.
    """
    if not (a.single and b.single):
        raise UsageError("compare_published takes one score for each system.")
    asked = min(a.p, b.p) if to is None else check_persistence(to)
    places = dict.fromkeys([asked, *sorted({a.p, b.p})])
    meetings = tuple(
        Meeting(transferred(a, place, method, time_limit), transferred(b, place, method, time_limit))
        for place in places
    )
    decided = meetings[0].verdict != "undecided" or method == "greedy"
    return PublishedComparison(meetings, () if decided else tuple(_advice(a, b, asked)))


def _advice(a: Published, b: Published, to: float) -> list[str]:
    """What would settle an undecided comparison, judged by the closed form."""
    told = []
    if a.residual is not None or b.residual is not None:
        judged = Meeting(*(_relaxed(replace(one, residual=None), to) for one in (a, b)))
        could = judged.verdict != "undecided"
        told.append(
            "Judging the documents behind the residuals "
            + (f"could decide it (for {judged.verdict} if none is relevant)." if could else "would not be enough")
            + ("" if could else BY_CLOSED_FORM)
        )
    if _finer(a, b, to) or _finer(b, a, to):
        told.append("More printed digits could decide it.")
    else:
        told.append(f"More printed digits would not be enough{BY_CLOSED_FORM}")
    if max(a.topics, b.topics) > 1:
        told.append("The scores of the single topics would narrow the range of a mean.")
    for name, one in (("A", a), ("B", b)):
        if one.p != to:
            told.append(f"Best: the score of {name} at p={to:g} itself, or its run.")
    return told


def _finer(better: Published, worse: Published, to: float) -> bool:
    """Whether one wins for some scores within the printed digits, were they known exactly."""
    low = relaxed_range(better.score_range[1], better.p, to, better.depth)[0]
    high = relaxed_range(worse.total_range[0], worse.p, to, worse.depth if worse.residual is None else None)[1]
    return bool(low > high)
