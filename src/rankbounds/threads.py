"""Independent work on several processors. NumPy lets go of the interpreter during long array calls."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Thread
from typing import TypeAlias, TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")
Progress: TypeAlias = Callable[[int, int], None]


def processors(most: int = 4) -> int:
    """Return how many threads are worth starting: one per processor, up to ``most``.

    Beyond four, threads that do short array calls wait for each other.
    """
    return min(most, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def track(items: Iterable[Given], progress: Progress | None, total: int) -> Iterator[Given]:
    """Yield the items, and report after each that it is done."""
    for done, item in enumerate(items, 1):
        yield item
        if progress:
            progress(done, total)


def in_threads(
    function: Callable[[Given], Result], items: Sequence[Given], threads: int, progress: Progress | None = None
) -> Iterator[Result]:
    """Yield the results in the order of the items, each as soon as it and those before it are ready.

    There are never more threads than processors: others would only take turns, and evict each other's cache.
    """
    if threads < 2 or len(items) < 2 or (threads := processors(threads)) < 2:
        results: Iterator[Result] = map(function, items)
    else:
        results = _in_pool(function, items, min(threads, len(items)))
    return track(results, progress, len(items)) if progress else results


def _in_pool(function: Callable[[Given], Result], items: Sequence[Given], threads: int) -> Iterator[Result]:
    from concurrent.futures import Future  # late: it brings much along, and the version need not wait

    promised: deque[Future[Result]] = deque(Future() for _ in items)
    waiting = deque(zip(promised, items, strict=True))

    def work() -> None:
        while waiting:
            try:
                future, item = waiting.popleft()
            except IndexError:  # another thread took the last
                return
            try:
                future.set_result(function(item))
            except BaseException as error:
                future.set_exception(error)

    workers: list[Thread] = []
    try:
        while len(workers) < threads and (worker := start_thread(work)):
            workers.append(worker)
        if not workers:
            yield from map(function, items)
        while workers and promised:
            yield promised.popleft().result()
    finally:
        waiting.clear()
        for worker in workers:
            worker.join()


def start_thread(work: Callable[[], object]) -> Thread | None:
    """Start a thread; None if impossible, as in a browser's Python."""
    thread = Thread(target=work)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread
