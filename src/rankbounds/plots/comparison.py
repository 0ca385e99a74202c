"""Figures of scores and comparisons: leaderboards, differences of pairs, similarity."""

# ruff: noqa: D417 (the decorator describes parameters that several figures have)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.checking.findings import Checks
from rankbounds.comparison.collections.result import CollectionsComparison
from rankbounds.comparison.result import Comparison
from rankbounds.comparison.similarity import Similarity
from rankbounds.comparison.slices import Slices
from rankbounds.comparison.tables import LONGEST_GROUP, best_first
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import differences as differences_of
from rankbounds.evaluation.scores import ALL, Scores
from rankbounds.measures import parse_measure
from rankbounds.paper import INCHES
from rankbounds.plots.intervals import LONGEST_NAME, Line, draw_lines
from rankbounds.plots.style import COLOURS, GREY, MINUS, draw_legend, figure, fresh_axes
from rankbounds.results import Result
from rankbounds.terminal import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED, MOST_TOPICS = 150, 60
"""At most so many runs are named at the edge, and topics below their bars."""
MOST_PAIRS = 21
"""Of more pairs those of the first run are drawn."""
MOST_BESIDE = 16
"""Longer names of two runs have a line of their own below a figure."""
BESIDE = {"base": "judged only", "by_labels": "by the labels"}
"""What a second number of a run is."""
SOURCES = {"labels": "sampled labels", "documents": "unjudged", "both": "topics, unjudged"}
DIAMOND: dict[str, Any] = {"colour": COLOURS[6], "marker": "D", "size": 5.0}
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
            row["run"], row["mean"], (row.get("ci_low"), row.get("ci_high")), (row.get("low"), row.get("high")),
            row.get(beside), (row.get("group") or "") if letters else "",
        )
        for row in rows
    ]  # fmt: skip
    legend = {"value": "mean", "interval": _interval(result, beside), "beside": BESIDE.get(beside, "")}
    scores = result.scores if isinstance(result, Comparison) else result
    bounds = scores.bounds if isinstance(scores, Scores) else "ties" if isinstance(result, Checks) else "unjudged"
    legend["bounds"] = f"bounds ({'unjudged, ties' if bounds == 'both' else bounds})"
    axes = draw_lines(lines, ax, rows[0]["measure"], legend)
    if any(line.note for line in lines):
        below: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": "right", "va": "top"}
        axes.annotate(SHARED_LETTER, (1, 0), (0, -28), fontsize=6, color="0.35", **below)
    return axes


def _interval(result: Any, beside: str, *, pair: bool = False) -> str:
    settings, topics = getattr(result, "settings", {}), "topics, of the difference" if pair else "topics"
    over = SOURCES.get("labels" if beside == "by_labels" else settings.get("sources", ""), topics)
    return f"{settings.get('confidence') or getattr(result, 'confidence', 0.95):.0%} ({over})"


def _systems(result: Any, measure: str | None) -> list[dict[str, Any]]:
    if isinstance(result, Comparison):
        return result.leaderboard(measure or result.measures[0])
    if hasattr(result, "leaderboard"):
        ranked: list[dict[str, Any]] = result.leaderboard(measure)
        return [row for row in ranked if row["mean"] is not None]
    if isinstance(result, Checks):
        names = [effect.measure for run in result.runs for effect in run.effects]
        rows = result.ranking(names.index(measure) if measure else 0)
    else:
        rows = (result.mean() if isinstance(result, Scores) else result).rows()
    if not rows or "against" in rows[0]:
        raise UsageError("A leaderboard needs at least one run.")
    label = str(parse_measure(measure)) if measure else rows[0]["measure"]
    asked = [row for row in rows if row["measure"] == label and row.get("query_id", ALL) == ALL]
    if not asked:
        raise UsageError(f"There is no score by {label}.")
    value = next(name for name in ("mean", "value", "estimate") if name in asked[0])
    return best_first([row | {"mean": row[value]} for row in asked], parse_measure(label))


@figure
def differences(result: Result, measure: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw differences of runs with intervals, and bounds as bars: blue is better, red worse, grey undecided.

    For two runs a line per measure; for more the pairs by one measure, or, if there are many, those with the best run.

    Parameters
    ----------
    result
        As from ``compare``, or from ``uncertainty`` or ``audit`` of differences.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(topic): {"r": 1, "n": 0} for topic in range(8)}
    >>> runs = {"old": {topic: ["n", "r"] for topic in qrels}, "new": {topic: ["r", "n"] for topic in qrels}}
    >>> axes = rb.plots.differences(rb.compare(qrels, runs, ["RR", "P@1"]))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['RR', 'P@1']
    """
    rows = [row for row in result.rows() if row["measure"] in (measure or row["measure"],)]
    if not rows or "against" not in rows[0]:
        raise UsageError("Differences are of two runs or more.")
    if one_pair := len({(row["run"], row["against"]) for row in rows}) == 1:
        names = [row["measure"] for row in rows]
        xlabel = f"{rows[0]['run']} {MINUS} {rows[0]['against']}"
    else:
        rows = [row for row in rows if row["measure"] == rows[0]["measure"]]
        against = {row["against"] for row in rows}
        if len(rows) > MOST_PAIRS and len(against) > 1:
            best = max({row["run"] for row in rows}, key=lambda run: sum(row["run"] == run for row in rows))
            rows = [row for row in rows if row["run"] == best]
        names = [f"{row['run']} {MINUS} {row['against']}" for row in rows]
        xlabel = f"difference in {rows[0]['measure']}"
        for who, other, pair in (("against", "run", "each run {} {}"), ("run", "against", "{1} {0} each run")):
            if len({row[who] for row in rows}) == 1:
                names = [row[other] for row in rows]
                xlabel = f"{rows[0]['measure']}: {pair.format(MINUS, rows[0][who])}"
    lines = [_line_of(row, name) for row, name in zip(rows, names, strict=True)]
    if not one_pair:
        lines.sort(key=lambda line: -(line.value or 0.0))
    beside = "by_labels" if "by_labels" in rows[0] else ""
    legend = {"value": "mean", "interval": _interval(result, beside, pair=True), "beside": BESIDE.get(beside, "")}
    return draw_lines(lines, ax, xlabel, legend | {"bounds": "bounds (unjudged)"}, zero=True)


def _line_of(row: dict[str, Any], name: str) -> Line:
    low, high = row["ci_low"], row["ci_high"]
    shown = None not in (low, high) and not low <= 0 <= high
    said = row.get("verdict", "" if not shown else "better" if low > 0 else "worse")
    ahead, behind = (
        said.startswith((word, f"{row[who]} is")) for word, who in (("better", "run"), ("worse", "against"))
    )
    colour = COLOURS[0] if ahead else COLOURS[1] if behind else GREY
    bounds = row.get("certain_low"), row.get("certain_high")
    return Line(name, row.get("difference", row.get("estimate")), (low, high), bounds, row.get("by_labels"), "", colour)


@figure
def topic_differences(
    scores: Scores | Comparison,
    run: str | None = None,
    against: str | None = None,
    measure: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw which topics drive the difference of two runs: a bar per topic, and the mean as a line.

    Parameters
    ----------
    scores
        As from ``evaluate`` or ``compare``.
    run, against
        The names of two runs; by default the second and the first of two, the best and the second of more, or the best
        and the baseline. The topic with the largest gain of ``run`` over ``against`` comes first.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"1": {"x": 1}, "2": {"x": 1}}
    >>> runs = {"a": {"1": {"x": 1}, "2": {"x": 1}}, "b": {"1": {"x": 1}, "2": {"y": 2, "x": 1}}}
    >>> axes = rb.plots.topic_differences(rb.evaluate(qrels, runs, "RR"), "a", "b")
    >>> [float(bar.get_height()) for bar in axes.patches]
    [0.5, 0.0]
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['2', '1']
    """
    baseline = scores.settings["baseline"] if isinstance(scores, Comparison) else None
    table = scores.scores if isinstance(scores, Comparison) else scores
    chosen = table if measure is None else table[measure]
    if len(chosen.runs) < 2:
        raise UsageError("Differences are of two runs or more.")
    first, second = chosen.runs[::-1] if len(chosen.runs) == 2 else chosen.sort(chosen.measures[0]).runs[:2]
    if baseline is not None:
        others = [name for name in chosen.sort(chosen.measures[0]).runs if name != baseline]
        first, second = others[0], baseline
    run, against = run or first, against or second
    one, other = (chosen.run(name).value[0, :, 0] for name in (run, against))
    by_topic = differences_of(one, other)
    known = np.flatnonzero(np.isfinite(by_topic))
    order = known[np.argsort(-by_topic[known], kind="stable")]
    values, names = by_topic[order], [chosen.query_ids[topic] for topic in order]
    axes, mean = fresh_axes(ax), float(values.mean())
    written = f"mean {mean:+.3f}".replace("-", MINUS)
    axes.bar(np.arange(values.size), values, color=np.where(values >= 0, COLOURS[0], COLOURS[1]), width=0.85)
    axes.axhline(mean, color=COLOURS[6], linewidth=0.9, linestyle="--", label=written)
    axes.axhline(0, color="0.3", linewidth=0.7)
    axes.set_xlim(-0.7, values.size - 0.3)
    named = values.size <= MOST_TOPICS
    axes.set_xticks(range(values.size) if named else [], names if named else [])
    axes.tick_params(axis="x", rotation=90, length=0, labelsize=min(7, 220 / values.size))
    draw_legend(axes)
    higher, lower = (int((side * values > 0).sum()) for side in (1, -1))
    what = f" {MINUS} ".join(shorten([run, against], LONGEST_NAME // 2))
    gap = " " if len(what) <= MOST_BESIDE else "\n"
    axes.set(
        ylabel=f"difference in {chosen.measures[0]}",
        xlabel=f"{what}:{gap}{higher} of {order.size} topics higher, {lower} lower",
    )
    return axes


@figure
def forest(
    parts: Slices | CollectionsComparison,
    measure: str | None = None,
    pair: tuple[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the difference of two runs in every slice or collection: points with intervals, a diamond for all together.

    Parameters
    ----------
    parts
        As from ``slices`` or ``compare_collections``.
    pair
        The names of two runs; by default the first pair, or the two that lead on the collections.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(topic): {"r": 1} for topic in range(8)}
    >>> runs = {"old": {topic: {"r": 1, "n": int(topic) % 2 * 2} for topic in qrels}}
    >>> runs["new"] = {topic: {"r": 2, "n": 1} for topic in qrels}
    >>> kind = {"kind": {topic: "odd" if int(topic) % 2 else "even" for topic in qrels}}
    >>> axes = rb.plots.forest(rb.compare(qrels, runs, "RR").slices(kind))
    >>> [label.get_text().split()[0] for label in axes.get_yticklabels()]
    ['kind', 'even', 'odd', 'all']
    """
    if isinstance(parts, CollectionsComparison):
        run, against = pair or parts.leading_pair(measure)
        label, lines = str(parts.measure(measure)), _lines_of_collections(parts, run, against, measure)
    else:
        rows, lines = parts.forest_rows(measure, pair), []
        label, run, against = (rows[0][name] for name in ("measure", "run", "against"))
        for row in rows:
            if row["heading"] and row["by"] not in [line.name for line in lines if line.heading]:
                lines.append(Line(row["by"], heading=True))
            look: dict[str, Any] = {"marker": "s"} if row["heading"] else DIAMOND
            ends = row["ci_low"], row["ci_high"]
            lines.append(Line(f"{row['label']} ({row['topics']})", row["difference"], ends, **look))
    legend = {"value": "difference (topics)", "interval": _interval(parts, "", pair=True)}
    return draw_lines(lines, ax, f"{label}: {run} {MINUS} {against}", legend, zero=True)


def _lines_of_collections(compared: CollectionsComparison, run: str, against: str, measure: str | None) -> list[Line]:
    parts, row = compared.differences_of(run, against, measure), compared.pair(run, against, measure)
    largest = max((part["topics"] for part in parts), default=1)
    lines = [
        Line(
            f"{part['collection']} ({part['topics']:,})", part["difference"], (part["ci_low"], part["ci_high"]),
            marker="s", size=2.8 + 3.0 * (part["topics"] / largest) ** 0.5,
        )
        for part in parts
    ]  # fmt: skip
    mean = "mean of collections" if compared.settings["mean"] == "collections" else "mean over all queries"
    lines += [Line(mean, row["difference"], (row["ci_low"], row["ci_high"]), **DIAMOND)]
    if row["summary"] is not None:
        ends = row["summary_low"], row["summary_high"]
        lines += [Line("collections like these", row["summary"], ends, **DIAMOND | {"colour": COLOURS[1]})]
    return lines


@figure
def similarity_matrix(similarity: Similarity, measure: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the similarity of every two runs, similar ones side by side, with a tree of which belong together.

    Parameters
    ----------
    similarity
        As from ``similarity``, of three runs or more.

    Examples
    --------
    >>> import rankbounds as rb
    >>> runs = {"a": {"1": ["x", "y"]}, "b": {"1": ["z", "w"]}, "c": {"1": ["x", "y"]}}
    >>> axes = rb.plots.similarity_matrix(rb.similarity(runs))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['b', 'a', 'c']
    """
    label = measure or similarity.measures[0]
    order, tree = similarity.order(label), similarity.tree(label)
    large = len(order) > 24
    names = shorten([similarity.runs[run] for run in order], LONGEST_NAME)
    width, height = (INCHES["page"], 6.2) if large else (INCHES["column"], 2.6)
    letters = min(7.0, 72 * 0.85 * height / len(names))
    room = max(map(len, names)) * letters * 0.67 / 72 / width  # for the names; the tree on the left has a fifth
    sides = {"left": 0.2, "right": 0.97 - room, "bottom": 0.12 if large else 0.21, "top": 0.99}
    axes = fresh_axes(ax, figsize=(width, height), layout=None, gridspec_kw=sides)
    matrix = similarity.matrix(label)[np.ix_(order, order)]
    shade = axes.imshow(matrix, cmap="cividis", vmin=min(0.0, float(np.nanmin(matrix))), vmax=1.0, aspect="auto")
    named = range(0, len(names), -(-len(names) // MOST_NAMED))
    axes.set_yticks(list(named), [names[place] for place in named], fontsize=letters)
    axes.set_xticks([])
    axes.yaxis.tick_right()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    side = axes.inset_axes((-0.28, 0.0, 0.27, 1.0))
    for across, along in tree:
        side.plot(across, along, color="0.35", linewidth=0.8)
    side.set(ylim=(len(order) - 0.5, -0.5), xticks=[], yticks=[])
    side.invert_xaxis()
    side.spines[:].set_visible(False)
    drawn: Any = axes.get_figure()
    bar = axes.inset_axes((0.0, -0.07, 1.0, 0.03))
    drawn.colorbar(shade, cax=bar, orientation="horizontal", label=label).outline.set_visible(False)
    return axes
