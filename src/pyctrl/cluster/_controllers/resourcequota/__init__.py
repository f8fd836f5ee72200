"""The resource quota controller."""
