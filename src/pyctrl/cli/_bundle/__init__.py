"""The command `pyctrl bundle`."""
