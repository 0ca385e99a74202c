"""RBP's persistence: curves over p, crossings, planning, choosing p, what each document contributes."""

from rankbounds.moved import old_names

__getattr__ = old_names(__name__)
