"""Arithmetic of resource lists (upstream pkg/quota/v1)."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TypeAlias

from pyctrl.api import Quantity

__all__ = [
    "ResourceList",
    "add_resources",
    "mask_resources",
    "read_resources",
    "subtract_resources",
    "write_resources",
]


ResourceList: TypeAlias = Mapping[str, Quantity]


def read_resources(wire: Mapping[str, str] | None) -> ResourceList:
    """Return a resource list of an object."""
    return {name: Quantity(text) for name, text in (wire or {}).items()}


def write_resources(resources: ResourceList) -> dict[str, str]:
    """Return a resource list as objects have it, sorted by name."""
    return {name: str(resources[name]) for name in sorted(resources)}


def add_resources(left: ResourceList, right: ResourceList | Mapping[str, str | Quantity]) -> ResourceList:
    """Return the sum of two lists."""
    result = dict(left)
    for name, amount in right.items():
        quantity = Quantity(amount)
        result[name] = result[name] + quantity if name in result else quantity
    return result


def subtract_resources(left: ResourceList, right: ResourceList) -> ResourceList:
    """Return the difference of two lists, with zero in the place of negative amounts."""
    result: dict[str, Quantity] = dict.fromkeys(right, Quantity("0"))
    for name, amount in left.items():
        rest = amount - right[name] if name in right else amount
        result[name] = rest if rest > 0 else Quantity("0")
    return result


def mask_resources(resources: ResourceList, names: Container[str]) -> ResourceList:
    """Return the amounts of some resources only."""
    return {name: amount for name, amount in resources.items() if name in names}
