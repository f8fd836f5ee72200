"""Validation of names and string formats, as in apimachinery and kube-openapi."""
