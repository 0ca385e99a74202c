"""Measures of gain by rank, and of likeness to an ideal ranking."""
