"""Measures estimated from sampled judgments."""
