"""Names of a package that are loaded on first use: those in the stub beside its ``__init__``.

The stub is what type checkers and editors read (SPEC 1 of scientific Python), and the only list. Its lines say
``from MODULE import NAME as NAME``; MODULE may be a package and NAME one of its modules.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # the module typing takes longer to load than all of this
if TYPE_CHECKING:
    from collections.abc import Callable


def names_of_stub(package: str) -> dict[str, tuple[str, str]]:
    """Return the module and name there of each public name of a package."""
    module = sys.modules[package]
    assert module.__spec__ is not None
    assert module.__file__ is not None
    stub: bytes = module.__spec__.loader.get_data(module.__file__ + "i")  # type: ignore[union-attr]
    lines = (line.split() for line in stub.decode("utf-8").splitlines() if line.startswith("from "))
    return {public: (source, own) for _from, source, _import, own, _as, public in lines}


def load_when_used(
    package: str, namespaces: tuple[str, ...] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, ``__dir__`` and ``__all__`` of a package with a stub.

    The error for a name that only one of the ``namespaces`` has names it.
    """
    places = names_of_stub(package)

    def attribute(name: str) -> object:
        if name not in places:
            problem = f"module {package!r} has no attribute {name!r}"
            rooms = [f"{package}.{namespace}" for namespace in namespaces if not name.startswith("_")]
            found = [f"{room}.{name}" for room in rooms if name in import_module(room).__all__]
            if found:
                problem += f": it is {' or '.join(found)}"
            raise AttributeError(problem, name=name, obj=sys.modules[package])
        module, own = places[name]
        value = None if module == package else getattr(import_module(module), own, None)
        if value is None:
            value = import_module(f"{module}.{own}")
        # A room may have the name of its function; then it stands here since it was imported, and can be called.
        value = vars(sys.modules[package]).get(name, value)
        if isinstance(value, type(attribute)):
            from rankbounds.calls import as_public

            value = as_public(value, package, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*places, *(name for name in vars(sys.modules[package]) if name.startswith("__"))})

    return attribute, names, sorted(places)
