"""Recorded accesses, and operators run with exactly their declared permissions."""
