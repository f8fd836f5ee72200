"""Text of Kubernetes times, and the current time. Types of fields with times are in `_values`, which needs pydantic."""

from __future__ import annotations

from datetime import UTC, datetime

from pyctrl._clock import now

__all__ = ["format_micro_time", "format_time", "now"]


def _utc(value: datetime) -> datetime:
    """Return a time in UTC; a naive one is taken as UTC."""
    zone = value.tzinfo
    return value if zone is UTC else value.replace(tzinfo=UTC) if zone is None else value.astimezone(UTC)


def format_time(value: datetime) -> str:
    """Format a time as ``metav1.Time`` does: RFC 3339, UTC, truncated to seconds."""
    return f"{_utc(value).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def format_micro_time(value: datetime) -> str:
    """Format a time as ``metav1.MicroTime`` does: RFC 3339, UTC, always six fractional digits."""
    return f"{_utc(value).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
