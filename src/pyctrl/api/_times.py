"""Text of Kubernetes times, and the current time. Types of fields with times are in `_values`, which needs pydantic."""

from __future__ import annotations

from datetime import UTC, datetime

from pyctrl._clock import now

__all__ = ["format_micro_time", "format_time", "now"]

_LENGTHS = {"seconds": len("2026-01-01T00:00:00"), "microseconds": len("2026-01-01T00:00:00.000000")}


def format_time(value: datetime) -> str:
    """Format a time as ``metav1.Time`` does: RFC 3339, UTC, truncated to seconds."""
    return _rfc_3339(value, "seconds")


def format_micro_time(value: datetime) -> str:
    """Format a time as ``metav1.MicroTime`` does: RFC 3339, UTC, always six fractional digits."""
    return _rfc_3339(value, "microseconds")


def _rfc_3339(value: datetime, precision: str) -> str:
    """Format a time in UTC; a naive one is taken as UTC."""
    zone = value.tzinfo
    if zone is not None and zone is not UTC:
        value = value.astimezone(UTC)
    return value.isoformat(timespec=precision)[: _LENGTHS[precision]] + "Z"  # without the offset
