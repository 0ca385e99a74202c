"""Which documents to judge: pools, reduced judgments, what to judge next."""
