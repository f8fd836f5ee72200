"""Handlers of the verbs on resources."""
