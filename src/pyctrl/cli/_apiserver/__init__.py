"""The command `pyctrl apiserver`."""
