"""Interfaces of other packages, computed by rankbounds, and adapters for evaluation frameworks."""

from rankbounds.loading import load_when_used

__getattr__, __dir__, __all__ = load_when_used(__name__)
