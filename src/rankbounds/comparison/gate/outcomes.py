"""One condition of a gate and one run: the answer, its numbers and reason, and what would decide it.

The module ``gate`` defines the answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.comparison.compared import Compared, can_differ
from rankbounds.comparison.pairs import carrying, leads, run_number, separated
from rankbounds.comparison.verdict import CARRYING
from rankbounds.comparison.wording import POWER, TOO_FEW_FOR_MARGIN, compared_words, measure_words
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import (
    differences,
    equal,
    limits_of,
    limits_of_differences,
    merit,
    merit_of_range,
)
from rankbounds.evaluation.scores import Scores
from rankbounds.measures.counts import Judged
from rankbounds.stats.equivalence import BETTING, least_topics, p_of_bounded_margin, p_of_margin, topics_for_margin
from rankbounds.stats.power import topics_for_effects, topics_that_must_differ
from rankbounds.stats.significance import TESTS, Resampling, deviation_of
from rankbounds.tables import p_words, plain, signed

if TYPE_CHECKING:
    from rankbounds.comparison.evidence import Evidence
    from rankbounds.comparison.gate.gate import Condition
    from rankbounds.measures import Measure

PASS, FAIL, UNDECIDED = "pass", "fail", "undecided"
SAID = {PASS: "passed", FAIL: "failed", UNDECIDED: "undecided"}
NOT_BETTER = "not better"
RELATIONS = {
    "worse": {PASS: "is not worse than", FAIL: "is worse than", UNDECIDED: "may be worse than"},
    NOT_BETTER: {PASS: "is better than", FAIL: "is not better than", UNDECIDED: "is not shown to be better than"},
    "different": {PASS: "does not differ from", FAIL: "differs from", UNDECIDED: "may differ from"},
}
SIDES = {"<": "below", "<=": "at most", ">": "above", ">=": "at least"}
"""How a score can stand to a number, and the word for each."""
SAME_TEST = "test"
"""The margin is tested by the same test as differences, unless the caller names ``BETTING``."""
NAMED_TOPICS = 5


@dataclass(frozen=True)
class Outcome:
    """The answer of a gate for one condition and one run.

    Attributes
    ----------
    run, baseline : str
        The run checked, and the run it is compared with; None for a condition on a value.
    answer : {"pass", "fail", "undecided"}
        As judged.
    value, low, high : float
        The run's mean and its bounds, for a condition on a value; else None.
    difference, certain_low, certain_high : float
        Run minus baseline, and its bounds over judgments, for a change; else None.
    p_fail : float
        For a change: the pair's corrected p-value in the comparison's table. Below alpha, a loss or a gain is shown.
    p_pass : float
        For a change with a margin: the corrected p-value of the test that rules the margin out; else None.
    could_turn : bool
        Whether other judgments could reverse the answer; None: unknown, or there is no answer.
    why, decide : str
        The reason in a sentence, and what would decide an undecided condition.
    brief : str
        What was found, in brief.
    slices : tuple of dict
        For a condition on any slice: each slice's numbers and answer, and how many topics it would need.
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
    brief: str = ""
    slices: tuple[dict[str, Any], ...] = ()

    def line(self) -> str:
        reversible = "; other judgments could reverse it" * bool(self.could_turn)
        return f"{self.answer.upper()}: {self.brief}{reversible}{self.decide and f'. {self.decide}'}"

    def words(self) -> str:
        return f"gate {SAID[self.answer]}: {self.why}{' ' if self.decide else ''}{self.decide}"


def hold_value(condition: Condition, scores: Scores, run: str, evidence: Evidence | None) -> Outcome:
    measure = condition.measure
    condition.check_limit(*limits_of(measure, scores[measure].value))
    scored = scores[measure].run(run)
    mean = scored.mean()
    value, low, high = (float(part.item()) for part in (mean.value, mean.low, mean.high))
    fails, ends = condition.holds(value), (low, high)
    could_turn = None if any(map(math.isnan, ends)) else any(condition.holds(end) != fails for end in ends)
    name = measure_words(str(measure), lower_is_better=measure.lower_is_better)
    stands = f"{'' if fails else 'not '}{SIDES[condition.relation]} {condition.limit:g}"
    brief = f"{name} of {run} is {value:.4f}, {stands}"
    why = f"{name} of {run} is {value:.4f} over these {np.count_nonzero(~np.isnan(scored.value))} topics, {stands}"
    span = f"however the unjudged documents are judged, it lies between {low:.4f} and {high:.4f}"
    open_words = {
        None: "; it is not known how far unjudged documents could move it.",
        True: f"; more judgments could change this: {span}.",
        False: "." if equal(low, high) else f"; {span}.",
    }
    why += open_words[could_turn]
    answer, decide = FAIL if fails else PASS, ""
    if answer != PASS and isinstance(measure, Judged) and condition.relation in ("<", "<="):
        assert condition.limit is not None
        lacking = (condition.limit - value) * len(scores.query_ids) * (measure.cutoff or 1)
        more = max(1, math.ceil(lacking - 1e-9))
        decide = f"About {more:,} more judgments among its first {measure.cutoff} documents would pass it."
    elif answer != PASS and could_turn:
        decide = _unjudged(evidence, [run], measure)
    return Outcome(
        str(condition), run, None, answer, why, decide,
        value=value, low=plain(low), high=plain(high), could_turn=could_turn, brief=brief,
    )  # fmt: skip


def _unjudged(evidence: Evidence | None, runs: Sequence[str], measure: Measure) -> str:
    if evidence is None or evidence.assumptions.bounds == "none" or not set(runs) <= set(evidence.names):
        return ""
    count = evidence.unjudged_documents(measure, [evidence.names.index(run) for run in runs])
    if not count:
        return ""
    among = f"the first {measure.cutoff} documents" if measure.cutoff else "the documents"
    are = f"{count:,} {'is' if count == 1 else 'are'} unjudged"
    return f"Of {among} of {' and '.join(runs)}, {are}: rankbounds judge-next lists the ones to judge first."


class HeldChange:
    """The test of a run's change from the baseline over topics."""

    def __init__(
        self, condition: Condition, comparison: Compared, run: str, baseline: str, margin_test: str = SAME_TEST
    ) -> None:
        self.condition, self.comparison, self.run, self.baseline = condition, comparison, run, baseline
        self.margin = condition.limit or 0.0
        self.worse = condition.relation != "different"  # is it about losses alone?
        self.measure = comparison.measure(condition.measure)
        settings = comparison.settings
        self.alpha, self.test, self.alternative = float(settings["alpha"]), settings["test"], settings["alternative"]
        self.bounded = margin_test if self.margin and margin_test != SAME_TEST else None
        self._place = comparison.measures.index(self.measure)
        self._pair = [run_number(comparison.runs, name) for name in (run, baseline)]
        values = comparison.scores.value[self._pair, :, self._place]
        # The change on every topic, where more is better.
        self.gain: Floats = merit(differences(values[0], values[1]), self.measure)
        clusters = comparison.clusters
        self.sample = self.gain if clusters is None else clusters.sum_differences(self.gain)
        self.units = "topics" if clusters is None else "clusters"
        # The largest cluster's sum is how far the sample can reach.
        reach = 1.0 if clusters is None else float(clusters.sizes.max() * len(clusters) / self.gain.size)
        least, most = limits_of_differences(self.measure, comparison.scores.value[:, :, self._place])
        condition.check_limit(least, most)
        self._limits = reach * least, reach * most
        self.row = comparison.row(self.measure, (run, baseline))
        self.change = self.row["difference"]  # NaN where some are infinite in either direction
        self.bounds = self.row["certain_low"], self.row["certain_high"]  # over all judgments; NaN: not known
        # By how much the run is better; where changes have no mean, on how many more topics.
        self.lead = float(leads({name: np.array(value) for name, value in self.row.items()}, self.measure))
        numbers = {name: np.array(self.row[name]) for name in ("p_adjusted", "opposed")}
        self.shown = bool(separated(numbers, np.array(self.lead), self.alpha))  # as the table's verdict
        # How far the mean change is from what is not accepted; negative beyond it.
        self.room = self.margin + self.lead if self.worse else self.margin - abs(self.lead)
        self.p_pass = self.p_pass_alone = self._p_of_margin() if self.margin else None

    def _p_of_margin(self) -> float:
        if self.bounded is not None:
            how = self.margin, self._limits
            return float(p_of_bounded_margin(self.sample, *how, losses_only=self.worse)[0])
        if not TESTS[self.test].of_mean and np.isfinite(self.gain).all():
            raise UsageError(
                f'The gate "{self.condition}" is about the mean, but the {self.test} test compares signs and '
                "ranks. With a margin, use the t test or randomization."
            )
        resampling = Resampling(self.comparison.settings["resamples"], self.comparison.settings["seed"])
        tested = self.test, resampling, self.measure
        clusters = self.comparison.clusters
        weights = None if clusters is None else clusters.weights
        return float(p_of_margin(self.sample, self.margin, *tested, losses_only=self.worse, weights=weights)[0])

    def outcome(self) -> Outcome:
        gained = self.shown and self.worse and self.lead > 0
        if self.condition.relation == NOT_BETTER and self._same:
            answer = FAIL
        elif self._same or self._ruled_out or (gained and self.bounded is None):
            answer = PASS
        else:
            answer = FAIL if self.shown and not gained else UNDECIDED
        could_turn = self._could_turn(answer)
        why, decide = self._why(answer, could_turn), []
        if answer == UNDECIDED:
            decide.append(self._headroom() or self._topics_needed())
        low, high = self.bounds
        if answer == UNDECIDED and not (decide and equal(low, high)):
            decide.append(_unjudged(self.comparison.evidence, [self.baseline, self.run], self.measure))
        return Outcome(
            str(self.condition), self.run, self.baseline, answer, why, " ".join(filter(None, decide)),
            difference=plain(self.change), certain_low=plain(low), certain_high=plain(high),
            p_fail=self.row["p_adjusted"], p_pass=self.p_pass, could_turn=could_turn, brief=self._brief(answer),
        )  # fmt: skip

    def p_to_pass(self) -> float:
        gained = self.worse and self.lead > 0 and not self.row["opposed"] and self.bounded is None
        p_margin = self.p_pass_alone if self.p_pass_alone is not None and self.room > 0 else 1.0
        return 0.0 if self._same else min(p_margin, self.row["p_value"] if gained else 1.0)

    def topics_to_pass(self) -> int | None:
        deviation = float(deviation_of(self.sample))
        if not (deviation > 0 and self.room > 0 and self.alpha < 0.5):
            return None
        level = 2 * self.alpha if self.margin else self.alpha
        needed = int(topics_for_effects(np.array([self.room / deviation]), level, POWER)[0])
        return max(needed, topics_for_margin(self.alpha)) if needed else None

    @property
    def _ruled_out(self) -> bool:
        return self.p_pass is not None and self.p_pass < self.alpha and self.room > 0

    @property
    def _same(self) -> bool:
        return not self.gain.any() and self.bounded is None

    def _could_turn(self, answer: str) -> bool | None:
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

    def _brief(self, answer: str) -> str:
        ends = plain(self.row["ci_low"]), plain(self.row["ci_high"])
        within = "" if None in ends else f" [{signed(ends[0])}, {signed(ends[1])}]"
        margin = f" (margin {self.margin:g})" if self.margin else ""
        sides = f"{self.run} {RELATIONS[self.condition.relation][answer]} {self.baseline}"
        return (
            f"{sides} by {compared_words(self.measure)}{self.comparison.assumed}{margin}: {signed(self.change)}{within}"
        )

    def _why(self, answer: str, could_turn: bool | None) -> str:
        name = f"{compared_words(self.measure)}{self.comparison.assumed}"
        judged = self._judged(could_turn) if answer != UNDECIDED else ""
        lost = "a loss" if self.worse else "a difference"
        if self._same:
            same = f"{self.run} and {self.baseline} score the same by {name} on all {self.gain.size} topics"
            more = f"; {lost} of {self.margin:g} or more on others is {self._margin_words(None)}" if self.margin else ""
            return f"{same}{' as judged' * (could_turn is not False)}{more}.{judged}"
        changed = f"{self.run} minus {self.baseline} is {self.change:+.4f}"
        if self.shown:
            better = "better" if self.lead > 0 else "worse"
            changed = f"{self.run} is {better} than {self.baseline} by {abs(self.change):.4f}"
        side = "" if self.alternative == "two-sided" else "one-sided "
        p_change = self._p_words(self.row["p_adjusted"], self.row["p_value"])
        why = f"{changed} in {name} ({side}{self.test} test, {p_change})"
        if self.row["opposed"]:
            why += ", and the test favours the run with the worse mean"
        if not self.shown and not self._ruled_out:
            if self.margin:
                why, lost = f"{why}: {lost} is not shown, and ", "one"
            elif self.worse:
                why += ": neither a loss nor a gain is shown"
                why += ", and without --margin no loss is accepted" * (self.condition.relation == "worse")
            else:
                why += ": no difference is shown, and without --margin none is accepted"
        elif self.margin:
            why += ": " if answer == PASS else "; "
        if self.margin:
            why += f"{lost} of {self.margin:g} or more is {self._margin_words(could_turn)}"
        return f"{why}.{judged}{self._fragility_words()}{self._topics() if answer == FAIL else ''}"

    def _margin_words(self, could_turn: bool | None) -> str:
        differing, needed = int(np.count_nonzero(self.sample)), topics_for_margin(self.alpha)
        if not self.bounded and differing < needed:
            how = {"differing": differing, "sampled": self.sample.size, "units": self.units, "for_margin": needed}
            return f"not ruled out, {TOO_FEW_FOR_MARGIN.format(**how)}"
        test = self.bounded or self.test
        tests = f"one-sided {test} test" if self.worse else f"two one-sided {test} tests"
        ruled_out = f"ruled out{' as judged' * (could_turn is not False)}" if self._ruled_out else "not ruled out"
        return f"{ruled_out} ({tests}, {self._p_words(self.p_pass, self.p_pass_alone)})"

    def _fragility_words(self) -> str:
        sample, size = self.sample, self.sample.size
        if self.bounded or not sample.any() or not np.isfinite(sample).all():
            return ""
        differing, holding = int(np.count_nonzero(sample)), int(carrying(sample))
        if 2 * differing < size:
            few = f"Only {differing} of {size} {self.units} changed"
        elif holding <= CARRYING * size:
            few = f"{holding} of {size} {self.units} account{'s' * (holding == 1)} for half of the total change"
        else:
            return ""
        level = "the test says little about rare, large changes on other topics, so its level may not hold."
        bounded = self.margin and np.isfinite(self._limits).all()
        hint = f" --margin-test {BETTING} allows for them, but needs more topics." if bounded else ""
        return f" {few}: {level}{hint}"

    def _p_words(self, corrected: float | None, alone: float | None) -> str:
        if self.comparison.settings["correction"] == "none":
            return p_words(alone)
        return f"{p_words(corrected)} corrected for {len(self.comparison.runs) - 1} runs, {p_words(alone)} alone"

    def _judged(self, could_turn: bool | None) -> str:
        low, high = self.bounds
        if could_turn is None:
            return "" if self.comparison.asks_no_bounds else " How far unjudged documents could move it is not known."
        span = f"however the unjudged documents are judged, the change lies between {low:+.4f} and {high:+.4f}"
        if could_turn:
            return f" More judgments could change this: {span}."
        return "" if equal(low, high) else f" No judgment can reverse it: {span}."

    def _topics(self) -> str:
        order = [topic for topic in self.gain.argsort(kind="stable")[:NAMED_TOPICS].tolist() if self.gain[topic] < 0]
        names = [self.comparison.scores.query_ids[topic] for topic in order]
        moved = "rose" if self.measure.lower_is_better else "fell"
        return f" Topics that {moved} most: {', '.join(names)}." if names else ""

    def _headroom(self) -> str:
        if self.bounded:
            least = least_topics(self.margin, self._limits, self.alpha)
            lost = "loss" if self.worse else "difference"
            return (
                f"To rule out a {lost} of {self.margin:g}, the {self.bounded} test needs at least {least:,} "
                f"{self.units}, even if nothing changes; there are {self.sample.size}."
            )
        resamples = self.comparison.settings["resamples"]
        sides = "greater" if self.margin else self.alternative
        size = self.sample.size
        must = topics_that_must_differ(size, self.test, self.alpha, alternative=sides, resamples=resamples)
        if must is None:
            return ""
        if must == 0:
            return f"With {resamples:,} resamples no p can be below {self.alpha:g}: use more (--resamples)."
        must = topics_for_margin(self.alpha) if self.margin else must
        differing = int(np.count_nonzero(self.sample))
        if differing >= must:
            return ""
        level = f"for p < {self.alpha:g}{' with one side' if sides != 'two-sided' else ''}"
        if size < must:
            few = f"there are {size}, and the test needs at least {must}"
            return f"These {self.units} cannot decide it: {few} {level}."
        first, second, can = *np.array(self._pair)[:, None], size
        if self.comparison.clusters is None:
            can = int(can_differ(self.comparison.scores, self._place, first, second, self.comparison.evidence)[0])
        few = f"{differing} of {size} differ as judged"
        if can < size:
            few = f"{few}, at most {can} can" if can > differing else f"{can} of {size} can differ"
        must_differ = f"at least {must} must {level}, however large the differences"
        return f"These {self.units} cannot decide it: {few}, and {must_differ}."

    def _topics_needed(self) -> str:
        deviation = float(deviation_of(self.sample))
        if not deviation > 0 or not math.isfinite(self.lead) or self.alpha >= 0.5:
            return ""
        lost = "loss" if self.worse else "difference"
        by_margin = self.margin > 0 and self.room > 0
        one_sided = by_margin or self.alternative != "two-sided"
        if by_margin:
            shown = f"that there is no {lost} of {self.margin:g} or more"
        elif one_sided and (self.lead > 0) != (self.alternative == "greater"):
            return f'The alternative "{self.alternative}" does not ask for a change in this direction: use "two-sided".'
        else:
            shown = "a gain" if self.worse and self.lead > 0 else f"a {lost}"
        effect = np.array([(self.room if by_margin else abs(self.lead)) / deviation])
        needed = int(topics_for_effects(effect, 2 * self.alpha if one_sided else self.alpha, POWER)[0])
        if not needed:
            return f"No realistic number of {self.units} would decide a change this small."
        if needed <= self.sample.size:
            return f"More {self.units} like these would decide it."
        return (
            f"If the change stays the same, about {needed:,} {self.units} like these would show {shown} {POWER:.0%} of "
            f"the time ({'one-sided ' if one_sided else ''}t test)."
        )
