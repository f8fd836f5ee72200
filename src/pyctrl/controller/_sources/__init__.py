"""Sources of reconcile requests, and the runner that keeps them running."""
