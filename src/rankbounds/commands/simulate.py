"""Write a synthetic collection: runs, complete judgments, and those of a pool.

Each system draws its lists from an urn: at relevance ratio 1 its ranking is random, near 0 relevant documents come
first. The folder gets runs/*.txt (the best system first), qrels-complete.txt (the truth), qrels-pooled.txt (what a
pool of the first documents would know) and settings.json. The same seed gives the same files.
"""

from __future__ import annotations

import inspect

from rankbounds.commands.messages import say
from rankbounds.commands.options import Option, Options, pick
from rankbounds.probability.simulated_collections import simulate

QUESTION = "How do I try things out?", 2
HELP = {
    "runs": "how many systems",
    "topics": "how many topics",
    "documents": "documents in the collection",
    "depth": "length of each ranked list",
    "relevant": "share of relevant documents",
    "variation": "how much that share differs by topic (sd of its log odds)",
    "best": "relevance ratio of the best system",
    "worst": "relevance ratio of the worst system",
    "difficulty": "how much topics differ in difficulty (sd of the log relevance ratio)",
    "agreement": "how much systems agree, from 0 to 1",
    "ties": "share of documents tied with the one before",
    "grades": "relevant documents have grades from 1 to this",
    "pool_depth": "the pool takes this many documents from each list",
    "pooled_runs": "this many runs, drawn at random, contribute to the pool (default: all)",
    "seed": "where the random numbers start",
}


def _option(parameter: inspect.Parameter) -> Option:
    shown = "" if parameter.default is None else f" (default {parameter.default})"
    return Option(
        f"--{parameter.name.replace('_', '-')} N",
        HELP[parameter.name] + shown,
        parameter.default,
        type=int if parameter.default is None else type(parameter.default),
    )


PARAMETERS = inspect.signature(simulate).parameters
OPTIONS = (Option("FOLDER", "a new or empty folder to write to", file="folder"), *map(_option, PARAMETERS.values()))


def run(options: Options) -> None:
    """Draw and write."""
    collection = simulate(**pick(options, *PARAMETERS))
    collection.write(options.folder)
    say(
        f"wrote {options.folder}: {options.runs} runs, {options.topics} topics, {len(collection.pooled):,} of "
        f"{len(collection.complete):,} documents judged in qrels-pooled.txt (seed {options.seed})."
    )
