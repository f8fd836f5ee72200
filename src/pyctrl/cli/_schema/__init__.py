"""The command `pyctrl schema`."""
