"""ComponentStatuses."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._registry.builtin_resource import BuiltinResource

__all__ = ["RESOURCES"]

RESOURCES: Final = (
    BuiltinResource(group="", kind="ComponentStatus", deprecation="v1 ComponentStatus is deprecated in v1.19+"),
)
