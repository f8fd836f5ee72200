"""Serving certificates: files, rotation and CA injection."""
