"""The commands `pyctrl rbac …`."""
