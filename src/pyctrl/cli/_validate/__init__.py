"""The command `pyctrl validate`."""
