"""The verdict on two runs in plain words: is it noise, could holes or ties overturn it, what would settle it?"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.comparison.evidence import Evidence
from rankbounds.comparison.significance import deviation_of, minimum_detectable_effect, topics_for_effects
from rankbounds.comparison.verdict import Comparison, signed
from rankbounds.evaluation.score_differences import differences as score_differences
from rankbounds.evaluation.score_differences import equal, merit

POWER = 0.8


def paragraph(comparison: Comparison, measure: str, evidence: Evidence | None = None) -> str:
    """The verdict on the first pair of a comparison, sentence by sentence."""
    evidence = evidence or Evidence()
    row = next(row for row in comparison.pairs if row["measure"] == measure)
    a, b = row["a"], row["b"]
    means = {one["run"]: one["mean"] for one in comparison.systems if one["measure"] == measure}
    at = [str(one) for one in comparison.scores.measures].index(measure)
    values = comparison.scores.value[:, :, at]
    differences = score_differences(values[comparison.scores.runs.index(a)], values[comparison.scores.runs.index(b)])
    chosen = comparison.scores.measures[at]
    gained = merit(differences, chosen)
    apart = "no mean difference" if row["difference"] is None else f"a difference of {signed(row['difference'])}"
    if np.isinf(means[a]) and np.isfinite(differences).all():
        apart += " (0 where both are infinite)"
    sentences = [
        f"{measure}{' (lower is better)' if chosen.lower_is_better else ''}: {a} scores {means[a]:.4f} and {b} "
        f"{means[b]:.4f}, {apart} over {differences.size} topics ({int((gained > 0).sum())} won, "
        f"{int((gained < 0).sum())} lost).",
        _noise(comparison, row),
        _holes(row, evidence),
    ]
    if evidence.ties is not None:
        sentences.append(_ties(row["difference"], *evidence.ties))
    if evidence.persistence:
        sentences.append(evidence.persistence)
    if np.isfinite(differences).all():
        sentences.append(_topics(row["difference"], differences, comparison.settings["alpha"]))
    holes_decide = row["certain_low"] is not None and row["certain_low"] <= 0 <= row["certain_high"]
    if evidence.to_judge and holes_decide:
        sentences.append(evidence.to_judge)
    return "\n".join(sentences) + "\n"


def _noise(comparison: Comparison, row: dict[str, Any]) -> str:
    settings = comparison.settings
    p, alpha = row["p_adjusted"], settings["alpha"]
    evidence = f"{settings['test']} test, p = {p:.4f}"
    if row["ci_low"] is not None:
        evidence += f"; {settings['confidence']:.0%} interval {signed(row['ci_low'])} to {signed(row['ci_high'])}"
    if p < alpha:
        return f"Is it noise? Probably not: so large a difference would rarely come by chance ({evidence})."
    return f"Is it noise? It may well be: such a difference can come by chance ({evidence})."


def _holes(row: dict[str, Any], evidence: Evidence) -> str:
    low, high, difference = row["certain_low"], row["certain_high"], row["difference"]
    if low is None or high is None:
        return (
            "Could unjudged documents overturn it? Not known for this measure: it depends on all relevant documents, "
            "also on those that neither run retrieved. RBP can tell."
        )
    span = f"whatever they turn out to be, the difference lies between {low:+.4f} and {high:+.4f}"
    if equal(low, high):
        text = "Could unjudged documents overturn it? No: nothing that matters is unjudged."
    elif low > 0 or high < 0:
        text = f"Could unjudged documents overturn it? No: {span}."
    elif difference == 0:
        text = f"What could unjudged documents make of it? {span[0].upper()}{span[1:]}."
    else:
        text = f"Could unjudged documents overturn it? Yes: {span}."
    if low <= 0 <= high and not equal(low, high) and evidence.probability:
        text += evidence.probability
    return text


def _ties(difference: float, low: float, high: float) -> str:
    if equal(low, high):
        return "Could ties? No: no tied scores matter."
    span = f"between {low:+.4f} and {high:+.4f}"
    if low > 0 or high < 0:
        return f"Could ties? No: over all orders of tied documents the difference lies {span}."
    if difference == 0:
        return f"Over all orders of tied documents the difference lies {span}."
    return f"Could ties? Yes: over all orders of tied documents the difference lies {span}."


def _topics(difference: float, differences: Floats, alpha: float) -> str:
    deviation = float(deviation_of(differences))
    if deviation == 0:
        return "What would settle it? More topics: on these the difference is the same everywhere."
    smallest = minimum_detectable_effect(deviation, differences.size, alpha, POWER)
    what = f"a true difference of {smallest:.4f}" if np.isfinite(smallest) else "no difference of any size"
    text = f"What would settle it? With {differences.size} topics {what} is found {POWER:.0%} of the time (t test)"
    if difference == 0:
        return text + "."
    needed = int(topics_for_effects(np.array([difference / deviation]), alpha, POWER)[0])
    if not needed:
        return f"{text}; one as small as this cannot be found with any realistic number of topics."
    return f"{text}; to find one of {abs(difference):.4f}, about {needed:,} topics are needed."
