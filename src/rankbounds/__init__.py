"""rankbounds scores ranked retrieval and says how sure you can be.

``import rankbounds as rb``; what it offers stands in the stub beside this file and is loaded when first used.
"""

from rankbounds.loading import load_when_used
from rankbounds.version import __version__ as __version__


def _measure(name: str) -> object | None:
    """A measure that somebody added: the stub lists ours alone."""
    from rankbounds.measures import class_named

    return class_named(name)


__getattr__, __dir__, __all__ = load_when_used(__name__, _measure)
__all__ += ["__version__"]
