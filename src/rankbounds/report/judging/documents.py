"""Texts of documents in a file of JSON lines, found by their place in the file."""

from __future__ import annotations

import json
from dataclasses import dataclass

from rankbounds.errors import DataError, Place
from rankbounds.files import json_text

ID_KEYS = ("doc_id", "docno", "id", "_id", "docid")
TITLE_KEYS, TEXT_KEYS = ("title", "headline"), ("text", "contents", "body", "abstract", "passage")
LONGEST = 200_000
"""So many characters of a document are shown."""


@dataclass(frozen=True)
class DocumentText:
    """What a document says."""

    title: str
    text: str
    cut: int = 0
    """How many characters are not shown."""


class Documents:
    """Where in the file each document stands; texts are read when they are asked for."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.offset: dict[str, int] = {}
        offset = 0
        try:
            with open(path, "rb") as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        self.offset[self._id(line, number)] = offset
                    offset += len(line)
        except OSError as error:
            raise DataError(path, f"cannot be read ({error.strerror or error}).") from None

    def _id(self, line: bytes, number: int) -> str:
        try:
            held = json_text.parse(line, self.path)
            return str(next(held[key] for key in ID_KEYS if key in held))
        except (ValueError, TypeError, StopIteration, RecursionError):
            raise DataError(
                Place(self.path, number), f"this should be a JSON object with one of {', '.join(ID_KEYS)}."
            ) from None

    def text(self, doc_id: str) -> DocumentText | None:
        """What the file says of a document; None where it says nothing."""
        if doc_id not in self.offset:
            return None
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset[doc_id])
                held = json.loads(file.readline())
            title = next((str(held[key]) for key in TITLE_KEYS if held.get(key)), "")
            text = "\n\n".join(str(held[key]) for key in TEXT_KEYS if held.get(key))
        except (OSError, ValueError, AttributeError, RecursionError):
            raise DataError(self.path, "the file changed since this server began.", "Start it again.") from None
        return DocumentText(title, text[:LONGEST], max(0, len(text) - LONGEST))
