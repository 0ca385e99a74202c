"""What is printed of a comparison: sentences and tables, the answer first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankbounds.comparison import testing
from rankbounds.comparison.tables import FEW_RUNS, LONGEST_GROUP, measure_place, verdict_columns
from rankbounds.comparison.wording import compared_words, first_sentence
from rankbounds.measures import Measure
from rankbounds.results import Column, build_table
from rankbounds.tables import Table, number, p_words

if TYPE_CHECKING:
    from rankbounds.comparison.result import Comparison


def measure_table(comparison: Comparison, *, brief: bool = False) -> Table:
    rows = [_with_means(part)[0] for part in comparison.parts]
    columns = [Column("measure"), *verdict_columns("difference", comparison.numbers)]
    columns += [Column("mean", rows[0]["run"]), Column("mean_against", rows[0]["against"], of="mean")]
    said = ("verdict", "mean", "mean_against") if brief and len(rows) == 1 else ()
    return build_table(rows, [column for column in columns if column.name not in said])


def _with_means(part: Comparison) -> list[dict[str, Any]]:
    means = {system["run"]: system["mean"] for system in part.numbers.system_rows}
    rows = part.numbers.pair_rows(probabilities=False)
    return [row | {"mean": means[row["run"]], "mean_against": means[row["against"]]} for row in rows]


def shown_parts(comparison: Comparison, top: int | None = None, *, explain: bool = False) -> list[str | Table]:
    first, settings, count = comparison.parts[0], comparison.settings, len(comparison.runs)
    if count == 2:
        table, agreement = measure_table(comparison, brief=not explain), comparison.agreement()
        if explain:
            return [first.words(), table, agreement]
        (row,) = _with_means(first)
        test = f"{testing.test_names(settings)[0]}, {p_words(row['p_adjusted'])}".removesuffix(", ")
        tested = f"over {testing.sample_words(settings)} ({test}{testing.level_words(settings)})"
        means, measure = (number(row["mean"]), number(row["mean_against"])), compared_words(first.measures[0])
        answer = first_sentence(row, measure, means, tested, comparison.numbers.assumed)
        return ["\n".join(filter(None, [answer, agreement])), table, "\n".join(first.sentences(open_alone=True))]
    few = count <= FEW_RUNS
    said = first.winner().words().splitlines()
    tested = testing.tested_words(settings, count)
    shown = comparison.parts if few else [first]
    by_pairs = settings["baseline"] is not None or comparison.numbers.of_equivalence
    parts: list[str | Table] = []
    if explain:
        parts = [*(table for part in shown for table in tables(part, part.measures[0], top)), "\n".join(said)]
    elif by_pairs:
        parts = [*said[:1], *(pair_table(part, top=top, brief=True) for part in shown)]
    else:
        parts = [*said[:1], *(part.table(None, top) for part in shown)]
    if len(comparison.measures) > len(shown):
        summary = comparison.summary(top)
        plain = [[replace(cell, raised="") for cell in row] for row in summary.cells]
        parts += [replace(summary, cells=plain).table(), "*: the best by each measure."]
    return parts if explain else [*parts, _legend(parts, tested)]


def _legend(parts: Sequence[str | Table], tested: str) -> str:
    shown = {heading for part in parts if isinstance(part, Table) for heading in part.header}
    said = {
        "group": f"group: runs that share a letter are not shown to differ ({tested}).",
        "rank": f"rank: [best, worst] place of each run ({tested}). Letters are left out: a run has more than "
        f"{LONGEST_GROUP}; --top N shows fewer runs.",
        "p corrected": f"p corrected: {tested}.",
    }
    return " ".join(words for heading, words in said.items() if heading in shown)


def pair_table(
    comparison: Comparison, measure: str | Measure | None = None, *, top: int | None = None, brief: bool = False
) -> Table:
    """Return the pairs for one measure, the smallest p-value first; the verdict is about ``run``.

    With a baseline the best run comes first. With ``top``, those among that many of the best runs (besides the
    baseline); ``brief``: means, and one p-value.
    """
    part = comparison.parts[measure_place(comparison.measures, measure)]
    label, settings = part.measures[0], part.settings
    baseline = settings["baseline"]
    best = [row["run"] for row in comparison.leaderboard(label) if row["run"] != baseline][:top]
    rows = [row for row in _with_means(part) if {row["run"], row["against"]} <= {*best, baseline}]
    if baseline is None:
        rows.sort(key=lambda row: (row["p_adjusted"], -abs(row["difference"] or 0.0)))
    else:
        rows.sort(key=lambda row: best.index(row["run"]))
    columns, against = [Column("run")], [Column("against", importance=9)]
    if not brief:
        return build_table(rows, [*columns, *against, *verdict_columns(f"{label}, difference", part.numbers)])
    if baseline is None or not rows:
        columns, heading = [*columns, *against], "difference"
    else:
        heading = f"minus {baseline} ({number(rows[0]['mean_against'])})"
    columns += [Column("mean", compared_words(label), importance=9), *verdict_columns(heading, part.numbers)]
    if settings["correction"] != "none":  # a narrow terminal shows p corrected, on which the verdict rests, first
        columns = [
            replace(each, of="") if each.name == "ci_low" else each for each in columns if each.name != "p_value"
        ]
    return build_table(rows, columns)


def tables(comparison: Comparison, measure: str | Measure, top: int | None = None) -> list[Table]:
    few = len(comparison.runs) <= FEW_RUNS or comparison.settings.get("baseline") is not None
    return [comparison.table(measure, top), *([pair_table(comparison, measure, top=top)] if few else [])]
