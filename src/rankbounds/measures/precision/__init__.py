"""Measures of precision: counted documents, average and interpolated precision."""
