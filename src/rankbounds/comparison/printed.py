"""What is printed of a comparison: sentences and tables, the answer first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankbounds.comparison import testing
from rankbounds.comparison.tables import FEW_RUNS, JUDGED, measure_place, verdict_columns
from rankbounds.measures import Measure
from rankbounds.results import Column, build_table
from rankbounds.tables import Table

if TYPE_CHECKING:
    from rankbounds.comparison.result import Comparison


def measure_table(comparison: Comparison) -> Table:
    """Show two runs with a row per measure: the second minus the first."""
    rows = []
    for part in comparison.numbers.parts:
        (row,) = part.pair_rows(probabilities=False)
        means = {system["run"]: system["mean"] for system in part.system_rows}
        rows.append(row | {"mean": means[row["run"]], "mean_against": means[row["against"]]})
    columns = [Column("measure"), *verdict_columns("difference", comparison.numbers)]
    return build_table(rows, [*columns, Column("mean", rows[0]["run"]), Column("mean_against", rows[0]["against"])])


def shown_parts(comparison: Comparison, top: int | None = None) -> list[str | Table]:
    """Return the sentences and tables that are printed: of two runs the verdict first, of more the leaderboard."""
    if len(comparison.runs) == 2:
        return [
            comparison.words(comparison.measures[0]),
            measure_table(comparison),
            comparison.agreement(),
            _judged_words(comparison),
        ]
    told = comparison[comparison.measures[0]].winner().words()
    parts: list[str | Table] = [*tables(comparison, comparison.measures[0], top), told]
    if len(comparison.measures) > 1:
        few = len(comparison.runs) <= FEW_RUNS
        summary = comparison.summary(top)
        plain = [[replace(cell, raised="") for cell in row] for row in summary.cells]
        summary = summary if few else replace(summary, cells=plain)
        beats = any(cell.raised for row in summary.cells for cell in row)
        shown = "is shown to be equivalent to" if comparison.numbers.of_equivalence else "beats significantly"
        tested = testing.tested_words(comparison.settings, len(comparison.runs))
        beaten = f" >: the numbers of the systems that it {shown} ({tested}, each measure separately)." * beats
        parts += [summary.table(), f"*: the best by each measure.{beaten}"]
    return parts


def _judged_words(comparison: Comparison) -> str:
    if not comparison.scores.has_judged:
        return ""
    shares = [f"{row['run']} {JUDGED.text(row)}" for row in comparison.numbers.system_rows[: len(comparison.runs)]]
    return f"judged@10: {', '.join(shares)}."


def pair_table(comparison: Comparison, measure: str | Measure | None = None, *, top: int | None = None) -> Table:
    """Return the pairs for one measure, the smallest p-value first; the verdict is about ``run``.

    With ``top``, those among that many of the best runs (and the baseline).
    """
    part = comparison.parts[measure_place(comparison.measures, measure)]
    label = str(part.measures[0])
    among = {row["run"] for row in comparison.leaderboard(label)[:top]} | {comparison.settings.get("baseline")}
    rows = [row for row in part.numbers.pair_rows(probabilities=False) if {row["run"], row["against"]} <= among]
    rows.sort(key=lambda row: (row["p_adjusted"], -abs(row["difference"] or 0.0)))
    columns = [Column("run"), Column("against", importance=9)]
    return build_table(rows, [*columns, *verdict_columns(f"{label}, difference", comparison.numbers)])


def tables(comparison: Comparison, measure: str | Measure, top: int | None = None) -> list[Table]:
    """Show the leaderboard, or its ``top``, and the pairs if there are few or a baseline."""
    few = len(comparison.runs) <= FEW_RUNS or comparison.settings.get("baseline") is not None
    return [comparison.table(measure, top), *([pair_table(comparison, measure, top=top)] if few else [])]
