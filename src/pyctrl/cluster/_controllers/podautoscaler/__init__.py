"""Horizontal pod autoscaler, with its clients of the three metrics APIs."""
