"""The compiled twin of the columns: the same work on the same arrays, in C and without the interpreter's lock.

It is built at installation if there is a compiler; everything works without it, on NumPy. ``RANKBOUNDS_NATIVE=0`` turns
it off. Functions here return None (or False) if the kernel is not in use, or leaves something to Python: a broken line,
an id of hundreds of bytes, colliding keys. So all errors are reported by the Python code.
"""

from __future__ import annotations

import contextlib
import os

from rankbounds.threads import processors

TYPE_CHECKING = False  # ``rankbounds --version`` does not wait for the module typing
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Literal

SWITCH = "RANKBOUNDS_NATIVE"
CONTRACT = 2
"""The version of the interface in ``kernel.h``: a kernel that was built from other sources is not used."""


def _loaded() -> Any:
    try:
        from rankbounds.columns.native import _kernel  # type: ignore[attr-defined, unused-ignore]
    except ImportError:
        return None
    return _kernel if getattr(_kernel, "CONTRACT", 0) == CONTRACT else None


built = _loaded()
kernel = None if os.environ.get(SWITCH) == "0" else built
"""The functions in C; None: NumPy does the work."""


def in_use() -> bool:
    return kernel is not None


def described() -> str:
    if kernel is not None:
        return "compiled kernel"
    return f"NumPy alone, {f'{SWITCH}=0' if built is not None else 'no compiled kernel'}"


def worth_starting() -> int:
    """Return how many threads are worth starting to read, join and score; the kernel works mostly outside the lock."""
    return processors(16) if in_use() else processors()


@contextlib.contextmanager
def switched(to: Literal["kernel", "NumPy"]) -> Iterator[None]:
    global kernel
    before = kernel
    if to == "kernel" and built is None:
        raise RuntimeError("the kernel was not built")
    kernel = built if to == "kernel" else None
    try:
        yield
    finally:
        kernel = before
