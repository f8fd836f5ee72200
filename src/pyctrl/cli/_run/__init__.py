"""The command `pyctrl run`."""
