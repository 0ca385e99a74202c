"""What a plan of judgments says, in sentences: the same on the command line and on the page where people judge."""

from __future__ import annotations

from rankbounds.evaluation.score_differences import equal
from rankbounds.judging.next.plan import SETTLED, Needed, SettlingPlan
from rankbounds.judging.next.weights import JudgingPlan
from rankbounds.measures import Measure, parse_measure
from rankbounds.probability.differences import limit_certainty
from rankbounds.probability.retrieved_documents import POOLED

NOTHING_LEFT = "Every document that counts is judged: no judgment would change anything."


def sentences(plan: JudgingPlan | SettlingPlan, measure: str | Measure, *, seed: int) -> list[str]:
    """What these judgments would do."""
    if isinstance(plan, SettlingPlan) and (len(plan) or plan.is_settled):
        return _about_settling(plan, str(parse_measure(measure)), seed)
    if isinstance(plan, SettlingPlan) or not len(plan):
        return [NOTHING_LEFT]
    before, after = open_means(plan)
    return [
        f"{plan.number_unjudged:,} unjudged documents; a run's mean is open by {before:.4f} on average, and by "
        f"{after:.4f} after these {len(plan):,} judgments."
    ]


def open_means(plan: JudgingPlan) -> tuple[float, float]:
    """By how much a run's mean is open on average, before the judgments of a plan and after them."""
    shares = plan.number_of_topics * plan.number_of_runs
    after = float(plan.residual_after[-1]) if len(plan) else plan.residual_before
    return plan.residual_before / shares, after / shares


def headline(plan: JudgingPlan | SettlingPlan, measure: str | Measure) -> str:
    """How far it is to the goal, in one short sentence."""
    label = str(parse_measure(measure))
    if not isinstance(plan, SettlingPlan):
        return f"By {label}, a run's mean is open by {open_means(plan)[0]:.4f} on average."
    if not plan.pairs:
        return f"By {label}, {plan.number_unjudged:,} documents are unjudged."
    if len(plan.pairs) == 1:
        question = f"{plan.pairs[0][0]} against {plan.pairs[0][1]}"
        if plan.settled[0]:
            ahead, behind = _in_order(plan)
            return f"Settled: {ahead} is better than {behind} by {label}, whatever else is judged."
    else:
        rivals = [other for (_, other), settled in zip(plan.pairs, plan.settled, strict=True) if not settled]
        leader = plan.pairs[0][0]
        if not rivals:
            return f"Settled: how {leader}, which leads by {label}, compares with all {len(plan.pairs)} others."
        question = f"{leader} against " + (rivals[0] if len(rivals) == 1 else f"the {len(rivals)} others that are open")
    needed = plan.needed
    if needed is None:
        return f"{question} by {label} is open."
    until = _until(needed)
    if needed.median is None:
        return f"{question} by {label} may never be {until}, even with all {needed.unjudged:,} documents judged."
    return f"About {needed.median:,} more until {question} is {until} by {label}."


def difference_left(
    runs: tuple[str, str], bounds: tuple[float, float], began: tuple[float, float] | None = None
) -> str:
    """Where the mean difference of two runs can lie, and could when judging ``began``."""
    (one, other), (low, high) = runs, bounds
    if equal(low, high):
        told = f"{one} less {other} is {low:+.4f}, whatever else is judged: nothing that matters is unjudged."
    else:
        told = f"Whatever unjudged documents turn out to be, {one} less {other} {_span(low, high)}."
    if began is None or _span(*began) == _span(low, high):
        return told
    return f"{told} When judging began, it {_span(*began, lies='lay', is_='was')}."


def _span(low: float, high: float, lies: str = "lies", is_: str = "is") -> str:
    least, most = f"{low:+.4f}", f"{high:+.4f}"
    return f"{lies} between {least} and {most}" if least != most else f"{is_} {least} to four digits"


def _in_order(plan: SettlingPlan) -> tuple[str, str]:
    """Of the one pair, the run that is ahead, and the one behind."""
    one, other = plan.pairs[0]
    return (one, other) if plan.better[0] >= 0.5 else (other, one)


def _who_is_better(plan: SettlingPlan, measure: str) -> str:
    """What is known of one pair."""
    if plan.settled[0]:
        ahead, behind = _in_order(plan)
        return f"whatever they turn out to be, {ahead} is better than {behind} by {measure}"
    if plan.likely is None:
        decide = f"they decide which of {' and '.join(plan.pairs[0])} is better by {measure}"
        apart = [run for run in plan.pairs[0] if run in plan.unpooled]
        few = f"; fewer than {POOLED} of {' and '.join(apart)} are judged, too few to say how" if apart else ""
        return f"{decide}{few}"
    low, high = plan.bounds[0]
    chances = [float(limit_certainty(*lead)) for lead in zip(plan.likely, (high, -low), strict=True)]
    (more, ahead), (less, behind) = sorted(zip(chances, plan.pairs[0], strict=True), key=lambda side: -side[0])
    even = "" if more + less > 0.995 else f", and {behind} with probability {less:.2f}"
    return f"{ahead} is better than {behind} by {measure} with probability {more:.2f}{even}"


def _until(needed: Needed) -> str:
    return "settled" if needed.until == SETTLED else f"decided with probability {needed.until}"


def _about_settling(plan: SettlingPlan, measure: str, seed: int) -> list[str]:
    first = f"{plan.number_unjudged:,} unjudged documents"
    if len(plan.pairs) == 1:
        first += f"; {_who_is_better(plan, measure)}"
    elif plan.pairs:
        settled = sum(plan.settled)
        first += f"; as judged, {plan.pairs[0][0]} leads by {measure}. "
        first += (
            f"Whatever they turn out to be, it is settled how it compares with {settled} of {len(plan.pairs)} others"
        )
    told = [f"{first}.", *plan.remarks]
    needed = plan.needed
    if needed is None:
        return told
    if plan.is_settled:
        return [*told, "The question is settled: nothing is left to judge for it."]
    drawn = f"{needed.simulations} simulated rounds, seed {seed}"
    if needed.median is None:
        told.append(
            f"Until it is {_until(needed)}: in {1 - needed.settled:.0%} of {drawn} not even judging all "
            f"{needed.unjudged:,} documents gets there."
        )
    else:
        most = f"{needed.high:,}" if needed.high is not None else "more than there are"
        told.append(
            f"Until it is {_until(needed)}, about {needed.median:,} judgments in this order are needed (90% of rounds "
            f"between {needed.low:,} and {most}; {drawn})."
        )
    return told
