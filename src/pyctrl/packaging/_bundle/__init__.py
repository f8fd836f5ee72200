"""Operator Lifecycle Manager bundles: generation and validation."""
