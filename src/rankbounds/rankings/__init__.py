"""Ranked lists joined with their judgments: arrays whose last axis is rank, tied groups, rules for unjudged ones."""

from rankbounds.moved import old_names

__getattr__ = old_names(__name__)
