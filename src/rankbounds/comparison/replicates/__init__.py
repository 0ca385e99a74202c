"""Repeated runs of the same system."""
