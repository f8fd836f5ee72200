"""Scheduler of the embedded cluster."""
