"""The verdict on a set of labels in plain words: does it agree, is it generous, whom does it like, who wins by it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

NAMED = 3
"""So many runs or pairs are named."""
FEW_TURNED = 0.05
"""Up to this share of turned pairs, an order is called one that mostly holds."""

MANY_LOST = 0.2
"""Labels that miss a larger share of the clear differences tell runs apart only in part."""

Row = Mapping[str, Any]


def sentences(
    agreed: Row, orderings: Sequence[Row], flagged: Sequence[Row], changes: Sequence[Row], settings: Row
) -> list[str]:
    """The verdict on one set of labels."""
    told = _agreement(agreed, settings)
    for row in orderings:
        of_measure = [other for other in flagged if other["measure"] == row["measure"]]
        turned = [other for other in changes if other["measure"] == row["measure"]]
        told += _scores(row, settings, other_scale=agreed["reason"] is not None)
        if settings["runs"] > 1:
            told += [*_likings(of_measure, settings), *_order(row, turned, settings)]
    if orderings:
        told.append(_trust(orderings, settings))
    return told


def _agreement(row: Row, settings: Row) -> list[str]:
    trusted = settings["trusted"]
    lacking = f" It has no label for {row['missing']:,} pairs that {trusted} has." if row["missing"] else ""
    kappa = "kappa cannot be computed: all labels are alike"
    if row["kappa"] is not None:
        kappa = f"kappa {row['kappa']:.2f}{_interval(row, 'kappa', settings)}"
    told = [
        f"{row['labels']}: says what {trusted} says, relevant or not, of {row['same']:.0%} of {row['pairs']:,} pairs "
        f"({kappa}).{lacking}"
    ]
    told.append(
        f"Is it generous? It calls {row['relevant']:.0%} of them relevant, {trusted} {row['relevant_trusted']:.0%} "
        f"({_points(row['shift_relevant'])} points{_interval(row, 'shift_relevant', settings, _points)})."
    )
    if row["shift"] is not None:
        told[-1] += f" Its mean grade is {row['shift']:+.2f} from that of {trusted}."
    return told


def _scores(row: Row, settings: Row, *, other_scale: bool) -> list[str]:
    moved = "higher" if row["mean_bias"] > 0 else "lower"
    spread = f"{settings['confidence']:.0%} interval {row['mean_bias_low']:+.4f} to {row['mean_bias_high']:+.4f}"
    runs = "the run" if settings["runs"] == 1 else f"the {settings['runs']} runs"
    on_average = "" if settings["runs"] == 1 else " on average"
    scale = ", the other scale of its grades included" if other_scale and row["measure"] in settings["graded"] else ""
    told = [
        f"By {row['measure']} it scores {runs} {abs(row['mean_bias']):.4f} {moved} than {settings['trusted']}"
        f"{on_average} ({spread}){scale}."
    ]
    if row["slope"] is not None and settings["runs"] > 2:
        between = "" if row["slope_low"] is None else f" ({row['slope_low'] / 10:.3f} to {row['slope_high'] / 10:.3f})"
        told[0] += f" What is 0.100 between runs by {settings['trusted']} is {row['slope'] / 10:.3f}{between} by it."
    return told


def _likings(flagged: Sequence[Row], settings: Row) -> list[str]:
    """Which runs the labels like, and which they dislike, more than the others."""
    tested = f"randomisation test, Holm over {settings['runs']} runs, level {settings['alpha']:g}"
    if not flagged:
        return [f"Does it like some runs more than others? Not shown for any of {settings['runs']} ({tested})."]
    parts = []
    for flag, verb in (("favoured", "likes"), ("punished", "is hard on")):
        rows = sorted((other for other in flagged if other["flag"] == flag), key=lambda other: -abs(other["excess"]))
        if rows:
            named = [f"{other['run']} ({other['excess']:+.4f})" for other in rows]
            parts.append(f"{verb} {_some(named)}")
    return [
        f"Does it like some runs more than others? Yes: this judge {' and '.join(parts)}, beside what it does to all "
        f"runs on average ({tested})."
    ]


def _order(row: Row, changes: Sequence[Row], settings: Row) -> list[str]:
    best = f"; among the best {settings['top']} {_coefficient(row, 'tau_top10')}"
    told = [
        f"Does it order runs alike? Kendall's tau is {_coefficient(row, 'tau')}, tau_AP "
        f"{_coefficient(row, 'tau_ap')}{best if settings['runs'] > settings['top'] else ''}."
    ]
    trusted = settings["trusted"]
    if not row["separated"]:
        return [*told, f"{trusted} separates no pair of these runs, so none can change its winner."]
    said = (
        f"Of {row['separated']:,} pairs that {trusted} separates, {row['kept']:,} are separated the same way, "
        f"{row['lost']:,} are not separated any more, and {row['reversed']:,} change{'s' * (row['reversed'] == 1)} "
        f"{'its' if row['reversed'] == 1 else 'their'} winner"
    )
    if changes:
        named = [f"{change['better']} over {change['worse']}" for change in changes]
        said += f" ({_some(named)}; {row['reversed_significantly']} of them significantly)"
    return [*told, f"{said}. It separates {row['only_by_labels']:,} pairs that {trusted} does not."]


def _trust(orderings: Sequence[Row], settings: Row) -> str:
    """The last sentences: for what the labels may be trusted, by the measure that speaks worst of them."""
    order = ""
    if settings["runs"] > 1:
        worst = max(orderings, key=lambda row: (row["reversed"] / max(row["separated"], 1), row["reversed"]))
        if not any(row["separated"] for row in orderings):
            order = f"To say which run is better: cannot be told from these runs and topics, of which {settings['trusted']} separates none."  # noqa: E501
        elif not worst["reversed"]:
            blind = max(orderings, key=lambda row: row["lost"] / max(row["separated"], 1))
            missed = f"by {blind['measure']} it misses {blind['lost']:,} of {blind['separated']:,} clear differences"
            answer = "yes, on these topics, though" if blind["lost"] <= MANY_LOST * blind["separated"] else "in part:"
            told = f"{answer} {missed}" if blind["lost"] else "yes, on these topics"
            order = f"To say which of two runs is better: {told}, and turns none around."
        elif worst["reversed"] <= FEW_TURNED * worst["separated"]:
            order = (
                f"To say which of two runs is better: mostly; by {worst['measure']} it turns {worst['reversed']:,} of "
                f"{worst['separated']:,} clear differences around."
            )
        else:
            order = (
                f"To say which of two runs is better: no; by {worst['measure']} it turns {worst['reversed']:,} of "
                f"{worst['separated']:,} clear differences around."
            )
    off = [row["measure"] for row in orderings if row["mean_bias_low"] > 0 or row["mean_bias_high"] < 0]
    liked = [row["measure"] for row in orderings if row["favoured"] or row["punished"]]
    if off:
        scores = f"For the scores themselves: no, they are off by {', '.join(off)}"
    elif liked:
        scores = f"For the scores themselves: not those of the runs named above, by {', '.join(liked)}"
    else:
        scores = "For the scores themselves: nothing speaks against it, which is not a proof"
    return (
        f"May it be trusted? {order} {scores}; with some documents judged by people, \"rankbounds audit\" makes them "
        "honest."
    ).replace("?  ", "? ")  # fmt: skip


def side_by_side(agreement: Sequence[Row], orderings: Sequence[Row], settings: Row) -> list[str]:
    """Several sets held against each other."""
    lead = settings["kappa_lead"]
    told = []
    if lead is not None:
        sure = lead["low"] is not None and lead["low"] > 0
        verdict = "more than chance would give" if sure else "which may be chance"
        between = (
            ""
            if lead["low"] is None
            else f"; {settings['confidence']:.0%} interval {lead['low']:+.3f} to {lead['high']:+.3f}"
        )
        told.append(
            f"Of these {len(agreement) - len(settings['votes'])} judges, {lead['best']} agrees best with "
            f"{settings['trusted']}: its kappa is {lead['difference']:.3f} above that of {lead['next']}, {verdict}"
            f"{between}."
        )
    for measure in dict.fromkeys(row["measure"] for row in orderings if row["tau"] is not None):
        rows = sorted((row for row in orderings if row["measure"] == measure), key=lambda row: -(row["tau"] or -2.0))
        told.append(f"By {measure} the order is closest with {rows[0]['labels']} (tau {rows[0]['tau']:.2f}).")
    return told


def agreement_caption(settings: Row) -> str:
    """What the table of agreement holds."""
    return (
        f"Agreement with {settings['trusted']} (grades {settings['scale']}, relevant from {settings['rel']:g} on) over "
        f"{settings['topics']} topics. kappa: relevant or not; linear, quadratic: of grades (- where scales differ); "
        f"alpha: Krippendorff's, ordinal; brackets: {settings['confidence']:.0%} over {settings['resamples']:,} "
        f"resamples of topics, seed {settings['seed']}."
    )


def ordering_caption(settings: Row) -> str:
    """What the table of orders holds."""
    return (
        f'Order of the runs. separated: pairs that {settings["trusted"]} tells apart (as "rankbounds compare" does); '
        "of these the labels tell apart the same way (kept), not at all (lost), or have another winner (turned); new: "
        "pairs that only the labels tell apart."
    )


def _interval(row: Row, name: str, settings: Row, written: Callable[[float], str] = "{:.2f}".format) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if low is None or high is None:
        return ""
    return f", {settings['confidence']:.0%} interval {written(low)} to {written(high)}"


def _points(share: float) -> str:
    return f"{100 * share:+.0f}"


def _coefficient(row: Row, name: str) -> str:
    if row[name] is None:
        return "not defined (all runs tie)"
    between = "" if row[f"{name}_low"] is None else f" ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})"
    return f"{row[name]:.2f}{between}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"
