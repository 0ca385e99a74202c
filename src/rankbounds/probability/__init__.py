"""Unjudged documents as probabilities: models, estimates, distributions, the urn, the mean."""
