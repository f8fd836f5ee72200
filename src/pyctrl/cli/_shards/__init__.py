"""The command `pyctrl shards`."""
