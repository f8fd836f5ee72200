"""Work queue of reconcile requests: deduplicated, prioritized, delayed and rate-limited."""
