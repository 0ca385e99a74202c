"""rankbounds scores ranked retrieval and says how sure you can be.

``import rankbounds as rb`` gives the names that most people need; the others are in namespaces by subject:
``rb.measures``, ``rb.rbp``, ``rb.judging``, ... Names are loaded on first use.
"""

from rankbounds.loading import load_when_used
from rankbounds.version import __version__ as __version__

NAMESPACES = ("checking", "interop", "judging", "measures", "plots", "probability", "rbp", "stats", "studies")

__getattr__, __dir__, __all__ = load_when_used(__name__, NAMESPACES)
__all__ += ["__version__"]
