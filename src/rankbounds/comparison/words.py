"""What a comparison says in words: the numbers that go into its sentences, and which sentences hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.comparison import wording
from rankbounds.comparison.headroom import can_differ, topics_that_must_differ
from rankbounds.comparison.tables import has_bounds
from rankbounds.comparison.unretrieved import left_open
from rankbounds.evaluation.score_differences import limits_of_differences, merit_of_range
from rankbounds.probability.differences import limit_certainty
from rankbounds.probability.effects import is_plain_sum
from rankbounds.stats.corrections import BY_SHUFFLES
from rankbounds.stats.equivalence import TOST
from rankbounds.stats.power import minimum_detectable_effect, topics_for_effects, topics_for_equivalence

if TYPE_CHECKING:
    from rankbounds.comparison.result import Comparison
    from rankbounds.measures import Measure


def sentences(comparison: Comparison, at: int, place: int, *, is_turned: bool) -> list[str]:
    """The verdict on one pair by one measure, by their numbers; ``is_turned``: the second run less the first."""
    numbers: dict[str, Any] = {name: float(column[at, place]) for name, column in comparison.word_numbers.items()}
    a, b = int(comparison.first[place]), int(comparison.second[place])
    choices = {name: int(codes[at, place]) for name, codes in comparison.word_choices.items()}
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
    shape = comparison.columns["difference"].shape
    unknown = np.full(shape, np.nan)
    needed = _topics_needed(comparison)
    least = _must_differ(comparison) or 0  # with fewer, the test that was used shows nothing
    found = {
        **comparison.columns,
        "detectable": _detectable(comparison),
        "topics_needed": np.where(needed > 0, np.maximum(needed, least), 0.0),
        "missing_a": np.broadcast_to(comparison.missing[comparison.first], shape),
        "missing_b": np.broadcast_to(comparison.missing[comparison.second], shape),
        "probability": unknown,
        "probability_of_other": unknown,
        "ties_low": unknown,
        "ties_high": unknown,
        **_elsewhere(comparison),
        "differing": comparison.columns["won"] + comparison.columns["lost"],
        "can_differ": _can_differ(comparison),
    }
    if comparison.evidence is not None:
        certain = (comparison.columns["certain_low"], comparison.columns["certain_high"], comparison.measures)
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
        return topics_for_effects(comparison.columns["effect"], settings["alpha"], wording.POWER)
    difference, deviation = comparison.columns["difference"], comparison.columns["deviation"]
    return topics_for_equivalence(difference, deviation, settings["margin"], settings["alpha"], wording.POWER)


def _detectable(comparison: Comparison) -> Floats:
    """The true difference that a t test mostly finds; infinite where that is more than the measure's can be."""
    scores, alpha = comparison.scores, comparison.settings["alpha"]
    most = [limits_of_differences(measure, scores.value[..., at])[1] for at, measure in enumerate(scores.measures)]
    effect = minimum_detectable_effect(1.0, scores.value.shape[1], alpha, wording.POWER)
    wanted = effect * comparison.columns["deviation"]
    return np.where(wanted > np.array(most)[:, None], np.inf, wanted)


def _elsewhere(comparison: Comparison) -> dict[str, Floats]:
    """What relevant documents that nobody retrieved leave open of pairs whose documents are all judged."""
    certain = zip(comparison.columns["certain_low"], comparison.columns["certain_high"], strict=True)
    left = [
        left_open(comparison.evidence, comparison.scores, measure, comparison.first, comparison.second, bounds)
        for measure, bounds in zip(comparison.measures, certain, strict=True)
    ]
    low, high = (
        np.stack([of_measure.low for of_measure in left]),
        np.stack([of_measure.high for of_measure in left]),
    )
    depth = np.array([np.nan if measure.cutoff is None else measure.cutoff for measure in comparison.measures])
    return {
        "depth": np.broadcast_to(depth[:, None], low.shape),
        "elsewhere_low": low,
        "elsewhere_high": high,
        "elsewhere_least": np.where(comparison.columns["difference"] > 0, low, high),
        "elsewhere_most": np.where(comparison.columns["difference"] > 0, high, low),
        "elsewhere_endless": np.stack([of_measure.endless for of_measure in left]).astype(np.float64),
    }


def word_choices(comparison: Comparison) -> dict[str, Ints]:
    """Which sentences hold, with an axis of measures and one of pairs."""
    unpooled = comparison.unpooled
    return wording.choose(
        comparison.word_numbers,
        alpha=comparison.settings["alpha"],
        corrected=comparison.settings["correction"] != "none",
        equivalence=comparison.settings["margin"] if comparison.settings["test"] == TOST else None,
        must_differ=_must_differ(comparison),
        depends_on_others=np.array([not measure.list_only for measure in comparison.measures]),
        unbounded=np.array([_why_unbounded(measure) for measure in comparison.measures], dtype=np.int64),
        unpooled=(unpooled[:, comparison.first], unpooled[:, comparison.second]),
        endless=np.isinf(comparison.means()[:, comparison.first]),
        finite=~np.isnan(comparison.columns["deviation"]),
        lists_at_hand=comparison.evidence is not None,
        scores_alone=not has_bounds(comparison),
    )


def _why_unbounded(measure: Measure) -> int:
    """Where no bounds of differences are known, which of the reasons in words it is."""
    return 0 if measure.estimates else 1 if measure.reads_judgments else 2


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
    if settings["test"] == TOST or settings["correction"] in BY_SHUFFLES:
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
    differing = comparison.columns["won"] + comparison.columns["lost"]
    found = np.full(differing.shape, float(comparison.scores.value.shape[1]))
    for at in range(len(comparison.measures)):
        short = np.flatnonzero((differing[at] > 0) & (differing[at] < (_must_differ(comparison) or 0)))
        if short.size:
            found[at, short] = can_differ(
                comparison.scores, at, comparison.first[short], comparison.second[short], comparison.evidence
            )
    return found
