"""Conversion webhooks: hub and spokes."""
