"""Show the report live in the browser, and judge the next documents there.

The page follows its files: when one changes, scores are computed again. Under "What to judge next" a click judges a
document; the judgment is added to QRELS, a plain TREC file, and the bounds close. Only requests from this machine are
answered, unless --host says otherwise; then the address that is printed holds a key. Stop with Ctrl-C.
"""

from __future__ import annotations

import argparse
from functools import partial

from rankbounds.commands.messages import say
from rankbounds.commands.progress import rest
from rankbounds.commands.reading import add_inputs, runs_from
from rankbounds.commands.report import add_choices, choices_from
from rankbounds.errors import UsageError
from rankbounds.files.opening import STANDARD_INPUT

LAST_PORT = 65535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser)
    parser.add_argument("--port", type=_port, default=8765, help="where to listen (default 8765; 0: any free port)")
    parser.add_argument("--host", default="127.0.0.1", help="on which address (default 127.0.0.1, this machine alone)")
    parser.add_argument("--documents", metavar="FILE", help="JSON lines with doc_id and text, shown to whoever judges")
    parser.add_argument("--read-only", action="store_true", help="take no judgments")
    add_choices(parser)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text[:20]) > LAST_PORT:
        raise argparse.ArgumentTypeError(f'"{text}" is no port, which is a whole number from 0 to {LAST_PORT}')
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from rankbounds.report.live import Documents, Live, address, is_local, server

    if STANDARD_INPUT in [options.qrels, *options.runs]:
        raise UsageError("The page follows its files: give files, not standard input (-).")
    documents = Documents(options.documents) if options.documents else None
    live = Live(
        options.qrels, partial(runs_from, options), choices_from(options), documents, judging=not options.read_only
    )
    if live.judging:
        live.judgments.check()
    with server(live, options.host, options.port) as listening:
        port = listening.server_address[1]
        if not is_local(options.host):
            say("warning: whoever has this address can read and judge: keep it.")
        say(f"open {address(live, options.host, port)}")
        rest()
        listening.serve_forever()
    return 0
