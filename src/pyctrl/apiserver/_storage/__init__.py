"""Versioned object storage in memory, with watch history, continue tokens and preconditions."""
