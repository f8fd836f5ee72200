"""Comparison of a wanted object with the live one."""
