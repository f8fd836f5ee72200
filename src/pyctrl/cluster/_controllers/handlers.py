"""Event handlers that controllers share."""

from __future__ import annotations

from pyctrl.controller import Request

__all__ = ["no_requests"]


def no_requests(observed: object) -> list[Request]:
    """Enqueue nothing: the watch only keeps objects of a kind in the cache for lookups."""
    return []
