"""What is said of two systems on several collections, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rankbounds.comparison.wording import measure_words

if TYPE_CHECKING:
    from rankbounds.comparison.collections.result import CollectionsComparison

FEW_TOPICS = 20
"""With fewer in a collection its standard error is too rough to be taken as known."""
CONSISTENT = 0.1
"""Where Q's p-value is above it, nothing shows that collections differ by more than their topics."""


def range_words(low: float | None, high: float | None, shown: Callable[[float], str] = "{:+.4f}".format) -> str:
    """From low to high, or a dash where they are not known."""
    return "-" if low is None or high is None else f"{shown(low)} to {shown(high)}"


def sentences_of(compared: CollectionsComparison, row: Mapping[str, Any]) -> list[str]:
    """What the row of a pair says: these collections first, then collections like these."""
    settings = compared.settings
    a, b, count = row["a"], row["b"], row["collections"]
    level, lower = f"{settings['confidence']:.0%}", compared.measure(row["measure"]).lower_is_better
    if not count:
        return [f"{row['measure']}: {a} and {b} have no collection in common."]
    of_all = (
        ""
        if count == len(compared.collections)
        else f" (of {len(compared.collections)}; one of the two lacks the rest)"
    )
    if row["ci_low"] is None and row["won"] == row["lost"] == 0:
        return [f"{row['measure']}: {a} and {b} have the same scores on all topics of {count} collections."]
    interval = (
        "without an interval (within each collection all topics differ by the same)"
        if row["ci_low"] is None
        else f"{level} interval {range_words(row['ci_low'], row['ci_high'])} for other topics of the same collections"
    )
    sentences = [
        f"{measure_words(row['measure'], lower_is_better=lower)}: {a} minus {b} is {row['difference']:+.4f} in the "
        f"{compared.mean_words(count, row['topics'])}{of_all}, {interval}. "
        f"{a} is better in {row['won']} and worse in {row['lost']} of {count}."
    ]
    tested = f"p {_p(row['p_value'])}"
    if len(compared.pairs) > len(compared.measures):
        tested += f" alone, p {_p(row['p_adjusted'])} corrected for all pairs"
    if row["verdict"] == "no difference shown":
        sentences.append(f"That may be chance ({tested}).")
    else:
        better = a if row["verdict"] == "a better" else b
        sentences.append(f"Chance in the topics does not explain it: {better} is better here ({tested}).")
    if row["summary"] is None:
        why = (
            "one collection says nothing of others"
            if count < 2
            else "in a collection all topics differ by the same, so that its error is not known"
        )
        return [*sentences, f"What other collections would show is not estimated: {why}."]
    if row["q_p_value"] < CONSISTENT:
        sentences.append(
            f"Collections differ by more than their topics explain (Q = {row['q']:.1f}, p {_p(row['q_p_value'])}, "
            f"I2 = {row['i_squared']:.0%}): true differences vary between them with a standard deviation of "
            f"{row['tau']:.4f}."
        )
    else:
        sentences.append(
            f"That collections differ by more than their topics explain is not shown (Q = {row['q']:.1f}, p "
            f"{_p(row['q_p_value'])}, I2 = {row['i_squared']:.0%}, tau = {row['tau']:.4f}"
            + ("); few collections show little." if count < 10 else ").")
        )
    sentences.append(
        f"Over collections like these the mean difference is {row['summary']:+.4f} ({level} interval "
        f"{range_words(row['summary_low'], row['summary_high'])})"
        + (
            "; the true difference in a new one would lie within "
            f"{range_words(row['new_low'], row['new_high'])} ({level} prediction interval), {a} being the "
            f"better one in about {row['new_a_better']:.0%} of such."
            if row["new_low"] is not None
            else "; for where a new one would lie, three collections are needed."
        )
    )
    smallest = min(part["topics"] for part in compared.differences_of(a, b, row["measure"]))
    if smallest < FEW_TOPICS:
        sentences.append(
            f"A collection has only {smallest} topics: its error is rough, and collections seem to differ too easily."
        )
    return sentences


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.00005 else f"= {value:.4f}"
