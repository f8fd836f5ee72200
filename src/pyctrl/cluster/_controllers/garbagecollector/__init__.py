"""Garbage collector."""
