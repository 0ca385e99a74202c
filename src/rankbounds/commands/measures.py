"""List the measures, or explain one of them."""

from __future__ import annotations

from dataclasses import MISSING, fields

from rankbounds.commands.options import Option, Options
from rankbounds.commands.output import OUTPUT, write_rows, write_text
from rankbounds.measures import REGISTRY, Measure, parse_measures
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.measure import explanation, written
from rankbounds.measures.naming.elsewhere import DIFFERENT, NAMES
from rankbounds.measures.naming.registry import class_named, is_name, label_elsewhere
from rankbounds.results import Column
from rankbounds.terminal import look, reflowed

QUESTION = "Which measure, and which persistence?", 1
OPTIONS = (
    Option(
        "[MEASURE]",
        "a name, a label such as nDCG@10, or another tool's name",
        words=lambda: [name for name in REGISTRY if name.isidentifier()],
    ),
    *OUTPUT,
)


def run(options: Options) -> None:
    """Print the list or the explanation."""
    if options.measure:
        text, width = "\n".join(map(explain, _kinds(options.measure))), look().width
        write_text(options, text if width is None else reflowed(text, width))
        return
    rows = [describe(kind) for _, kind in sorted(REGISTRY.items(), key=lambda item: item[0].lower())]
    write_rows(options, rows, [Column(name, name, left=True, importance=int(name == "meaning")) for name in rows[0]])


def _kinds(text: str) -> list[type[Measure]]:
    """The classes that a label or a name stands for; a name alone will do, even where the measure needs a depth."""
    name = text if is_name(text) else (label_elsewhere(text) or text).partition("(")[0]
    if is_name(name):
        return [class_named(name)]
    return list(dict.fromkeys(map(type, parse_measures(text))))


def describe(kind: type[Measure]) -> dict[str, str]:
    """One line of the list."""
    return {
        "measure": kind.name,
        "aliases": ", ".join(kind.aliases),
        "parameters": parameters(kind),
        "trec_eval": ", ".join(name.replace("{cutoff}", "k").split("{")[0] for name in kind.trec_names),
        "meaning": explanation(kind).split("\n\n")[0].replace("\n", " "),
    }


def parameters(kind: type[Measure]) -> str:
    """``p=0.8, rel=1 @k``."""
    shown = [
        parameter.name if parameter.default in (None, MISSING) else f"{parameter.name}={written(parameter.default)}"
        for parameter in fields(kind)
        if parameter.name != "cutoff"
    ]
    depth = ("@k" if kind.needs_cutoff else "[@k]") if kind.takes_cutoff() else ""
    return ", ".join(shown) + (" " if shown and depth else "") + depth


def explain(kind: type[Measure]) -> str:
    """The explanation for readers of results, and how the measure is written."""
    if kind is Condensed:
        return f"{explanation(kind)}\n\nexamples: {', '.join(kind.examples)}\n"
    lines = [f"{kind.name} ({parameters(kind)})" if parameters(kind) else kind.name, "", explanation(kind), ""]
    lines.append(f"examples:  {', '.join(kind.examples)}")
    if kind.aliases:
        lines.append(f"aliases:   {', '.join(kind.aliases)}")
    if kind.trec_names:
        lines.append(f"trec_eval: {describe(kind)['trec_eval']}")
    lines.append(f"bounds:    {_bounds(kind)}")
    if called := _elsewhere(kind):
        lines.append(f"others:    {called}")
    for ours, tool, label, why in DIFFERENT:
        if ours == kind.name:
            lines.append(f"other in:  {tool}: {why}" + (f" (here: {label})" if label not in ("", ours) else ""))
    return "\n".join(lines) + "\n"


def _elsewhere(kind: type[Measure]) -> str:
    """What other tools call it: ``hit_rate (ranx)``."""
    return ", ".join(
        f"{name} ({tool})" if label == kind.name else f"{name} is {label} ({tool})"
        for tool, names in NAMES.items()
        for name, label in names.items()
        if label.partition("(")[0] == kind.name
    )


def _bounds(kind: type[Measure]) -> str:
    if kind.exactness == "unknown":
        return "none are known, and none are given"
    if kind.exactness == "outer":
        return "hold over the retrieved unjudged documents, but may be wider than needed"
    if kind.monotone:
        return "exact: from counting unjudged documents as non-relevant and as relevant"
    if kind.bounds is Measure.bounds:
        return "exact: the extremes over how many unjudged documents are relevant"
    return "exact over the retrieved unjudged documents"
