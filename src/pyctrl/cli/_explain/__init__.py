"""The command `pyctrl explain`."""
