"""Protocol of the conversion between versions that needs a webhook (upstream runtime.ObjectConvertor)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from pyctrl.apiserver._request.request import ResourceRequest
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._storage.storage import StoredObject

__all__ = ["ConvertedObject", "ObjectConverter"]


class ConvertedObject(NamedTuple):
    """An object in its storage version, and the same object in the version of the request."""

    stored: dict[str, Any]
    shown: dict[str, Any]


class ObjectConverter(Protocol):
    """Converts objects of resources whose `converts` is set."""

    async def show(
        self,
        objects: Iterable[StoredObject],
        resource: ResourceType,
        request: ResourceRequest | None = None,
        *,
        again: bool = False,
    ) -> None:
        """Convert stored objects to the version of a resource; with `again` also those that were converted before.

        Raises:
            StatusError: 500, the webhook failed.
        """
        ...

    async def stored_form(self, obj: dict[str, Any], request: ResourceRequest) -> ConvertedObject | None:
        """Convert a new object to its storage version and back; None when it is in its storage version.

        Raises:
            StatusError: 500, the webhook failed.
        """
        ...
