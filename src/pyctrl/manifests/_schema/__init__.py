"""Structural schemas generated from Python types."""
