"""The verdict on a set of labels in plain words: does it agree, is it generous, whom does it like, who wins by it?

Every sentence stands in ``TEMPLATES`` once, and is filled in from a row of results and the settings; a name with
``_range`` is the interval of a number, in the form that ``_values`` gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankbounds.evaluation.run_notes import some
from rankbounds.judging.judges.bias import RUNS_FOR_SCALE
from rankbounds.results import Row

NAMED = 3
"""So many runs or pairs are named."""
FEW_TURNED = 0.05
"""Up to this share of turned pairs, an order is called one that mostly holds."""
MANY_LOST = 0.2
"""Labels that miss a larger share of the clear differences tell runs apart only in part."""

_LIKES = "Does it like some runs more than others?"
_TESTED = "(randomisation test, Holm over {runs} runs, level {alpha:g})"
_REMEDY = 'with some documents judged by people, "rankbounds audit" makes them honest'
TEMPLATES = {
    "agrees": "{labels}: agrees with {trusted} on {same:.0%} of {pairs:,} pairs, relevant or not ({kappa_words}).",
    "kappa": "kappa {kappa:.2f}{kappa_range}",
    "no kappa": "kappa cannot be computed: all labels are alike",
    "missing": " It has no label for {missing:,} pairs that {trusted} has.",
    "extra": " It labels {extra:,} pairs that {trusted} does not.",
    "extra counted": " It labels {extra:,} pairs that {trusted} does not; scores by it count these too, unless asked "
    "for shared pairs.",
    "generous": "Is it generous? It calls {relevant:.0%} of them relevant, {trusted} {relevant_trusted:.0%} "
    "({points:+.0f} points{points_range}).",
    "shift": " Its mean grade is {shift:+.2f} from that of {trusted}.",
    "scores": "By {measure} it scores {scored} {by_how_much} {trusted}{on_average} ({spread}){scale}.",
    "other scale": ", the other scale of its grades included",
    "slope": " What is 0.100 between runs by {trusted} is {tenth:.3f}{tenth_range} by it.",
    "likes": f"{_LIKES} Yes: this judge {{liked}}, beside what it does to all runs on average {_TESTED}.",
    "likes none": f"{_LIKES} Not shown for any of {{runs}} {_TESTED}.",
    "beyond": " Compared with runs of like score it {beyond}.",
    "squeezes": " That it {squeezes} all differences explains this: beside runs of like score, none stands out.",
    "tau": "Does it order runs alike? Kendall's tau is {tau}, tau_AP {tau_ap}{best}.",
    "no tau": "not defined (all runs tie)",
    "best": "; among the best {top} {tau_top10}",
    "none separated": "{trusted} separates no pair of these runs, so none can change its winner.",
    "separated": "Of {separated:,} pairs that {trusted} separates, {kept} separated the same way, {lost} not separated "
    "any more, and {turned}. It separates {only_by_labels:,} pairs that {trusted} does not.",
    "turned pairs": " ({turned_pairs}; {reversed_significantly} of them significantly)",
    "trusted": "May it be trusted? For the scores themselves: {of_scores}.",
    "trusted in order": "May it be trusted? To say which of two runs is better: {of_order}. For the scores themselves: "
    "{of_scores}.",
    "order unknown": "cannot be found, since {trusted} separates none of these runs",
    "order turned": "{answer}; by {measure} it turns {reversed:,} of {separated:,} clear differences around",
    "order found": "yes, on these topics it finds all clear differences and turns none around",
    "order missed": "{answer}; it turns no clear difference around, but by {measure} misses {lost:,} of {separated:,}",
    "scores off": f"no, by {{named}} they are off on average; {_REMEDY}",
    "scores by chance": f"no, that its labels agree with {{trusted}} by more than chance is not shown; {_REMEDY}",
    "scores turn": f"no, by {{named}} they turn clear differences around; {_REMEDY}",
    "scores unlike": f"not for the runs that it likes or dislikes by {{named}}; {_REMEDY}",
    "scores fine": "nothing speaks against them here, which is not a proof",
    "lead": "Of these {judges} judges, {best} agrees best with {trusted}: its kappa is {difference:.3f} above that of "
    "{next}, {verdict}.",
    "lead interval": "; {confidence:.0%} interval {low:+.3f} to {high:+.3f}",
    "closest": "By {measure} the order is closest with {labels} (tau {tau:.2f}).",
    "agreement caption": "Agreement with {trusted} (grades {scale}, relevant from {rel:g} on) over {topics} topics. "
    "kappa: relevant or not; linear, quadratic: of grades (- where scales differ); alpha: Krippendorff's, of grades "
    "(of relevant or not, where scales differ); brackets: {confidence:.0%} over {resamples:,} resamples of topics, "
    "seed {seed}.",
    "ordering caption": 'Order of the runs. separated: pairs that {trusted} tells apart (as "rankbounds compare" '
    "does); of these the labels tell apart the same way (kept), not at all (lost), or have another winner (turned); "
    "new: pairs that only the labels tell apart.",
    "bias caption": "Bias by {measure}: score by the labels minus the trusted one (^ favoured, v punished more than "
    "the other runs, Holm over runs, level {alpha:g}; {confidence:.0%} intervals in JSON):",
}


def fill_in(name: str, *values: Row, **more: Any) -> str:
    """A template with its numbers; of values with the same name the last one counts."""
    found: dict[str, Any] = {}
    for given in (*values, more):
        found |= given
    return TEMPLATES[name].format_map(found)


def _ends(low: float | None, high: float | None, pattern: str) -> str:
    return "" if low is None or high is None else f"{pattern.format(low)} to {pattern.format(high)}"


def sentences(
    agreed: Row, orderings: Sequence[Row], flagged: Sequence[Row], changes: Sequence[Row], settings: Row
) -> list[str]:
    """The verdict on one set of labels."""
    found = _agreement(agreed, settings)
    for row in orderings:
        found.append(_scores(row, settings, other_scale=agreed["reason"] is not None))
        if settings["runs"] > 1:
            of_measure = [other for other in flagged if other["measure"] == row["measure"]]
            turned = [other for other in changes if other["measure"] == row["measure"]]
            found += [_likings(of_measure, row, settings), *_order(row, turned, settings)]
    if orderings:
        trust = "trusted in order" if settings["runs"] > 1 else "trusted"
        of_scores = _trust_in_scores(agreed, orderings, settings)
        found.append(fill_in(trust, of_order=_trust_in_order(orderings, settings), of_scores=of_scores))
    return found


def _agreement(row: Row, settings: Row) -> list[str]:
    low, high = (end and 100 * end for end in (row["shift_relevant_low"], row["shift_relevant_high"]))
    ranges = (_ends(row["kappa_low"], row["kappa_high"], "{:.2f}"), _ends(low, high, "{:+.0f}"))
    values = {**settings, **row, "points": 100 * row["shift_relevant"]}
    for name, ends in zip(("kappa_range", "points_range"), ranges, strict=True):
        values[name] = ends and f", {settings['confidence']:.0%} interval {ends}"
    values["kappa_words"] = fill_in("no kappa" if row["kappa"] is None else "kappa", values)
    agrees, generous = fill_in("agrees", values), fill_in("generous", values)
    if row["missing"]:
        agrees += fill_in("missing", values)
    if row["extra"]:
        agrees += fill_in("extra counted" if settings["runs"] and settings["pairs"] == "all" else "extra", values)
    if row["shift"] is not None:
        generous += fill_in("shift", values)
    return [agrees, generous]


def _scores(row: Row, settings: Row, *, other_scale: bool) -> str:
    bias, several = f"{abs(row['mean_bias']):.4f}", settings["runs"] > 1
    spread = _ends(row["mean_bias_low"], row["mean_bias_high"], "{:+.4f}")
    found = fill_in(
        "scores",
        settings,
        row,
        scored=f"the {settings['runs']} runs" if several else "the run",
        by_how_much=f"{bias} {'higher' if row['mean_bias'] > 0 else 'lower'} than" if float(bias) else "as high as",
        on_average=" on average" if several else "",
        spread=f"{settings['confidence']:.0%} interval {spread}" if spread else "no interval: the same on all topics",
        scale=TEMPLATES["other scale"] if other_scale and row["measure"] in settings["graded"] else "",
    )
    if row["slope"] is None or settings["runs"] <= 2:
        return found
    tenth, low, high = (row[name] and row[name] / 10 for name in ("slope", "slope_low", "slope_high"))
    between = _ends(low, high, "{:.3f}")
    return found + fill_in("slope", settings, tenth=tenth, tenth_range=between and f" ({between})")


def _likings(flagged: Sequence[Row], ordering: Row, settings: Row) -> str:
    """Which runs the labels like, and which they dislike, more than the others."""
    liked, beyond = _liked(flagged, "flag", "excess"), _liked(flagged, "flag_beyond_scale", "beyond_scale")
    found = fill_in("likes" if liked else "likes none", settings, liked=liked)
    if beyond:
        found += fill_in("beyond", beyond=beyond)
    elif liked and ordering["slope"] is not None and settings["runs"] >= RUNS_FOR_SCALE:
        found += fill_in("squeezes", squeezes="squeezes" if ordering["slope"] < 1 else "stretches")
    return found


def _liked(flagged: Sequence[Row], flag: str, size: str) -> str:
    """The runs with the flags, as "likes A (+0.1) and is hard on B (-0.2)"."""
    parts = []
    for value, verb in (("favoured", "likes"), ("punished", "is hard on")):
        rows = sorted((row for row in flagged if row[flag] == value), key=lambda row: -abs(row[size]))
        if rows:
            named = [f"{row['run']} ({row[size]:+.4f})" for row in rows]
            parts.append(f"{verb} {some(named, NAMED)}")
    return " and ".join(parts)


def _order(row: Row, changes: Sequence[Row], settings: Row) -> list[str]:
    taus = {}
    for name in ("tau", "tau_ap", "tau_top10"):
        between = _ends(row[f"{name}_low"], row[f"{name}_high"], "{:.2f}")
        value = TEMPLATES["no tau"] if row[name] is None else f"{row[name]:.2f}"
        taus[name] = f"{value} ({between})" if between else value
    best = fill_in("best", settings, taus) if settings["runs"] > settings["top"] else ""
    alike = fill_in("tau", taus, best=best)
    if not row["separated"]:
        return [alike, fill_in("none separated", settings)]
    kept, lost = (f"{row[name]:,} {'is' if row[name] == 1 else 'are'}" for name in ("kept", "lost"))
    number = row["reversed"]
    turned = f"{number:,} change their winner" if number > 1 else f"{number or 'none'} changes its winner"
    if changes:
        named = some([f"{change['better']} over {change['worse']}" for change in changes], NAMED)
        turned += fill_in("turned pairs", row, turned_pairs=named)
    return [alike, fill_in("separated", settings, row, kept=kept, lost=lost, turned=turned)]


def _trust_in_order(orderings: Sequence[Row], settings: Row) -> str:
    if not any(row["separated"] for row in orderings):
        return fill_in("order unknown", settings)
    worst = max(orderings, key=lambda row: (row["reversed"] / max(row["separated"], 1), row["reversed"]))
    if worst["reversed"]:
        few = worst["reversed"] <= FEW_TURNED * worst["separated"]
        return fill_in("order turned", worst, answer="mostly" if few else "no")
    blind = max(orderings, key=lambda row: row["lost"] / max(row["separated"], 1))
    many = blind["lost"] > MANY_LOST * blind["separated"]
    answer = "in part" if many else "yes, on these topics"
    return fill_in("order missed" if blind["lost"] else "order found", blind, answer=answer)


def _trust_in_scores(agreed: Row, orderings: Sequence[Row], settings: Row) -> str:
    """Every way in which scores can be wrong is asked for: the mean over runs, labels, orders, single runs."""

    def off(row: Row) -> bool:  # by more than chance, or the same way on all topics
        low, high = row["mean_bias_low"], row["mean_bias_high"]
        return bool(row["mean_bias"]) if low is None or high is None else low > 0 or high < 0

    surely = agreed["kappa"] if agreed["kappa_low"] is None else agreed["kappa_low"]
    for name, holds in (
        ("scores off", off),
        ("scores by chance", lambda _: surely is None or surely <= 0),
        ("scores turn", lambda row: row["reversed"] > FEW_TURNED * row["separated"]),
        ("scores unlike", lambda row: row["favoured"] or row["punished"]),
    ):
        named = [row["measure"] for row in orderings if holds(row)]
        if named:
            return fill_in(name, settings, named=", ".join(named))
    return TEMPLATES["scores fine"]


def side_by_side(agreement: Sequence[Row], orderings: Sequence[Row], settings: Row) -> list[str]:
    """Several sets held against each other."""
    found = []
    if lead := settings["kappa_lead"]:
        verdict = (
            "more than chance would give" if lead["low"] is not None and lead["low"] > 0 else "which may be chance"
        )
        if lead["low"] is not None:
            verdict += fill_in("lead interval", settings, lead)
        judges = len(agreement) - len(settings["votes"])
        found.append(fill_in("lead", settings, lead, judges=judges, verdict=verdict))
    for measure in dict.fromkeys(row["measure"] for row in orderings if row["tau"] is not None):
        rows = sorted((row for row in orderings if row["measure"] == measure), key=lambda row: -(row["tau"] or -2.0))
        found.append(fill_in("closest", rows[0]))
    return found
