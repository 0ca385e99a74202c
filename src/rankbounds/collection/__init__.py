"""Judgments and runs as a user hands them in: one way in for everything, gains of grades, keys for ties."""
