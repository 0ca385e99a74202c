"""Make judgments from preferences: levels from pairs of documents of which one is better.

Each line of the file is a preference: query, better document, worse document. The levels, from 1, are written as
judgments, for Compatibility or any measure of grades. How many of the preferences they violate is told on standard
error: where that is much, no levels will do.
"""

from __future__ import annotations

from rankbounds.collection.preferences import IN_WORDS, METHODS, levels_from_preferences
from rankbounds.commands.messages import say
from rankbounds.commands.options import Option, Options
from rankbounds.commands.output import JUDGMENTS_FILE, write_pairs

QUESTION = "What should be judged next?", 4
OPTIONS = (
    Option("FILE", "lines of a query, a better and a worse document; - is stdin", dest="preferences", file="read"),
    Option("--method NAME", f"{' or '.join(METHODS)} (default {METHODS[0]})", METHODS[0], words=METHODS),
    JUDGMENTS_FILE,
)


def run(options: Options) -> None:
    """Read, find levels, write."""
    found = levels_from_preferences(options.preferences, options.method)
    write_pairs(options, found.qrels)
    say(f"Levels by {IN_WORDS[found.method]}; {found.sentence()}.")
