"""What a comparison says of each pair in words: the numbers that go into its sentences, and which sentences hold."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.comparison import testing, wording
from rankbounds.comparison.compared import can_differ, only_unretrieved_left
from rankbounds.comparison.pairs import Pairs
from rankbounds.comparison.power import detectable_differences, must_differ, sampled, topics_needed
from rankbounds.evaluation.score_differences import equal, tolerant_difference
from rankbounds.evaluation.score_table import UNJUDGED
from rankbounds.probability.effects import is_plain_sum
from rankbounds.stats.equivalence import topics_for_margin
from rankbounds.stats.significance import too_few

if TYPE_CHECKING:
    from rankbounds.comparison.compared import Compared
    from rankbounds.judging.next.plan import SettlingPlan

CARRYING = 0.1
"""Where so small a share of the topics holds half of all that differs, they carry the mean."""


class PairWords:
    """The sentences of a comparison, with axes of measures and pairs."""

    def __init__(self, comparison: Compared) -> None:
        self.comparison = comparison
        self._must_differ = must_differ(comparison.settings)

    def sentences(self, at: int, a: int, b: int, *, open_alone: bool = False) -> list[str]:
        comparison, pairs = self.comparison, self.comparison.tested
        numbers, codes = (
            {name: column[at] for name, column in Pairs(pairs.first, pairs.second, held).get(a, b).items()}
            for held in (self.numbers, self.choices)
        )
        choices, measure, means = wording.name_templates(codes), comparison.measures[at], comparison.means()[at]
        held = {
            **{name: float(number) for name, number in numbers.items()},
            **{name: int(numbers[name]) for name in wording.WHOLE},
            **self.constants,
            "measure": f"{wording.compared_words(measure)}{comparison.assumed}",
            "a": comparison.runs[a],
            "b": comparison.runs[b],
            "mean_a": means[a],
            "mean_b": means[b],
            "size": abs(numbers["difference"]),
        }
        if comparison.evidence is not None:
            changes = comparison.evidence.lead_changes(measure, a, b)
            choices["lead"], more = wording.lead_sentence(changes, held["difference"])
            held |= more
            if held["certain_low"] <= 0 <= held["certain_high"] and not comparison.strange[[a, b]].any():
                plan = cast("SettlingPlan | None", comparison.evidence.to_judge(measure, (a, b)))
                choices["judge"], more = wording.judge_sentence(
                    plan, foreseen=is_plain_sum(measure) and not comparison.evidence.pair(a, b).unknown
                )
                held |= more
        if open_alone:
            choices |= {"judge": "brief"} if "first_named" in held else {}
            if choices["besides"] == "open" and choices["settle"] != "ids":  # judgments come before topics
                del choices["settle"]
            settled = wording.SETTLED
            choices = {kind: chosen for kind, chosen in choices.items() if chosen not in settled.get(kind, ())}
        return wording.fill_templates(choices, held)

    @cached_property
    def numbers(self) -> dict[str, Floats]:
        comparison, pairs = self.comparison, self.comparison.tested
        known = {**comparison.tested.numbers, **comparison.certain}
        shape = known["difference"].shape
        unknown = np.full(shape, np.nan)
        numbers = {
            **known,
            "detectable": detectable_differences(comparison, wording.POWER),
            "topics_needed": topics_needed(comparison, wording.POWER),
            "missing_a": np.broadcast_to(comparison.missing[pairs.first], shape),
            "missing_b": np.broadcast_to(comparison.missing[pairs.second], shape),
            **dict.fromkeys(("probability", "probability_of_other", "ties_low", "ties_high"), unknown),
            "can_differ": self._can_differ(),
        }
        if comparison.evidence is not None:
            numbers["probability"], numbers["probability_of_other"] = comparison.chances
            low, high = (end.T for end in comparison.evidence.over_ties(comparison.measures))
            numbers["ties_low"] = tolerant_difference(low[:, pairs.first], high[:, pairs.second])
            numbers["ties_high"] = tolerant_difference(high[:, pairs.first], low[:, pairs.second])
        return numbers

    def _only_unretrieved_left(self) -> Flags:
        comparison, first, second = self.comparison, self.comparison.tested.first, self.comparison.tested.second
        runs, given = np.unique([first, second]), (comparison.evidence, comparison.scores)
        judged = [only_unretrieved_left(*given, measure, runs) for measure in comparison.measures]
        return np.stack([of_measure[first] & of_measure[second] for of_measure in judged])

    def _can_differ(self) -> Floats:
        comparison, pairs = self.comparison, self.comparison.tested
        differing = pairs.numbers["differing"]
        most = np.full(differing.shape, float(sampled(comparison.settings)))
        for at in range(len(comparison.measures) if comparison.clusters is None else 0):
            short = np.flatnonzero((differing[at] > 0) & (differing[at] < (self._must_differ or 0)))
            if short.size:
                most[at, short] = can_differ(
                    comparison.scores, at, pairs.first[short], pairs.second[short], comparison.evidence
                )
        return most

    @cached_property
    def choices(self) -> dict[str, Ints]:
        comparison, numbers, settings = self.comparison, self.numbers, self.comparison.settings
        first, second = comparison.tested.first, comparison.tested.second
        margin = settings["margin"] if comparison.of_equivalence else None  # where equivalence is what was tested
        of_equivalence, least = margin is not None, self._must_differ
        difference, deviation, differing = (numbers[name] for name in ("difference", "deviation", "differing"))
        low, high, ties_low, ties_high = (
            numbers[f"{what}_{end}"] for what in ("certain", "ties") for end in ("low", "high")
        )
        has_lists, scores_alone = comparison.evidence is not None, not comparison.has_bounds
        depends_on_others, estimates, by_subtopic = (
            np.array([[fact(measure)] for measure in comparison.measures])
            for fact in (lambda one: not one.list_only, lambda one: one.estimates, lambda one: one.reads_judgments)
        )
        unknown_chances = [[bool(why)] for why in self._why_unknown]
        strange = comparison.strange[first] | comparison.strange[second]
        unpooled_a, unpooled_b = comparison.unpooled[:, first], comparison.unpooled[:, second]
        significant, zero = numbers["p_adjusted"] < settings["alpha"], difference == 0
        same = (numbers["won"] == 0) & (numbers["lost"] == 0)
        means = comparison.means()
        finite, endless = ~np.isnan(deviation), np.isinf(means[:, first]) & np.isinf(means[:, second])
        unknown, nothing_open = np.isnan(low), equal(low, high)
        around_zero = ~unknown & ~nothing_open & (low <= 0) & (high >= 0)
        shown, opposed = comparison.shown, numbers["opposed"] > 0
        # Could judgments undo what is shown: the sign of the difference, or that it is below the margin?
        overturned = (low < 0) & (high > 0) if margin is None else (low <= -margin) | (high >= margin)
        still_open = ~unknown & ~nothing_open & overturned & ~(zero & _is_invisible(low, high))
        # What succeeded could succeed, also where a sampled p-value comes out below the smallest that it estimates.
        never = bool(self.constants["cannot_succeed"])
        enough = same | shown | (least is None) | ((differing >= (least or 0)) & (not never))
        impossible = ~enough & (not never) & (numbers["can_differ"] < (least or 0))
        unretrieved = self._only_unretrieved_left()
        needs_topics = numbers["topics_needed"] > 0

        cases: dict[str, list[tuple[Any, str]]] = {
            "apart": [(np.isnan(difference), "unknown"), (endless & finite, "endless"), (True, "known")],
            "scores": [(True, "both")],
            "interval": [(~np.isnan(numbers["ci_low"]), "known"), (same | ~finite, "none"),
                (too_few(differing, settings["confidence"]), "few"), (deviation == 0, "constant"), (True, "none")],
            "test": [(settings["correction"] != "none", "corrected"), (True, "alone")],
            "noise": [(of_equivalence, "untested"), (same, "same"), (zero, "level"),
                (significant & opposed, "opposed"), (shown, "unlikely"), (True, "likely")],
            "carried": [(~shown | of_equivalence, "none"), (2 * differing < sampled(settings), "few_differ"),
                (numbers["carrying"] <= CARRYING * sampled(settings), "few_carry"), (True, "none")],
            "headroom": [(enough, "none"), (never, "never"),
                (numbers["can_differ"] < (least or 0), "whatever_judged"), (True, "as_judged")],
            "as_judged": [(comparison.equivalent_whatever_judged, "none"), (True, "open")],
            "equivalence": [(np.isnan(numbers["p_equivalent"]), "none"),
                (differing < topics_for_margin(settings["alpha"]), "few"),
                (of_equivalence & significant, "tested_shown"), (of_equivalence, "tested_not_shown"),
                (numbers["p_equivalent"] < settings["alpha"], "shown"), (True, "not_shown")],
            "lacks_a": [(numbers["missing_a"] > 0, "some"), (True, "none")],
            "lacks_b": [(numbers["missing_b"] > 0, "some"), (True, "none")],
            "unpooled_a": [(unpooled_a, "named"), (True, "none")],
            "unpooled_and": [(unpooled_a & unpooled_b, "both"), (True, "none")],
            "unpooled_b": [(unpooled_b, "named"), (True, "none")],
            "probability": [(~around_zero, "none"), (np.array(unknown_chances), "unknown"),
                (unpooled_a | unpooled_b, "not_estimated"), (np.isnan(numbers["probability"]), "none"),
                (True, "estimated")],
            "unbounded": [(estimates, "estimate"), (by_subtopic, "subtopics"), (True, "no_limits")],
            "holes": [(comparison.complete or comparison.asks_no_bounds, "none"),
                (unknown & has_lists, "unknown_for_measure"), (unknown & scores_alone, "table_alone"),
                (unknown & depends_on_others, "needs_judgments"), (unknown, "no_bounds"),
                (nothing_open & unretrieved, "none_retrieved"), (nothing_open, "nothing_open"), (~around_zero, "no"),
                (zero & _is_invisible(low, high), "unseen"), (zero, "moves"), ((low >= 0) | (high <= 0), "levels"),
                (numbers["certain"] == 0, "perhaps"), (True, "yes")],
            "ties": [(np.isnan(ties_low) | np.isnan(ties_high), "unknown" if has_lists else "none"),
                (equal(ties_low, ties_high), "no_ties"), ((ties_low > 0) | (ties_high < 0), "no"),
                (zero & _is_invisible(ties_low, ties_high), "unseen"), (zero, "moves"),
                ((ties_low >= 0) | (ties_high <= 0), "levels"), (True, "yes")],
            "found": [(np.isinf(numbers["detectable"]), "none"), (True, "some")],
            "besides": [(still_open, "open"), (True, "none")],
            "alone": [(settings["correction"] != "none", "corrected"), (True, "none")],
            "settle": [(~finite, "none"), (still_open & strange, "ids"), (shown & still_open, "judgments"),
                (shown | impossible, "none"), (same & (not of_equivalence), "same"), (deviation == 0, "constant"),
                (of_equivalence & needs_topics, "equivalence"), (of_equivalence, "equivalence_never"), (zero, "found"),
                (~needs_topics, "never"), (True, "topics")],
            "elsewhere": [(unretrieved, "not_covered"), (True, "none")],
        }  # fmt: skip
        places_of: dict[str, Ints] = {}
        for kind, several in cases.items():  # the first case that holds
            conditions = [np.broadcast_to(condition, difference.shape) for condition, _ in several]
            places = {name: place for place, name in enumerate(wording.TEMPLATES[kind])}
            places_of[kind] = np.select(conditions, [places[name] for _, name in several]).astype(np.uint8)
        return places_of

    @cached_property
    def _why_unknown(self) -> list[str]:
        comparison, evidence = self.comparison, self.comparison.evidence
        return ["" if evidence is None else evidence.why_unknown(one) for one in comparison.measures]

    @property
    def constants(self) -> dict[str, Any]:
        settings, scores = self.comparison.settings, self.comparison.scores
        clusters = settings["clusters"]
        return {
            "unknown": next(filter(None, self._why_unknown), ""),
            "alpha": f"{settings['alpha']:g}",
            "margin": "" if settings["margin"] is None else f"{settings['margin']:g}",
            "must_differ": self._must_differ,
            "for_margin": topics_for_margin(settings["alpha"]),
            "cannot_succeed": testing.cannot_succeed(settings),
            "topics": scores.value.shape[1],
            "sampled": sampled(settings),
            "units": "clusters" if clusters else "topics",
            "clustered": f" in {clusters} clusters" if clusters else "",
            "everywhere": "in every cluster" if clusters else "on every topic",
            "confidence": settings["confidence"],
            "power": wording.POWER,
            "which": UNJUDGED[scores.open],
            "test_used": testing.test_names(settings)[0],
        }


def _is_invisible(low: Floats, high: Floats) -> Flags:
    return np.maximum(np.abs(low), np.abs(high)) < wording.SHOWN
