"""What controllers need to know of CustomResourceDefinitions."""

from __future__ import annotations

from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition

__all__ = ["is_established"]


def is_established(definition: CustomResourceDefinition) -> bool:
    """Return whether a definition is served."""
    return any(each.type == "Established" and each.status == "True" for each in definition.status.conditions)
