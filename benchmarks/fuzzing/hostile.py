"""What must hold of ids that were chosen to be slow, and of very many."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import rankbounds as rb
from fuzzing.case import Case, ViolationError, answer
from fuzzing.collection import MEASURES
from rankbounds.rankings import join


def hostile(rng: Random) -> Case:
    """Ids made to share their hashes, one very long id, and a very long list cost what others of as many bytes cost."""
    kind, make = rng.choice(list(HOSTILE_IDS.items()))
    ids = make(rng)
    width = max(8, sum(map(len, ids)) // len(ids))
    ordinary = [b"%0*d" % (width, number) for number in range(len(ids))]
    files = {
        "q": b"".join(b"1 0 %s 1\n" % one for one in ids),
        "r": b"".join(b"1 Q0 %s 0 %d t\n" % (one, number) for number, one in enumerate(ids)),
        "ordinary.q": b"".join(b"1 0 %s 1\n" % one for one in ordinary),
        "ordinary.r": b"".join(b"1 Q0 %s 0 %d t\n" % (one, number) for number, one in enumerate(ordinary)),
    }

    def check(folder: Path) -> str:
        seconds = []
        for qrels, run in (("ordinary.q", "ordinary.r"), ("q", "r")):
            began = time.perf_counter()
            found = answer(lambda qrels=qrels, run=run: rb.evaluate(folder / qrels, folder / run, MEASURES))
            seconds.append(time.perf_counter() - began)
            if isinstance(found, rb.RankboundsError):
                raise ViolationError(f"{kind}: valid input refused: {found}")
        if seconds[1] > 1 + 20 * seconds[0]:
            raise ViolationError(f"{kind}: {len(ids):,} ids take {seconds[1]:.1f} s, others {seconds[0]:.2f} s")
        return "as fast"

    return Case(
        files, check, "time rankbounds evaluate q r; time rankbounds evaluate ordinary.q ordinary.r", seconds=15
    )


WORD = (1 << 64) - 1
MULTIPLIER = 0x9E3779B97F4A7C15
"""Of the golden ratio, as most multiplicative hashes have it: known to whoever wants ids to collide."""


def _mixed(state: int, word: int) -> int:
    product = ((state ^ word) * MULTIPLIER) & WORD
    return product ^ (product >> 32)


def _unmixed(mixed: int, state: int) -> int:
    """The word that turns this state into that one."""
    product = mixed ^ (mixed >> 32)
    return ((product * pow(MULTIPLIER, -1, 1 << 64)) & WORD) ^ state


def _usable(one: bytes) -> bool:
    return min(one) > 32 and one[0] not in b"#{["


def _sharing_low_bits(rng: Random) -> list[bytes]:
    """Eight bytes whose hash without a key ends in the same 20 bits; in topic "1"."""
    topic = _mixed(1, ord("1"))
    found: list[bytes] = []
    for high in range(1, 1 << 20):
        word = _unmixed(_unmixed((high << 40) | (rng.getrandbits(4) << 36) | 0x12345, topic), 8).to_bytes(8, "little")
        if _usable(word):
            found.append(word)
        if len(found) == 10_000:
            break
    return found


def _sharing_all_bits(rng: Random) -> list[bytes]:
    """Sixteen bytes whose whole hash without a key is one."""
    aim = rng.getrandbits(64)
    found: set[bytes] = set()
    while len(found) < 2000:
        first = bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=8))
        second = _unmixed(aim, _mixed(16, int.from_bytes(first, "little"))).to_bytes(8, "little")
        if _usable(second):
            found.add(first + second)
    return list(found)


def _colliding_under_any_key(rng: Random) -> list[bytes]:
    """A word's top bit goes through a multiplication alone, and the next word can undo it: no key prevents that."""
    pairs = 11
    found = []
    words = [bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=16)) for _ in range(pairs)]
    for number in range(1 << pairs):
        one = bytearray(b"".join(words))
        for pair in range(pairs):
            if number >> pair & 1:
                for at in (7, 8 + 3, 8 + 7):
                    one[16 * pair + at] ^= 0x80
        found.append(bytes(one))
    return found


def _one_long(rng: Random) -> list[bytes]:
    return [b"x" * rng.choice((100_000, 1_000_000)), *(b"d%d" % number for number in range(20_000))]


def _one_long_list(rng: Random) -> list[bytes]:
    return [b"d%d" % number for number in range(join.BATCH_CELLS + rng.randint(-1, 9))]


HOSTILE_IDS: dict[str, Callable[[Random], list[bytes]]] = {
    "ids that share their low bits": _sharing_low_bits,
    "ids that share their hash": _sharing_all_bits,
    "ids that share their hash under any key": _colliding_under_any_key,
    "one long id": _one_long,
    "more ids than a batch has cells": _one_long_list,
}
