"""Runnables: their groups, restarts, signals, and the order in which they start and stop."""
