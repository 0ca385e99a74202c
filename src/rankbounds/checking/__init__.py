"""What is wrong with files, why numbers differ, and ties on purpose."""

from rankbounds.loading import load_when_used

__getattr__, __dir__, __all__ = load_when_used(__name__)
