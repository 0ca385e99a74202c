"""Which documents to judge: pools, samples, reduced judgments, what to judge next, audits, judges."""
