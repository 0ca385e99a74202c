"""How far can ties move a system's score, and does the order of systems depend on how they are broken?

For each run the mean of a measure with every tied group in its worst, its best and in trec_eval's order, and the mean
over all orders; with the places that the run could take among the others.

Source: Yang, Moffat and Turpin, How Precise Does Document Scoring Need to Be?, 2016, section 3 (Figure 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankbounds.checking.diagnosis import diagnose, in_words, places
from rankbounds.measures import Measure, parse_measure
from rankbounds.plots.ties import ranges_by_ties
from rankbounds.studies import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def run(qrels: Any, runs: Any, measure: str | Measure = "AP", *, best: int | None = None) -> Result:
    """Rows by falling score under trec_eval's order. ``best``: how many of the best runs to keep, as the paper does."""
    chosen = parse_measure(measure)
    diagnoses = diagnose(runs, qrels=qrels, measures=[chosen], examples=0)
    if best is not None:
        kept = {place.run for place in places(diagnoses)[:best]}
        diagnoses = [diagnosis for diagnosis in diagnoses if diagnosis.run in kept]
    by_name = {diagnosis.run: diagnosis for diagnosis in diagnoses}
    ranking = places(diagnoses)
    rows = [
        {
            "run": place.run,
            "measure": place.effect.measure,
            "place": place.place,
            **{name: getattr(place.effect, name) for name in ("value", "expected", "low", "high")},
            "range": place.effect.width,
            "highest_place": place.highest,
            "lowest_place": place.lowest,
            "expected_place": place.expected_place,
            **{name: getattr(by_name[place.run], name) for name in ("tied_documents", "tied_topics", "lines")},
        }
        for place in ranking
    ]
    return Result(rows, in_words(ranking), {"measure": str(chosen), "best": best})


def figure(result: Result, ax: Axes | None = None) -> Axes:
    """Each run's range over the orders of its ties."""
    return ranges_by_ties(result.rows, ax)
