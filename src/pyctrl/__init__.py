"""Kubernetes controllers in typed asyncio Python."""
