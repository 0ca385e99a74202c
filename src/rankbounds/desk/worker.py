"""A process beside the server, so that whoever judges never waits for what is computed."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from rankbounds.errors import RankboundsError, UsageError

_PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    f"from {__name__} import work_when_asked; work_when_asked()"
)
"""Run in isolated mode: the processes of multiprocessing import it from the current folder, if that has such a file."""


class Worker:
    """A function that is called in a process of its own, which ends when this one does, however it ends."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self) -> Any:
        """What the function returns, or raises for the user to read."""
        with self._turn:
            try:
                process = self._running()
                _send(process, True)
                done, result = pickle.load(process.stdout)  # type: ignore[arg-type]
            except (EOFError, OSError, pickle.UnpicklingError):
                self.close()
                raise UsageError("The process that computes ended; it is started again.") from None
        if done:
            return result
        raise result

    def _running(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is None or process.poll() is not None:
            command = [sys.executable, "-I", "-c", _PROGRAM]
            process = self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            _send(process, sys.path)
            _send(process, self._function)
        return process

    def close(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            with contextlib.suppress(OSError):  # what was not sent yet
                process.communicate()


def _send(process: subprocess.Popen[bytes], message: Any) -> None:
    process.stdin.write(pickle.dumps(message))  # type: ignore[union-attr]
    process.stdin.flush()  # type: ignore[union-attr]


def work_when_asked() -> None:
    """Call the function whenever somebody asks, until nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    if hasattr(os, "nice"):
        os.nice(5)  # whoever judges comes first
    answers = open(os.dup(sys.stdout.fileno()), "wb")  # noqa: SIM115 (open as long as the process lives)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed is no answer
    function = pickle.load(sys.stdin.buffer)
    with contextlib.suppress(EOFError, OSError):
        while pickle.load(sys.stdin.buffer):
            try:
                answer: tuple[bool, Any] = True, function()
            except RankboundsError as error:
                answer = False, error
            except Exception as error:
                answer = False, UsageError(f"Computing failed ({type(error).__name__}: {error}).")
            answers.write(pickle.dumps(answer))
            answers.flush()
