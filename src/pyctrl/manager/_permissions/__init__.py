"""Permissions that a manager's runnables require, reviewed with the API server."""
