"""Operators built with pyctrl, to read, run and copy."""
