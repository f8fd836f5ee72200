"""Deployment of a program to a cluster."""
