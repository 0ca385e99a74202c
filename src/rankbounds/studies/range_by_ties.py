"""How far can ties move a system's score, and does the order of systems depend on how they are broken?

For each run the mean of a measure with every tied group in its worst, its best and in trec_eval's order, and the mean
over all orders; with the places that the run could take among the others.

Source: Yang, Moffat and Turpin, How Precise Does Document Scoring Need to Be?, 2016, section 3 (Figure 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankbounds.checking.diagnosis import diagnose
from rankbounds.checking.tie_effects import in_words, places
from rankbounds.measures import Measure, parse_measure
from rankbounds.studies import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def run(qrels: Any, runs: Any, measure: str | Measure = "AP", *, best: int | None = None) -> Result:
    """Rows by falling score under trec_eval's order. ``best`` keeps so many of the best runs, as the paper does."""
    chosen = parse_measure(measure)
    found = diagnose(runs, qrels=qrels, measures=[chosen], examples=0)
    if best is not None:
        kept = {one.run for one in places(found)[:best]}
        found = [one for one in found if one.run in kept]
    by_name = {one.run: one for one in found}
    ranking = places(found)
    rows = [
        {
            "run": one.run,
            "measure": one.effect.measure,
            "place": one.place,
            "value": one.effect.value,
            "expected": one.effect.expected,
            "low": one.effect.low,
            "high": one.effect.high,
            "range": one.effect.width,
            "highest_place": one.highest,
            "lowest_place": one.lowest,
            "expected_place": one.expected_place,
            "tied_documents": by_name[one.run].tied_documents,
            "tied_topics": by_name[one.run].tied_topics,
            "lines": by_name[one.run].lines,
        }
        for one in ranking
    ]
    return Result(rows, in_words(ranking), {"measure": str(chosen), "best": best})


def figure(result: Result, ax: Axes | None = None) -> Axes:
    """Each run's range over the orders of its ties."""
    from rankbounds.plots.ties import ranges_by_ties

    return ranges_by_ties(result.rows, ax)
