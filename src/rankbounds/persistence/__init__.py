"""RBP's persistence: curves over p, crossings, planning, choosing p, what each document contributes."""
