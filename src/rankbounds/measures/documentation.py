"""Parameters that several measures share, explained once and filled into the docstring of each that has them."""

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
    "alpha": "How little is worth what has been met before: 0, a repetition is as good as new; 1, it is worth nothing.",
}
"""By name, what a parameter means in every measure whose own docstring does not explain it."""
_HEADING = "Parameters\n----------\n"


def documented(text: str, parameters: Iterable[Field[Any]], *, needs_cutoff: bool) -> str:
    """The docstring of a measure with every parameter explained, in the order in which they are declared."""
    above, _, rest = inspect.cleandoc(text).partition(f"\n\n{_HEADING}")
    if rest:
        own, _, below = rest.partition("\n\n")
    else:
        (above, _, below), own = above.partition("\n\nExamples\n"), ""
        below = below and f"Examples\n{below}"
    explained = {entry.partition(" :")[0]: entry for entry in re.split(r"\n(?=\S)", own) if entry}
    for parameter in parameters:
        if parameter.name not in explained:
            explained[parameter.name] = _entry(parameter, needs_cutoff=needs_cutoff)
        explained[parameter.name] = explained.pop(parameter.name)  # to the end: entries come in the order of parameters
    section = _HEADING + "\n".join(explained.values()) if explained else ""
    return "\n\n".join(filter(None, (above, section, below)))


def _entry(parameter: Field[Any], *, needs_cutoff: bool) -> str:
    if parameter.name == "cutoff" and needs_cutoff:
        return "cutoff : int\n    The depth, written behind the @."
    default, kind = parameter.default, str(parameter.type)
    if default is not MISSING:
        kind += f", default {default:g}" if isinstance(default, float) else f", default {default!r}"
    meaning = SHARED.get(parameter.name)
    return f"{parameter.name} : {kind}" + (f"\n    {meaning}" if meaning else "")
