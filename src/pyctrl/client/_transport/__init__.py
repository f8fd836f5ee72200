"""HTTP transports to an API server, and their wrappers: retries, metrics, traces, API errors."""
