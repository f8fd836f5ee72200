"""Job controller, with orphaned pods and TTL after finish."""
