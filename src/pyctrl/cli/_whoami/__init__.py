"""The command `pyctrl whoami`."""
