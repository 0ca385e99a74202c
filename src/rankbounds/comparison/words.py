"""What a comparison says in words: the numbers that go into its sentences, and which sentences hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.comparison import wording
from rankbounds.comparison.headroom import can_differ, topics_that_must_differ
from rankbounds.comparison.tables import has_bounds
from rankbounds.comparison.unretrieved import left_open
from rankbounds.evaluation.score_differences import equal, limits_of_differences, merit_of_range
from rankbounds.probability.differences import limit_certainty
from rankbounds.probability.effects import is_plain_sum
from rankbounds.stats.corrections import CORRECTIONS
from rankbounds.stats.equivalence import TOST
from rankbounds.stats.power import minimum_detectable_effect, topics_for_effects, topics_for_equivalence

if TYPE_CHECKING:
    from rankbounds.comparison.result import Comparison


def sentences(comparison: Comparison, at: int, place: int, *, is_turned: bool) -> list[str]:
    """The verdict on one pair by one measure, by their numbers; ``is_turned``: the second run minus the first."""
    numbers: dict[str, Any] = {name: float(column[at, place]) for name, column in comparison.word_numbers.items()}
    a, b = int(comparison.first[place]), int(comparison.second[place])
    choices = wording.chosen({kind: codes[at, place] for kind, codes in comparison.word_choices.items()})
    if is_turned:
        numbers, choices, a, b = wording.turned(numbers), wording.turned(choices), b, a
    means = comparison.means()[at]
    chosen = comparison.measures[at]
    whole = {name: int(numbers[name]) for name in wording.WHOLE}
    held = numbers | whole | comparison.word_constants | {
        "measure": wording.compared_words(chosen),
        "a": comparison.runs[a],
        "b": comparison.runs[b],
        "mean_a": means[a],
        "mean_b": means[b],
        "size": abs(numbers["difference"]),
    }  # fmt: skip
    if comparison.evidence is not None:
        choices["lead"], more = wording.lead_sentence(
            comparison.evidence.lead_changes(chosen, a, b), numbers["difference"]
        )
        held |= more
        if numbers["certain_low"] <= 0 <= numbers["certain_high"]:
            choices["judge"], more = wording.judge_sentence(
                comparison.evidence.to_judge(chosen, a, b), adds_up=is_plain_sum(chosen)
            )
            held |= more
    return wording.filled(choices, held)


def word_numbers(comparison: Comparison) -> dict[str, Floats]:
    """What goes into the sentences, with an axis of measures and one of pairs; NaN where something is not known."""
    shape = comparison.numbers["difference"].shape
    unknown = np.full(shape, np.nan)
    needed = _topics_needed(comparison)
    least = _must_differ(comparison) or 0  # with fewer, the test that was used shows nothing
    found = {
        **comparison.numbers,
        "detectable": _detectable(comparison),
        "topics_needed": np.where(needed > 0, np.maximum(needed, least), 0.0),
        "missing_a": np.broadcast_to(comparison.missing[comparison.first], shape),
        "missing_b": np.broadcast_to(comparison.missing[comparison.second], shape),
        "probability": unknown,
        "probability_of_other": unknown,
        "ties_low": unknown,
        "ties_high": unknown,
        **_elsewhere(comparison),
        "differing": comparison.numbers["won"] + comparison.numbers["lost"],
        "can_differ": _can_differ(comparison),
    }
    if comparison.evidence is not None:
        certain = (comparison.numbers["certain_low"], comparison.numbers["certain_high"], comparison.measures)
        low, high = np.stack([merit_of_range(*ends) for ends in zip(*certain, strict=True)], axis=1)
        found["probability"] = limit_certainty(comparison.probability_a_better, high)
        found["probability_of_other"] = limit_certainty(comparison.probability_b_better, -low)
        low, high = (ends.T for ends in comparison.evidence.over_ties(comparison.measures))
        sides = [end[:, side] for side in (comparison.first, comparison.second) for end in (low, high)]
        found["ties_low"], found["ties_high"] = wording.ties_apart(*sides)
    return found


def _topics_needed(comparison: Comparison) -> Ints:
    """How many topics would show a difference of this size, or that there is none of the margin; 0: too many."""
    settings = comparison.settings
    if settings["test"] != TOST:
        return topics_for_effects(comparison.numbers["effect"], settings["alpha"], wording.POWER)
    difference, deviation = comparison.numbers["difference"], comparison.numbers["deviation"]
    return topics_for_equivalence(difference, deviation, settings["margin"], settings["alpha"], wording.POWER)


def _detectable(comparison: Comparison) -> Floats:
    """The true difference that a t test mostly finds; infinite where that is more than the measure's can be."""
    scores, alpha = comparison.scores, comparison.settings["alpha"]
    most = [limits_of_differences(measure, scores.value[..., at])[1] for at, measure in enumerate(scores.measures)]
    effect = minimum_detectable_effect(1.0, scores.value.shape[1], alpha, wording.POWER)
    wanted = effect * comparison.numbers["deviation"]
    return np.where(wanted > np.array(most)[:, None], np.inf, wanted)


def _elsewhere(comparison: Comparison) -> dict[str, Floats]:
    """What relevant documents that nobody retrieved leave open of pairs whose documents are all judged."""
    certain = zip(comparison.numbers["certain_low"], comparison.numbers["certain_high"], strict=True)
    left = [
        left_open(comparison.evidence, comparison.scores, measure, comparison.first, comparison.second, bounds)
        for measure, bounds in zip(comparison.measures, certain, strict=True)
    ]
    low, high, endless = (np.stack(parts) for parts in zip(*left, strict=True))
    depth = np.array([np.nan if measure.cutoff is None else measure.cutoff for measure in comparison.measures])
    return {
        "depth": np.broadcast_to(depth[:, None], low.shape),
        "elsewhere_low": low,
        "elsewhere_high": high,
        "elsewhere_least": np.where(comparison.numbers["difference"] > 0, low, high),
        "elsewhere_most": np.where(comparison.numbers["difference"] > 0, high, low),
        "elsewhere_endless": endless.astype(np.float64),
    }


def word_choices(comparison: Comparison) -> dict[str, Ints]:
    """For every measure and pair, which template of each kind holds, by its place in ``wording.TEMPLATES``."""
    numbers, settings = comparison.word_numbers, comparison.settings
    margin = settings["margin"] if settings["test"] == TOST else None  # where equivalence is what was tested
    of_equivalence = margin is not None
    must_differ = _must_differ(comparison)
    difference, deviation, differing = (numbers[name] for name in ("difference", "deviation", "differing"))
    low, high, ties_low, ties_high = (
        numbers[f"{what}_{end}"] for what in ("certain", "ties") for end in ("low", "high")
    )
    has_lists, scores_alone = comparison.evidence is not None, not has_bounds(comparison)
    depends_on_others, estimates, by_subtopic = (
        np.array([[fact(measure)] for measure in comparison.measures])
        for fact in (lambda one: not one.list_only, lambda one: one.estimates, lambda one: one.reads_judgments)
    )
    unpooled_a, unpooled_b = (comparison.unpooled[:, side] for side in (comparison.first, comparison.second))
    significant, zero, same = numbers["p_adjusted"] < settings["alpha"], difference == 0, differing == 0
    finite, endless = ~np.isnan(deviation), np.isinf(comparison.means()[:, comparison.first])
    unknown, nothing_open = np.isnan(low), equal(low, high)
    around_zero = ~unknown & ~nothing_open & (low <= 0) & (high >= 0)
    shown = significant & (of_equivalence | ~zero)
    # Could judgments undo what is shown: the sign of the difference, or that it is below the margin?
    overturned = (low < 0) & (high > 0) if margin is None else (low <= -margin) | (high >= margin)
    still_open = ~unknown & ~nothing_open & overturned & ~(zero & _unseen(low, high))
    # What succeeded could succeed, also where a p-value is sampled and comes out below the smallest that it estimates.
    enough = same | shown | (must_differ is None) | ((differing >= (must_differ or 0)) & (must_differ != 0))
    elsewhere = _elsewhere_cases(numbers)
    says_elsewhere = ~elsewhere[0][0]
    needs_topics = numbers["topics_needed"] > 0

    cases: dict[str, list[tuple[Any, str]]] = {
        "apart": [(np.isnan(difference), "unknown"), (endless & finite, "endless"), (True, "known")],
        "scores": [(True, "both")],
        "interval": [(~np.isnan(numbers["ci_low"]), "known"), (deviation == 0, "constant"), (True, "none")],
        "test": [(settings["correction"] != "none", "corrected"), (True, "alone")],
        "noise": [(of_equivalence, "untested"), (same, "same"), (zero, "level"), (significant, "unlikely"),
            (True, "likely")],
        "headroom": [(enough, "none"), (must_differ == 0, "too_few_resamples"),
            (numbers["can_differ"] < (must_differ or 0), "whatever_judged"), (True, "as_judged")],
        "equivalence": [(of_equivalence & significant, "tested_shown"), (of_equivalence, "tested_not_shown"),
            (np.isnan(numbers["p_equivalent"]), "none"), (numbers["p_equivalent"] < settings["alpha"], "shown"),
            (True, "not_shown")],
        "lacks_a": [(numbers["missing_a"] > 0, "some"), (True, "none")],
        "lacks_b": [(numbers["missing_b"] > 0, "some"), (True, "none")],
        "unpooled_a": [(unpooled_a, "named"), (True, "none")],
        "unpooled_and": [(unpooled_a & unpooled_b, "both"), (True, "none")],
        "unpooled_b": [(unpooled_b, "named"), (True, "none")],
        "probability": [(~around_zero, "none"), (unpooled_a | unpooled_b, "not_estimated"),
            (np.isnan(numbers["probability"]), "none"), (True, "estimated")],
        "unbounded": [(estimates, "estimate"), (by_subtopic, "subtopics"), (True, "no_limits")],
        "holes": [(unknown & has_lists, "unknown_for_measure"), (unknown & scores_alone, "table_alone"),
            (unknown & depends_on_others, "needs_judgments"), (unknown, "no_bounds"),
            (nothing_open & says_elsewhere, "none_retrieved"), (nothing_open, "nothing_open"), (~around_zero, "no"),
            (zero & _unseen(low, high), "unseen"), (zero, "moves"), ((low >= 0) | (high <= 0), "levels"),
            (numbers["certain"] == 0, "perhaps"), (True, "yes")],
        "ties": [(np.isnan(ties_low) | np.isnan(ties_high), "unknown" if has_lists else "none"),
            (equal(ties_low, ties_high), "no_ties"), ((ties_low > 0) | (ties_high < 0), "no"),
            (zero & _unseen(ties_low, ties_high), "unseen"), (zero, "moves"),
            ((ties_low >= 0) | (ties_high <= 0), "levels"), (True, "yes")],
        "found": [(np.isinf(numbers["detectable"]), "none"), (True, "some")],
        "besides": [(still_open, "open"), (True, "none")],
        "settle": [(~finite, "none"), (shown & still_open, "judgments"), (shown, "none"),
            (same & (not of_equivalence), "same"), (deviation == 0, "constant"),
            (of_equivalence & needs_topics, "equivalence"), (of_equivalence, "equivalence_never"), (zero, "found"),
            (~needs_topics, "never"), (True, "topics")],
        "reading": [(says_elsewhere & ~np.isnan(numbers["depth"]), "to_depth"), (True, "all")],
        "elsewhere": [*elsewhere, (True, "turns")],
    }  # fmt: skip
    chosen: dict[str, Ints] = {}
    for kind, several in cases.items():  # the first case that holds
        conditions = [np.broadcast_to(condition, difference.shape) for condition, _ in several]
        places = {name: place for place, name in enumerate(wording.TEMPLATES[kind])}
        chosen[kind] = np.select(conditions, [places[name] for _, name in several]).astype(np.uint8)
    return chosen


def _unseen(low: Floats, high: Floats) -> Flags:
    """Is all that lies between these nothing, in numbers with four digits?"""
    return np.maximum(np.abs(low), np.abs(high)) < wording.SHOWN


def _elsewhere_cases(numbers: Mapping[str, Floats]) -> list[tuple[Flags, str]]:
    """What is said of pairs whose documents are all judged: what relevant documents nobody retrieved could still do."""
    difference, low, high = (numbers[name] for name in ("difference", "elsewhere_low", "elsewhere_high"))
    shrinks, grows = (np.abs(numbers[f"elsewhere_{end}"] - difference) >= wording.SHOWN for end in ("least", "most"))
    kept = (low > 0) | (high < 0)
    return [
        (np.isnan(low) | ~(shrinks | grows), "none"),
        (numbers["elsewhere_endless"] > 0, "endless"),
        (difference == 0, "moves"),
        (kept & shrinks, "shrinks"),
        (kept, "grows"),
    ]


def word_constants(comparison: Comparison) -> dict[str, Any]:
    """What goes into every pair's sentences."""
    used, alone = wording.test_names(comparison.settings, len(comparison.runs))
    margin = comparison.settings["margin"]
    return {
        "alpha": f"{comparison.settings['alpha']:g}",
        "margin": "" if margin is None else f"{margin:g}",
        "must_differ": _must_differ(comparison),
        "resamples": f"{comparison.settings['resamples']:,}",
        "topics": comparison.scores.value.shape[1],
        "confidence": comparison.settings["confidence"],
        "power": wording.POWER,
        "which": wording.UNJUDGED[comparison.scores.open],
        "test_used": used,
        "test_of_pair": alone,
    }


def _must_differ(comparison: Comparison) -> int | None:
    """On how many topics a pair must differ for p < alpha; 0: none are enough. None: nothing is known of the test.

    A corrected p-value is never below that of the pair alone, unless shuffles of all runs correct it.
    """
    settings = comparison.settings
    if settings["test"] == TOST or CORRECTIONS[settings["correction"]].by_shuffles:
        return None
    return topics_that_must_differ(
        settings["topics"],
        settings["test"],
        settings["alpha"],
        alternative=settings["alternative"],
        resamples=settings["resamples"],
    )


def _can_differ(comparison: Comparison) -> Floats:
    """On how many topics each pair can differ at the most; looked up where too few do as judged, else all."""
    differing = comparison.numbers["won"] + comparison.numbers["lost"]
    found = np.full(differing.shape, float(comparison.scores.value.shape[1]))
    for at in range(len(comparison.measures)):
        short = np.flatnonzero((differing[at] > 0) & (differing[at] < (_must_differ(comparison) or 0)))
        if short.size:
            found[at, short] = can_differ(
                comparison.scores, at, comparison.first[short], comparison.second[short], comparison.evidence
            )
    return found
