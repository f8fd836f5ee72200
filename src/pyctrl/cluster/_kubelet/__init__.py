"""Simulated kubelet: pods run as scripts say, nothing is executed."""
