"""Figures: one module for each subject. Every function takes ``ax=None`` and returns the Axes it drew on.

A figure's function is found here under its own name, whichever module of this package it stands in:
``rankbounds.plots.bounds_by_depth(...)``. They stand in the stub beside this file.
"""

from rankbounds.loading import load_when_used

__getattr__, __dir__, __all__ = load_when_used(__name__)
