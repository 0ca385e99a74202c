"""Two published scores at different persistences: who wins, where they meet, and what would decide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from rankbounds.choices import check_persistence
from rankbounds.errors import UsageError
from rankbounds.rbp.published_score import Published
from rankbounds.rbp.transfer import Method, Transferred, interval, relaxed_range, relaxed_transfer, transferred

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
                f"{name} {interval(side.low, side.high)}" for name, side in (("A", meeting.a), ("B", meeting.b))
            )
            decided = "undecided" if meeting.verdict == "undecided" else f"{meeting.verdict} is surely better"
            lines.append(f"at p={meeting.p:g}: {decided} ({ranges})")
        return "\n".join([*lines, *self.advice])


def compare_published(
    a: Published, b: Published, to: float | None = None, *, method: Method | None = None, time_limit: float = 1.0
) -> PublishedComparison:
    """Which of two systems is surely better, from scores that were published at different persistences.

    Parameters
    ----------
    a, b
        One published score each.
    to
        The persistence to compare at; without it the lower of the two, where ranges are narrower.
    method, time_limit
        As in ``transfer``. With ``"greedy"`` this is the paper's comparison in six steps, whose verdict can be wrong.

    Returns
    -------
    PublishedComparison
        Its ``verdict`` at ``to`` (``"A"``, ``"B"`` or ``"undecided"``), the ``meetings`` there and at either system's
        own persistence, and ``advice`` on what would decide.

    Notes
    -----
    A verdict holds for all lists that could have had the printed scores. The advice is judged by the closed form.

    Examples
    --------
    >>> import rankbounds as rb
    >>> a, b = rb.Published("0.900", 0.8), rb.Published("0.200", 0.5)
    >>> found = rb.compare_published(a, b)
    >>> found.verdict, found.meetings[0].p
    ('A', 0.5)

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
    advice = []
    if a.residual is not None or b.residual is not None:
        judged = Meeting(*(relaxed_transfer(replace(published, residual=None), to) for published in (a, b)))
        could = judged.verdict != "undecided"
        advice.append(
            "Judging the documents behind the residuals "
            + (f"could decide it (for {judged.verdict} if none is relevant)." if could else "would not be enough")
            + ("" if could else BY_CLOSED_FORM)
        )
    if _finer(a, b, to) or _finer(b, a, to):
        advice.append("More printed digits could decide it.")
    else:
        advice.append(f"More printed digits would not be enough{BY_CLOSED_FORM}")
    if max(a.topics, b.topics) > 1:
        advice.append("The scores of the single topics would narrow the range of a mean.")
    for name, published in (("A", a), ("B", b)):
        if published.p != to:
            advice.append(f"Best: the score of {name} at p={to:g} itself, or its run.")
    return advice


def _finer(better: Published, worse: Published, to: float) -> bool:
    """Whether one wins for some scores within the printed digits, were they known exactly."""
    low = relaxed_range(better.score_range[1], better.p, to, better.depth)[0]
    high = relaxed_range(worse.total_range[0], worse.p, to, worse.depth if worse.residual is None else None)[1]
    return bool(low > high)
