"""The command that lists measures and explains one of them."""

from __future__ import annotations

from dataclasses import MISSING, fields
from inspect import getdoc, getmodule

from rankbounds.commands import command
from rankbounds.commands.console import output
from rankbounds.commands.console.options import Option, Options
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.measure import explanation, value_text
from rankbounds.measures.naming.elsewhere import DIFFERENT, NAMES
from rankbounds.measures.naming.registry import class_named, import_all, is_name, label_elsewhere
from rankbounds.results import Column
from rankbounds.terminal import look, reflow

HEAD = """{} measures in {} families; "rankbounds measures NAME" explains one, --all says in a sentence what each is.

"""


@command(
    "measures",
    Option(
        "[MEASURE]",
        "a name, a label such as nDCG@10, or another tool's name",
        words=lambda: [name for name in import_all() if name.isidentifier()],
    ),
    Option("--all", "list every measure with its meaning, not only the families", everyday=True),
    *output.OUTPUT,
)
def run_measures(options: Options) -> None:
    """List the measures, or explain one of them.

      rankbounds measures
      rankbounds measures nDCG@10

    The list has families with their members; with --all, and in other formats than a table, every measure with its
    meaning. Names that trec_eval, ir_measures, ranx and other tools have for a measure are understood too.
    """
    if options.measure:
        if options.format != "table":
            raise UsageError(f"One measure is explained in text only: --format {options.format} is for all measures.")
        text, width = "\n".join(map(explain, _kinds(options.measure))), look().width
        output.write_text(options, text if width is None else reflow(text, width))
        return
    kinds = [kind for _, kind in sorted(import_all().items(), key=lambda item: item[0].lower())]
    rows = [describe(kind) for kind in kinds]
    if options.format == "table" and not options.all:
        families: dict[str, list[str]] = {}
        for kind in [*(type(measure) for measure in parse_measures(DEFAULT_MEASURES)), *kinds]:
            family = (getdoc(getmodule(kind)) or kind.__module__).partition("\n")[0].replace("``", "")
            families.setdefault(family, []).append(kind.name)
        lines = [f"{', '.join(dict.fromkeys(names))}: {family}\n" for family, names in families.items()]
        output.write_text(options, HEAD.format(len(rows), len(lines)) + "".join(lines))
        return
    columns = [Column(name, name, left=True, importance=int(name == "meaning")) for name in rows[0]]
    output.write_rows(options, rows, columns)


def _kinds(text: str) -> list[type[Measure]]:
    name = text if is_name(text) else (label_elsewhere(text) or text).partition("(")[0]
    if is_name(name):
        return [class_named(name)]
    return list(dict.fromkeys(map(type, parse_measures(text))))


def describe(kind: type[Measure]) -> dict[str, str]:
    return {
        "measure": kind.name,
        "aliases": ", ".join(kind.aliases),
        "parameters": parameters(kind),
        "trec_eval": ", ".join(name.replace("{cutoff}", "k").split("{")[0] for name in kind.trec_names),
        "meaning": explanation(kind).split("\n\n")[0].replace("\n", " "),
    }


def parameters(kind: type[Measure]) -> str:
    shown = [
        parameter.name if parameter.default in (None, MISSING) else f"{parameter.name}={value_text(parameter.default)}"
        for parameter in fields(kind)
        if parameter.name != "cutoff"
    ]
    depth = ("@k" if kind.needs_cutoff else "[@k]") if kind.takes_cutoff() else ""
    return ", ".join(shown) + (" " if shown and depth else "") + depth


def explain(kind: type[Measure]) -> str:
    if kind is Condensed:
        return f"{explanation(kind)}\n\nexamples: {', '.join(kind.examples)}\n"
    called = (
        f"{name} ({tool})" if label == kind.name else f"{name} is {label} ({tool})"
        for tool, names in NAMES.items()
        for name, label in names.items()
        if label.partition("(")[0] == kind.name
    )
    facts = {
        "examples:": ", ".join(kind.examples),
        "aliases:": ", ".join(kind.aliases),
        "trec_eval:": describe(kind)["trec_eval"],
        "bounds:": _bounds(kind),
        "others:": ", ".join(called),
    }
    lines = [f"{kind.name} ({parameters(kind)})" if parameters(kind) else kind.name, "", explanation(kind), ""]
    lines += [f"{name:<10} {text}" for name, text in facts.items() if text]
    for ours, tool, label, why in DIFFERENT:
        if ours == kind.name:
            lines.append(f"other in:  {tool}: {why}" + (f" (here: {label})" if label not in ("", ours) else ""))
    return "\n".join(lines) + "\n"


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
