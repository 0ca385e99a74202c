"""What to cite for the measures that were used, in a file of its own."""

from __future__ import annotations

import argparse

from rankbounds.commands.output import wrote
from rankbounds.files.writing import writing


def add_citing(parser: argparse.ArgumentParser) -> None:
    """Where the entries go."""
    parser.add_argument(
        "--bibtex", metavar="FILE", help="write the papers that the measures (and tests) come from there, as BibTeX"
    )


def write_bibtex(options: argparse.Namespace, entries: str) -> None:
    """To the file asked for, if any."""
    if options.bibtex:
        with writing(options.bibtex) as out:
            out.write(entries)
        wrote(options.bibtex)
