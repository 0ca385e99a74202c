"""Take a published RBP score to another persistence, and say who wins.

A score printed as 0.4321 at p=0.95 may come from many rankings; at p=0.8 they score differently. This prints the
range of what they score there. With --against, a second system's score is met there too, and the verdict says which
of the two is surely better, or what would decide.

Numbers are known to the digits they are written with (0.4320 to four), unless --digits says otherwise. A mean over
topics needs --topics: its range is wider than that of one ranking.

  rankbounds transfer 0.4321 --p 0.95 --to 0.8 --residual 0.0200
  rankbounds transfer 0.8321 --p 0.95 --to 0.8 --topics 50 --against 0.4100
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rankbounds.commands.output import add_output, write_figure, write_text
from rankbounds.errors import UsageError
from rankbounds.rbp.integer_program import muted
from rankbounds.rbp.published_score import Published
from rankbounds.rbp.transfer import METHODS, PublishedComparison, Transferred, compare_published, interval, transferred
from rankbounds.tables import Table, render_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("score", metavar="SCORE", help="the published score of system A, as printed")
    parser.add_argument("--p", type=float, required=True, help="the persistence at which it was published")
    parser.add_argument("--to", type=float, required=True, metavar="P", help="the persistence to take it to")
    parser.add_argument(
        "--residual", metavar="R", help="its published residual (default: unjudged documents count as non-relevant)"
    )
    parser.add_argument(
        "--digits", type=int, metavar="N", help="digits behind the point to which every number is known"
    )
    parser.add_argument("--topics", type=int, default=1, metavar="N", help="the score is a mean over N topics")
    parser.add_argument(
        "--gains",
        default="0,1",
        metavar="LIST",
        help="what a document can be worth: 0,1 (binary; default), graded such as 0,0.5,1, or any",
    )
    parser.add_argument("--depth", type=int, metavar="K", help="only the first K ranks were scored, as in RBP@10")
    parser.add_argument("--against", metavar="SCORE", help="the published score of a system B to compare with")
    parser.add_argument("--against-p", type=float, metavar="P", help="its persistence (default: that of --to)")
    parser.add_argument("--against-residual", metavar="R", help="its residual")
    parser.add_argument("--against-topics", type=int, metavar="N", help="its number of topics (default: that of A)")
    parser.add_argument(
        "--method",
        default="tightest",
        metavar="M",
        help=f"{', '.join(METHODS)} (default tightest: exact, or as close as the time limit allows; greedy is the "
        "paper's and can be violated)",
    )
    parser.add_argument(
        "--time-limit", type=float, default=1.0, metavar="SECONDS", help="for either end of a range (default 1)"
    )
    parser.add_argument("--figure", metavar="FILE", help="draw the range of A over all persistences (.svg, .png, .pdf)")
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Transfer, compare and print."""
    if options.against is None:
        for name in ("against_p", "against_residual", "against_topics"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} goes with --against.")
    if not options.time_limit > 0:
        raise UsageError(f"The time limit must be positive, not {options.time_limit:g}.")
    a = Published(
        options.score, options.p, options.residual, options.digits, options.topics, _gains(options), options.depth
    )
    if options.against is None:
        with muted():
            found = transferred(a, options.to, options.method, options.time_limit)
        _print(options, found, None)
    else:
        at = options.to if options.against_p is None else options.against_p
        topics = options.topics if options.against_topics is None else options.against_topics
        b = Published(
            options.against, at, options.against_residual, options.digits, topics, _gains(options), options.depth
        )
        with muted():
            comparison = compare_published(a, b, options.to, method=options.method, time_limit=options.time_limit)
        _print(options, comparison.meetings[0].a, comparison)
    if options.figure:
        _draw(a, options)
    return 0


def _gains(options: argparse.Namespace) -> Any:
    return options.gains if options.gains == "any" else options.gains.split(",")


def _print(options: argparse.Namespace, found: Transferred, comparison: PublishedComparison | None) -> None:
    if options.format in ("json", "jsonl", "csv", "tsv"):
        row = describe(found, comparison)
        kind = "jsonl" if options.format == "json" else options.format  # one object, not a list of one
        write_text(options, render_rows([row], kind, list(row), raw=options.raw))
        return
    shown = (
        [found] if comparison is None else [one for meeting in comparison.meetings for one in (meeting.a, meeting.b)]
    )
    names = ["A"] if comparison is None else ["A", "B"] * len(comparison.meetings)
    rows = [
        [name, str(one.published), _over(one.published), f"p={one.to:g}", interval(one.low, one.high), one.how]
        for name, one in zip(names, shown, strict=True)
    ]
    table = Table(["system", "published", "over", "at", "lies in", "how"], rows, frozenset(range(6)))
    text = table.render(options.format)
    if options.format == "table":
        text = "\n".join([text, *_sentences(found, comparison)]).rstrip("\n") + "\n"
    write_text(options, text)


def _over(published: Published) -> str:
    return "one list" if published.topics == 1 else f"{published.topics} topics"


def _sentences(found: Transferred, comparison: PublishedComparison | None) -> list[str]:
    told = []
    if comparison is not None:
        for meeting in comparison.meetings:
            if meeting.verdict == "undecided":
                told.append(f"At p={meeting.p:g} neither can be said to be better: the ranges overlap.")
            else:
                sure = "by the greedy range, which can err" if meeting.a.method == "greedy" else "whatever the rankings"
                told.append(f"At p={meeting.p:g} system {meeting.verdict} is better, {sure}.")
        told.extend(comparison.advice)
    if found.published.topics == 1:
        told.append("Taken as the score of one ranked list; for a mean over topics add --topics.")
    if found.published.residual is None:
        told.append("No residual was given: unjudged documents count as non-relevant at every p.")
    return told


def describe(found: Transferred, comparison: PublishedComparison | None) -> dict[str, Any]:
    """The result as one flat row."""
    published = found.published
    row: dict[str, Any] = {
        "score": float(published.values),
        "p": published.p,
        "residual": None if published.open_values is None else float(published.open_values),
        "digits": published.known_digits,
        "topics": published.topics,
        "to": found.to,
        "low": found.low,
        "high": found.high,
        "method": found.method,
        "proven": found.proven,
    }
    if comparison is None:
        return row
    other = comparison.meetings[0].b
    row |= {
        "against": float(other.published.values),
        "against_p": other.published.p,
        "against_low": other.low,
        "against_high": other.high,
        "verdict": comparison.verdict,
    }
    for name, p in (("p", published.p), ("against_p", other.published.p)):
        row[f"verdict_at_{name}"] = next(one.verdict for one in comparison.meetings if one.p == p)
    return row | {"advice": " ".join(comparison.advice)}


def _draw(published: Published, options: argparse.Namespace) -> None:
    from rankbounds.plots.persistence_transfer import draw_range

    def draw() -> Axes:
        with muted():
            return draw_range(published, marks=(options.to,))

    write_figure(options.figure, draw)
