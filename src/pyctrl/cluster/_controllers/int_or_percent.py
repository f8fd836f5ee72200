"""IntOrString values that are a number or a percentage."""

from __future__ import annotations

__all__ = ["scaled_value"]


def scaled_value(value: int | str, total: int, *, up: bool) -> int:
    """Return the value of ``3`` or ``"25%"`` of a total, rounded up or down (GetScaledValueFromIntOrPercent)."""
    if isinstance(value, int):
        return value
    parts = int(value.removesuffix("%")) * total
    return -(-parts // 100) if up else parts // 100
