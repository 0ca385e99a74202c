"""Measures of the C/W/L family, and measures by cost or time."""
