"""Questions about RBP's persistence p, and about published scores at another p."""

from rankbounds.loading import load_when_used

__getattr__, __dir__, __all__ = load_when_used(__name__)
