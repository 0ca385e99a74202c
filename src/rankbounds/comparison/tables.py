"""What tables of compared systems share: the systems of a measure, best first, and cells for places, shares and p."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankbounds.errors import UsageError
from rankbounds.measures import Measure, parse_measure
from rankbounds.results import Column, Result, interval, place_cell
from rankbounds.tables import p_number, percent, signed

if TYPE_CHECKING:
    from rankbounds.comparison.compared import Compared
    from rankbounds.evaluation.scores import Scores

LONGEST_GROUP = 6
"""Letters of groups are shown where no run has more of them."""
FEW_RUNS = 6
"""Of this number of runs or fewer all pairs are printed."""


def measure_place(measures: Sequence[Measure], label: str | Measure | None) -> int:
    labels = [str(measure) for measure in measures]
    wanted = labels[0] if label is None else str(label)
    wanted = wanted if wanted in labels else str(parse_measure(label or wanted))
    if wanted not in labels:
        raise UsageError(f"These runs were not compared by {wanted}, but by {', '.join(labels)}.")
    return labels.index(wanted)


def best_first(systems: Sequence[dict[str, Any]], measure: Measure) -> list[dict[str, Any]]:
    sign = 1 if measure.lower_is_better else -1
    rows = [row for row in systems if row["measure"] == str(measure)]
    return sorted(rows, key=lambda row: (row["mean"] is None, sign * (row["mean"] or 0.0)))


@dataclass(frozen=True, eq=False, repr=False)
class Rows(Result):
    """Rows made on demand, and how a table shows them."""

    make: Callable[[], list[dict[str, Any]]]
    shown: Sequence[Column]
    named: Sequence[str] = ()
    """The columns of the rows, where tables have them in another order."""
    note: str = ""
    said: str = ""

    @property
    def columns(self) -> Sequence[Column]:  # type: ignore[override]
        return self.shown

    def rows(self) -> list[dict[str, Any]]:
        return self.make()

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(self.named) or super().fields

    def words(self) -> str:
        return self.said

    def notes(self) -> list[str]:
        return [self.note] if self.note else []


def difference_columns(
    heading: str, settings: Mapping[str, Any], importance: Sequence[int] = (0, 0, 0)
) -> list[Column]:
    corrected = settings["correction"] != "none"  # the verdict rests on the p-value that is corrected
    return [
        Column("difference", heading, lambda row: signed(row["difference"]), importance[0]),
        interval("ci_low", "ci_high", of_topics(settings), signed, importance=importance[1], of="difference"),
        Column("won"),
        Column("lost", of="won"),
        p_column("p_value", "p", 0 if corrected else importance[2]),
        *([p_column("p_adjusted", "p corrected", importance[2])] if corrected else []),
    ]


def p_column(name: str, heading: str, importance: int = 0) -> Column:
    return Column(name, heading, lambda row: p_number(row.get(name)), importance)


JUDGED = Column("judged_at_10", "judged@10", lambda row: percent(row["judged_at_10"]), 8)
TOPICS_LED = Column("topics_led", "best on topics", lambda row: f"{row['topics_led']:.1f}")


def of_topics(settings: Mapping[str, Any]) -> str:
    return f"{settings['confidence']:.0%} (topics)"


def bounds_heading(scores: Scores) -> str:
    return f"bounds ({'unjudged, ties' if scores.bounds == 'both' else scores.bounds})"


def open_columns(numbers: Compared) -> list[Column]:
    of_mean = interval("ci_low", "ci_high", of_topics(numbers.settings), importance=7)
    bounds = interval("low", "high", bounds_heading(numbers.scores), importance=6)
    return [of_mean, *([bounds] if numbers.has_bounds else [])]


def verdict_columns(heading: str, numbers: Compared) -> list[Column]:
    difference, within, won, lost, *p = difference_columns(heading, numbers.settings, (8, 5, 6))
    certain = interval("certain_low", "certain_high", "bounds (unjudged)", signed, importance=4)
    shown = numbers.has_bounds and not numbers.complete
    return [difference, within, *p, *[certain] * shown, Column("verdict", importance=7), won, lost]


def system_columns(numbers: Compared) -> list[Column]:
    lettered = numbers.system_rows[0]["rank"] is not None
    return [
        Column("run"),
        Column("measure", importance=9),
        Column("mean", importance=9),
        *open_columns(numbers),
        *(Column(name, None) for name in ("ci_low", "ci_high", "low", "high")),
        Column("group", "" if lettered else None),
        Column("rank", "" if lettered else None, place_cell),
        *(Column(name, None) for name in ("rank_low", "rank_high")),
        JUDGED if numbers.scores.has_judged else Column("judged_at_10", None),
        TOPICS_LED,
    ]
