"""What docstrings of measures share, written once: parameters with one meaning, and the data of short examples."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import MISSING, Field
from typing import Any

SHARED = {
    "rel": "The lowest grade that counts as relevant.",
    "cutoff": "The depth, written behind the @; None: the whole list.",
    "graded": "Whether gains count, or only relevance.",
    "base": "Of the logarithm, where it is the one of Jarvelin and Kekalainen; None: log2(rank + 1).",
    "gain": "``linear``: gains as they are; ``exp``: 2^g - 1.",
    "T": "How many relevant documents the user wants.",
    "b1": "The odds of going on when T are found.",
    "R1": "How rational the user is about the goal.",
    "A": "The rate of relevant documents that the user expects.",
    "b2": "The odds of stopping at that rate.",
    "R2": "How rational the user is about the rate.",
    "alpha": "How little is worth what has been met before: 0, a repetition is as good as new; 1, it is worth nothing.",
}
"""By name, what a parameter means in every measure whose own docstring does not explain it."""
EXAMPLES = {
    "binary": 'qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}',
    "graded": 'qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 3, "b": 2, "c": 1}}',
    "subtopics": 'judgments = {"query_id": ["q"] * 3, "subtopic": [1, 1, 2], "doc_id": ["a", "b", "b"], '
    '"relevance": [1, 1, 1]}',
    "sample": 'sample = {"query_id": ["q"] * 4, "stratum": [1, 2, 2, 2], "doc_id": list("abcd"), '
    '"relevance": [1, 1, -1, 0]}',
}
"""What examples that begin without an import are about: whatever they name."""
_HEADING = "Parameters\n----------\n"
_EXAMPLES = "Examples\n--------\n"


def documented(text: str, parameters: Iterable[Field[Any]], *, needs_cutoff: bool, graded: bool) -> str:
    """The docstring of a measure with every parameter explained, in order of declaration, and examples that run."""
    above, _, examples = inspect.cleandoc(text).partition(f"\n\n{_EXAMPLES}")
    above, _, own = above.partition(f"\n\n{_HEADING}")
    own, _, below = own.partition("\n\n")
    explained = {entry.partition(" :")[0]: entry for entry in re.split(r"\n(?=\S)", own) if entry}
    for parameter in parameters:
        if parameter.name not in explained:
            explained[parameter.name] = _entry(parameter, needs_cutoff=needs_cutoff)
        explained[parameter.name] = explained.pop(parameter.name)  # to the end: entries come in the order of parameters
    if examples and not examples.startswith(">>> import"):
        data = "sample" if "sample" in examples else "subtopics" if "judgments" in examples else "binary"
        data = "graded" if graded and data == "binary" else data
        examples = f">>> import rankbounds as rb\n>>> {EXAMPLES[data]}\n{examples}"
    section = _HEADING + "\n".join(explained.values()) if explained else ""
    return "\n\n".join(filter(None, (above, section, below, examples and _EXAMPLES + examples)))


def _entry(parameter: Field[Any], *, needs_cutoff: bool) -> str:
    if parameter.name == "cutoff" and needs_cutoff:
        return "cutoff : int\n    The depth, written behind the @."
    default, kind = parameter.default, str(parameter.type)
    if default is not MISSING:
        kind += f", default {default:g}" if isinstance(default, float) else f", default {default!r}"
    meaning = SHARED.get(parameter.name)
    return f"{parameter.name} : {kind}" + (f"\n    {meaning}" if meaning else "")
