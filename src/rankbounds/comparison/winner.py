"""The lead of the best of many runs, corrected for its having been picked as the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.comparison.power import sampled
from rankbounds.comparison.tables import Rows, of_topics
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import differences, limits_of_differences, merit
from rankbounds.measures import Measure
from rankbounds.results import Column, Result, interval
from rankbounds.stats.corrections import CORRECTIONS
from rankbounds.stats.significance import TESTS, too_few
from rankbounds.stats.winners import Lead, lead_over_baseline, lead_over_second
from rankbounds.tables import p_words, plain, signed

if TYPE_CHECKING:
    from rankbounds.comparison.compared import Compared

PICKED = 3
"""From so many runs on the best one was picked among several."""


def find_winners(comparison: Compared) -> Result:
    runs, settings = comparison.runs, comparison.settings
    if len(runs) < PICKED:
        raise UsageError("With two runs, no winner was selected among several: use the interval of their difference.")
    baseline, confidence = settings["baseline"], settings["confidence"]
    rows: list[dict[str, Any]] = []
    for place, measure in enumerate(comparison.measures):
        values = comparison.scores.value[:, :, place]
        merits = merit(values, measure)
        if not np.isfinite(merits).all():
            continue
        if comparison.clusters is not None:
            merits = comparison.clusters.sum_differences(merits)
        leads = [] if baseline is None else [lead_over_baseline(merits, runs.index(baseline), confidence)]
        limits = limits_of_differences(measure, values)
        for lead in [*leads, lead_over_second(merits, confidence)]:
            differing = int(np.count_nonzero(differences(merits[lead.run], merits[lead.against])))
            if too_few(differing, confidence):
                lead = Lead(lead.run, lead.against, lead.lead)
            p = _p_adjusted(comparison, place, lead)
            if p is not None and _holds_together(comparison, p):
                lead = lead.beyond_zero()
            rows.append(_row(lead, measure, runs, limits) | {"differing": differing, "p_adjusted": p})
    of = "corrected_lead"
    within = interval("ci_low", "ci_high", of_topics(settings), signed, importance=6, of=of)
    columns = [
        Column("measure", importance=8),
        Column("run"),
        Column("against", importance=9),
        Column("lead", cell=lambda row: signed(row["lead"]), importance=5),
        Column(of, cell=lambda row: signed(row[of]), importance=7),
        within,
        *(Column(name, None) for name in ("ci_low", "ci_high", "differing", "p_adjusted")),
    ]
    told = {name: settings[name] for name in ("baseline", "confidence", "alpha", "comparisons")}
    told |= {"runs": len(runs), "topics": sampled(settings)}
    said = "\n".join(_sentence(row, told, comparison) for row in rows)
    return Rows(lambda: rows, columns, said=said, settings=told)


def _sentence(row: dict[str, Any], settings: dict[str, Any], comparison: Compared) -> str:
    of_baseline = row["against"] == settings["baseline"]
    named = "the baseline" if of_baseline else "the second"
    lead, corrected = signed(row["lead"]), signed(row["corrected_lead"])
    start = f"{row['measure']}{comparison.assumed}: {row['run']}, the best of {settings['runs'] - of_baseline}"
    start += f", differs by {lead}"
    against = f" from {named}, {row['against']}"
    if row["corrected_lead"] is None:
        return (
            f"{start}{against}, on {row['differing']} of {settings['topics']} topics: how much is chance is not known."
        )
    shown = _pair_interval(comparison, row) if corrected == lead else (row["ci_low"], row["ci_high"])
    within = f" [{signed(shown[0])}, {signed(shown[1])}]"
    picked = f"; corrected for selection ({'it was' if of_baseline else 'both were'} picked by these scores), by "
    said = start + (within + against if corrected == lead else against + picked + corrected + within)
    p = row["p_adjusted"]
    none = f": no difference is shown ({p_words(p)}, corrected for {settings['comparisons']:,} comparisons)"
    return f"{said}{none * (p is not None and p >= settings['alpha'])}."


def _pair_interval(comparison: Compared, row: dict[str, Any]) -> tuple[float, float]:
    """Return the interval that tables have of this pair; that of the winner where they have none."""
    run, against = (comparison.runs.index(row[name]) for name in ("run", "against"))
    if comparison.tested.places(run, against) < 0:
        return row["ci_low"], row["ci_high"]
    of_pair, at = comparison.tested.get(run, against), comparison.measures.index(comparison.measure(row["measure"]))
    low, high = (float(of_pair[name][at]) for name in ("ci_low", "ci_high"))
    return (row["ci_low"], row["ci_high"]) if np.isnan(low) else (low, high)


def _p_adjusted(comparison: Compared, place: int, lead: Lead) -> float | None:
    pair = int(comparison.tested.places(lead.run, lead.against))
    known = pair >= 0 and not comparison.of_equivalence
    return float(comparison.tested.numbers["p_adjusted"][place, pair]) if known else None


def _holds_together(comparison: Compared, p_adjusted: float) -> bool:
    """Return whether all comparisons together show the sign of the lead as surely as the interval holds it.

    An interval that matches Holm's correction then ends at 0 (Strassburger and Bretz 2008). In simulations this costs
    the winner's interval at most .7% of its coverage.
    """
    settings = comparison.settings
    of_means = TESTS[settings["test"]].of_mean and settings["alternative"] == "two-sided"
    sure = CORRECTIONS[settings["correction"]].family_wise or settings["comparisons"] == 1
    return of_means and sure and p_adjusted < 1 - settings["confidence"]


def _row(lead: Lead, measure: Measure, runs: Sequence[str], limits: tuple[float, float]) -> dict[str, Any]:
    sign = -1.0 if measure.lower_is_better else 1.0
    corrected, one, other = (
        float(np.clip(sign * end, *limits)) for end in (lead.corrected_lead, lead.ci_low, lead.ci_high)
    )
    low, high = (other, one) if measure.lower_is_better else (one, other)
    ends = {"lead": 0.0 + sign * lead.lead, "corrected_lead": corrected, "ci_low": low, "ci_high": high}
    named = {"measure": str(measure), "run": runs[lead.run], "against": runs[lead.against]}
    return named | {name: plain(end) for name, end in ends.items()}
