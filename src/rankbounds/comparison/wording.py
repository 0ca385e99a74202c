"""Sentences of the verdict on two runs: is it noise, could holes or ties overturn it, what would settle it?

Every sentence is written here once, as a template with named numbers. ``verdict`` chooses the templates for all
measures and pairs at once; the report's page fills in the same templates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import TYPE_CHECKING, Any

from rankbounds.probability.documents import POOLED
from rankbounds.tables import p_words

if TYPE_CHECKING:
    from rankbounds.judging.next.plan import SettlingPlan
    from rankbounds.measures import Measure

POWER = 0.8
"""The power at which a difference counts as one that the test can find."""
SHOWN = 0.00005
"""Smaller numbers print as zero with four digits."""
SHOWN_CHANGES = 4

_SPAN = "owever they are judged, the difference lies between {certain_low:+.4f} and {certain_high:+.4f}"
_OVER_ORDERS = "ver all orders of tied documents the difference lies between {ties_low:+.4f} and {ties_high:+.4f}."
_FOUND = "With {sampled} {units} {found} is found {power:.0%} of the time (t test)"
_LACKED = "of these {topics} topics, which count as empty lists: --topics shared compares over the others."
_LACKING = "{lacks_a}{lacks_b}"
_RULED_OUT = "differences of {margin} or more are ruled out"
_NOT_RULED_OUT = "differences of {margin} or more are not ruled out"
TOO_FEW_FOR_MARGIN = (
    "since {differing} of {sampled} {units} differ, and ruling out a margin takes at least {for_margin}"
)
"""Why a margin is not ruled out, however small its p would be."""
_IF_IT_STAYS = "If the difference stays the same,"
_MORE_TO_JUDGE = '"rankbounds judge-next --compare" lists more, and with --until settled estimates how many are needed.'


def _answers(question: str, **answers: str) -> dict[str, str]:
    return {name: answer and f"{question} {answer}" for name, answer in answers.items()}


TEMPLATES: dict[str, dict[str, str]] = {
    "apart": {
        "unknown": "no mean difference",
        "known": "a difference of {difference:+.4f}",
        "endless": "a difference of {difference:+.4f} (0 where both are infinite)",
    },
    "scores": {
        "both": "{measure}: {a} scores {mean_a:.4f} and {b} {mean_b:.4f}, {apart} over {topics} topics{clustered} "
        "({won} won, {lost} lost)."
    },
    "interval": {
        "none": "",
        "known": "; {confidence:.0%} t interval [{ci_low:+.4f}, {ci_high:+.4f}]",
        "few": "; no interval, since only {differing} of {sampled} {units} differ",
        "constant": "; no interval, since the difference is the same {everywhere}",
    },
    "test": {
        "alone": "{test_used}, {p_adjusted:p}{interval}",
        "corrected": "{test_used}, {p_adjusted:p}; this pair alone: {p_value:p}{interval}",
    },
    "lacks_a": {"none": "", "some": f" But {{a}} lacks {{missing_a}} {_LACKED}"},
    "lacks_b": {"none": "", "some": f" But {{b}} lacks {{missing_b}} {_LACKED}"},
    "noise": _answers(
        "Is it noise?",
        unlikely=f"Probably not: chance alone would rarely produce a difference this large ({{test}}).{_LACKING}",
        likely=f"It may be: chance alone can produce a difference this large ({{test}}).{_LACKING}",
        same=f"There is no difference: both score the same on every topic.{_LACKING}",
        opposed="The test and the means disagree, so that no difference is shown: the test favours the run with the "
        f"worse mean, because it does not compare means ({{test}}).{_LACKING}",
        level=f"There is no difference: scores differ on some topics, but the means are equal ({{test}}).{_LACKING}",
        untested="",
    ),
    "carried": {
        "none": "",
        "few_differ": "Only {differing} of {sampled} {units} differ: the test says little about rare, large "
        "differences on other topics.",
        "few_carry": "{carrying} of {sampled} {units} account for half of the total difference: the test says little "
        "about rare, large differences on other topics.",
    },
    "headroom": _answers(
        "Can the test succeed?",
        none="",
        as_judged="Not with these judgments: {differing} of {sampled} {units} differ, and at least {must_differ} must "
        "differ for p < {alpha}, however large the differences.",
        whatever_judged="No: even with more judgments, at most {can_differ} of {topics} topics can differ, and at "
        "least {must_differ} must differ for p < {alpha}.",
        never="No. {cannot_succeed}",
    ),
    "as_judged": {"none": "", "open": ", as judged"},
    "equivalence": _answers(
        "Are they equivalent?",
        none="",
        shown=f"Yes{{as_judged}}: {_RULED_OUT} (two one-sided t tests, {{p_equivalent:p}}).",
        not_shown=f"Not shown: {_NOT_RULED_OUT} (two one-sided t tests, {{p_equivalent:p}}).",
        few=f"Not shown: {_NOT_RULED_OUT}, {TOO_FEW_FOR_MARGIN}.{_LACKING}",
        tested_shown=f"Yes{{as_judged}}: {_RULED_OUT} ({{test}}).{_LACKING}",
        tested_not_shown=f"Not shown: {_NOT_RULED_OUT} ({{test}}).{_LACKING}",
    ),
    "unpooled_a": {"none": "", "named": "{a}"},
    "unpooled_and": {"none": "", "both": " and "},
    "unpooled_b": {"none": "", "named": "{b}"},
    "probability": {
        "none": "",
        "not_estimated": f" How likely that is cannot be estimated: fewer than {POOLED} of "
        "{unpooled_a}{unpooled_and}{unpooled_b} are judged.",
        "unknown": " How likely that is cannot be estimated from these judgments: {unknown}.",
        "estimated": " With probabilities of relevance estimated from these judgments, {a} is better on these topics "
        "with probability {probability:.2f}.",
    },
    "unbounded": {
        "estimate": "the measure is itself an estimate",
        "subtopics": "the measure uses more than the grades of the judgments",
        "no_limits": "its values have no known limits, and too much is unjudged or tied to try all cases",
    },
    "holes": _answers(
        "Could {which} overturn it?",
        none="",
        needs_judgments="Scores alone cannot tell for this measure: the documents of one run matter to the other. "
        "Compare the runs together with their judgments.",
        no_bounds="Not known: these scores come without bounds.",
        nothing_open="No: nothing that matters is unjudged.",
        no=f"No: h{_SPAN}.",
        yes=f"Yes: h{_SPAN}.{{probability}}",
        perhaps=f"Perhaps: h{_SPAN}; these bounds are valid, but may be wider than necessary.{{probability}}",
        unknown_for_measure="Not known: this measure has no known bounds of differences ({unbounded}).",
        none_retrieved="Not those that were retrieved: all that count are judged.",
        levels=f"No; at most they can reduce it to 0: h{_SPAN}.",
    )
    | {
        "moves": f"How could {{which}} change it? H{_SPAN}.{{probability}}",
        "table_alone": "Could {which} or ties overturn it? Scores alone cannot tell: compare the runs with "
        "their judgments.",
        "unseen": "Could {which} make one? Hardly: however they are judged, it stays below 0.0001 either way.",
    },
    "elsewhere": {
        "none": "",
        "not_covered": "Relevant documents that no run retrieved could change it, too: --open collection bounds that.",
    },
    "ties": _answers(
        "Could ties?",
        none="",
        unknown="Not known for this measure.",
        no_ties="No: no tied scores matter.",
        no=f"No: o{_OVER_ORDERS}",
        yes=f"Yes: o{_OVER_ORDERS}",
        levels=f"No; at most they can reduce it to 0: o{_OVER_ORDERS}",
    )
    | {
        "moves": f"O{_OVER_ORDERS}",
        "unseen": "Could ties make one? Hardly: over all orders of tied documents it stays below 0.0001 either way.",
    },
    "lead": _answers(
        "Does it hold for other p?",
        none="",
        same="Yes: as judged, the same run leads at every p.",
        changes="Not for all: as judged, the lead changes at p = {changes}.",
        more_changes="Not for all: as judged, the lead changes at p = {changes}, and {more} more times.",
    ),
    "found": {"some": "a true difference of {detectable:.4f}", "none": "no difference of any size"},
    "besides": {"none": "", "open": " More topics would not settle what the unjudged documents could change."},
    "alone": {"none": "", "corrected": " for this pair alone, with p not corrected"},
    "settle": _answers(
        "What would settle it?",
        none="",
        constant="More {units}: the difference is the same on all of these, so how much it varies is unknown.{besides}",
        found=f"{_FOUND}.{{besides}}",
        never=f"{_FOUND}; no realistic number of {{units}} would find one as small as this.{{besides}}",
        topics=f"{_FOUND}; to find one of {{size:.4f}}, "
        f"about {{topics_needed:,}} {{units}} are needed{{alone}}.{{besides}}",
        judgments="Judging the unjudged documents. More topics would not help.",
        ids="Ids that agree: no document of one run is judged, for any topic.",
        same="Topics on which the runs differ: on these, both score the same.{besides}",
        equivalence=f"{_IF_IT_STAYS} about {{topics_needed:,}} {{units}} rule out differences of {{margin}} or more "
        "{power:.0%} of the time.{besides}",
        equivalence_never=f"{_IF_IT_STAYS} no realistic number of {{units}} rules out differences of {{margin}} or "
        "more.{besides}",
    ),
    "judge": _answers(
        "Which judgments would help most? Start with",
        none="",
        several="topic/document {named}: the {documents} that matter most are expected to move the bound that settles "
        f"it by {{moved:.4f}}; {_MORE_TO_JUDGE}",
        one="topic/document {named}, which is expected to move the bound that settles it by {moved:.4f}; "
        f"{_MORE_TO_JUDGE}",
        first=f"topic/document {{named}}; {_MORE_TO_JUDGE}",
    )
    | {"brief": "Judge first {first_named} (topic/document); rankbounds judge-next lists more."},
}
"""By name: the sentences and their parts, each with its wordings."""
ASSUMED = {
    "nonrelevant": "",
    "relevant": ", unjudged documents counted as relevant",
    "condensed": ", unjudged documents left out",
    "expected": ", unjudged documents counted by probability",
}
"""By rule for unjudged documents, what is said of it where a measure is named."""
LEAD_CHANGE = "{p:.3f} ({below} below, {above} above)"
SENTENCES = (
    "scores",
    "noise",
    "carried",
    "headroom",
    "equivalence",
    "holes",
    "elsewhere",
    "ties",
    "lead",
    "settle",
    "judge",
)
"""The sentences of a paragraph, in order."""
SETTLED = {
    "scores": ("both",),
    "equivalence": ("tested_shown", "tested_not_shown"),
    "noise": ("unlikely", "likely", "same", "level"),
    "holes": ("nothing_open", "no", "none_retrieved", "unseen", "levels"),
    "elsewhere": ("not_covered",),
    "ties": ("no_ties", "no", "unseen", "levels"),
    "lead": ("same",),
    "settle": ("judgments",),
}
"""What only a full explanation says: it can change no decision, or stands in the first sentence."""
ANSWERS = {
    **dict.fromkeys(("better", "worse"), "{run} is {verdict} than {against} by {measure}{judged}"),
    "no difference shown": "No difference between {run} and {against} is shown by {measure}",
    "equivalent": "{run} and {against} are equivalent by {measure}{judged}",
    "equivalence not shown": "{run} and {against} are not shown to be equivalent by {measure}",
}
"""By verdict, the first sentence."""
WHOLE = ("won", "lost", "topics_needed", "differing", "carrying", "can_differ", "missing_a", "missing_b")
"""Numbers that count topics."""


def lead_sentence(changes: Sequence[tuple[float, str, str]] | None, difference: float) -> tuple[str, dict[str, Any]]:
    if changes is None or (not changes and difference == 0):
        return "none", {}
    told = ", ".join(LEAD_CHANGE.format(p=p, below=below, above=above) for p, below, above in changes[:SHOWN_CHANGES])
    more = len(changes) - SHOWN_CHANGES
    said = "same" if not changes else "more_changes" if more > 0 else "changes"
    return said, {"changes": told, "more": more}


def judge_sentence(plan: SettlingPlan | None, *, foreseen: bool) -> tuple[str, dict[str, Any]]:
    if not plan:
        return "none", {}
    named = list(zip(plan.query_ids, plan.doc_ids, strict=True))[:3]
    return ("several" if len(plan) > 1 else "one") if foreseen else "first", {
        "documents": len(plan),
        "named": ", ".join(f"{query}/{doc}" for query, doc in named),
        "first_named": "/".join(named[0]),
        "moved": float(plan.value.sum()),
    }


def name_templates(codes: Mapping[str, Any]) -> dict[str, str]:
    return {kind: list(TEMPLATES[kind])[int(code)] for kind, code in codes.items()}


class _Numbers(Formatter):
    """Fills in templates, in which ``{p_value:p}`` is "p = 0.0123"."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return p_words(value) if format_spec == "p" else format(value, format_spec)


def fill_templates(choices: Mapping[str, str], numbers: Mapping[str, Any]) -> list[str]:
    held = dict(numbers)
    for kind, templates in TEMPLATES.items():
        held[kind] = _Numbers().vformat(templates[choices[kind]], (), held) if kind in choices else ""
    return [held[name] for name in SENTENCES if held[name]]


def first_sentence(row: Mapping[str, Any], measure: str, means: Sequence[str], tested: str, assumed: str = "") -> str:
    kind, _, lacking = row["verdict"].partition("; ")
    verdict, as_judged, _ = kind.partition(" as judged")
    judged = "" if assumed else as_judged and f",{as_judged}"
    parts = {"verdict": verdict, "measure": f"{measure}{assumed}", "judged": judged}
    said = ANSWERS[verdict].format_map({**row, **parts})
    mean, mean_against = means
    return f"{said}: {mean} against {mean_against} {tested}{lacking and f'; {lacking}'}."


def agreement(
    measures: Sequence[str], runs: tuple[str, str], leads: Sequence[float], shown: Sequence[bool], *, equivalent: bool
) -> str:
    count, parts = len(measures), []
    if equivalent:
        return f"{sum(shown)} of {count} measures show equivalence."
    for run, sign in zip(runs, (1, -1), strict=True):
        side = [at for at in range(count) if leads[at] * sign > 0]
        named = f" ({listed([measures[at] for at in side])})" if 0 < len(side) < count else ""
        number, sure = len(side) if named else ("both" if count == 2 else "all"), sum(shown[at] for at in side)
        parts += [f"{number} favour {run}{named}, {sure} significantly"] if side else []
    return f"Of {count} measures, {'; '.join(parts)}." if parts else f"By all {count} measures both score the same."


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def measure_words(label: str, *, lower_is_better: bool) -> str:
    return f"{label} (lower is better)" if lower_is_better else label


def compared_words(measure: Measure) -> str:
    label = f"{measure} (mean over topics)" if measure.total == "sum" else str(measure)
    return measure_words(label, lower_is_better=measure.lower_is_better)
