"""The verdict on a set of labels in plain words: does it agree, is it generous, whom does it like, who wins by it?"""

from __future__ import annotations

from collections.abc import Sequence

from rankbounds.judging.judges.bias import COEFFICIENTS, RUNS_FOR_SCALE, TOP
from rankbounds.phrases import some
from rankbounds.results import Row

NAMED = 3
"""How many runs or pairs are named."""
FEW_TURNED = 0.05
"""Up to this share of turned pairs, an order is called one that mostly holds."""
MANY_LOST = 0.2
"""Labels that miss a larger share of the clear differences tell runs apart only in part."""


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
        order = _trust_in_order(orderings, settings["trusted"])
        asked = f"To say which of two runs is better: {order}. " if settings["runs"] > 1 else ""
        of_scores = _trust_in_scores(agreed, orderings, settings["trusted"])
        found.append(f"Can it be trusted? {asked}For the scores themselves: {of_scores}.")
    return found


def _ends(row: Row, name: str, pattern: str, factor: float = 1.0) -> str:
    """The interval of a number as "[LOW, HIGH]"; nothing where it has none."""
    ends = row[f"{name}_low"], row[f"{name}_high"]
    return "" if None in ends else f"[{', '.join(pattern.format(factor * end) for end in ends)}]"


def _agreement(row: Row, settings: Row) -> list[str]:
    trusted, interval = settings["trusted"], f", {settings['confidence']:.0%} interval "
    kappa = "kappa cannot be computed: all labels are the same"
    if row["kappa"] is not None:
        ends = _ends(row, "kappa", "{:.2f}")
        kappa = f"kappa {row['kappa']:.2f}{ends and interval + ends}"
    agrees = (
        f"{row['labels']}: agrees with {trusted} on {row['same']:.0%} of {row['pairs']:,} pairs, relevant or not "
        f"({kappa})."
    )
    if row["missing"]:
        agrees += f" It has no label for {row['missing']:,} pairs that {trusted} has."
    if row["extra"]:
        agrees += f" It labels {row['extra']:,} pairs that {trusted} does not"
        counted = settings["runs"] and settings["pairs"] == "all"
        agrees += "; its scores include these (--pairs shared leaves them out)." if counted else "."
    ends = _ends(row, "shift_relevant", "{:+.0f}", 100)
    generous = (
        f"Is it generous? It calls {row['relevant']:.0%} of them relevant, {trusted} {row['relevant_trusted']:.0%} "
        f"({100 * row['shift_relevant']:+.0f} points{ends and interval + ends})."
    )
    if row["shift"] is not None:
        apart = f"{abs(row['shift']):.2f}"
        side = "equal to" if apart == "0.00" else f"{apart} {'above' if row['shift'] > 0 else 'below'}"
        generous += f" Its mean grade is {side} that of {trusted}."
    return [agrees, generous]


def _scores(row: Row, settings: Row, *, other_scale: bool) -> str:
    trusted, several = settings["trusted"], settings["runs"] > 1
    runs, mean = (f"the {settings['runs']} runs", " on average") if several else ("the run", "")
    bias, spread = f"{abs(row['mean_bias']):.4f}", _ends(row, "mean_bias", "{:+.4f}")
    compared = f"{bias} {'higher' if row['mean_bias'] > 0 else 'lower'} than" if float(bias) else "as high as"
    spread = f"{settings['confidence']:.0%} interval {spread}" if spread else "no interval: the same on all topics"
    graded = other_scale and row["measure"] in settings["graded"]
    scale = ", including the effect of its different scale" if graded else ""
    found = f"By {row['measure']} it scores {runs} {compared} {trusted}{mean} ({spread}){scale}."
    if row["slope"] is None or settings["runs"] <= 2:
        return found
    ends = _ends(row, "slope", "{:.3f}", 0.1)
    return (
        f"{found} On average, a difference of 0.100 by {trusted} becomes {row['slope'] / 10:.3f}{ends and f' {ends}'}."
    )


def _likings(flagged: Sequence[Row], ordering: Row, settings: Row) -> str:
    """Which runs the labels like, and which they dislike, more than the others."""
    liked, beyond = _liked(flagged, "flag", "excess"), _liked(flagged, "flag_beyond_scale", "beyond_scale")
    runs, slope = settings["runs"], ordering["slope"]
    answer = "Not shown for any"
    if liked:
        answer = f"Yes: compared with its average over all runs, it {liked}"
    tested = f"(t test, Holm over {runs} runs, level {settings['alpha']:g})"
    found = f"Does it favour some runs? {answer} {tested}."
    if beyond:
        return f"{found} Compared with runs of similar score it {beyond}."
    if not liked or slope is None or runs < RUNS_FOR_SCALE:
        return found
    squeezes = "shrinks" if slope < 1 else "stretches"
    return (
        f"{found} The reason is that it {squeezes} all differences: among runs with similar scores, none is favoured."
    )


def _liked(flagged: Sequence[Row], flag: str, size: str) -> str:
    """The runs with the flags, as "favours A (+0.1) and penalises B (-0.2)"."""
    parts = []
    for value, verb in (("favoured", "favours"), ("penalised", "penalises")):
        rows = sorted((row for row in flagged if row[flag] == value), key=lambda row: -abs(row[size]))
        if rows:
            named = [f"{row['run']} ({row[size]:+.4f})" for row in rows]
            parts.append(f"{verb} {some(named, NAMED)}")
    return " and ".join(parts)


def _order(row: Row, changes: Sequence[Row], settings: Row) -> list[str]:
    taus = []
    for name in COEFFICIENTS:
        ends = _ends(row, name, "{:.2f}")
        value = "not defined (all runs tie)" if row[name] is None else f"{row[name]:.2f}"
        taus.append(value + (ends and f" {ends}"))
    best = f"; among the best {TOP}, tau is {taus[2]}" if settings["runs"] > TOP else ""
    alike = f"Does it order the runs in the same way? Kendall's tau is {taus[0]}, tau_AP {taus[1]}{best}."
    trusted = settings["trusted"]
    if not row["separated"]:
        return [alike, f"{trusted} separates no pair of these runs, so none can change its winner."]
    kept, lost = (f"{row[name]:,} {'is' if row[name] == 1 else 'are'}" for name in ("kept", "lost"))
    number = row["reversed"]
    turned = f"{number:,} change their winner" if number > 1 else f"{number or 'none'} changes its winner"
    if changes:
        named = some([f"{change['better']} over {change['worse']}" for change in changes], NAMED)
        turned += f" ({named}; {row['reversed_significantly'] or 'none'} of them significantly)"
    return [
        alike,
        f"Of {row['separated']:,} pairs that {trusted} separates, {kept} separated the same way, {lost} no longer "
        f"separated, and {turned}. It separates {row['only_by_labels'] or 'no'} pairs that {trusted} does not.",
    ]


def _trust_in_order(orderings: Sequence[Row], trusted: str) -> str:
    if not any(row["separated"] for row in orderings):
        return f"cannot be found, since {trusted} separates none of these runs"
    worst = max(orderings, key=lambda row: (row["reversed"] / max(row["separated"], 1), row["reversed"]))
    if worst["reversed"]:
        answer = "mostly" if worst["reversed"] <= FEW_TURNED * worst["separated"] else "no"
        clear = f"{worst['reversed']:,} of {worst['separated']:,} clear differences"
        return f"{answer}; by {worst['measure']} it reverses {clear}"
    blind = max(orderings, key=lambda row: row["lost"] / max(row["separated"], 1))
    if not blind["lost"]:
        return "yes, on these topics it finds all clear differences and reverses none"
    answer = "in part" if blind["lost"] > MANY_LOST * blind["separated"] else "yes, on these topics"
    missed = f"{blind['lost']:,} of {blind['separated']:,}"
    return f"{answer}; it reverses no clear difference, but by {blind['measure']} misses {missed}"


def _trust_in_scores(agreed: Row, orderings: Sequence[Row], trusted: str) -> str:
    """Every way in which scores can be wrong is asked for: the mean over runs, labels, orders, single runs."""

    def off(row: Row) -> bool:  # by more than chance, or the same way on all topics
        low, high = row["mean_bias_low"], row["mean_bias_high"]
        return bool(row["mean_bias"]) if low is None or high is None else low > 0 or high < 0

    surely = agreed["kappa"] if agreed["kappa_low"] is None else agreed["kappa_low"]
    by_chance = f"no, its labels are not shown to agree with {trusted} more than by chance"
    for problem, holds in (
        ("no, by {} they are biased on average", off),
        (by_chance, lambda _: surely is None or surely <= 0),
        ("no, by {} they reverse clear differences", lambda row: row["reversed"] > FEW_TURNED * row["separated"]),
        ("not for the runs that it favours or penalises by {}", lambda row: row["favoured"] or row["penalised"]),
    ):
        named = [row["measure"] for row in orderings if holds(row)]
        if named:
            answer = problem if problem is by_chance else problem.format(", ".join(named))
            return f'{answer}; "rankbounds audit" corrects them with a sample that people judge'
    return "no problem was found, which does not prove that there is none"


def side_by_side(agreement: Sequence[Row], orderings: Sequence[Row], settings: Row) -> list[str]:
    """Several sets held against each other."""
    found = []
    if lead := settings["kappa_lead"]:
        low, high = lead["low"], lead["high"]
        verdict = f"which chance alone {'does not explain' if low is not None and low > 0 else 'may explain'}"
        if low is not None:
            verdict += f" ({settings['confidence']:.0%} interval [{low:+.3f}, {high:+.3f}])"
        judges = len(agreement) - len(settings["votes"])
        found.append(
            f"Of these {judges} judges, {lead['best']} agrees best with {settings['trusted']}: its kappa is "
            f"{lead['difference']:.3f} above that of {lead['next']}, {verdict}."
        )
    for measure in dict.fromkeys(row["measure"] for row in orderings if row["tau"] is not None):
        rows = sorted((row for row in orderings if row["measure"] == measure), key=lambda row: -(row["tau"] or -2.0))
        found.append(
            f"By {measure}, the order by {rows[0]['labels']} is closest to the trusted one (tau {rows[0]['tau']:.2f})."
        )
    return found
