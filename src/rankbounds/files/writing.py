"""Write files: everything that this package writes is written here.

A file appears under its name only when it is complete, and keeps its mode; links are followed. A file that has several
names, or belongs to somebody else, is written in place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from rankbounds.errors import DataError, UsageError
from rankbounds.files.compression import ENDINGS

COPY_START, COPY_ENDING = ".{:.40}.", ".rankbounds-partial"
"""Of the copy that is written before it takes a file's place; names of files may be no longer than 255 bytes."""


@contextlib.contextmanager
def writing(path: str | os.PathLike[str], mode: str = "w", *, durable: bool = False) -> Iterator[IO[Any]]:
    name = os.fspath(path)
    reject_compressed(name)
    text = {} if "b" in mode else {"encoding": "utf-8", "errors": "surrogateescape", "newline": ""}
    try:
        if is_stream(name):
            # Our own streams are written where they are: opened by name, a file behind them would begin anew.
            own = re.fullmatch(r"/dev/(?:std(out|err)|fd/(\d+))", name)
            number = None if own is None else {"out": 1, "err": 2}.get(own[1]) or int(own[2])
            with open(name if number is None else os.dup(number), mode, **text) as out:  # type: ignore[call-overload]
                yield out
        else:
            target = os.path.realpath(name)
            _reject_read_only(target)
            with _copy_beside(target, durable) as copy, open(copy, mode, closefd=False, **text) as out:  # type: ignore[call-overload]
                yield out
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable(name, error) from None
    except UnicodeEncodeError as error:
        raise DataError(name, f"cannot be written. {not_utf8(error)}") from None


def reject_compressed(name: str) -> None:
    ending = os.path.splitext(name)[1].lower()
    if ending in ENDINGS.values():
        raise UsageError(f"{name}: rankbounds does not compress its output; leave out {ending}.")


def check_writable(path: str | os.PathLike[str], remedy: str) -> None:
    target = os.path.realpath(path)
    try:
        _reject_read_only(os.path.dirname(target))
        _reject_read_only(target)
    except PermissionError as error:
        raise DataError(os.fspath(path), f"cannot be written ({error.strerror}).", remedy) from None


def _reject_read_only(target: str) -> None:
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def unwritable(name: str | os.PathLike[str], error: OSError) -> DataError:
    name = os.fspath(name)
    folder = os.path.dirname(name) or "."
    if isinstance(error, IsADirectoryError):
        return DataError(name, "this is a folder; name a file to write.")
    if isinstance(error, FileNotFoundError) and not os.path.isdir(folder):
        return DataError(name, f'cannot be written, because there is no folder "{folder}".', "Create it first.")
    return DataError(name, f"cannot be written ({error.strerror or error}).")


def not_utf8(error: UnicodeEncodeError) -> str:
    around = error.object[max(0, error.start - 20) : error.end + 20].splitlines()
    return f"The text {' '.join(around)!a} holds half a character, which no file can hold."


def make_folder(path: str | os.PathLike[str]) -> Path:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        if os.path.exists(path):
            raise DataError(os.fspath(path), "this is a file; name a folder to write to.") from None
        raise unwritable(path, error) from None
    return Path(path)


def make_empty_folder(path: str | os.PathLike[str]) -> Path:
    folder = make_folder(path)
    try:
        held = os.listdir(folder)
    except OSError as error:
        raise unwritable(path, error) from None
    if held:
        raise DataError(folder, "the folder is not empty; name a new one.")
    return folder


def reject_inputs(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    read, seen = list(inputs), dict[str, str]()
    for output in outputs:
        real = os.path.realpath(output)
        if real in seen:
            raise UsageError(f"{output}: two results would be written to this file. Name another for one of them.")
        seen[real] = output
        for name in read if os.path.isfile(output) else ():
            with contextlib.suppress(OSError):
                if Path(output).samefile(name):
                    same = "" if output == name else f" (it is the same file as {name})"
                    raise UsageError(
                        f"{output}: this is one of the files to read{same}, and would be overwritten. Name another "
                        "file."
                    )


def clear_copies(path: str | os.PathLike[str]) -> None:
    """Remove what a killed writer of this file left behind, but no copy that is being written."""
    target = Path(os.path.realpath(path))
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(target.parent)):
            if entry.name.startswith(COPY_START.format(target.name)) and entry.name.endswith(COPY_ENDING):
                with contextlib.suppress(OSError), open(entry.path, "rb") as left:
                    if _lock(left.fileno()):
                        os.unlink(entry.path)


def is_stream(name: str) -> bool:
    if name.startswith(("/dev/std", "/dev/fd/", "/proc/")):
        return True
    try:
        mode = Path(name).stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError
    return not stat.S_ISREG(mode)


@contextlib.contextmanager
def _copy_beside(target: str, durable: bool) -> Iterator[int]:
    """Open a file in the same folder that replaces the target at the end, or a target that none can stand in for."""
    clear_copies(target)
    old = Path(target).stat() if os.path.exists(target) else None
    in_place = old is not None and (old.st_nlink > 1 or (hasattr(os, "geteuid") and old.st_uid != os.geteuid()))
    if in_place:
        handle, copy = os.open(target, os.O_WRONLY | os.O_TRUNC | getattr(os, "O_BINARY", 0)), ""
    else:
        handle, copy = _new_copy(target)
    try:
        if old is not None and not in_place and os.name != "nt":
            with contextlib.suppress(OSError):
                os.fchown(handle, -1, old.st_gid)
            os.fchmod(handle, stat.S_IMODE(old.st_mode))
        yield handle
        if durable:
            os.fsync(handle)
        if os.name == "nt":  # where a file that is open has its name for good
            os.close(handle)
            handle = -1
        if copy:
            os.replace(copy, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(copy)
        raise
    finally:
        if handle >= 0:
            os.close(handle)


def _new_copy(target: str) -> tuple[int, str]:
    folder, name = os.path.split(target)
    mode = 0o600 if os.path.exists(target) else 0o666  # a file that others may not read is not readable meanwhile
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        copy = os.path.join(folder, f"{COPY_START.format(name)}{os.urandom(8).hex()}{COPY_ENDING}")
        handle = os.open(copy, flags, mode)
        # Until it is locked the copy looks like one that was left behind, and another process may have removed it.
        if _lock(handle) and os.fstat(handle).st_nlink:
            return handle, copy
        os.close(handle)


def _lock(handle: int) -> bool:
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass  # where a system or file system has no such locks, a file that is open cannot be removed
    return True
