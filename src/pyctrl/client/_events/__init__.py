"""Events: recording, correlating, and writing them as series."""
