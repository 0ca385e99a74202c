"""Say why another tool's numbers differ from what rankbounds computes on the same files, and what reproduces them.

OUTPUT is what was reported for one run: a file (what trec_eval or ir_measures printed; JSON of pytrec_eval, ranx, BEIR
or MTEB) or a number, as in nDCG@10=0.534, nDCG@10=53.4% or, where nobody knows of which measure, 0.534. For each
measure the numbers are compared to the digits given. Where they differ, what others do otherwise is tried one by one,
and some by two: missing topics, ties, the precision of scores, relevance levels, gains, unjudged documents, the ideal
ranking, depth, duplicates, self-matches, chunks, other meanings of a name. The options of rankbounds that do the same
are named.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rankbounds.commands.messages import say
from rankbounds.commands.options import Option, Options
from rankbounds.commands.output import OUTPUT, name_and_path, write_rows
from rankbounds.commands.reading import QRELS, READING, RUN, judgments_from, reading_from
from rankbounds.files.reported_scores import ANY_MEASURE, stated
from rankbounds.results import Column, build_table
from rankbounds.tables import number

if TYPE_CHECKING:
    from rankbounds.checking.explanation import Explanation

QUESTION = "Can I trust these files and numbers?", 2
OPTIONS = (
    Option(
        "OUTPUT",
        "what a tool reported for one run: a file, or a number as in nDCG@10=0.534",
        dest="trec_output",
        file="read",
    ),
    QRELS,
    RUN,
    Option("--all", "show measures that agree too"),
    *READING,
    *OUTPUT,
)
FIELDS = (
    *("name", "measure", "lines", "equal", "largest_difference", "example", "why", "switch", "changes", "also"),
    *("nearest", "tried"),
)
COLUMNS = (
    Column("name", "reported"),
    Column("measure", "rankbounds"),
    Column("equal", cell=lambda row: f"{row['equal']} of {row['lines']}"),
    Column("largest_difference", "largest", lambda row: _gap(row["largest_difference"])),
    Column("switch", "same with", lambda row: row["switch"] or ("-" if row["changes"] else ""), left=True),
    Column("why", left=True),
    Column("example", left=True),
)
BY_CHANCE = 3
"""Lines of one measure that a computation may meet by chance, if it is one of many."""


def run(options: Options) -> None:
    """Compare and print."""
    from rankbounds.checking.explanation import explained, run_with_repeats

    judgments = judgments_from(options)
    name, path = name_and_path(options.run_file)
    given, repeated = run_with_repeats(path if name is None else {name: path}, reading_from(options))
    if repeated is not None and not options.lenient:
        again = len(repeated) - len(given)
        lines = "1 line names" if again == 1 else f"{again:,} lines name"
        say(f"{given.name}: {lines} a document again; the first line of each document counts here.")
    explanations = explained(judgments, given, options.trec_output, repeated)
    rows = [asdict(explanation) for explanation in explanations]
    if options.format in ("csv", "tsv"):
        for row, explanation in zip(rows, explanations, strict=True):
            row["also"] = " | ".join(map(str, explanation.also))
    of_any = ANY_MEASURE in {name for name, _ in stated(options.trec_output) or ()}
    known = [row for row in rows if row["measure"] is not None]
    shown = [row for row in known if options.all or of_any or row["lines"] != row["equal"]]
    write_rows(
        options,
        rows,
        FIELDS,
        table=(lambda: build_table(shown, COLUMNS)) if shown else lambda: None,
        below=lambda: "".join(f"{line}\n" for line in _remarks(explanations, of_any=of_any)),
    )


def _gap(difference: float | None) -> str:
    """A difference to four digits, or to as many as show that it is one."""
    return number(difference, 6 if difference is not None and 0 < difference < 0.5e-4 else 4)


def _remarks(explanations: list[Explanation], *, of_any: bool) -> list[str]:
    """What stands under the table."""
    known = [explanation for explanation in explanations if explanation.measure is not None]
    agreeing = [explanation for explanation in known if explanation.lines == explanation.equal]
    differing = [explanation for explanation in known if explanation.lines != explanation.equal]
    if of_any:
        settled = any(explanation.settled for explanation in known)
        remarks = (
            []
            if settled
            else ["No well-known measure gives this number; as it is computed here, this one comes nearest."]
        )
    elif len(known) == 1:
        remarks = [f"{known[0].name} agrees on every line." if agreeing else f"{known[0].name} differs."]
    else:
        remarks = [f"{len(agreeing)} of {len(known)} measures agree on every line."]
    for explanation in differing:
        if explanation.nearest:
            remarks.append(f"{explanation.name}, nearest of {explanation.tried} ways tried: {explanation.nearest}.")
        if explanation.also:
            others = "; ".join(reason.switch or reason.why for reason in explanation.also)
            remarks.append(f"{explanation.name} also comes out with: {others}.")
    if any(explanation.changes and explanation.settled and explanation.lines < BY_CHANCE for explanation in differing):
        tried = max(explanation.tried for explanation in differing)
        remarks.append(
            f"Up to {tried} ways were tried on few numbers, so that one may fit by chance: scores by topic would tell."
        )
    if any(explanation.changes and not explanation.switch for explanation in differing):
        remarks.append('"-": rankbounds has no option that computes so.')
    unknown = [explanation.name for explanation in explanations if explanation.measure is None]
    if unknown:
        remarks.append(f"Not in rankbounds: {', '.join(unknown)}.")
    return remarks
