"""Metrics of the API server: `/metrics` and `/metrics/slis`."""
