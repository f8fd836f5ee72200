"""HTTP servers for health probes and metrics."""
