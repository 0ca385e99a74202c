"""Several collections compared together."""
