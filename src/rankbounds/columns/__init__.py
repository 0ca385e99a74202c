"""Columns of ids and numbers: the fast part, on NumPy alone, with a compiled twin where a compiler was there."""
