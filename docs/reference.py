"""Pages made whenever the site is built: measures (registry), command line (options), public names (docstrings)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import rankbounds
from rankbounds.commands import known_commands
from rankbounds.commands.console.help import DESCRIPTION, by_question, in_groups
from rankbounds.commands.console.output import TERMINAL
from rankbounds.commands.measures import describe, explain
from rankbounds.measures import REGISTRY
from rankbounds.measures.naming.elsewhere import DIFFERENT

PYTHON = {
    "top": "The names that most people need",
    "measures": "rb.measures",
    "stats": "rb.stats",
    "rbp": "rb.rbp",
    "probability": "rb.probability",
    "judging": "rb.judging",
    "checking": "rb.checking",
    "interop": "rb.interop",
    "plots": "rb.plots",
    "studies": "rb.studies",
}
"""Titles of the pages on public names, by namespace."""
INTERNAL = {
    "Assumptions": "allowed_relevant order check value values assumed low_high bounds_are_outer cells tie_range",
    "Comparison": "fields pair_words has_bounds shown_parts method pair_table measure_table sentences",
    "DataError": "moved_to",
    "Gate": "undecided",
    "Qrels": "subtopics are_preferences take only_judged",
    "Result": "fields",
    "Run": "stated_rank take renamed changed",
    "Scores": "fields has_judged",
    "Slices": "forest_rows method",
    "Published": "score_range residual_range total_range steps topics vectors",
}
"""What other modules of the package call on public classes, which is not part of the interface."""
DERIVED_FROM = {"Measure", "RankWeighted", "Continuing", "ContinuingByRelevance", "Normalised"}
"""Measures whose methods new measures override: those of all others are theirs alone."""
PROSE = re.compile(r'(?m)(?:^|(?<=<code>)) *(?:(?!  )[^<\n]){60,}$|<span class="go"> *(?:(?!  )[^<\n]){60,}</span>')
"""A line of output without columns, longer than a phone shows."""


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages (called by MkDocs)."""
    from mkdocs.structure.files import File

    pages = {"measures.md": measures_page(), "commands.md": commands_page()}
    pages |= {f"python-{namespace}.md": python_page(namespace) for namespace in PYTHON}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_post_page(html: str, **_: Any) -> str:
    """Name the search dialog for those who hear it (called by MkDocs)."""
    dialog = 'data-md-component="search" role="dialog"'
    return html.replace(dialog, f'{dialog} aria-label="Search"')


def on_post_build(config: Any) -> None:
    """Write the search index as a script too, which a page on disk may load, and link llms.txt (called by MkDocs)."""
    site = Path(config.site_dir)
    index = (site / "search" / "search_index.json").read_text("utf-8")
    (site / "search" / "search_index.js").write_text(f"var __index = {index}", "utf-8")
    listed = (site / "llms.txt").read_text("utf-8")
    (site / "llms.txt").write_text(re.sub(r"\]\((\S+)\.md\)", r"](\1.html)", listed), "utf-8")


def on_page_content(html: str, **_: Any) -> str:
    """Let sentences among what commands print wrap, but no table (called by MkDocs)."""
    return re.sub(
        r"<pre>.*?</pre>", lambda block: PROSE.sub(r'<span class="sentence">\g<0></span>', block[0]), html, flags=re.S
    )


def measures_page() -> str:
    """A table of all measures, and behind it what `rankbounds measures NAME` says of each."""
    from markdown.extensions.toc import slugify, unique

    kinds = [kind for _, kind in sorted(REGISTRY.items(), key=lambda item: item[0].lower())]
    rows = [describe(kind) for kind in kinds]
    taken: set[str] = set()
    links = {kind.name: f"[{_text(kind.name)}](#{unique(slugify(kind.name, '-'), taken)})" for kind in kinds}
    parts = [
        "# Measures\n\nEvery measure (metric) with its parameters, as `rankbounds measures` lists them: how a name is "
        "read, what it means, and its source. [How names are written](coming-from.md#how-names-are-written).\n",
        _table(list(rows[0]), [[links[row["measure"]], *map(_text, list(row.values())[1:])] for row in rows]),
    ]
    parts += [f"\n## {_text(kind.name)}\n\n{_block(explain(kind))}" for kind in kinds]
    differing = [[_text(ours), tool, _text(why), _text(label) or "not here"] for ours, tool, label, why in DIFFERENT]
    parts += [
        "\n## One name, two meanings\n\nWhere tools give one name different meanings, our own names come first, then "
        "those of trec_eval, ir_measures, ranx, BEIR and Elasticsearch.\n",
        _table(["name", "elsewhere", "what it means there", "how to ask for it here"], differing),
    ]
    return "\n".join(parts)


def commands_page() -> str:
    """Every command with its arguments and options."""
    commands = known_commands()
    questions = [
        [_text(question), _links(command.name for command in several)]
        for question, several in by_question(commands.values()).items()
    ]
    parts = [
        f"# Command line\n\n{DESCRIPTION} Every command with all of its options, as `--help-all` shows them.\n",
        _table(["question", "commands"], questions),
    ]
    for name, command in commands.items():
        answer, examples, details = command.parts
        shown = _block("\n".join(examples))
        parts.append(f"\n## rankbounds {name}\n\n{_prose(answer)}\n{shown}\n{_prose(details)}")
        for group, options in in_groups((*command.load()[0], *TERMINAL)).items():
            rows = [[f"<code>{_text(option.usage)}</code>", _text(option.text_for(command.name))] for option in options]
            parts.append(_table([group, "meaning"], rows))
    return "\n".join(parts)


def python_page(namespace: str) -> str:
    """The public names of one namespace; mkdocstrings puts in what their docstrings say."""
    module = rankbounds if namespace == "top" else getattr(rankbounds, namespace)
    words = re.sub(r"``(.+?)``", r"<code>\1</code>", _text(inspect.getdoc(module) or "").replace("&#96;", "`"))
    parts = [f"# {PYTHON[namespace]}\n\n{words}\n"]
    parts += [_directive(name, value) for name, value in public_names(namespace).items()]
    return "\n".join(parts)


def public_names(namespace: str) -> dict[str, Any]:
    """What a namespace offers, by the name that users write; what measures offer too stands there only."""
    if namespace != "top":
        module = getattr(rankbounds, namespace)
        return {f"rankbounds.{namespace}.{name}": getattr(module, name) for name in module.__all__}
    elsewhere = {"__version__", *rankbounds.NAMESPACES, *rankbounds.measures.__all__}
    return {f"rankbounds.{name}": getattr(rankbounds, name) for name in rankbounds.__all__ if name not in elsewhere}


def _home(value: Any) -> str:
    return value.__name__ if inspect.ismodule(value) else value.__module__


def _directive(public_name: str, value: Any) -> str:
    """What mkdocstrings reads; of a public module, its functions are shown."""
    members, name = "", public_name.rpartition(".")[2]
    if inspect.ismodule(value) and callable(value):  # called by its own name, as rankbounds.report
        members = f"      members: [{name}]\n"
    elif inspect.isclass(value) and issubclass(value, rankbounds.Measure) and name not in DERIVED_FROM:
        members = "      members: false\n"
    elif hidden := INTERNAL.get(name, "").split():
        members = f"      filters: ['!^_', '!^({'|'.join(hidden)})$']\n"
    elif inspect.ismodule(value):
        functions = inspect.getmembers(value, inspect.isfunction)
        own = [name for name, part in functions if _home(part).startswith(_home(value)) and not name.startswith("_")]
        members = f"      members: [{', '.join(own)}]\n"
    return f"\n::: {public_name}\n    options:\n      toc_label: {name}\n{members}"


def _links(names: Iterable[str]) -> str:
    return ", ".join(f"[{_text(name)}](#rankbounds-{name.replace(' ', '-')})" for name in names)


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _text(cell: str) -> str:
    """Text that Markdown leaves as it is."""
    for mark in "\\`*_[]<>|":
        cell = cell.replace(mark, f"&#{ord(mark)};")
    return cell


def _prose(text: str) -> str:
    """Paragraphs; those with lines that are set in stay as they are."""
    parts = text.split("\n\n")
    return "\n\n".join(_block(part) if re.search(r"^ ", part, re.M) else _text(part) for part in parts) + "\n"


def _block(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.strip("\n").splitlines()) + "\n"
