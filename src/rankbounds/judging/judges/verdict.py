"""The verdict on sets of labels: can they be trusted to order runs, and for the scores; which runs do they favour?"""

from __future__ import annotations

from collections.abc import Sequence

from rankbounds.judging.judges.bias import RUNS_FOR_SCALE
from rankbounds.phrases import some
from rankbounds.results import Row

NAMED = 3
"""How many runs are named."""
FEW_TURNED = 0.05
"""Up to this share of turned pairs, an order is called one that mostly holds."""
MANY_LOST = 0.2
"""Labels that miss a larger share of the clear differences tell runs apart only in part."""


def which_agrees_best(sets: int, known: Row) -> list[str]:
    """Say of several sets which agrees best, and whether chance may explain that."""
    found = []
    if lead := known["kappa_lead"]:
        low, high = lead["low"], lead["high"]
        verdict = f"which chance alone {'does not explain' if low is not None and low > 0 else 'may explain'}"
        if low is not None:
            verdict += f" ({known['confidence']:.0%} interval [{low:+.3f}, {high:+.3f}])"
        found.append(
            f"Of these {sets - len(known['votes'])} judges, {lead['best']} agrees best with "
            f"{known['trusted']}: its kappa is {lead['difference']:.3f} above that of {lead['next']}, {verdict}."
        )
    return [*found, "For all that is known of one: --details NAME, in Python details(NAME)."]


def sentences(row: Row, orderings: Sequence[Row], systems: Sequence[Row], known: Row) -> list[str]:
    """Say of one set of labels whether it can be trusted, and which runs it favours."""
    trusted, found = known["trusted"], []
    if orderings:
        answer, reason, measure = trust_in_order(orderings)
        order = f"{answer}{reason and f'; of the clear differences by {measure}, {reason}'}"
        asked = f"To say which of two runs is better: {order}. " if known["runs"] > 1 else ""
        why = trust_in_scores(row, orderings)[1]
        of_scores = "no problem was found, which does not prove that there is none"
        if why:
            of_scores = (
                f'{why.format(trusted=trusted)}; "rankbounds audit" corrects them with a sample that people judge'
            )
        found.append(f"Can {row['labels']} be trusted? {asked}For the scores themselves: {of_scores}.")
    found.append(
        f"It agrees with {trusted} on {row['same']:.0%} of {row['pairs']:,} pairs, relevant or not; it calls "
        f"{row['relevant']:.0%} of them relevant, {trusted} {row['relevant_trusted']:.0%}."
    )
    if row["missing"] or row["extra"]:
        found[-1] += (
            f" It has no label for {row['missing']:,} pairs that {trusted} has, and labels {row['extra']:,} that "
            f"{trusted} does not{'; its scores include these' if known['runs'] and row['extra'] else ''}."
        )
    return found + [_likings(systems, one, known) for one in orderings if known["runs"] > 1]


def _likings(systems: Sequence[Row], ordering: Row, known: Row) -> str:
    """Say which runs the labels like, and which they dislike, more than the others."""
    flagged = [row for row in systems if row["measure"] == ordering["measure"]]
    liked, beyond = _liked(flagged, "flag", "excess"), _liked(flagged, "flag_beyond_scale", "beyond_scale")
    runs, slope = known["runs"], ordering["slope"]
    answer = f"compared with its average over all runs, it {liked}" if liked else "no run is shown to be favoured"
    tested = f"(t test, Holm over {runs} runs, level {known['alpha']:g})"
    found = f"By {ordering['measure']}, {answer} {tested}."
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


def worst_share(orderings: Sequence[Row], count: str) -> tuple[float, Row]:
    """The greatest share of the separated pairs that is lost or reversed by a measure, and that measure's row."""
    shares = ((row[count] / max(row["separated"], 1), row) for row in orderings)
    return max(shares, key=lambda share: share[0], default=(0.0, {}))


def trust_in_order(orderings: Sequence[Row]) -> tuple[str, str, str]:
    """Whether labels tell which of two runs is better; what they turn or miss, and by which measure."""
    if not any(row["separated"] for row in orderings):
        return "unknown", "", ""
    (turned, row), (lost, blind) = worst_share(orderings, "reversed"), worst_share(orderings, "lost")
    if turned:
        answer = "mostly" if turned <= FEW_TURNED else "no"
        return answer, f"{row['reversed']:,} of {row['separated']:,} turned", row["measure"]
    missed = f"{blind['lost']:,} of {blind['separated']:,} missed" if lost else ""
    return "in part" if lost > MANY_LOST else "yes", missed, blind["measure"] if lost else ""


def trust_in_scores(agreed: Row, orderings: Sequence[Row]) -> tuple[str, str]:
    """The first way found in which scores are wrong: the mean over runs, labels, orders, single runs."""

    def off(row: Row) -> bool:  # by more than chance, or the same way on all topics
        low, high = row["mean_bias_low"], row["mean_bias_high"]
        return bool(row["mean_bias"]) if low is None or high is None else low > 0 or high < 0

    surely = agreed["kappa"] if agreed["kappa_low"] is None else agreed["kappa_low"]
    for problem, why, holds in (
        ("no: biased", "no, by {} they are biased on average", off),
        (
            "no: chance",
            "no, its labels are not shown to agree with {{trusted}} more than by chance",
            lambda _: surely is None or surely <= 0,
        ),
        (
            "no: turned",
            "no, by {} they reverse clear differences",
            lambda row: row["reversed"] > FEW_TURNED * row["separated"],
        ),
        (
            "not of all runs",
            "not for the runs that it favours or penalises by {}",
            lambda row: row["favoured"] or row["penalised"],
        ),
    ):
        if named := [row["measure"] for row in orderings if holds(row)]:
            return problem, why.format(", ".join(named))
    return "no problem found", ""
