"""A published RBP score at another persistence: no files, no runs."""
