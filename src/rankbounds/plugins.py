"""What other packages add: measures, formats and commands that they declare as entry points.

A package names a module, or an object in it, under ``rankbounds.measures``, ``rankbounds.formats`` or
``rankbounds.commands``. They are looked up when a name is unknown, or when all are listed: this takes as long as
reading the metadata of everything that is installed.
"""

from __future__ import annotations

from functools import cache

from rankbounds.errors import warn


@cache
def load_plugins(group: str) -> dict[str, object]:
    """Load what installed packages declare in a group, once; a warning names those that cannot be loaded."""
    from importlib.metadata import entry_points

    loaded = {}
    for entry in entry_points(group=group):
        try:
            loaded[entry.name] = entry.load()
        except Exception as problem:  # whatever the other package does wrong
            package = entry.dist.name if entry.dist else entry.value
            warn(f'{package}: its entry "{entry.name}" of {group} cannot be loaded ({problem}). Update or remove it.')
    return loaded
