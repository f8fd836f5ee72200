"""Kinds, a storage and an aggregator for tests of extension API servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Annotated, Any

from pydantic import Field

from pyctrl._headers import Headers
from pyctrl.api import CustomResource, Key, KubernetesObject, ListMeta, Model, PrinterColumn, ScaleSubresource
from pyctrl.apiserver import FRONT_PROXY, Peer, Response, User
from pyctrl.client import Client, Config, ObjectList
from pyctrl.cluster import Cluster
from pyctrl.errors import AlreadyExists, Conflict
from pyctrl.extension_apiserver import APIResource, ChangeType, ExtensionAPIServer, StorageRequest

GROUP = "wardle.example.com"
ADMIN = User(name="admin", groups=("system:masters",))


class Flavor(
    KubernetesObject,
    group=GROUP,
    version="v1",
    columns=(PrinterColumn("Sweetness", ".sweetness", type="integer"),),
    short_names=("fl",),
):
    """A flavor, which a storage of its own has."""

    sweetness: Annotated[int, Field(ge=0, le=10)] = 5
    label: str = ""


class FischerSpec(Model):
    """Spec of a Fischer."""

    replicas: int = 1


class FischerStatus(Model):
    """Status of a Fischer."""

    replicas: int = 0


class Fischer(
    CustomResource[FischerSpec, FischerStatus],
    group=GROUP,
    version="v1",
    scale=ScaleSubresource(".spec.replicas", ".status.replicas"),
):
    """A kind in the storage of the server, or of the test."""


class Tasting(KubernetesObject, group=GROUP, version="v1"):
    """The body of flavors/taste."""

    verdict: str = ""


class DictStorage:
    """A storage with all interfaces, on a dict, with versions and a history."""

    def __init__(self) -> None:
        self.objects: dict[Key, Any] = {}
        self.version = 100
        self.requests: list[StorageRequest] = []
        self._changes: list[tuple[int, ChangeType, Any]] = []
        self._changed = asyncio.Event()

    async def get(self, request: StorageRequest, name: str) -> Any:
        """Return an object."""
        return self.objects.get(Key(request.namespace, name))

    async def list(self, request: StorageRequest) -> ObjectList[Any]:
        """Return the objects of a namespace."""
        self.requests.append(request)
        found = [each for key, each in self.objects.items() if request.namespace in ("", key.namespace)]
        return ObjectList(found, ListMeta(resource_version=str(self.version)))

    async def watch(self, request: StorageRequest) -> AsyncIterator[tuple[ChangeType, Any]]:
        """Yield changes after a version, or everything."""
        if not request.resource_version:
            for each in [*self.objects.values()]:
                yield "ADDED", each
        position = int(request.resource_version or self.version)
        while True:
            for version, type_, obj in [each for each in self._changes if each[0] > position]:
                position = version
                yield type_, obj
            await self._changed.wait()

    async def create(self, request: StorageRequest, obj: Any) -> Any:
        """Store a new object."""
        if obj.key in self.objects:
            raise AlreadyExists("it exists")
        return self._put("ADDED", obj)

    async def update(self, request: StorageRequest, obj: Any, old: Any) -> Any:
        """Replace an object that has not changed."""
        if self.objects[obj.key].metadata.resource_version != old.metadata.resource_version:
            raise Conflict("it has changed")
        return self._put("MODIFIED", obj)

    async def delete(self, request: StorageRequest, obj: Any) -> None:
        """Delete an object."""
        self._record("DELETED", self.objects.pop(obj.key))

    def _put(self, type_: ChangeType, obj: Any) -> Any:
        obj.metadata.resource_version = str(self.version + 1)
        self.objects[obj.key] = obj
        self._record(type_, obj)
        return obj

    def _record(self, type_: ChangeType, obj: Any) -> None:
        self.version += 1
        self._changes.append((self.version, type_, obj))
        self._changed.set()
        self._changed = asyncio.Event()


class Aggregator:
    """The requests of one user, as an aggregator in this process forwards them."""

    def __init__(self, server: ExtensionAPIServer, user: User) -> None:
        self._server, self._user = server, user

    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> Response:
        """Answer a request with the headers of the user."""
        pairs = [pair for pair in Headers.of(headers).pairs if pair[0].lower() != "authorization"]
        pairs += [("X-Remote-User", self._user.name), *(("X-Remote-Group", each) for each in self._user.groups)]
        peer = Peer("", FRONT_PROXY)
        return await self._server.handle(method, path, query, Headers(pairs), body, peer=peer)


@asynccontextmanager
async def served(
    *resources: APIResource[Any] | type[KubernetesObject], cluster: Cluster | None = None
) -> AsyncIterator[ExtensionAPIServer]:
    """Yield a server in front of a cluster with RBAC and without controllers."""
    async with (
        cluster or Cluster(rbac=True, controllers=False, kubelet=False, random=Random(1)) as cluster,
        cluster.client() as client,
    ):
        yield ExtensionAPIServer(*resources, client=client, random=Random(2))


@asynccontextmanager
async def client_of(*resources: APIResource[Any] | type[KubernetesObject], user: User = ADMIN) -> AsyncIterator[Client]:
    """Yield a client of a user of such a server."""
    async with (
        served(*resources) as server,
        Client.connect(Config.in_process(Aggregator(server, user)), field_owner="test") as client,
    ):
        yield client
