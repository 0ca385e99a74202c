"""Independent work on several processors. NumPy lets go of the interpreter during long array calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")


def processors(most: int = 4) -> int:
    """How many threads are worth starting here: one for each processor, up to so many.

    Beyond four, threads that do short array calls wait for each other.
    """
    return min(most, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def in_threads(function: Callable[[Given], Result], items: Sequence[Given], threads: int) -> Iterator[Result]:
    """The results in the order of the items, each as soon as it and those before it are ready.

    No more threads are started than there are processors, whoever asks for them: others would only take turns, and
    what one has in the processor's cache the next throws out.
    """
    if threads < 2 or len(items) < 2 or (threads := processors(threads)) < 2:
        return map(function, items)
    return _in_pool(function, items, min(threads, len(items)))


def _in_pool(function: Callable[[Given], Result], items: Sequence[Given], threads: int) -> Iterator[Result]:
    from concurrent.futures import ThreadPoolExecutor  # late: it brings much along, and the version need not wait

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(function, items)
