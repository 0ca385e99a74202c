"""The commands, in modules by subject. A command is a function with its options; its docstring is the help::

    @command("rbp depth", Option("--digits N", "..."), ...)
    def run_depth(options):
        ...

A docstring begins with what the command answers, then two examples that run on the demo's files; the rest is shown by
``--help-all``. ``COMMANDS`` is the program's help, so that nothing waits for the imports of other commands.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS = {
    "How good are my runs?": {
        "evaluate": ("evaluate", "Score runs against judgments, with bounds for unjudged documents"),
        "uncertainty": (
            "uncertainty",
            "Estimate each run's score, with an interval, from the probability that unjudged documents are relevant",
        ),
        "trec_eval": ("checking", "Print the same output as trec_eval 10, with its names, options and digits"),
    },
    "Is A better than B, or is it noise?": {
        "compare": (
            "compare",
            "Is A better than B, or is it noise? Significance tests, bounds for unjudged documents, and one verdict",
        ),
        "collections": (
            "comparisons",
            "Compare systems on several collections (BEIR, MTEB): on average, and per collection",
        ),
        "replicates": (
            "comparisons",
            "Measure the noise floor (A/A test): how much scores of the same system differ between reruns",
        ),
        "topics": (
            "comparisons",
            "Plan how many topics (queries) an evaluation needs: sample size for a difference or a margin",
        ),
    },
    "What changed between two versions?": {
        "similarity": (
            "comparisons",
            "Compare rankings without judgments: overlap (RBO), and how much a measure can differ at most",
        ),
    },
    "Can I trust these files and numbers?": {
        "check": ("checking", "Check whether runs can be submitted and scored; exit code 0 (ok) or 1 (errors)"),
        "explain": (
            "checking",
            "Explain why another tool reports other numbers for the same files, and find the options that reproduce "
            "them",
        ),
        "mcp": ("checking", "Serve tools to an assistant over standard input and output (Model Context Protocol)"),
    },
    "What should be judged next?": {
        "judge-next": ("judging", "List the unjudged documents that are worth judging first"),
        "pool": ("judging", "Build a pool of documents to judge, or restrict judgments to another pool"),
        "serve": ("report", "Judge (label) documents in the browser, with the report live beside it"),
    },
    "Can I trust the labels of a model (LLM as a judge)?": {
        "judges": (
            "labels",
            "Compare labels, such as those of a language model, with trusted ones: agreement, bias, order of runs",
        ),
        "sample": ("labels", "Draw the documents that people should judge, so that a model's labels can be audited"),
        "audit": (
            "labels",
            "Correct scores from a model's labels with a sample that people judged, with confidence intervals",
        ),
    },
    "Which measure should I use?": {
        "measures": ("measures", "List the measures, or explain one of them"),
    },
    "RBP: which persistence, and what does it change?": {
        "rbp persistence": (
            "rbp",
            "Choose RBP's persistence p: from click logs, or as the p that agrees best with other measures",
        ),
        "rbp crossings": (
            "rbp",
            "Find the persistences p at which the lead in RBP changes between two runs, and where it is certain",
        ),
        "rbp depth": ("rbp", "Plan how deep to judge for RBP, or find the persistence p that a depth supports"),
        "rbp transfer": (
            "rbp",
            "Convert a published RBP score to another persistence p, and say which of two published systems is better",
        ),
        "rbp contributions": ("rbp", "Show how much each document of one topic adds to a score"),
    },
    "How do I show the results?": {
        "report": (
            "report",
            "Write an HTML report: leaderboard, plots, comparisons in words, topics, and what to judge next",
        ),
    },
    "How do I try things out?": {
        "demo": ("demo", "Score a small collection that comes with rankbounds, and explain the table"),
        "study": ("study", "Repeat tables and figures of papers on your own runs, with the answer in words"),
    },
}
ELSE = "What else is installed?"
"""The question under which commands are listed that the table lacks: of other packages, and in new files here."""
_declared: dict[tuple[str, str], tuple[tuple[Any, ...], Callable[[Any], Any]]] = {}
"""Options and function by module and name."""


class Command(NamedTuple):
    """A command's entry in the program's help, and the module that declares it."""

    name: str
    question: str
    summary: str
    module: str

    @property
    def parts(self) -> tuple[str, list[str], str]:
        from inspect import getdoc

        paragraphs = (getdoc(self.load()[1]) or f"{self.summary}.").split("\n\n")  # Python drops docstrings under -OO
        at = next(
            (at for at, text in enumerate(paragraphs) if text.lstrip().startswith("rankbounds ")), len(paragraphs)
        )
        examples = [line.strip() for text in paragraphs[at : at + 1] for line in text.splitlines()]
        return "\n\n".join(paragraphs[:at]), examples, "\n\n".join(paragraphs[at + 1 :])

    def load(self) -> tuple[tuple[Any, ...], Callable[[Any], Any]]:
        importlib.import_module(self.module)
        return _declared[self.module, self.name]


def command(name: str, *options: Any) -> Callable[[Any], Any]:
    """Declare a function as a command with these options; it returns a ``Result``, an exit code, or nothing."""

    def declare(function: Any) -> Any:
        _declared[function.__module__, name] = options, function
        return function

    return declare


def our_commands() -> dict[str, Command]:
    return {
        name: Command(name, question, summary, f"{__name__}.{module}")
        for question, commands in COMMANDS.items()
        for name, (module, summary) in commands.items()
    }


def known_commands() -> dict[str, Command]:
    from pkgutil import iter_modules

    from rankbounds.plugins import load_plugins

    known = our_commands()
    in_table = {each.module for each in known.values()}
    for file in iter_modules(__path__, f"{__name__}."):
        if file.name not in in_table and not file.ispkg:
            importlib.import_module(file.name)
    load_plugins(__name__)
    for (module, name), (_, function) in _declared.items():
        summary = (function.__doc__ or name).strip().splitlines()[0].rstrip(".")
        known.setdefault(name, Command(name, ELSE, summary, module))
    return dict(sorted(known.items()))
