"""Ranked lists joined with their judgments: arrays whose last axis is rank, tied groups, rules for unjudged ones."""
