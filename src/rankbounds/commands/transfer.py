"""The command that takes published RBP scores to another persistence."""

from __future__ import annotations

from typing import Any

from rankbounds.commands import command
from rankbounds.commands.console import output
from rankbounds.commands.console.options import Option, Options, options_given
from rankbounds.errors import UsageError
from rankbounds.rbp.integer_program import muted
from rankbounds.rbp.other_persistence import (
    PublishedComparison,
    Transferred,
    compare_published,
    interval,
    transfer_published,
)
from rankbounds.rbp.published_score import Published
from rankbounds.results import Column, build_table
from rankbounds.tables import Table


@command(
    "transfer",
    "Is A better than B, or is it noise?",
    4,
    Option("SCORE", "the published score of system A, as printed"),
    Option("--p P", "the persistence at which it was published", type=float, required=True),
    Option("--to P", "the persistence to take it to", type=float, required=True),
    Option("--residual R", "its published residual (default: unjudged documents count as non-relevant)"),
    Option("--digits N", "digits behind the point to which every number is known", type=int),
    Option("--topics N", "the score is a mean over N topics", 1),
    Option(
        "--gains LIST", "what a document can be worth: 0,1 (binary; default), graded such as 0,0.5,1, or any", "0,1"
    ),
    Option("--depth K", "only the first K ranks were scored, as in RBP@10", type=int),
    Option("--against SCORE", "the published score of a system B to compare with"),
    Option("--against-p P", "its persistence (default: that of --to)", type=float),
    Option("--against-residual R", "its residual"),
    Option("--against-topics N", "its number of topics (default: that of A)", type=int),
    Option(
        "--method tightest|exact|relaxed|greedy",
        "tightest is exact, or as close as the time limit allows; greedy is the paper's and can be violated",
    ),
    Option("--time-limit SECONDS", "for either end of a range (default 1)", 1.0),
    output.figure("draw the range of A over all persistences"),
    *output.options_for(digits=False),
)
def run_transfer(options: Options) -> None:
    """Take a published RBP score to another persistence, and say who wins.

    A score printed as 0.4321 at p=0.95 may come from many rankings; at p=0.8 they score differently. This prints the
    range of what they score there. With --against, a second system's score is met there too, and the verdict says which
    of the two is surely better, or what would decide.

    Numbers are known to the digits they are written with (0.4320 to four), unless --digits says otherwise. A mean over
    topics needs --topics: its range is wider than that of one ranking.

      rankbounds transfer 0.4321 --p 0.95 --to 0.8 --residual 0.0200
      rankbounds transfer 0.8321 --p 0.95 --to 0.8 --topics 50 --against 0.4100
    """
    for flag in options_given(options, "against_p", "against_residual", "against_topics"):
        if options.against is None:
            raise UsageError(f"{flag} goes with --against.")
    if not options.time_limit > 0:
        raise UsageError(f"The time limit must be positive, not {options.time_limit:g}.")
    gains = options.gains if options.gains == "any" else options.gains.split(",")

    def published(score: str, p: float, residual: str | None, topics: int) -> Published:
        return Published(score, p, residual, options.digits, topics, gains, options.depth)

    a = published(options.score, options.p, options.residual, options.topics)
    with muted():
        if options.against is None:
            comparison, found = None, transfer_published(a, options.to, options.method, options.time_limit)
        else:
            at = options.to if options.against_p is None else options.against_p
            topics = options.topics if options.against_topics is None else options.against_topics
            b = published(options.against, at, options.against_residual, topics)
            comparison = compare_published(a, b, options.to, method=options.method, time_limit=options.time_limit)
            found = comparison.meetings[0].a

    def table() -> Table:
        meetings = [] if comparison is None else comparison.meetings
        systems = [(name, one) for meeting in meetings for name, one in (("A", meeting.a), ("B", meeting.b))]
        rows = [
            {
                "system": name,
                "published": str(one.published),
                "over": "one list" if one.published.topics == 1 else f"{one.published.topics} topics",
                "at": f"p={one.to:g}",
                "lies_in": interval(one.low, one.high),
                "how": one.how,
            }
            for name, one in systems or [("A", found)]
        ]
        return build_table(rows, [Column(name, left=True) for name in rows[0]])

    row = describe(found, comparison)
    if options.format == "json":
        options.format = "jsonl"  # one object, not a list of one
    below = "\n" + "\n".join(_sentences(found, comparison)).rstrip("\n") + "\n"
    output.write_rows(options, [row], list(row), table=table, below=lambda: below)
    with muted():
        output.write_figure(options, "range_over_persistence", a, marks=(options.to,))


def _sentences(found: Transferred, comparison: PublishedComparison | None) -> list[str]:
    sentences = []
    if comparison is not None:
        for meeting in comparison.meetings:
            if meeting.verdict == "undecided":
                sentences.append(f"At p={meeting.p:g} neither can be said to be better: the ranges overlap.")
            else:
                sure = "by the greedy range, which can err" if meeting.a.method == "greedy" else "whatever the rankings"
                sentences.append(f"At p={meeting.p:g} system {meeting.verdict} is better, {sure}.")
        sentences.extend(comparison.advice)
    if found.published.topics == 1:
        sentences.append("Taken as the score of one ranked list; for a mean over topics add --topics.")
    if found.published.residual is None:
        sentences.append("No residual was given: unjudged documents count as non-relevant at every p.")
    return sentences


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
