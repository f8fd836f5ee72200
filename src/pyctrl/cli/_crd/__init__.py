"""The commands `pyctrl crd diff` and `pyctrl crd import`."""
