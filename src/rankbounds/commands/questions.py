"""The commands by the questions that they answer, for help; and what is said to whoever names no command."""

from __future__ import annotations

from collections.abc import Mapping

from rankbounds.terminal import wrapped

QUESTIONS = {
    "How good are my runs?": ("evaluate", "uncertainty", "contributions", "trec_eval"),
    "Is A better than B, or is it noise?": ("compare", "collections", "replicates", "transfer"),
    "What changed between two versions?": ("similarity", "crossings"),
    "Can I trust these files and numbers?": ("check", "explain"),
    "What should be judged next?": ("judge-next", "pool", "serve", "preferences"),
    "May a model's labels stand in for people?": ("judges", "sample", "audit"),
    "What would fewer judgments have said?": ("reduce", "sampling-errors"),
    "Which measure, and which persistence?": (
        "measures", "agreement", "discriminative-power", "persistence", "depth",
    ),
    "How do I show it?": ("report",),
    "How do I try things out?": ("demo", "simulate", "bands", "study"),
}  # fmt: skip
"""Every command stands under one question."""
TO_TRY = {
    "rankbounds demo": "a small collection, explained",
    "rankbounds evaluate qrels.txt runs/*": "your runs, and what is still open",
    "rankbounds compare qrels.txt a.txt b.txt": "is A better than B, or is it noise?",
}
NAME_WIDTH = 22


def greeting(version: str, description: str) -> str:
    """For whoever calls the program without a command."""
    widest = max(map(len, TO_TRY))
    tried = "".join(f"  {command:<{widest}}  {what}\n" for command, what in TO_TRY.items())
    return (
        f"rankbounds {version}. {description}\n\nThree commands to try:\n{tried}\n"
        '"rankbounds --help" lists all commands, by the questions that they answer.\n'
    )


def commands_by_question(explanations: Mapping[str, str], width: int) -> str:
    """The list of commands in the program's help, within this width."""
    asked = {name for names in QUESTIONS.values() for name in names}
    parts = []
    for question, names in (QUESTIONS | {"Other": tuple(name for name in explanations if name not in asked)}).items():
        lines = [question]
        for name in names:
            first, *more = wrapped(explanations[name], max(30, width - NAME_WIDTH - 2))
            lines += [f"  {name:<{NAME_WIDTH - 2}}  {first}", *(" " * (NAME_WIDTH + 2) + line for line in more)]
        parts += ["\n".join(lines)] if names else []
    return "\n\n".join(parts) + "\n"
