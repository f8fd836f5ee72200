"""Endpoints controller."""
