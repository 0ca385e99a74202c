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
from rankbounds.studies.study import Study

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
SUBJECTS = {
    "top": {
        "Scores": "evaluate Evaluator RankCounter Scores Assumptions read_scores",
        "Is it noise?": "compare Comparison Gate Slices compare_collections compare_replicates",
        "Judgments and runs": "read_qrels read_run read_runs Qrels Run",
        "What nobody judged": "uncertainty judge_next",
        "Labels of a model": "audit",
        "Rankings without judgments": "similarity",
        "Can I trust these files and numbers?": "check explain show_versions",
        "A page for everybody": "report",
        "Results, errors and warnings": "Result RankboundsError UsageError DataError RankboundsWarning",
    },
    "measures": {
        "Names": "parse_measure parse_measures bibtex REGISTRY MeasureLike MeasuresLike",
        "Classes for measures of your own": "Measure RankWeighted Normalised Continuing ContinuingByRelevance",
    },
    "stats": {
        "How many topics?": "plan_topics TopicPlan topics_needed minimum_detectable_effect",
        "Significance": "p_values smallest_p_value intervals_of_means discriminative_power",
        "Do two orders of runs agree?": "agreement kendall_tau tau_ap spearman rank_biased_overlap critical_tau",
        "Scores on one scale": "standardise",
    },
    "rbp": {
        "Which persistence?": "plan fit_persistence persistence_agreement find_crossings bounds_by_persistence",
        "What a score is made of": "list_contributions bounds_by_depth significant_ranks",
        "A published score at another persistence": "Published transfer transfer_weights compare_published",
    },
    "probability": {
        "What unjudged documents may add": "differences label_probabilities distribution_of_sum",
        "Models": "urn_moments sample_rankings",
    },
    "judging": {"Who judges well?": "compare_judges", "What should be judged?": "draw_sample pools"},
    "checking": {"Judgments": "describe"},
    "interop": {
        "In place of another tool": "RelevanceEvaluator",
        "Inside evaluation frameworks": "mlflow_metric llama_index_metric haystack_evaluator inspect_metric "
        "sentence_transformers_evaluator pyterrier_experiment pyterrier_test",
        "Tools for assistants": "tool_server",
    },
    "plots": {
        "Any result": "draw save",
        "Runs and differences": "leaderboard differences topic_differences forest similarity_matrix",
        "Labels of a model": "labels_overview",
        "RBP": "contribution_of_ranks bounds_by_depth bounds_by_persistence range_over_persistence rbp_uncertainty",
    },
    "studies": {"Made-up collections": "simulate"},
}
"""What the names of each namespace are for, in the order of its page. Measures stand by family, studies by paper."""
FAMILIES = {
    "Precision, recall and success": "precision.precision_and_recall",
    "Average precision": "precision.average_precision precision.geometric_means precision.interpolated_precision "
    "precision.q_measure",
    "Discounted gain: DCG, nDCG": "discounted_gain",
    "Until something is found: reciprocal rank, ERR, search length": "reciprocal_rank cwl.nearly_err search_effort",
    "Users who read on: RBP and its relatives": "rank_biased_precision cwl.continuing cwl.stopping_by_gain",
    "Missing judgments: bpref, rpref, estimates from samples": "bpref rpref samples",
    "Diversity, nuggets, several people's judgments": "diversity",
    "Preferences": "stated_preferences compatibility",
    "Counts": "counts",
}
"""The modules of the measures of each family."""
INTERNAL = {
    "Assumptions": "allowed_relevant order check value values assumed low_high bounds_are_outer cells tie_range",
    "Comparison": "fields pair_words method sentences",
    "DataError": "moved_to",
    "Gate": "undecided",
    "Qrels": "subtopics are_preferences take only_judged",
    "Result": "fields",
    "Run": "stated_rank take renamed changed",
    "Scores": "fields has_judged",
    "Slices": "forest_rows method",
    "Published": "score_range residual_range total_range topics vectors",
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
    """The measures of each family in a table, and below it what `rankbounds measures NAME` says of each."""
    from markdown.extensions.toc import slugify, unique

    parts = [
        "# Measures\n\nEvery measure (metric) with its parameters, as `rankbounds measures` lists them: how a name is "
        "read, what it means, and its source. [How names are written](coming-from.md#how-names-are-written).\n"
    ]
    taken: set[str] = set()
    for family, kinds in families().items():
        unique(slugify(family, "-"), taken)
        links = {kind.name: f"[{_text(kind.name)}](#{unique(slugify(kind.name, '-'), taken)})" for kind in kinds}
        rows = [describe(kind) for kind in kinds]
        parts += [
            f"\n## {_text(family)}\n",
            _table(list(rows[0]), [[links[row["measure"]], *map(_text, list(row.values())[1:])] for row in rows]),
        ]
        parts += [f"\n### {_text(kind.name)}\n\n{_block(explain(kind))}" for kind in kinds]
    differing = [[_text(ours), tool, _text(why), _text(label) or "not here"] for ours, tool, label, why in DIFFERENT]
    parts += [
        "\n## One name, two meanings\n\nWhere tools give one name different meanings, our own names come first, then "
        "those of trec_eval, ir_measures, ranx, BEIR and Elasticsearch.\n",
        _table(["name", "elsewhere", "what it means there", "how to ask for it here"], differing),
    ]
    return "\n".join(parts)


def families() -> dict[str, list[type[rankbounds.Measure]]]:
    """The measures of each family, by name within it."""
    kinds = [kind for _, kind in sorted(REGISTRY.items(), key=lambda item: item[0].lower())]
    home = {f"rankbounds.measures.{module}": family for family, text in FAMILIES.items() for module in text.split()}
    return {family: [kind for kind in kinds if home[kind.__module__] == family] for family in FAMILIES}


def commands_page() -> str:
    """The commands by the questions that they answer, each with its own options; those of `evaluate` stand there."""
    asked = by_question(known_commands().values())
    questions = [[_text(question), _links(command.name for command in several)] for question, several in asked.items()]
    parts = [
        f"# Command line\n\n{DESCRIPTION} Every command with all of its options, as `--help-all` shows them.\n",
        _table(["question", "commands"], questions),
    ]
    common = (*known_commands()["evaluate"].load()[0], *TERMINAL)
    first = {option.usage: option.text_for("evaluate") for option in common}
    for question, several in asked.items():
        parts.append(f"\n## {_text(question)}\n")
        for command in several:
            answer, examples, details = command.parts
            shown = _block("\n".join(examples))
            parts.append(f"\n### rankbounds {command.name}\n\n{_prose(answer)}\n{shown}\n{_prose(details)}")
            parts += _options(command, first if command.name != "evaluate" else {})
    return "\n".join(parts)


def _options(command: Any, known: dict[str, str]) -> list[str]:
    """Tables of a command's options, and below them the names of those that are explained elsewhere."""
    tables, named = [], []
    for group, options in in_groups((*command.load()[0], *TERMINAL)).items():
        rows = []
        for option in options:
            text = option.text_for(command.name)
            default = text.removeprefix("as in evaluate")
            if text == known.get(option.usage) or (default != text and known.get(option.usage, "").endswith(default)):
                named.append(f"<code>{_text(option.usage)}</code>")
            else:
                rows.append([f"<code>{_text(option.usage)}</code>", _text(text)])
        tables += [_table([group, "meaning"], rows)] if rows else []
    if named:
        tables.append(f"As in [evaluate](#rankbounds-evaluate): {', '.join(named)}.\n")
    return tables


def python_page(namespace: str) -> str:
    """The public names of one namespace by subject; mkdocstrings puts in what their docstrings say."""
    module = rankbounds if namespace == "top" else getattr(rankbounds, namespace)
    words = re.sub(r"``(.+?)``", r"<code>\1</code>", _text(inspect.getdoc(module) or "").replace("&#96;", "`"))
    subjects = by_subject(namespace)
    rows = [
        [_text(subject), ", ".join(f"[{_text(name.rpartition('.')[2])}](#{name})" for name in names)]
        for subject, names in subjects.items()
    ]
    parts = [f"# {PYTHON[namespace]}\n\n{words}\n", _table(["subject", "names"], rows)]
    for subject, names in subjects.items():
        parts.append(f"\n## {_text(subject)}\n")
        parts += [_directive(name, value) for name, value in names.items()]
    return "\n".join(parts)


def by_subject(namespace: str) -> dict[str, dict[str, Any]]:
    """The public names of a namespace under what they are for."""
    names = {name.rpartition(".")[2]: (name, value) for name, value in public_names(namespace).items()}
    subjects: dict[str, list[str]] = {}
    if namespace == "measures":
        for family, kinds in families().items():
            subjects[family] = [own for own, (_, value) in names.items() if value in kinds]
    if namespace == "studies":
        for own, (_, value) in names.items():
            if isinstance(value, Study):
                subjects.setdefault(value.sources[0].paper, []).append(own)
    subjects |= {subject: several.split() for subject, several in SUBJECTS.get(namespace, {}).items()}
    return {subject: dict(names[own] for own in several) for subject, several in subjects.items()}


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
    return f"\n::: {public_name}\n    options:\n      heading_level: 3\n      toc_label: {name}\n{members}"


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
