"""Pairs in a third of the memory, for many runs at once."""

from __future__ import annotations

from weakref import ref

import numpy as np

from rankbounds.columns.ids import PADDING, Ids, padded
from rankbounds.columns.pairs import Pairs, Source

_WORDS = 4
"""Ids of more words of 8 bytes than this take less memory as they are."""


class PackedPairs:
    """Pairs with ids as words of one width, without text, places and keys, which can be made again."""

    def __init__(self, pairs: Pairs, width: int) -> None:
        self.topics, self.source = pairs.topics, Source(pairs.source.name)  # the text goes, and with it the lines
        self._topic = pairs.topic.astype(np.min_scalar_type(len(pairs.topics)))
        self._length, self._width = pairs.docs.length.astype(np.uint8), 8 * width
        self._text = padded(len(pairs) * self._width)
        words = self._text[PADDING:-PADDING].view("<u8").reshape(-1, width)
        for number in range(width):
            words[:, number] = pairs.docs.word(number)
        self._made = ref(pairs)

    @classmethod
    def of(cls, pairs: Pairs) -> PackedPairs | None:
        """Pack these pairs; None where their ids are long."""
        width = pairs.docs.word_count()
        return cls(pairs, width) if 0 < width <= _WORDS else None

    def __len__(self) -> int:
        return self._topic.size

    def unpacked(self) -> Pairs:
        """Make the pairs again; while somebody holds them, they are the same object."""
        made = self._made()
        if made is None:
            start = PADDING + self._width * np.arange(len(self))
            docs = Ids(self._text, start, self._length.astype(np.int32))
            made = Pairs.numbered(self.topics, self._topic.astype(np.int32), docs, self.source)
            self._made = ref(made)
        return made
