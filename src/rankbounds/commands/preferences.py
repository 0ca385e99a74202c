"""Make judgments from preferences: levels from pairs of documents of which one is better.

Each line of the file is a preference: query, better document, worse document. The levels, from 1, are written as
judgments, for Compatibility or any measure of grades. How many of the preferences they violate is told on standard
error: where that is much, no levels will do.
"""

from __future__ import annotations

import argparse

from rankbounds.collection.preferences import IN_WORDS, METHODS, levels_from_preferences
from rankbounds.commands.messages import say
from rankbounds.commands.output import check_outputs, write_text, wrote


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "preferences", metavar="FILE", help="lines of a query, a better and a worse document; - is stdin"
    )
    parser.add_argument(
        "--method", default=METHODS[0], metavar="NAME", help=f"{' or '.join(METHODS)} (default {METHODS[0]})"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of to standard output")


def run(options: argparse.Namespace) -> int:
    """Read, find levels, write."""
    check_outputs(options, [options.output] if options.output else [])
    found = levels_from_preferences(options.preferences, options.method)
    if options.output:
        found.qrels.write(options.output)
        wrote(options.output)
    else:
        write_text(options, found.qrels.text())
    say(f"Levels by {IN_WORDS[found.method]}; {found.sentence()}.")
    return 0
