"""Which documents to judge: pools, reduced judgments, what to judge next."""

from rankbounds.moved import old_names

__getattr__ = old_names(__name__)
