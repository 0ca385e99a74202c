"""Figures. Every function takes ``ax=None`` and returns the Axes it drew on.

A new figure has settings of its own, whatever matplotlibrc says; axes that you give keep yours.

All of them are attributes of this package: ``rankbounds.plots.bounds_by_depth(...)``.
"""

from rankbounds.loading import load_when_used

__getattr__, __dir__, __all__ = load_when_used(__name__)
