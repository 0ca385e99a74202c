"""The verdict on a set of labels in plain words: does it agree, is it generous, whom does it like, who wins by it?"""

from __future__ import annotations

from collections.abc import Sequence

from rankbounds.evaluation.run_notes import some
from rankbounds.judging.judges.bias import RUNS_FOR_SCALE
from rankbounds.results import Row

NAMED = 3
"""So many runs or pairs are named."""
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
        of_measure, turned = (
            [other for other in rows if other["measure"] == row["measure"]] for rows in (flagged, changes)
        )
        found.append(_scores(row, settings, other_scale=agreed["reason"] is not None))
        if settings["runs"] > 1:
            found += [_likings(of_measure, row, settings), *_order(row, turned, settings)]
    if orderings:
        order = f"To say which of two runs is better: {_trust_in_order(orderings, settings)}. "
        scores = f"For the scores themselves: {_trust_in_scores(agreed, orderings, settings)}."
        found.append(f"May it be trusted? {order if settings['runs'] > 1 else ''}{scores}")
    return found


def _agreement(row: Row, settings: Row) -> list[str]:
    trusted = settings["trusted"]
    lacking = f" It has no label for {row['missing']:,} pairs that {trusted} has." if row["missing"] else ""
    if row["extra"]:
        lacking += f" It labels {row['extra']:,} pairs that {trusted} does not"
        counted = settings["runs"] and settings["pairs"] == "all"
        lacking += "; scores by it count these too, unless asked for shared pairs." if counted else "."
    kappa = "kappa cannot be computed: all labels are alike"
    if row["kappa"] is not None:
        kappa = f"kappa {row['kappa']:.2f}{_range(row, 'kappa', settings)}"
    generous = (
        f"Is it generous? It calls {row['relevant']:.0%} of them relevant, {trusted} {row['relevant_trusted']:.0%} "
        f"({100 * row['shift_relevant']:+.0f} points{_range(row, 'shift_relevant', settings, '{:+.0f}', 100)})."
    )
    if row["shift"] is not None:
        generous += f" Its mean grade is {row['shift']:+.2f} from that of {trusted}."
    return [
        f"{row['labels']}: says what {trusted} says, relevant or not, of {row['same']:.0%} of {row['pairs']:,} pairs "
        f"({kappa}).{lacking}",
        generous,
    ]


def _scores(row: Row, settings: Row, *, other_scale: bool) -> str:
    bias = f"{abs(row['mean_bias']):.4f}"
    by_how_much = f"{bias} {'higher' if row['mean_bias'] > 0 else 'lower'} than" if float(bias) else "as high as"
    spread = _range(row, "mean_bias", settings, "{:+.4f}").removeprefix(", ") or "no interval: the same on all topics"
    runs, on_average = "the run", ""
    if settings["runs"] > 1:
        runs, on_average = f"the {settings['runs']} runs", " on average"
    scale = ", the other scale of its grades included" if other_scale and row["measure"] in settings["graded"] else ""
    found = f"By {row['measure']} it scores {runs} {by_how_much} {settings['trusted']}{on_average} ({spread}){scale}."
    if row["slope"] is not None and settings["runs"] > 2:
        between = _range(row, "slope", pattern="{:.3f}", times=0.1)
        found += f" What is 0.100 between runs by {settings['trusted']} is {row['slope'] / 10:.3f}{between} by it."
    return found


def _likings(flagged: Sequence[Row], ordering: Row, settings: Row) -> str:
    """Which runs the labels like, and which they dislike, more than the others."""
    tested = f"randomisation test, Holm over {settings['runs']} runs, level {settings['alpha']:g}"
    liked, beyond = _liked(flagged, "flag", "excess"), _liked(flagged, "flag_beyond_scale", "beyond_scale")
    found = f"Does it like some runs more than others? Not shown for any of {settings['runs']} ({tested})."
    if liked:
        found = (
            f"Does it like some runs more than others? Yes: this judge {liked}, beside what it does to all runs on "
            f"average ({tested})."
        )
    if beyond:
        found += f" Compared with runs of like score it {beyond}."
    elif liked and ordering["slope"] is not None and settings["runs"] >= RUNS_FOR_SCALE:
        how = "squeezes" if ordering["slope"] < 1 else "stretches"
        found += f" That it {how} all differences explains this: beside runs of like score, none stands out."
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
    tau, tau_ap, of_best = (
        "not defined (all runs tie)" if row[name] is None else f"{row[name]:.2f}{_range(row, name)}"
        for name in ("tau", "tau_ap", "tau_top10")
    )
    best = f"; among the best {settings['top']} {of_best}" if settings["runs"] > settings["top"] else ""
    alike = f"Does it order runs alike? Kendall's tau is {tau}, tau_AP {tau_ap}{best}."
    trusted = settings["trusted"]
    if not row["separated"]:
        return [alike, f"{trusted} separates no pair of these runs, so none can change its winner."]
    kept, lost = (f"{row[name]:,} {'is' if row[name] == 1 else 'are'}" for name in ("kept", "lost"))
    turned = {0: "none changes its winner", 1: "1 changes its winner"}.get(
        row["reversed"], f"{row['reversed']:,} change their winner"
    )
    if changes:
        named = some([f"{change['better']} over {change['worse']}" for change in changes], NAMED)
        turned += f" ({named}; {row['reversed_significantly']} of them significantly)"
    return [
        alike,
        f"Of {row['separated']:,} pairs that {trusted} separates, {kept} separated the same way, {lost} not separated "
        f"any more, and {turned}. It separates {row['only_by_labels']:,} pairs that {trusted} does not.",
    ]


def _trust_in_order(orderings: Sequence[Row], settings: Row) -> str:
    if not any(row["separated"] for row in orderings):
        return f"cannot be found, since {settings['trusted']} separates none of these runs"
    worst = max(orderings, key=lambda row: (row["reversed"] / max(row["separated"], 1), row["reversed"]))
    if worst["reversed"]:
        answer = "mostly" if worst["reversed"] <= FEW_TURNED * worst["separated"] else "no"
        return (
            f"{answer}; by {worst['measure']} it turns {worst['reversed']:,} of {worst['separated']:,} clear "
            "differences around"
        )
    blind = max(orderings, key=lambda row: row["lost"] / max(row["separated"], 1))
    if not blind["lost"]:
        return "yes, on these topics it finds all clear differences and turns none around"
    answer = "in part" if blind["lost"] > MANY_LOST * blind["separated"] else "yes, on these topics"
    return (
        f"{answer}; it turns no clear difference around, but by {blind['measure']} misses {blind['lost']:,} of "
        f"{blind['separated']:,}"
    )


def _trust_in_scores(agreed: Row, orderings: Sequence[Row], settings: Row) -> str:
    """Every way in which scores can be wrong is asked for: labels, the mean over runs, orders, single runs."""
    remedy = 'with some documents judged by people, "rankbounds audit" makes them honest'
    off = []
    for row in orderings:  # by more than chance, or the same way on all topics
        low, high = row["mean_bias_low"], row["mean_bias_high"]
        if row["mean_bias"] != 0 if low is None or high is None else low > 0 or high < 0:
            off.append(row["measure"])
    if off:
        return f"no, by {', '.join(off)} they are off on average; {remedy}"
    surely = agreed["kappa"] if agreed["kappa_low"] is None else agreed["kappa_low"]
    if surely is None or surely <= 0:
        return f"no, that its labels agree with {settings['trusted']} by more than chance is not shown; {remedy}"
    turned = [row["measure"] for row in orderings if row["reversed"] > FEW_TURNED * row["separated"]]
    if turned:
        return f"no, by {', '.join(turned)} they turn clear differences around; {remedy}"
    unlike = [row["measure"] for row in orderings if row["favoured"] or row["punished"]]
    if unlike:
        return f"not for the runs that it likes or dislikes by {', '.join(unlike)}; {remedy}"
    return "nothing speaks against them here, which is not a proof"


def side_by_side(agreement: Sequence[Row], orderings: Sequence[Row], settings: Row) -> list[str]:
    """Several sets held against each other."""
    found = []
    if lead := settings["kappa_lead"]:
        low = lead["low"]
        verdict = "more than chance would give" if low is not None and low > 0 else "which may be chance"
        if low is not None:
            verdict += f"; {settings['confidence']:.0%} interval {low:+.3f} to {lead['high']:+.3f}"
        found.append(
            f"Of these {len(agreement) - len(settings['votes'])} judges, {lead['best']} agrees best with "
            f"{settings['trusted']}: its kappa is {lead['difference']:.3f} above that of {lead['next']}, {verdict}."
        )
    for measure in dict.fromkeys(row["measure"] for row in orderings if row["tau"] is not None):
        rows = sorted((row for row in orderings if row["measure"] == measure), key=lambda row: -(row["tau"] or -2.0))
        found.append(f"By {measure} the order is closest with {rows[0]['labels']} (tau {rows[0]['tau']:.2f}).")
    return found


def agreement_caption(settings: Row) -> str:
    """What the table of agreement holds."""
    return (
        f"Agreement with {settings['trusted']} (grades {settings['scale']}, relevant from {settings['rel']:g} on) over "
        f"{settings['topics']} topics. kappa: relevant or not; linear, quadratic: of grades (- where scales differ); "
        f"alpha: Krippendorff's, of grades (of relevant or not, where scales differ); brackets: "
        f"{settings['confidence']:.0%} over {settings['resamples']:,} resamples of topics, seed {settings['seed']}."
    )


def ordering_caption(settings: Row) -> str:
    """What the table of orders holds."""
    return (
        f'Order of the runs. separated: pairs that {settings["trusted"]} tells apart (as "rankbounds compare" does); '
        "of these the labels tell apart the same way (kept), not at all (lost), or have another winner (turned); new: "
        "pairs that only the labels tell apart."
    )


def _range(row: Row, name: str, settings: Row | None = None, pattern: str = "{:.2f}", times: float = 1) -> str:
    """The interval of a number, as " (0.12 to 0.34)" or, with settings, ", 95% interval 0.12 to 0.34"."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if low is None or high is None:
        return ""
    ends = f"{pattern.format(times * low)} to {pattern.format(times * high)}"
    return f" ({ends})" if settings is None else f", {settings['confidence']:.0%} interval {ends}"
