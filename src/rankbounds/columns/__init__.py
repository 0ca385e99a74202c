"""Columns of ids and numbers: the fast part, on NumPy alone."""
