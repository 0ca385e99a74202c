"""Judgments and runs as users give them: the entry point for all inputs, gains of grades, keys for ties."""
