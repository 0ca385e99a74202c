"""Which documents to judge: pools, samples, reduced judgments, what to judge next, audits, judges."""

from rankbounds.loading import load_when_used

__getattr__, __dir__, __all__ = load_when_used(__name__)
