"""HTTP transports to an API server, and what wraps them: retries, metrics, traces, API errors."""
