"""The verdict on two runs in plain words: is it noise, could holes or ties overturn it, what would settle it?

Every sentence stands here once, as a template with named numbers. ``choose`` decides for all measures and pairs at once
which templates hold; a paragraph is filled in for one pair. The report's page gets the same templates, choices and
numbers, and fills them in by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.score_differences import TOLERANCE, equal
from rankbounds.evaluation.score_table import UNJUDGED as UNJUDGED
from rankbounds.probability.retrieved_documents import POOLED
from rankbounds.stats.corrections import BY_SHUFFLES
from rankbounds.stats.equivalence import TOST
from rankbounds.stats.significance import EXACT_TOPICS, RESAMPLING_TESTS

if TYPE_CHECKING:
    from rankbounds.judging.next.plan import SettlingPlan
    from rankbounds.measures import Measure

POWER = 0.8
"""How often a difference should be found that the words call one that is found."""
SHOWN = 0.00005
"""Less than this is not seen in numbers with four digits."""
SHOWN_CHANGES = 4
"""So many places where the lead changes are told one by one."""

_SPAN = "hatever they turn out to be, the difference lies between {certain_low:+.4f} and {certain_high:+.4f}"
_OVER_ORDERS = "ver all orders of tied documents the difference lies between {ties_low:+.4f} and {ties_high:+.4f}."
_FOUND = "What would settle it? With {topics} topics {found} is found {power:.0%} of the time (t test)"
_LACKED = "of these {topics} topics, which count as empty lists: --topics shared compares over the others."
_ELSEWHERE = "{reading}; only unknown relevant documents elsewhere"
_MORE_TO_JUDGE = '"rankbounds judge-next --compare" lists more, and with --until settled says how many it takes.'
TEMPLATES: dict[str, tuple[str, ...]] = {
    "apart": (
        "no mean difference",
        "a difference of {difference:+.4f}",
        "a difference of {difference:+.4f} (0 where both are infinite)",
    ),
    "scores": (
        "{measure}: {a} scores {mean_a:.4f} and {b} {mean_b:.4f}, {apart} over {topics} topics ({won} won, "
        "{lost} lost).",
    ),
    "interval": (
        "",
        "; {confidence:.0%} interval {ci_low:+.4f} to {ci_high:+.4f}",
        "; no interval, since the difference is the same on every topic",
    ),
    "test": (
        "{test_used}, p = {p_adjusted:.4f}{interval}",
        "{test_used}, p = {p_adjusted:.4f}; of this pair alone: {test_of_pair}, p = {p_value:.4f}{interval}",
    ),
    "lacks_a": ("", f" But {{a}} lacks {{missing_a}} {_LACKED}"),
    "lacks_b": ("", f" But {{b}} lacks {{missing_b}} {_LACKED}"),
    "noise": (
        "Is it noise? Probably not: so large a difference would rarely come by chance ({test}).{lacks_a}{lacks_b}",
        "Is it noise? It may well be: such a difference can come by chance ({test}).{lacks_a}{lacks_b}",
        "Is it noise? There is no difference: both score the same on every topic.{lacks_a}{lacks_b}",
        "Is it noise? There is no difference: topics differ, and the means are the same ({test}).{lacks_a}{lacks_b}",
        "",
    ),
    "headroom": (
        "",
        "Can the test succeed? Not as judged: {differing} of {topics} topics differ, and at least {must_differ} must "
        "for p < {alpha}, however large the differences.",
        "Can the test succeed? No: whatever is judged, at most {can_differ} of {topics} topics can differ, and at "
        "least {must_differ} must for p < {alpha}.",
        "Can the test succeed? No: with {resamples} resamples no p is below {alpha}; take more of them.",
    ),
    "equivalence": (
        "",
        "Are they equivalent? Yes: differences of {margin} or more are ruled out (two one-sided t tests, p = "
        "{p_equivalent:.4f}).",
        "Are they equivalent? Not shown: differences of {margin} or more are not ruled out (two one-sided t tests, p = "
        "{p_equivalent:.4f}).",
        "Are they equivalent? Yes: differences of {margin} or more are ruled out ({test}).{lacks_a}{lacks_b}",
        "Are they equivalent? Not shown: differences of {margin} or more are not ruled out ({test}).{lacks_a}{lacks_b}",
    ),
    "unpooled_a": ("", "{a}"),
    "unpooled_and": ("", " and "),
    "unpooled_b": ("", "{b}"),
    "probability": (
        "",
        f" How likely that is cannot be estimated from these judgments: fewer than {POOLED} of "
        "{unpooled_a}{unpooled_and}{unpooled_b} are judged.",
        " With probabilities of relevance estimated from the judgments at hand, {a} is the better one on these topics "
        "with probability {probability:.2f}.",
    ),
    "unbounded": (
        "it is an estimate itself",
        "it tells subtopics apart",
        "its values have no known limits, and too much is unjudged or tied to try everything",
    ),
    "holes": (
        "Could {which} overturn it? Scores alone cannot tell for this measure: the documents of one run "
        "matter to the other. Compare the runs together with their judgments.",
        "Could {which} overturn it? Not known: these scores have no bounds for them.",
        "Could {which} overturn it? No: nothing that matters is unjudged.",
        f"Could {{which}} overturn it? No: w{_SPAN}.",
        f"Could {{which}} overturn it? Yes: w{_SPAN}.{{probability}}",
        f"What could {{which}} make of it? W{_SPAN}.{{probability}}",
        f"Could {{which}} overturn it? Perhaps: w{_SPAN}; nothing lies outside, but these bounds may be wider "
        "than what can happen.{probability}",
        "Could {which} overturn it? Not known: no bounds of differences are known for this measure ({unbounded}).",
        "Could {which} overturn it? None that was retrieved: all of those that count are judged.",
        "Could {which} or ties overturn it? A table of scores does not tell: compare the runs with their judgments.",
        "Could {which} make one? None that is seen: whatever they turn out to be, it stays below 0.0001 either way.",
        f"Could {{which}} overturn it? No; at the most they level it: w{_SPAN}.",
    ),
    "reading": ("All retrieved documents are judged", "All of the first {depth:.0f} are judged"),
    "elsewhere": (
        "",
        f"{_ELSEWHERE} could shrink the difference, to {{elsewhere_least:+.4f}} at the least; they cannot turn it.",
        f"{_ELSEWHERE} could still turn it, since they may shrink the difference on some topics alone: it lies between "
        "{elsewhere_low:+.4f} and {elsewhere_high:+.4f}.",
        f"{_ELSEWHERE} could still move it: it lies between {{elsewhere_low:+.4f}} and {{elsewhere_high:+.4f}}.",
        f"{_ELSEWHERE} could make the difference larger, {{elsewhere_most:+.4f}} at the most; they cannot turn it.",
        f"{_ELSEWHERE} could shrink the difference, the further the more there are (--open collection "
        "--most-relevant N says how far, if a topic has N at most).",
    ),
    "ties": (
        "",
        "Could ties? Not known for this measure.",
        "Could ties? No: no tied scores matter.",
        f"Could ties? No: o{_OVER_ORDERS}",
        f"Could ties? Yes: o{_OVER_ORDERS}",
        f"O{_OVER_ORDERS}",
        "Could ties make one? None that is seen: over all orders of tied documents it stays below 0.0001 either way.",
        f"Could ties? No; at the most they level it: o{_OVER_ORDERS}",
    ),
    "lead": (
        "",
        "Does it hold for other p? Yes: as judged, the same run leads at every p.",
        "Does it hold for other p? Not for all: as judged, the lead changes at p = {changes}.",
        "Does it hold for other p? Not for all: as judged, the lead changes at p = {changes} and {more} more.",
    ),
    "found": ("a true difference of {detectable:.4f}", "no difference of any size"),
    "besides": ("", " What unjudged documents leave open, more topics do not settle."),
    "settle": (
        "",
        "What would settle it? More topics: on these the difference is the same everywhere, which does not tell how it "
        "varies.{besides}",
        f"{_FOUND}.{{besides}}",
        f"{_FOUND}; one as small as this cannot be found with any realistic number of topics.{{besides}}",
        f"{_FOUND}; to find one of {{size:.4f}}, about {{topics_needed:,}} topics are needed.{{besides}}",
        "What would settle it? Judgments of unjudged documents; more topics would not.",
        "What would settle it? Topics on which they differ: on these both score the same.{besides}",
        "What would settle it? If the difference stays as it is, about {topics_needed:,} topics rule out differences "
        "of {margin} or more {power:.0%} of the time.{besides}",
        "What would settle it? If the difference stays as it is, no realistic number of topics rules out differences "
        "of {margin} or more.{besides}",
    ),
    "judge": (
        "",
        "Which judgments would help most? First of all topic/document {named}: the {documents} that matter most are "
        f"expected to move the bound that settles it by {{moved:.4f}}; {_MORE_TO_JUDGE}",
        "Which judgments would help most? First of all topic/document {named}, which is expected to move the bound "
        f"that settles it by {{moved:.4f}}; {_MORE_TO_JUDGE}",
        f"Which judgments would help most? First of all topic/document {{named}}; {_MORE_TO_JUDGE}",
    ),
}
"""Sentences and parts of sentences, and for each the ways it can be said."""
NOTHING_OPEN, NONE_RETRIEVED = 2, 8
"""Of unjudged documents: that there are none that matter, and that there are none among those retrieved."""
LEAD_CHANGE = "{p:.3f} ({below} below, {above} above)"
"""One place where the lead changes."""
SENTENCES = ("scores", "noise", "headroom", "equivalence", "holes", "elsewhere", "ties", "lead", "settle", "judge")
"""What a paragraph is made of, in its order."""
NEGATED = {
    "difference": "difference",
    "ci_low": "ci_high",
    "ci_high": "ci_low",
    "certain_low": "certain_high",
    "certain_high": "certain_low",
    "elsewhere_low": "elsewhere_high",
    "elsewhere_high": "elsewhere_low",
    "elsewhere_least": "elsewhere_least",
    "elsewhere_most": "elsewhere_most",
    "ties_low": "ties_high",
    "ties_high": "ties_low",
}
WHOLE = ("won", "lost", "topics_needed", "differing", "can_differ", "missing_a", "missing_b")
"""Numbers that count topics."""
SWAPPED = {
    "won": "lost",
    "lost": "won",
    "probability": "probability_of_other",
    "probability_of_other": "probability",
    **{
        f"{what}_{side}": f"{what}_{other}" for what in ("missing", "lacks", "unpooled") for side, other in ("ab", "ba")
    },
}
"""What becomes of a pair's numbers and choices when it is named the other way round."""


def test_names(settings: Mapping[str, Any], runs: int) -> tuple[str, str]:
    """What corrected p-values come from, and those of one pair alone, in words."""
    equivalence = settings["test"] == TOST
    alone = f"two one-sided t tests, margin {settings['margin']:g}" if equivalence else f"{settings['test']} test"
    correction = settings["correction"]
    if correction == "none":
        return alone, alone
    if correction == "tukey":
        return f"randomised, paired Tukey HSD over all {runs} runs", alone
    if correction == "dunnett":
        others = runs - 1
        whom = "the other run" if others == 1 else f"all {others} others"
        return f"randomised Dunnett test of {settings['baseline']} against {whom}", alone
    return f"{alone}, {correction} correction", alone


def method(settings: Mapping[str, Any], runs: int) -> str:
    """Which tests the p-values of a table come from, in one sentence."""
    used, alone = test_names(settings, runs)
    drawn = f"{settings['resamples']:,} resamples, seed {settings['seed']}"
    all_flips = settings["test"] == "randomization" and settings["topics"] <= EXACT_TOPICS
    of_pair = ["all sign flips"] if all_flips else [drawn] if settings["test"] in RESAMPLING_TESTS else []
    topics = f"{settings['topics']} topics"
    if settings["correction"] == "none":
        return f"p: {alone} ({', '.join([*of_pair, topics])})."
    of_family = [drawn] if settings["correction"] in BY_SHUFFLES else []
    alone += f" of each pair alone ({', '.join(of_pair)})" if of_pair else " of each pair alone"
    tests = f"p: {alone}; p corrected: {used} ({', '.join([*of_family, topics])})."
    return tests if settings.get("baseline") else f"{tests} {_method_of_ranks(settings)}"


def tested_words(settings: Mapping[str, Any], runs: int) -> str:
    """The test, how it was corrected, and the level, in brackets of a caption."""
    used, _ = test_names(settings, runs)
    resampled = settings["correction"] in BY_SHUFFLES or settings["test"] in RESAMPLING_TESTS
    all_flips = settings["test"] == "randomization" and settings["topics"] <= EXACT_TOPICS
    drawn = f"{settings['resamples']:,} resamples, seed {settings['seed']}"
    parts = [
        used,
        *(["all sign flips"] if all_flips and settings["correction"] not in BY_SHUFFLES else [drawn] * resampled),
        *(["one-sided"] if settings["alternative"] != "two-sided" else []),
        *(["one pair" if runs == 2 else "not corrected"] if settings["correction"] == "none" else []),
        f"level {settings['alpha']:g}",
    ]
    return ", ".join(parts)


SOURCES = {
    "randomization": "smucker2007comparison",
    "wilcoxon": "wilcoxon1945individual",
    "bootstrap": "sakai2006evaluating",
    TOST: "schuirmann1987comparison",
    "tukey": "carterette2012multiple",
    "dunnett": "dunnett1955multiple",
    "holm": "holm1979simple",
    "bh": "benjamini1995controlling",
}
"""What to cite for tests and corrections, by the keys of ``measures/naming/sources.bib``."""


def sources_of_tests(settings: Mapping[str, Any]) -> list[str]:
    """The keys of what to cite for the test and the correction."""
    return [SOURCES[name] for name in (settings["test"], settings["correction"]) if name in SOURCES]


def small_print_words(shown: Sequence[str]) -> str:
    """How to read small print: as what is added at most, or as bounds in brackets."""
    added = any(text.startswith("+") for text in shown)
    bracketed = any(text.startswith("[") for text in shown)
    return "; ".join([*["+: so much more at most"] * added, *["[low, high]: bounds"] * bracketed])


def _method_of_ranks(settings: Mapping[str, Any]) -> str:
    how = "the pairs that the test separates" if settings["ranks"] == "test" else "resampled topics"
    return (
        f"rank: the place and its interval, {1 - settings['alpha']:.0%} sure for all runs together (by {how}); "
        "first in: the share of resampled topic sets that a run leads."
    )


def choose(
    numbers: Mapping[str, Floats],
    *,
    alpha: float,
    corrected: bool,
    equivalence: float | None,
    must_differ: int | None,
    depends_on_others: Flags,
    unbounded: Ints,
    unpooled: tuple[Flags, Flags],
    endless: Flags,
    finite: Flags,
    lists_at_hand: bool,
    scores_alone: bool = False,
) -> dict[str, Ints]:
    """For every measure and pair (the axes of ``numbers``), which template of each kind holds.

    ``depends_on_others`` is by measure: scores alone bound no difference; ``unbounded`` too: why nothing may bound one.
    ``unpooled`` is by pair, of its first and its second run: probabilities cannot be estimated. ``equivalence``: the
    margin, where that is what was tested. ``must_differ``: on so many topics a pair must differ for the test to
    succeed; None: not known. ``endless``: both means are infinite; ``finite``: no topic's difference is.
    ``lists_at_hand``: what unjudged and tied documents do was looked up in the lists, where more than scores was given.
    ``scores_alone``: they come from a table, of which nobody knows what was judged.
    """
    difference, low, high = numbers["difference"], numbers["certain_low"], numbers["certain_high"]
    shape = difference.shape
    zero = difference == 0
    p_equivalent, differing = numbers["p_equivalent"], numbers["differing"]
    same = differing == 0
    short = (
        np.zeros(shape, dtype=bool) if must_differ is None else ~same & ((differing < must_differ) | (must_differ == 0))
    )
    unknown, nothing_open = np.isnan(low), equal(low, high)
    around_zero = ~unknown & ~nothing_open & (low <= 0) & (high >= 0)
    ties_low, ties_high = numbers["ties_low"], numbers["ties_high"]
    one_unpooled, other_unpooled = unpooled
    not_estimated = one_unpooled | other_unpooled
    shown = (numbers["p_adjusted"] < alpha) & (np.full(shape, equivalence is not None) | ~zero)
    # Could judgments undo what is shown: the sign of the difference, or that it is below the margin?
    overturned = (low < 0) & (high > 0) if equivalence is None else (low <= -equivalence) | (high >= equivalence)
    left_open = ~unknown & ~nothing_open & overturned & ~(zero & _unseen(low, high))
    chosen = {
        "apart": np.select([np.isnan(difference), endless & finite], [0, 2], 1),
        "scores": np.zeros(shape),
        "interval": np.select([~np.isnan(numbers["ci_low"]), numbers["deviation"] == 0], [1, 2], 0),
        "test": np.full(shape, corrected),
        "noise": np.select(
            [np.full(shape, equivalence is not None), same, zero], [4, 2, 3], ~(numbers["p_adjusted"] < alpha)
        ),
        "headroom": np.select([~short, must_differ == 0, numbers["can_differ"] < (must_differ or 0)], [0, 3, 2], 1),
        "equivalence": np.where(
            equivalence is not None,
            np.where(numbers["p_adjusted"] < alpha, 3, 4),
            np.where(np.isnan(p_equivalent), 0, np.where(p_equivalent < alpha, 1, 2)),
        ),
        "lacks_a": numbers["missing_a"] > 0,
        "lacks_b": numbers["missing_b"] > 0,
        "unpooled_a": one_unpooled,
        "unpooled_and": one_unpooled & other_unpooled,
        "unpooled_b": other_unpooled,
        "probability": np.select([~around_zero, not_estimated, np.isnan(numbers["probability"])], [0, 1, 0], 2),
        "unbounded": np.broadcast_to(unbounded[:, None], shape),
        "holes": np.select(
            [
                unknown & lists_at_hand,
                unknown & scores_alone,
                unknown & depends_on_others[:, None],
                unknown,
                nothing_open,
                ~around_zero,
                zero & _unseen(low, high),
                zero,
                (low >= 0) | (high <= 0),
                numbers["certain"] == 0,
            ],
            [7, 9, 0, 1, 2, 3, 10, 5, 11, 6],
            4,
        ),
        "ties": np.select(
            [
                np.isnan(ties_low) | np.isnan(ties_high),
                equal(ties_low, ties_high),
                (ties_low > 0) | (ties_high < 0),
                zero & _unseen(ties_low, ties_high),
                zero,
                (ties_low >= 0) | (ties_high <= 0),
            ],
            [int(lists_at_hand), 2, 3, 6, 5, 7],
            4,
        ),
        "found": np.isinf(numbers["detectable"]),
        "besides": left_open,
        "settle": np.select(
            [
                ~finite,
                shown,
                same & (equivalence is None),
                numbers["deviation"] == 0,
                np.full(shape, equivalence is not None),
                zero,
                numbers["topics_needed"] == 0,
            ],
            [0, np.where(left_open, 5, 0), 6, 1, np.where(numbers["topics_needed"] > 0, 7, 8), 2, 3],
            4,
        ),
    }
    chosen |= elsewhere_choices(numbers)
    chosen["holes"] = np.where(
        (chosen["holes"] == NOTHING_OPEN) & (chosen["elsewhere"] > 0), NONE_RETRIEVED, chosen["holes"]
    )
    return {name: np.broadcast_to(choice, shape).astype(np.uint8) for name, choice in chosen.items()}


def _unseen(low: Floats, high: Floats) -> Flags:
    """Is all that lies between these nothing, in numbers with four digits?"""
    return np.maximum(np.abs(low), np.abs(high)) < SHOWN


def elsewhere_choices(numbers: Mapping[str, Floats]) -> dict[str, Flags | Ints]:
    """What is said of pairs whose documents are all judged: what relevant documents nobody retrieved could still do."""
    difference, low, high = (numbers[name] for name in ("difference", "elsewhere_low", "elsewhere_high"))
    shrinks, grows = (np.abs(numbers[f"elsewhere_{end}"] - difference) >= SHOWN for end in ("least", "most"))
    nothing = np.isnan(low) | ~(shrinks | grows)
    kept = (low > 0) | (high < 0)
    chosen = np.select(
        [nothing, numbers["elsewhere_endless"] > 0, difference == 0, kept & shrinks, kept], [0, 5, 3, 1, 4], 2
    )
    return {"reading": (chosen > 0) & ~np.isnan(numbers["depth"]), "elsewhere": chosen}


def ties_apart(low_a: Floats, high_a: Floats, low_b: Floats, high_b: Floats) -> tuple[Floats, Floats]:
    """The least and the greatest difference of two means that may lie within these ranges."""
    return _apart(low_a, high_b), _apart(high_a, low_b)


def _apart(one: Floats, other: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # of infinities
        found = np.where(one == other, 0.0, one - other)
        return np.where(np.abs(found) <= TOLERANCE * (np.abs(one) + np.abs(other)), 0.0, found)


def turned(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """A pair's numbers, had it been named the other way round."""
    found = dict(numbers)
    found |= {name: 0.0 - numbers[other] for name, other in NEGATED.items() if other in numbers}
    return found | {name: numbers[other] for name, other in SWAPPED.items() if other in numbers}


def lead_sentence(changes: Sequence[tuple[float, str, str]] | None, difference: float) -> tuple[int, dict[str, Any]]:
    """The template for where the lead changes over p, and what goes into it; none where nobody leads."""
    if changes is None or (not changes and difference == 0):
        return 0, {}
    told = ", ".join(LEAD_CHANGE.format(p=p, below=below, above=above) for p, below, above in changes[:SHOWN_CHANGES])
    more = len(changes) - SHOWN_CHANGES
    return (1 if not changes else 3 if more > 0 else 2), {"changes": told, "more": more}


def judge_sentence(plan: SettlingPlan | None, *, adds_up: bool) -> tuple[int, dict[str, Any]]:
    """The template for what to judge, and what goes into it.

    ``adds_up``: what several judgments do is the sum of what each does, so that it can be told.
    """
    if plan is None:
        return 0, {}
    named = list(zip(plan.query_ids, plan.doc_ids, strict=True))[:3]
    return (1 if len(plan) > 1 else 2) if adds_up else 3, {
        "documents": len(plan),
        "named": ", ".join(f"{query}/{doc}" for query, doc in named),
        "moved": float(plan.value.sum()),
    }


def filled(choices: Mapping[str, int], numbers: Mapping[str, Any]) -> list[str]:
    """The sentences of a paragraph: each template filled in, parts first."""
    held = dict(numbers)
    for name, templates in TEMPLATES.items():
        held[name] = templates[int(choices[name])].format_map(held) if choices.get(name) is not None else ""
    return [held[name] for name in SENTENCES if held[name]]


def verdict_words(verdict: str, a: str, b: str) -> str:
    """A verdict with the runs' names: "a better" becomes "bm25 better"."""
    said, *lacking = verdict.split("; ")
    return "; ".join(
        f"{a if run == 'a' else b} {rest}" if run in ("a", "b") else part
        for part in (said, *lacking)
        for run, _, rest in [part.partition(" ")]
    )


def lacking_words(missing_a: int, missing_b: int, topics: int) -> str:
    """What a verdict adds where a run lacks topics, which count as empty lists."""
    lacked = {"a": missing_a, "b": missing_b}
    return "".join(f"; {run} lacks {missing} of {topics} topics" for run, missing in lacked.items() if missing)


def measure_words(label: str, *, lower_is_better: bool) -> str:
    """The measure's name, and which way is up where that is not plain."""
    return f"{label} (lower is better)" if lower_is_better else label


def compared_words(measure: Measure) -> str:
    """The name of a measure that runs are compared by, which is by means over topics, also of counts."""
    label = f"{measure} (mean over topics)" if measure.total == "sum" else str(measure)
    return measure_words(label, lower_is_better=measure.lower_is_better)
