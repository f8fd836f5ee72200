"""Persistent volume, volume protection and ephemeral volume controllers."""
