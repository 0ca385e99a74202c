"""What reruns say, in plain words: where the spread comes from, the noise floor, flipping verdicts, how many topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def sentences(measure: str, rows: Mapping[str, Sequence[Row]], settings: Row) -> list[str]:
    """The paragraph of one measure, from its rows by the names that ``Replicates`` has for them."""
    found = [_what(measure, settings), _spread(rows["components"])]
    found += [_floor(row, settings) for row in rows["floors"]]
    found += [sentence for row in rows["flips"] for sentence in _flips(row, settings)]
    found += [_reliable(row, rows["plan"], settings) for row in rows["reliability"]]
    return found


def _what(measure: str, settings: Row) -> str:
    several = settings["runs_of_system"].values()
    least, most = min(several), max(several)
    each = f"{least}" if least == most else f"{least} to {most}"
    again = f", labels made {settings['labels']} times" if settings["labels"] > 1 else ""
    systems = _several(settings["systems"], "system")
    return f"{measure}: {systems}, {each} run{'s' * (most > 1)} of each, {settings['topics']} topics{again}."


def _spread(components: Sequence[Row]) -> str:
    shares = [(row["part"], row["share"]) for row in components if row["share"]]
    if not shares:
        return "Where does the spread of scores come from? There is none: all scores are the same."
    shares.sort(key=lambda part: -part[1])
    found = ", ".join(f"{part} {share:.0%}" if share >= 0.005 else f"{part} below 1%" for part, share in shares)
    nothing = [row["part"] for row in components if row["share"] == 0]
    rest = f"; nothing shown for {', '.join(nothing)}" if nothing else ""
    return f"Where does the spread of single scores come from? {found}{rest}."


def _floor(row: Row, settings: Row) -> str:
    who = {
        "rerun": "Two runs of the same system",
        "labels": "Scores of the same run by two labellings",
        "labels, difference": "Differences of the same two runs by two labellings",
    }[row["kind"]]
    beyond = {0: "none lies", 1: "1 lies"}.get(row["observed_beyond"], f"{row['observed_beyond']:,} lie")
    observed = _several(row["observed_pairs"], "such pair")
    seen = f"of {observed} at hand {beyond} beyond, the largest at {row['observed_largest']:.4f}"
    start = "What is the noise floor? " if row["kind"] == "rerun" else ""
    end = " A smaller difference of two systems says nothing of them." if row["kind"] == "rerun" else ""
    return (
        f"{start}{who} differ by up to {row['floor']:.4f} in {settings['confidence']:.0%} of cases (t distribution, "
        f"{row['degrees']} degree{'s' * (row['degrees'] != 1)} of freedom; {seen}).{end}"
    )


def _flips(row: Row, settings: Row) -> list[str]:
    found = []
    if row["verdict_flips"] is not None:
        found.append(
            f"Do verdicts flip? Made again, a comparison of two systems gets another verdict (better, worse, no "
            f"difference shown) in {row['verdict_flips']:.0%} of cases, another leader in {row['winner_flips']:.0%}, "
            f"and in {row['reversals']:.0%} the opposite verdict (randomisation test of two runs, level "
            f"{settings['alpha']:g}; {_several(row['pairs_of_systems'], 'pair')} of systems, "
            f"{_several(row['outcomes'], 'outcome')})."
        )
    if row["rerun_pairs"]:
        found.append(
            f"Two runs of one system are called different in {row['rerun_alarms']:,} of "
            f"{_several(row['rerun_pairs'], 'case')}; by chance alone it would be about "
            f"{settings['alpha'] * row['rerun_pairs']:.1f}."
        )
    return found


def _reliable(row: Row, plan: Sequence[Row], settings: Row) -> str:
    if row["reliability"] is None:
        return "How reliable is the order of the systems? Not defined: all means are the same."
    between = ""
    if row["reliability_low"] is not None:
        between = (
            f" ({settings['confidence']:.0%} interval {row['reliability_low']:.2f} to {row['reliability_high']:.2f})"
        )
    reruns = f" and {row['reruns']} run{'s' * (row['reruns'] > 1)} of each system" if row["reruns"] > 1 else ""
    labels = f" and {row['labels']} labellings" if row["labels"] > 1 else ""
    found = (
        f"How reliable is the order of the systems? With {row['topics']} topics{reruns}{labels}, "
        f"{row['reliability']:.2f}{between} of the variance of their means is their own."
    )
    highest = max((other["reliability"] for other in plan), default=None)
    asked = [other for other in plan if other["reliability"] == highest and other["labels"] == 1]
    shown = [other for other in asked if other["reruns"] in (1, 3)] or asked[:1]
    counts = [
        f"{other['topics']:,} topics with {other['reruns']} run{'s' * (other['reruns'] > 1)} of each"
        for other in shown
        if other["topics"] is not None
    ]
    never = [str(other["reruns"]) for other in shown if other["topics"] is None]
    if counts:
        found += f" For {highest:g}, {' or '.join(counts)} would do."
    if never:
        found += f" With {' or '.join(never)} no number of topics reaches {highest:g}."
    return found


def _several(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
