"""Processor time in units of the machine's own, so that no test asks how fast a machine is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


def loop() -> float:
    """The processor time of a million additions in Python, the least of three."""
    taken = []
    for _ in range(3):
        begin = time.process_time()
        total = 0
        for number in range(1_000_000):
            total += number
        taken.append(time.process_time() - begin)
    return min(taken)


@contextmanager
def within(millions: float) -> Iterator[None]:
    """Fail if what is inside takes longer than so many millions of additions in Python (20 are about a second)."""
    begin = time.process_time()
    yield
    taken = (time.process_time() - begin) / loop()
    assert taken < millions, f"as long as {taken:.0f} million additions, of {millions:g} that it may take"
