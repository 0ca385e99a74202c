"""A process beside the server, so that whoever judges never waits for what is computed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from rankbounds.errors import RankboundsError, UsageError


class Worker:
    """A function that is called in a process of its own, which ends when this one does, however it ends."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._turn = threading.Lock()
        self._process: Any = None
        self._connection: Any = None

    def __call__(self) -> Any:
        """What the function returns, or raises for the user to read."""
        with self._turn:
            try:
                if self._process is None or not self._process.is_alive():
                    self._start()
                self._connection.send(True)
                done, result = self._connection.recv()
            except (EOFError, OSError):
                self._process = None
                raise UsageError("The process that computes ended; it is started again.") from None
        if done:
            return result
        raise result

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_work, args=(other, self._function), daemon=True)
        self._process.start()
        other.close()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        process = self._process
        if process is not None:
            process.terminate()
            process.join()


def _work(connection: Any, function: Callable[[], Any]) -> None:
    """Call the function whenever somebody asks, until nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    if hasattr(os, "nice"):
        os.nice(5)  # whoever judges comes first
    while True:
        try:
            connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer: tuple[bool, Any] = True, function()
        except RankboundsError as error:
            answer = False, error
        except Exception as error:
            answer = False, UsageError(f"Computing failed ({type(error).__name__}: {error}).")
        try:
            connection.send(answer)
        except OSError:
            return
