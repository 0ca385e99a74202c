"""One condition of a gate and one run: the answer, the numbers behind it, why, and what would decide it.

What the answers mean is told in ``gate``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.comparison.comparison import Comparison
from rankbounds.comparison.gate.conditions import SIDES, Condition
from rankbounds.comparison.pairs import run_number
from rankbounds.comparison.wording import POWER, compared_words, measure_words
from rankbounds.comparison.words import can_differ
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import differences, equal, mean_difference, merit, merit_of_range
from rankbounds.evaluation.scores import Scores
from rankbounds.measures.counts import Judged
from rankbounds.stats.equivalence import TOST, p_of_margin
from rankbounds.stats.power import topics_for_effects, topics_that_must_differ
from rankbounds.stats.significance import TESTS, Resampling, deviation_of, p_values
from rankbounds.tables import plain

if TYPE_CHECKING:
    from rankbounds.comparison.evidence import Evidence
    from rankbounds.measures import Measure

PASS, FAIL, UNDECIDED = "pass", "fail", "undecided"
SAID = {PASS: "passed", FAIL: "failed", UNDECIDED: "undecided"}
TURNED = {True: "Judgments could turn it", None: "It is not known whether judgments could turn it"}
CARRYING = 0.1
"""Where so small a share of the topics holds half of all that changed, they carry the mean."""
NAMED_TOPICS = 5
"""So many of the topics that fell most are named."""


@dataclass(frozen=True)
class Outcome:
    """What a gate says of one condition and one run.

    Attributes
    ----------
    run, baseline : str
        The run in question, and the one it is held against; None for a condition on a value.
    answer : {"pass", "fail", "undecided"}
        As judged, unless the gate's answers must be settled.
    value, low, high : float
        Of a condition on a value, the run's mean and its bounds; else None.
    difference, certain_low, certain_high : float
        Of a change, run minus baseline, and its bounds over judgments; else None.
    p_fail, p_pass : float
        Of a change: the p-values of the test that fails the run, and of the one that passes it.
    could_turn : bool
        Could other judgments turn the answer? None: not known, or there is no answer to turn.
    why, decide : str
        The reason in a sentence, and what would decide it otherwise.
    """

    condition: str
    run: str
    baseline: str | None
    answer: str
    why: str
    decide: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    certain_low: float | None = None
    certain_high: float | None = None
    p_fail: float | None = None
    p_pass: float | None = None
    could_turn: bool | None = None

    def words(self) -> str:
        """Say the answer in a sentence or two."""
        return f"gate {SAID[self.answer]}: {self.why}{' ' if self.decide else ''}{self.decide}"


def hold_value(condition: Condition, scores: Scores, run: str, settled: bool, evidence: Evidence | None) -> Outcome:
    """Hold a score against a number: it decides as it stands, and its bounds say whether judgments could turn that."""
    measure = condition.measure
    scored = scores[measure].run(run)
    mean = scored.mean()
    value, low, high = (float(part.item()) for part in (mean.value, mean.low, mean.high))
    fails, ends = condition.holds(value), (low, high)
    could_turn = None if any(map(math.isnan, ends)) else any(condition.holds(end) != fails for end in ends)
    name = measure_words(str(measure), lower_is_better=measure.lower_is_better)
    stands = f"{'' if fails else 'not '}{SIDES[condition.relation]} {condition.limit:g}"
    why = f"{name} of {run} is {value:.4f} over these {np.count_nonzero(~np.isnan(scored.value))} topics, {stands}"
    span = f"whatever unjudged documents turn out to be, it lies between {low:.4f} and {high:.4f}"
    open_words = {
        None: ", as judged; what unjudged documents could do to it is not known.",
        True: f", as judged; {span}.",
        False: "." if equal(low, high) else f"; {span}.",
    }
    why += open_words[could_turn]
    answer, decide = FAIL if fails else PASS, ""
    if settled and could_turn is not False:
        answer, why = UNDECIDED, f"{TURNED[could_turn]}: {why}"
    if answer != PASS and isinstance(measure, Judged) and condition.relation in ("<", "<="):
        assert condition.limit is not None
        lacking = (condition.limit - value) * len(scores.query_ids) * (measure.cutoff or 1)
        more = max(1, math.ceil(lacking - 1e-9))
        decide = f"About {more:,} more judgments among its first {measure.cutoff} documents would pass it."
    elif answer != PASS and could_turn:
        decide = _unjudged(evidence, [run], measure)
    return Outcome(
        str(condition), run, None, answer, why, decide,
        value=value, low=plain(low), high=plain(high), could_turn=could_turn,
    )  # fmt: skip


def _unjudged(evidence: Evidence | None, runs: Sequence[str], measure: Measure) -> str:
    """How many documents of these runs are unjudged, down to the measure's depth; nothing where that is not known."""
    if evidence is None or not set(runs) <= set(evidence.names):
        return ""
    count = evidence.unjudged_documents(measure, [evidence.names.index(run) for run in runs])
    if not count:
        return ""
    among = f"the first {measure.cutoff} documents" if measure.cutoff else "the documents"
    are = f"{count:,} {'is' if count == 1 else 'are'} unjudged"
    return f"Of {among} of {' and '.join(runs)}, {are}: rankbounds judge-next says which of them to judge first."


class HeldChange:
    """A run held against the baseline by a test over topics."""

    def __init__(self, condition: Condition, comparison: Comparison, run: str, baseline: str, *, settled: bool) -> None:
        self.condition, self.comparison, self.run, self.baseline = condition, comparison, run, baseline
        self.settled = settled
        self.margin = condition.limit or 0.0
        self.worse = condition.relation == "worse"  # is it about losses alone?
        self.measure = comparison.measure(condition.measure)
        settings = comparison.settings
        self.alpha = float(settings["alpha"])
        # One side of the test is taken; equivalence is two sides of the t test.
        self.test: str = "t" if settings["test"] == TOST else settings["test"]
        self._place = comparison.measures.index(self.measure)
        self._pair = [run_number(comparison.runs, name) for name in (run, baseline)]
        values = comparison.scores.value[self._pair, :, self._place]
        # The change on every topic, where more is better; its mean is NaN where some are infinite in either direction.
        self.gain: Floats = merit(differences(values[0], values[1]), self.measure)
        self.change = float(mean_difference(values[0], values[1]))
        # By how much the run is better; where changes have no mean, on how many more topics.
        better_by = float(merit(np.array(self.change), self.measure))
        self.lead = float(np.sign(self.gain).sum()) if math.isnan(better_by) else better_by
        # How far the mean change is from what is not accepted; negative beyond it.
        self.room = self.margin + self.lead if self.worse else self.margin - abs(self.lead)
        row = comparison.row(self.measure, (run, baseline))
        self.p_of_table = row["p_value"]
        self.bounds = row["certain_low"], row["certain_high"]  # over all judgments; NaN where they are not known
        self.p_fail, self.p_pass = self._p_values()

    def _p_values(self) -> tuple[float, float]:
        """Of the test that fails the run, and of the one that passes it."""
        if self.margin and not TESTS[self.test].of_mean and np.isfinite(self.gain).all():
            raise UsageError(
                f'The gate "{self.condition}" is about the mean, and the {self.test} test is not: it goes by signs and '
                "ranks. With a margin, take the randomization or the t test."
            )
        settings = self.comparison.settings
        resampling = Resampling(settings["resamples"], settings["seed"])
        how = self.test, resampling, self.measure
        fail = p_values(self.gain, self.test, "less" if self.worse else "two-sided", resampling, self.measure)
        return float(fail[0]), float(p_of_margin(self.gain, self.margin, *how, losses_only=self.worse)[0])

    def outcome(self) -> Outcome:
        """Pass where the margin is ruled out, fail where a loss is shown, else undecided."""
        lost = self.lead < 0 if self.worse else self.lead != 0
        if not self.gain.any() or (self.p_pass < self.alpha and self.room > 0):
            answer = PASS
        else:
            answer = FAIL if self.p_fail < self.alpha and lost else UNDECIDED
        could_turn = self._could_turn(answer)
        why, decide = self._why(answer, could_turn), []
        if answer == UNDECIDED:
            decide.append(self._headroom() or self._topics_needed())
        elif self.settled and could_turn is not False:
            answer, why = UNDECIDED, f"{TURNED[could_turn]}: {why}"
        low, high = self.bounds
        if answer == UNDECIDED and not (decide and equal(low, high)):
            decide.append(_unjudged(self.comparison.evidence, [self.baseline, self.run], self.measure))
        return Outcome(
            str(self.condition), self.run, self.baseline, answer, why, " ".join(filter(None, decide)),
            difference=plain(self.change), certain_low=plain(low), certain_high=plain(high),
            p_fail=self.p_fail, p_pass=self.p_pass, could_turn=could_turn,
        )  # fmt: skip

    def _could_turn(self, answer: str) -> bool | None:
        """Could judgments bring the mean change to the other side of what decided? None: not known."""
        low, high = map(np.array, self.bounds)
        least, most = merit_of_range(low, high, self.measure)
        if answer == UNDECIDED or np.isnan(least) or np.isnan(most):
            return None
        if answer == FAIL:
            return bool(most >= 0 and (self.worse or least <= 0))
        loss = least < -self.margin and not equal(least, -self.margin)
        gain = most > self.margin and not equal(most, self.margin)
        return bool(loss or (gain and not self.worse))

    # ---- words ----

    def _why(self, answer: str, could_turn: bool | None) -> str:
        p_fail, p_pass, name = self.p_fail, self.p_pass, compared_words(self.measure)
        pair = f"{self.run} against {self.baseline}"
        lost = "a loss" if self.worse else "a difference"
        shown = f"({'one-sided ' if self.worse else ''}{self.test} test, p = {p_fail:.4f}{self._beside_table()})"
        tests = f"one-sided {self.test} test" if self.worse else f"two one-sided {self.test} tests"
        changed = f"{name} changed by {self.change:+.4f}, {pair}"
        beyond, not_out = f"{self.margin:g} or more", f"is not ruled out ({tests}, p = {p_pass:.4f})"
        if not self.gain.any():
            why = f"{name} is the same on all {self.gain.size} topics, {pair}"
        elif answer == FAIL:
            why = f"{name} {self.condition.relation} by {abs(self.change):.4f}, {pair} {shown}"
            why += f"; {lost} of {beyond} {not_out}" if self.margin else ""
        elif answer == PASS:
            said = f"{lost} of {beyond} is ruled out" if self.margin else "better"
            why = f"{changed}: {said} ({tests}, p = {p_pass:.4f}{self._beside_table(moved=self.margin > 0)})"
        elif self.margin:
            why = f"{changed}: {lost} is not shown {shown}, and one of {beyond} {not_out}"
        elif self.worse:
            why = f"{changed}: a loss is not shown {shown}, nor a gain (one-sided, p = {p_pass:.4f}), and without a "
            why += "margin no loss is accepted"
        else:
            why = f"{changed}: a difference is not shown {shown}, and without a margin none is accepted"
        judged = self._judged(could_turn) if answer != UNDECIDED else ""
        return f"{why}.{judged}{self._carried()}{self._topics() if answer == FAIL else ''}"

    def _carried(self) -> str:
        """That the test knows little of what a new topic brings: most changes are 0, or few topics carry the mean."""
        size, topics = np.sort(np.abs(self.gain))[::-1], self.gain.size
        if not size.any() or not np.isfinite(size).all():
            return ""
        differing = int(np.count_nonzero(size))
        if 2 * differing < topics:
            few = f"Only {differing} of {topics} topics changed"
        else:
            carrying = int(np.searchsorted(np.cumsum(size), size.sum() / 2)) + 1
            if carrying > CARRYING * topics:
                return ""
            few = f"{carrying} of {topics} topics hold{'s' * (carrying == 1)} half of all that changed"
        return f" {few}: of rare large changes on other topics the test knows little, so that its level may not hold."

    def _beside_table(self, *, moved: bool = False) -> str:
        """The p-value of the table, and why it is another one than this, which has one side or is of a margin."""
        settings = self.comparison.settings
        if settings["test"] == TOST or settings["alternative"] != "two-sided" or not (self.worse or moved):
            return ""
        alone = " of this pair alone" if settings["correction"] != "none" else ""
        if moved:
            return f"; the table's p = {self.p_of_table:.4f}{alone} asks for any difference, with two sides"
        return f"; two-sided, as in the table, p = {self.p_of_table:.4f}{alone}"

    def _judged(self, could_turn: bool | None) -> str:
        """What judgments could do to the answer."""
        low, high = self.bounds
        if could_turn is None:
            return " That is as judged: what unjudged documents could do to it is not known."
        span = f"whatever unjudged documents turn out to be, the change lies between {low:+.4f} and {high:+.4f}"
        if could_turn:
            return f" That is as judged: {span}."
        return "" if equal(low, high) else f" No judgment can turn it: {span}."

    def _topics(self) -> str:
        """The topics on which most was lost."""
        order = [topic for topic in self.gain.argsort(kind="stable")[:NAMED_TOPICS].tolist() if self.gain[topic] < 0]
        names = [self.comparison.scores.query_ids[topic] for topic in order]
        moved = "rose" if self.measure.lower_is_better else "fell"
        return f" Topics that {moved} most: {', '.join(names)}." if names else ""

    def _headroom(self) -> str:
        """Why neither test can succeed with these topics; nothing where one can."""
        resamples = self.comparison.settings["resamples"]
        sides = "greater" if self.worse or self.margin else "two-sided"
        must = topics_that_must_differ(self.gain.size, self.test, self.alpha, alternative=sides, resamples=resamples)
        if must is None:
            return ""
        if must == 0:
            return f"With {resamples:,} resamples no p is below {self.alpha:g}: take more of them."
        differing = int(np.count_nonzero(self.gain))
        # With a margin, topics without a change speak for the run too.
        if (self.gain.size if self.margin else differing) >= must:
            return ""
        level = f"for p < {self.alpha:g}{' with one side' if sides == 'greater' else ''}"
        if self.gain.size < must:
            few = f"there are {self.gain.size}, and the test takes at least {must}"
            return f"These topics cannot decide it: {few} {level}."
        first, second = np.array(self._pair)[:, None]
        can = int(can_differ(self.comparison.scores, self._place, first, second, self.comparison.evidence)[0])
        few = f"{differing} of {self.gain.size} differ as judged"
        if can < self.gain.size:
            few = f"{few}, at most {can} can" if can > differing else f"{can} of {self.gain.size} can differ"
        return f"These topics cannot decide it: {few}, and at least {must} must {level}, however large the differences."

    def _topics_needed(self) -> str:
        """How many topics would decide it, were the change to stay as it is."""
        deviation = float(deviation_of(self.gain))
        if not deviation > 0 or not math.isfinite(self.lead) or self.alpha >= 0.5:
            return ""
        if self.room > 0:
            lost = "loss" if self.worse else "difference"
            shown = f"that there is no {lost} of {self.margin:g} or more" if self.margin else "a gain"
        else:
            shown = "a loss" if self.worse else "a difference"
        one_sided = self.worse or self.room > 0
        effect = np.array([(self.room if self.room > 0 else abs(self.lead)) / deviation])
        needed = int(topics_for_effects(effect, 2 * self.alpha if one_sided else self.alpha, POWER)[0])
        if not needed:
            return "No realistic number of topics decides so small a change."
        if needed <= self.gain.size:
            return "More topics like these would decide it."
        return (
            f"If the change stays what it is, about {needed:,} topics like these show {shown}, {POWER:.0%} of the time "
            f"({'one-sided ' if one_sided else ''}t test)."
        )
