"""What to judge next, and when a comparison is settled."""
