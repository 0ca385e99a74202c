"""A forest plot: the difference of two runs in every part of the topics, with its interval, and over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from rankbounds.plots.style import COLOURS, fresh_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Forest(Protocol):
    """What has rows for a forest plot.

    A row has ``heading``, ``label``, ``topics``, ``difference``, ``ci_low``, ``ci_high`` (None where not known), ``a``,
    ``b`` and ``measure``; one without a heading is over everything.
    """

    @property
    def settings(self) -> dict[str, Any]:
        """With the ``confidence`` of the intervals."""

    def forest_rows(self, measure: Any = None, pair: tuple[str, str] | None = None) -> list[dict[str, Any]]:
        """The rows of one measure and pair of runs, from the top down."""


def forest(
    parts: Forest, measure: str | None = None, pair: tuple[str, str] | None = None, ax: Axes | None = None
) -> Axes:
    """The difference of two runs in every part: points with intervals, and a diamond for all topics.

    Parameters
    ----------
    parts
        As from ``slices``.
    measure
        Its label; without it the first.
    pair
        The names of two runs; without it the first pair.
    ax
        Where to draw; without it on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(topic): {"r": 1} for topic in range(8)}
    >>> runs = {"a": {topic: {"r": 2, "n": 1} for topic in qrels}}
    >>> runs["b"] = {topic: {"r": 1, "n": int(topic) % 2 * 2} for topic in qrels}
    >>> kind = {"kind": {topic: "odd" if int(topic) % 2 else "even" for topic in qrels}}
    >>> axes = rb.plots.forest(rb.slices(rb.evaluate(qrels, runs, "RR"), kind))
    >>> [label.get_text().split()[0] for label in axes.get_yticklabels()]  # from the bottom up
    ['all', 'odd', 'even', 'kind']

    """
    rows = parts.forest_rows(measure, pair)
    lines: list[dict[str, Any] | str] = []
    for row in rows:
        if row["heading"] and row["heading"] not in lines:
            lines.append(row["heading"])
        lines.append(row)
    lines.reverse()
    axes = fresh_axes(ax, figsize=(5.6, max(1.8, 0.27 * len(lines) + 1.0)))
    axes.axvline(0, color="0.4", linewidth=0.8, zorder=0)
    for height, line in enumerate(lines):
        if isinstance(line, str):
            continue
        over_all = not line["heading"]
        colour = COLOURS[6] if over_all else COLOURS[0]
        if line["ci_low"] is not None:
            axes.plot([line["ci_low"], line["ci_high"]], [height, height], color=colour, linewidth=1.4)
        axes.plot(line["difference"], height, "D" if over_all else "s", color=colour, markersize=6 if over_all else 4.5)
    labels = [line if isinstance(line, str) else f"{line['label']}  ({line['topics']})" for line in lines]
    axes.set_yticks(range(len(lines)), labels, fontsize=8)
    for text, line in zip(axes.get_yticklabels(), lines, strict=True):
        text.set_fontweight("bold" if isinstance(line, str) else "normal")
    axes.tick_params(axis="y", length=0)
    confidence = f"{parts.settings['confidence']:.0%}"
    first = rows[0]
    axes.set(
        xlabel=f"{first['measure']}: {first['a']} − {first['b']}\npoint: difference; line: {confidence} interval; "  # noqa: RUF001
        "in brackets: topics",
        ylim=(-0.7, len(lines) - 0.3),
    )
    return axes
