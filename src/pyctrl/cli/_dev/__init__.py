"""The command `pyctrl dev`."""
