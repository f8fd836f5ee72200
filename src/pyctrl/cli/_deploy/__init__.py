"""The commands `pyctrl deploy` and `pyctrl undeploy`."""
