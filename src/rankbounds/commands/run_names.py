"""A run's name on the command line: ``name=path``."""

from __future__ import annotations

import glob
import os


def name_and_path(given: str) -> tuple[str | None, str]:
    """The name, where there is one, and the path; a path or pattern that leads to files as it is written has none."""
    name, equals, path = given.partition("=")
    if not (name and equals and path) or os.path.basename(name) != name or os.path.exists(given):
        return None, given
    if glob.has_magic(given) and glob.glob(given, recursive=True):
        return None, given
    return name, path
