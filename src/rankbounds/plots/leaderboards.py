"""Figures with a line for each run: leaderboard, places, how much is judged, what a check found."""

# ruff: noqa: D417 (the decorator describes parameters that several figures have)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.checking.findings import KINDS, Checks
from rankbounds.checking.findings import places as places_by_ties
from rankbounds.comparison.result import Comparison
from rankbounds.comparison.tables import LONGEST_GROUP, best_first
from rankbounds.errors import UsageError
from rankbounds.evaluation.scores import ALL, Scores
from rankbounds.measures import parse_measure
from rankbounds.plots.intervals import Line, draw_lines
from rankbounds.plots.style import COLOURS, GREY, figure, fresh_axes
from rankbounds.results import Result
from rankbounds.terminal import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENOUGH_JUDGED = 0.8
"""A share of judged documents that is marked: below it, unjudged documents decide much."""
SEVERITIES = {"error": COLOURS[1], "warning": COLOURS[4], "note": COLOURS[5]}
BESIDE = {"base": "judged only", "by_labels": "by the labels"}
"""What a second number of a run is."""
SHARED_LETTER = "runs that share a letter do not differ significantly"


@figure
def leaderboard(result: Result | Scores, measure: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw runs by their scores, best at the top: intervals as lines, bounds as bars.

    Parameters
    ----------
    result
        As from ``evaluate``, ``compare``, ``compare_collections``, ``uncertainty``, ``audit``, or ``check`` with
        judgments. A hollow mark is the score of the judged documents alone, or by the audited labels. Runs that share a
        letter on the right are not significantly different.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(topic): {"x": 1, "y": 0} for topic in range(4)}
    >>> runs = {"good": {str(topic): {"x": 2, "y": 1} for topic in range(4)}}
    >>> runs["poor"] = {str(topic): {"x": 1, "y": 1 + topic} for topic in range(4)}
    >>> axes = rb.plots.leaderboard(rb.evaluate(qrels, runs, "AP"))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['good', 'poor']
    """
    rows = _systems(result, measure)
    letters = max((len(row.get("group") or "") for row in rows), default=0) <= LONGEST_GROUP
    beside = next((name for name in BESIDE if name in rows[0]), "")
    lines = [
        Line(
            row["run"],
            row["mean"],
            (row.get("ci_low"), row.get("ci_high")),
            (row.get("low"), row.get("high")),
            row.get(beside),
            (row.get("group") or "") if letters else "",
        )
        for row in rows
    ]
    confidence = result.settings.get("confidence") if isinstance(result, Result) else None
    confidence = confidence or getattr(result, "confidence", 0.95)
    legend = {"value": "mean", "interval": f"{confidence:.0%} interval", "beside": BESIDE.get(beside, "")}
    scores = result.scores if isinstance(result, Comparison) else result
    bounds = scores.bounds if isinstance(scores, Scores) else "ties" if isinstance(result, Checks) else "unjudged"
    legend["bounds"] = f"bounds ({'unjudged, ties' if bounds == 'both' else bounds})"
    axes = draw_lines(lines, ax, rows[0]["measure"], legend)
    if any(line.note for line in lines):
        below: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": "right", "va": "top"}
        axes.annotate(SHARED_LETTER, (1, 0), (0, -28), fontsize=6, color="0.35", **below)
    return axes


def _systems(result: Any, measure: str | None) -> list[dict[str, Any]]:
    if isinstance(result, Comparison):
        return result.leaderboard(measure or result.measures[0])
    if hasattr(result, "leaderboard"):
        found: list[dict[str, Any]] = result.leaderboard(measure)
        return [row for row in found if row["mean"] is not None]
    if isinstance(result, Checks):
        names = [effect.measure for run in result.runs for effect in run.effects]
        rows = places_by_ties(result.runs, names.index(measure) if measure else 0)
    else:
        rows = list((result.mean() if isinstance(result, Scores) else result).rows())
    if not rows or "against" in rows[0]:
        raise UsageError("A leaderboard needs at least one run.")
    label = str(parse_measure(measure)) if measure else rows[0]["measure"]
    asked = [row for row in rows if row["measure"] == label and row.get("query_id", ALL) == ALL]
    if not asked:
        raise UsageError(f"There is no score by {label}.")
    value = next(name for name in ("mean", "value", "estimate") if name in asked[0])
    return best_first([row | {"mean": row[value]} for row in asked], parse_measure(label))


@figure
def places(comparison: Comparison, measure: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the rank of each run as a point, and its rank interval as a line.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(topic): {"x": 1, "y": 0} for topic in range(6)}
    >>> runs = {name: {topic: ["x", "y"] if int(topic) < good else ["y", "x"] for topic in qrels}
    ...         for name, good in (("a", 2), ("b", 6), ("c", 5))}
    >>> axes = rb.plots.places(rb.compare(qrels, runs, "RR"))
    >>> [label.get_text() for label in axes.get_yticklabels()], axes.get_xlabel()
    (['b', 'c', 'a'], 'place by RR')
    """
    label = measure or str(comparison.measures[0])
    rows = [row for row in comparison.leaderboard(label) if row.get("rank") is not None]
    if not rows:
        raise UsageError("Ranks need comparisons of all pairs of runs, not with a baseline.")
    lines = [Line(row["run"], row["rank"], (row["rank_low"], row["rank_high"])) for row in rows]
    confidence = f"{comparison.settings['confidence']:.0%}"
    legend = {"value": "place", "interval": f"{confidence} interval"}
    return draw_lines(lines, ax, f"place by {label}", legend, whole=True)


@figure
def coverage(scores: Scores, ax: Axes | None = None) -> Axes:
    """Draw how much of each run's top 10 is judged: the mean over topics, and half of the topics as a line.

    Examples
    --------
    >>> import rankbounds as rb
    >>> axes = rb.plots.coverage(rb.evaluate({"1": {"x": 1}}, {"a": {"1": ["x", "y"]}, "b": {"1": ["x"]}}, "P@1"))
    >>> [float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() == "o"]
    [100.0, 50.0]
    """
    if not scores.has_judged:
        raise UsageError("Tables of scores do not show which documents are judged.")
    shares = 100 * scores.judged
    quarter, three = np.nanpercentile(shares, (25, 75), axis=1)
    mean = np.nanmean(shares, axis=1)
    order = np.argsort(-mean, kind="stable").tolist()
    lines = [Line(scores.runs[run], mean[run], (quarter[run], three[run])) for run in order]
    legend = {"value": "mean", "interval": "middle half of the topics"}
    axes = draw_lines(lines, ax, "judged documents of the top 10 (%)", legend)
    axes.axvline(100 * ENOUGH_JUDGED, color=GREY, linewidth=0.8, linestyle=":", zorder=1)
    axes.set_xlim(0, 102)
    return axes


@figure
def findings(checks: Checks, ax: Axes | None = None) -> Axes:
    """Draw what a check found in each run: errors, warnings and notes, with counts.

    Examples
    --------
    >>> import rankbounds as rb
    >>> axes = rb.plots.findings(rb.check({"a": {"1": {"x": 1.0, "y": 1.0}}, "b": {"1": {"x": 2.0, "y": 1.0}}}))
    >>> [label.get_text() for label in axes.get_xticklabels()], [text.get_text() for text in axes.texts]
    (['tied docs'], ['1'])
    """
    kinds = [kind for kind in KINDS if any(run.count(kind) for run in checks.runs)]
    step = min(0.19, 9.0 / max(1, len(checks.runs)))
    letters = min(7.0, 72 * step * 0.8)
    wide = len(kinds) > 4
    axes = fresh_axes(ax, 0.9 + step * len(checks.runs), "page" if wide else "column")
    for height, run in enumerate(checks.runs):
        for place, kind in enumerate(kinds):
            severity = next((one.severity for one in run.findings if one.kind == kind), "")
            colour = SEVERITIES.get(severity, "0.9")
            axes.barh(height, 0.96, left=place + 0.02, height=0.9, color=colour, alpha=0.55)
            if number := run.count(kind):
                axes.text(place + 0.5, height, f"{number:,}", ha="center", va="center", fontsize=letters)
    axes.set_yticks(range(len(checks.runs)), shorten([run.run for run in checks.runs], 30), fontsize=letters)
    axes.set_xticks(np.arange(len(kinds)) + 0.5, [KINDS[kind].heading for kind in kinds])
    axes.set(xlim=(0, max(1, len(kinds))), ylim=(len(checks.runs) - 0.4, -0.6))
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    found = {one.severity for run in checks.runs for one in run.findings}
    for severity, colour in SEVERITIES.items():
        if severity in found:
            axes.barh(0, 0, color=colour, alpha=0.55, label=f"{severity}s")
    if found:
        axes.legend(loc="upper right", bbox_to_anchor=(1.0, 0.0), ncols=3)
    else:
        axes.set_xlabel("nothing was found")
    return axes
