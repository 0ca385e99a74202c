"""The command that serves tools to assistants."""

from __future__ import annotations

from rankbounds.commands import command
from rankbounds.commands.console.messages import doing, say
from rankbounds.commands.console.options import Option, Options
from rankbounds.errors import UsageError


@command(
    "mcp",
    "Can I trust these files and numbers?",
    3,
    Option("[FOLDER]", "what the tools may read; paths that lead out of it are refused (default: this folder)"),
    Option("--read-only", "write no files; without it, long results go to FOLDER/rankbounds-results", everyday=True),
)
def run_mcp(options: Options) -> None:
    """Serve tools to an assistant over standard input and output (Model Context Protocol).

      rankbounds mcp .
      rankbounds mcp runs --read-only

    The tools are check, evaluate, compare, gate, explain, judge_next, sample and audit. Each takes paths below FOLDER,
    or small data themselves, and answers with sentences and the first rows; what is too long for a conversation is
    written to a file that the answer names. Needs the package mcp: pip install "rankbounds[mcp]".
    """
    from rankbounds.interop.assistant_tools import tool_server

    server = tool_server(options.folder or ".", writes=not options.read_only)
    say("serving check, evaluate, compare, gate, explain, judge_next, sample, audit on standard input and output.")
    doing("")
    try:
        server.run("stdio")
    except Exception as error:
        raise UsageError(f"Standard input and output cannot be served ({error}): run this from an assistant.") from None
