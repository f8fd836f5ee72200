"""The types of extension API servers, as users see them."""

from __future__ import annotations

from datetime import timedelta
from typing import assert_type

from pyctrl.api import Key, KubernetesObject
from pyctrl.client import Client
from pyctrl.extension_apiserver import (
    APIResource,
    ExtensionAPIServer,
    PollingStorage,
    StorageRequest,
    Subresource,
    api_services,
)
from pyctrl.webhook import Service


class Flavor(KubernetesObject, group="example.com", version="v1"):
    """A kind of the program."""


class Flavors:
    """A storage that can be read."""

    async def get(self, request: StorageRequest, name: str) -> Flavor | None:
        """Return one."""
        assert_type(request.namespace, str)
        return None

    async def list(self, request: StorageRequest) -> list[Flavor]:
        """Return all."""
        return []


async def taste(request: StorageRequest, flavor: Flavor) -> Flavor:
    """Answer a subresource."""
    return flavor


def serve(client: Client) -> None:
    """Make servers of all forms."""
    resource = APIResource(Flavor, Flavors(), subresources={"taste": Subresource(kind=Flavor, get=taste)})
    assert_type(resource, APIResource[Flavor])
    polled = PollingStorage(Flavors(), interval=timedelta(seconds=1))
    assert_type(polled, PollingStorage[Flavor])
    server = ExtensionAPIServer(Flavor, resource, APIResource(Flavor, polled), client=client, port=0)
    assert_type(server.port, int)
    assert_type(server.why_not_ready, str)
    api_services(server.kinds, Service("a", "b"))
    APIResource(Flavor, Key("a", "b"))  # type: ignore[arg-type]  # not a storage
