"""Clusters for tests: embedded, from binaries, or existing."""
