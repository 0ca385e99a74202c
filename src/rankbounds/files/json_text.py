"""JSON as a reader of data needs it: a key that stands twice is an error, and so is what nests too deep."""

from __future__ import annotations

import json
from typing import Any

from rankbounds.errors import DataError, Place


class RepeatedKeyError(ValueError):
    """An object has two values for one key."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise RepeatedKeyError(f'the key "{key}" stands twice in one object; keep one')
    return found


def parse(content: bytes | str, place: Place | str, what: str = "JSON") -> Any:
    """What JSON says, or an error that names the source."""
    try:
        return json.loads(content, object_pairs_hook=_object)
    except RecursionError:
        reason = "brackets are nested too deep"
    except ValueError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        if "integer string conversion" in reason:
            reason = "a number has thousands of digits"
    raise DataError(place, f"cannot be read as {what} ({reason}).")


def parse_lines(content: bytes, name: str) -> list[Any]:
    """One value a line; empty lines are left out."""
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]
    objects = [line.strip() for _, line in lines]
    if all(line[:1] == b"{" and line[-1:] == b"}" for line in objects):
        try:  # all at once, which is faster
            rows = json.loads(b"[" + b",".join(objects) + b"]", object_pairs_hook=_object)
            if len(rows) == len(lines):
                return list(rows)
        except (ValueError, RecursionError):
            pass  # line by line it is seen where the mistake is
    return [parse(line, Place(name, number), "a line of JSON") for number, line in lines]
