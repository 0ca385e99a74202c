"""Unjudged documents as probabilities: models, estimates, distributions, the urn, the mean."""

from rankbounds.loading import load_when_used

__getattr__, __dir__, __all__ = load_when_used(__name__)
