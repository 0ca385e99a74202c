"""What goes wrong inside Spark's tasks, told as it would be told here.

Between a task and the driver stands Java, which hands on no more than the text of an exception. So a task writes the
parts of an error into that text, in a form that the text around it cannot be taken for.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import wraps
from typing import Any, TypeVar

from rankbounds.errors import DataError, OutOfMemoryError, Place, RankboundsError, UsageError

Task = Callable[[Iterator[Any]], Iterator[Any]]
"""From batches of Arrow to batches of Arrow."""
_Items = TypeVar("_Items")
_KINDS: tuple[type[RankboundsError], ...] = (UsageError, OutOfMemoryError, DataError, RankboundsError)
_PACKED = re.compile(r"\[told by a task of rankbounds: ([A-Za-z0-9+/]+=*)\]")


class FailedTaskError(Exception):
    """An error about the input inside a task: its sentence, and its parts for the driver."""

    def __init__(self, error: RankboundsError) -> None:
        super().__init__(f"{error} [told by a task of rankbounds: {_packed(error)}]")


def telling(task: Callable[[_Items], Iterator[Any]]) -> Callable[[_Items], Iterator[Any]]:
    """The same task; the driver can tell what it raises."""

    @wraps(task)
    def told(items: _Items) -> Iterator[Any]:
        try:
            yield from task(items)
        except RankboundsError as error:
            raise FailedTaskError(error) from None

    return told


def _packed(error: RankboundsError) -> str:
    kind = next(number for number, known in enumerate(_KINDS) if isinstance(error, known))
    if isinstance(error, DataError):
        place = None if error.place is None else asdict(error.place)
        parts = [kind, place, error.problem, error.remedy]
    else:
        parts = [kind, str(error)]
    return base64.b64encode(json.dumps(parts).encode("ascii")).decode("ascii")


def _unpacked(packed: str) -> RankboundsError:
    kind, *parts = json.loads(base64.b64decode(packed))
    if not issubclass(_KINDS[kind], DataError):
        return _KINDS[kind](*parts)
    place, problem, remedy = parts
    return _KINDS[kind](Place(**place), problem, remedy) if place else _KINDS[kind](problem)


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """Turns a failure inside a Spark task into the one sentence that says what is wrong."""
    try:
        yield
    except RankboundsError:
        raise
    except Exception as error:
        plain = _plain(error)
        if plain is None:
            raise
        raise plain from None


def _plain(error: Exception) -> RankboundsError | None:
    text = str(error)
    packed = _PACKED.findall(text)
    if packed:
        return _unpacked(packed[-1])
    lacking = re.search(r"ModuleNotFoundError: No module named '(\w+)'", text)
    if lacking:
        return UsageError(
            f"Spark's Python workers lack the package {lacking[1]}: install it there, or let the environment "
            f"variable PYSPARK_PYTHON name a Python that has it (this one is {sys.executable})."
        )
    if type(error).__module__.partition(".")[0] in ("py4j", "pyspark") and "Traceback" not in text:
        sentence = f"Spark cannot read this ({first_sentence(error)})."
        file = re.search(r"(?:file|path):? ['\"]?((?:\w+:)?/[^\s'\",]+)", text)
        return DataError(without_scheme(file[1]).rstrip("."), sentence) if file else DataError(sentence)
    return None


def without_scheme(path: str) -> str:
    """A path on this machine without ``file:`` in front."""
    return re.sub(r"^file:/+", "/", path)


def first_sentence(error: Exception) -> str:
    """What is wrong, of all that Java tells: the innermost cause, without the names of classes."""
    text = str(error).strip() or type(error).__name__
    causes = re.findall(r"^(?:Caused by: |: )[\w.$]+(?:Exception|Error): (.*)", text, re.MULTILINE)
    return (causes[-1] if causes else text.splitlines()[0]).strip().rstrip(".")[:200]
