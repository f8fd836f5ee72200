"""Fingerprints: which requests have converged, so that a restart need not run them again."""
