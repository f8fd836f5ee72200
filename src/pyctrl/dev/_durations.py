"""Durations in words: ``3 s``, ``2 m``, ``24 h``."""

from __future__ import annotations

from datetime import timedelta

__all__ = ["ago", "duration_text"]

_UNITS = (("d", 86_400), ("h", 3600), ("m", 60))


def duration_text(length: timedelta | float) -> str:
    """Return a duration, or a number of seconds, in one unit, of which there are at least two: ``90 s``, ``24 h``."""
    seconds = length.total_seconds() if isinstance(length, timedelta) else length
    for unit, each in _UNITS:
        if round(seconds) >= 2 * each:
            return f"{round(seconds / each)} {unit}"
    if seconds < 1:
        return "<1 ms" if 0 < seconds < 0.0005 else f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f}".removesuffix(".0") + " s" if seconds < 10 else f"{seconds:.0f} s"


def ago(seconds: float) -> str:
    """Return how long ago something was, in whole seconds or a larger unit: ``12 s ago``."""
    return "now" if seconds < 1 else f"{duration_text(float(int(seconds)))} ago"
