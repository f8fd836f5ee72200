"""The command `pyctrl token`."""
