"""Shows the object of a write in the version that a webhook wants, and takes it back."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ._attributes import Attributes

if TYPE_CHECKING:
    from pyctrl.apiserver._resources import ResourceType


class Versions:
    """Converts between the versions of a resource."""

    async def shown(
        self, attributes: Attributes, wanted: ResourceType
    ) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Give the object and the old object in a version."""
        if wanted is attributes.resource or attributes.own_kind is not None:
            return attributes.object, attributes.old
        return _converted(attributes.object, wanted), _converted(attributes.old, wanted)

    async def taken(self, attributes: Attributes, wanted: ResourceType, obj: dict[str, Any]) -> dict[str, Any]:
        """Give an object of a version in the version of the request."""
        if wanted is attributes.resource or attributes.own_kind is not None:
            return obj
        return _converted(obj, attributes.resource) or obj


def _converted(obj: dict[str, Any] | None, wanted: ResourceType) -> dict[str, Any] | None:
    return None if obj is None else wanted.on_read(copy.deepcopy(obj))
