"""Conversion of the objects of a write to the version that a webhook or policy matches, and back."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Protocol

from pyctrl.apiserver._admission.attributes import Attributes

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["CustomObjectConverter", "VersionConverter"]


class CustomObjectConverter(Protocol):
    """Converts objects of resources whose versions only a webhook can convert."""

    async def convert_one(self, obj: dict[str, Any], resource: ResourceType) -> dict[str, Any]:
        """Return the object in the version of a resource; the argument is not changed."""
        ...


class VersionConverter:
    """Converter between the versions of a resource."""

    def __init__(self, conversions: CustomObjectConverter) -> None:
        self._conversions = conversions

    async def convert_to(
        self, attributes: Attributes, wanted: ResourceType
    ) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Return the object and the old object of a write in the version `wanted`."""
        if wanted is attributes.resource or attributes.own_kind is not None:
            return attributes.object, attributes.old
        return await self._converted(attributes.object, wanted), await self._converted(attributes.old, wanted)

    async def convert_back(self, attributes: Attributes, wanted: ResourceType, obj: dict[str, Any]) -> dict[str, Any]:
        """Return an object of version `wanted` in the version of the request."""
        if wanted is attributes.resource or attributes.own_kind is not None:
            return obj
        return await self._converted(obj, attributes.resource) or obj

    async def _converted(self, obj: dict[str, Any] | None, wanted: ResourceType) -> dict[str, Any] | None:
        if obj is None:
            return None
        if wanted.converts:
            return await self._conversions.convert_one(obj, wanted)
        return wanted.on_read(copy.deepcopy(obj))
