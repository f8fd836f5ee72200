"""Behaviour of Go's standard library that is visible in the Kubernetes API."""
