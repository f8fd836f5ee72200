"""The command `pyctrl url`."""
